// A document made of a template and the names that it computes with.
#pragma once

#include "model/template/expression.hpp"

namespace headway::templates {

/// The node with each text "= expression" as the whole number, or flag, that it comes to, where the
/// scope's names say it, and {expression} in other texts. Tables whose `when` comes to 0 are left
/// out of their list; those with `for = "N"` stand N times, for i = 0, 1, ... (inside another such:
/// j). What is wrong is added to `faults`, and a harmless value taken.
Node expand(const Node& node, Scope& scope, std::vector<Fault>& faults);

}  // namespace headway::templates
