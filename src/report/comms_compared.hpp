// comms with a run and traces: expected calls beside measured ones.
#pragma once

#include <string>

#include "study/reconcile/compared.hpp"

namespace headway {

/// For a terminal of 80 columns.
std::string compared_text(const Compared& compared);
std::string compared_json(const Compared& compared);
std::string compared_csv(const Compared& compared);

}  // namespace headway
