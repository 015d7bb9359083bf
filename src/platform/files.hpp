// The files of this machine, and the documents in them and in the binary.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "base/document/document.hpp"
#include "base/result.hpp"

namespace headway {

/// Reads a file of at most `most_bytes`.
Result<std::string> read_file(const std::string& path, std::size_t most_bytes = kLargestDocument);

/// From now on it is remembered which files are read, with the digest of each.
void remember_files();
/// Those since then, by their paths.
std::map<std::string, std::string> remembered_files();

/// Reads and parses a file: TOML where the name ends in .toml, JSON where in .json, and otherwise
/// JSON where it begins as an object.
Result<Document> read_document(const std::string& path);

/// Parses data/`path`, a TOML file carried inside the binary.
Result<Document> embedded_document(const std::string& path);

}  // namespace headway
