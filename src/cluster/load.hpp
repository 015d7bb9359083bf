// Reads accelerators and clusters: built-in names, users' .toml files, overrides.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "cluster/cluster.hpp"

namespace headway {

/// A cluster from a built-in name or a path to a .toml, or to a system file of MAD-Max. A file with
/// `base = "dgx-h100"` overrides single fields of a built-in one (levels are matched by their
/// name).
Result<Cluster> load_cluster(const std::string& name_or_path);

/// An accelerator from a built-in name or a path to a .toml (which may have a `base`, too).
Result<Accelerator> load_accelerator(const std::string& name_or_path);

/// The same from the text of a .toml; `file` is shown in messages, and what the text names by a
/// relative path (base, accelerator) is looked up beside it.
Result<Cluster> parse_cluster(std::string_view toml, const std::string& file);
Result<Accelerator> parse_accelerator(std::string_view toml, const std::string& file);

/// The same from a document that is parsed already.
Result<Cluster> cluster_from_document(Document document, const std::string& name);

std::vector<std::string> cluster_names();      // sorted
std::vector<std::string> accelerator_names();  // sorted

/// The traits of an architecture; those of one without own where it is not known.
const Architecture& architecture(const std::string& name);
/// The titles by which charts tell architectures apart, the last that of all without one.
const std::vector<std::string>& architecture_titles();

}  // namespace headway
