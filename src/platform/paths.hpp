// What lies where on this machine, and how one file names another. Paths are text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace headway {

bool exists(const std::string& path);
bool is_folder(const std::string& path);
bool is_ordinary_file(const std::string& path);
/// Whether both are there and are the same file.
bool is_same_file(const std::string& one, const std::string& other);
/// Bytes of a file; 0 where there is none to be seen.
std::uintmax_t file_bytes(const std::string& path);
/// The names of the ordinary files of a folder that are not hidden, in no order; more than `most`
/// are a problem.
Result<std::vector<std::string>> file_names_in(const std::string& folder, std::size_t most);

/// "runs/a.toml" -> "a.toml".
std::string file_name(const std::string& path);
/// "runs/a.toml" -> "a".
std::string stem_of(const std::string& path);
/// "runs/a.toml" -> "runs"; "" for a name alone.
std::string folder_of(const std::string& path);
/// "runs" and "a.toml" -> "runs/a.toml"; a whole path, or any in no folder, stays.
std::string in_folder(const std::string& folder, const std::string& path);
/// The path without ".", ".." and doubled slashes, as far as the text shows.
std::string plain_path(const std::string& path);
/// The whole path, or nothing where the current folder cannot be known.
std::optional<std::string> whole_path(const std::string& path);
/// `path` as it is named from `folder`, or nothing where there is no way.
std::optional<std::string> path_from(const std::string& folder, const std::string& path);

}  // namespace headway
