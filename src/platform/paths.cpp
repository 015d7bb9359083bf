#include "platform/paths.hpp"

#include <filesystem>

namespace headway {
namespace {

namespace fs = std::filesystem;

}  // namespace

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool is_ordinary_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code error;
  return fs::equivalent(one, other, error) && !error;
}

std::uintmax_t file_bytes(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  return error ? 0 : bytes;
}

Result<std::vector<std::string>> file_names_in(const std::string& folder, std::size_t most) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    std::string name = at->path().filename().string();
    if (name.starts_with(".") || !at->is_regular_file(ignored)) continue;
    names.push_back(std::move(name));
    if (names.size() > most) {
      return Problem{folder,
                     "has more than " + std::to_string(most) + " files; name those of one run"};
    }
  }
  if (error) return Problem{folder, "cannot be read: " + error.message(), Trouble::unreadable};
  return names;
}

std::string file_name(const std::string& path) {
  return fs::path(path).filename().string();
}

std::string stem_of(const std::string& path) {
  return fs::path(path).stem().string();
}

std::string folder_of(const std::string& path) {
  return fs::path(path).parent_path().string();
}

std::string in_folder(const std::string& folder, const std::string& path) {
  return (fs::path(folder) / path).string();
}

std::string plain_path(const std::string& path) {
  return fs::path(path).lexically_normal().string();
}

std::optional<std::string> whole_path(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  if (error) return std::nullopt;
  return whole.string();
}

std::optional<std::string> path_from(const std::string& folder, const std::string& path) {
  std::error_code error;
  const fs::path relative = fs::relative(path, folder, error);
  if (error || relative.empty()) return std::nullopt;
  return relative.string();
}

}  // namespace headway
