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

/// Reads `source`, `kind` and `date` (for the whole file) and the tables [sources.NAME] with
/// `fields`, and adds a problem for each number of the document that no source covers. An entry of
/// `fields` covers the field of that name at any depth and everything below it: "tdp", "peak",
/// "levels.fabric", "latency". Returns the sources as one line of text.
std::string read_sources(Fields& fields, const Document& document, Problems& problems);

}  // namespace headway
