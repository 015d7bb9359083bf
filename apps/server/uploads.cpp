#include "uploads.hpp"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace headway {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 100;

// The last name of a path, of letters, digits, '.', '-' and '_' only.
std::string harmless(std::string_view name) {
  const std::size_t slash = name.find_last_of("/\\");
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  std::string out;
  for (const char c : name.substr(0, kLongestName)) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
    out += plain ? c : '_';
  }
  while (out.starts_with('.')) out.erase(0, 1);
  return out.empty() ? "trace" : out;
}

}  // namespace

Uploads::~Uploads() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

Problems Uploads::add(const FormPart& part) {
  const Problem failed{"trace", "cannot be kept: no room in the folder for temporary files?"};
  if (folder_.empty()) {
    std::error_code error;
    std::string folder = (fs::temp_directory_path(error) / "headway-XXXXXX").string();
    if (error || ::mkdtemp(folder.data()) == nullptr) return {failed};
    folder_ = folder + "/";
  }
  std::string path = folder_ + harmless(part.filename);
  // Of several of one name each has its number, which no name that was made harmless can have.
  if (std::error_code error; fs::exists(path, error)) {
    path = folder_ + "(" + std::to_string(files_.size() + 1) + ") " + harmless(part.filename);
  }
  std::FILE* file = std::fopen(path.c_str(), "wbx");
  if (file == nullptr) return {failed};
  const bool whole =
      std::fwrite(part.content.data(), 1, part.content.size(), file) == part.content.size();
  if (std::fclose(file) != 0 || !whole) return {failed};
  files_.push_back(path);
  return {};
}

std::string Uploads::as_sent(std::string text) const {
  if (folder_.empty()) return text;
  for (std::size_t at = 0; (at = text.find(folder_, at)) != std::string::npos;) {
    text.erase(at, folder_.size());
  }
  return text;
}

}  // namespace headway
