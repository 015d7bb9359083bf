#include "platform/files.hpp"

#include <array>
#include <fstream>
#include <mutex>
#include <optional>

#include "base/random/digest.hpp"
#include "base/text.hpp"
#include "platform/embedded.hpp"
#include "platform/shard.hpp"

namespace headway {
namespace {

constexpr std::size_t kLongestPathShown = 4096;

// The standard input, which the program has made a file by then: it may be opened more than once.
constexpr std::string_view kStandardInput = "-";

// Of a file that has no name to tell it by: what begins with a brace is JSON.
bool looks_like_toml(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos || text[first] != '{';
}

struct Remembered {
  std::mutex door;
  std::optional<std::map<std::string, std::string>> files;  // none: nobody asks
};
Remembered& remembered() {
  static Remembered all;
  return all;
}

void remember(const std::string& path, std::string_view text) {
  const std::lock_guard lock(remembered().door);
  if (remembered().files) (*remembered().files)[path] = digest_text(text);
}

}  // namespace

void remember_files() {
  const std::lock_guard lock(remembered().door);
  remembered().files.emplace();
}

std::map<std::string, std::string> remembered_files() {
  const std::lock_guard lock(remembered().door);
  return remembered().files.value_or(std::map<std::string, std::string>());
}

Result<std::string> read_file(const std::string& path, std::size_t most_bytes) {
  const std::string shown = printable(path, kLongestPathShown);
  std::ifstream file(path == kStandardInput ? "/dev/stdin" : path.c_str(), std::ios::binary);
  if (!file) return Problem{shown, "cannot be opened for reading", Trouble::unreadable};
  std::string text;
  std::array<char, 64 * 1024> piece;
  while (file && text.size() <= most_bytes) {
    file.read(piece.data(), piece.size());
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) return Problem{shown, "cannot be read", Trouble::unreadable};
  if (text.size() > most_bytes) {
    return Problem{shown, "is larger than " + std::to_string(most_bytes >> 20) + " MiB",
                   Trouble::unreadable};
  }
  remember(path, text);
  return text;
}

Result<Document> embedded_document(const std::string& path) {
  const auto text = embedded_file(path);
  if (!text) return Problem{"data/" + path, "is missing from this build", Trouble::unreadable};
  return parse_toml(*text, "data/" + path);
}

Result<Document> read_document(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (!text) return text.problems();
  std::string shown = printable(path, kLongestPathShown);
  // By its name, else by its beginning.
  const bool toml = path.ends_with(".toml") || (!path.ends_with(".json") && looks_like_toml(*text));
  return toml ? parse_toml(*text, std::move(shown)) : parse_json(*text, std::move(shown));
}

}  // namespace headway
