// System files of MAD-Max (arXiv 2310.02784): accelerators and two levels of links with the share
// of each rate that is reached.
#pragma once

#include <optional>
#include <string>

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "cluster/cluster.hpp"

namespace headway {

/// A system of MAD-Max's form; nothing for other documents. Its rates are those that it says are
/// reached: the constants of "stated" accelerators and networks take nothing more from them.
std::optional<Result<Cluster>> cluster_from_madmax(const Document& document,
                                                   const std::string& name);

}  // namespace headway
