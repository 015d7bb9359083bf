// The forms of data/accelerators/*.toml and data/clusters/*.toml: from a parsed document, bases
// already laid under it, to a checked value. Only load.cpp uses these.
#pragma once

#include <string>

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "cluster/cluster.hpp"

namespace headway {

Result<Accelerator> read_accelerator(const Document& document, const std::string& name);

/// `accelerator` is what the document's field `accelerator` names, read by the caller.
Result<Cluster> read_cluster(const Document& document, const std::string& name,
                             const Result<Accelerator>& accelerator);

}  // namespace headway
