#include "platform/embedded.hpp"

#include <cstddef>
#include <unordered_map>

#include "base/random/digest.hpp"
#include "platform/gzip.hpp"
#include "platform/memo.hpp"
#include "platform/shard.hpp"

// Generated from data/ and build/web at build time (cmake/embed.cmake), the files of a folder
// sorted.
struct HeadwayEmbeddedFile {
  const char* path;
  const char* begin;
  const char* end;
  bool packed;
};
extern "C" const HeadwayEmbeddedFile headway_embedded_files[];
extern "C" const std::size_t headway_embedded_file_count;

namespace headway {
namespace {

const std::unordered_map<std::string_view, const HeadwayEmbeddedFile*>& files_by_path() {
  static const auto all = [] {
    std::unordered_map<std::string_view, const HeadwayEmbeddedFile*> out;
    for (std::size_t i = 0; i < headway_embedded_file_count; ++i) {
      out.emplace(headway_embedded_files[i].path, &headway_embedded_files[i]);
    }
    return out;
  }();
  return all;
}

}  // namespace

std::optional<std::string_view> embedded_file(std::string_view path) {
  const auto found = files_by_path().find(path);
  if (found == files_by_path().end()) return std::nullopt;
  const HeadwayEmbeddedFile& file = *found->second;
  const std::string_view bytes(file.begin, static_cast<std::size_t>(file.end - file.begin));
  if (!file.packed) return bytes;
  static Memo<std::optional<std::string>> unpacked;
  return unpacked.of(file.path, [&] { return unpacked_gzip(bytes); });
}

std::vector<std::string> embedded_files(std::string_view folder) {
  const std::string prefix = std::string(folder) + "/";
  std::vector<std::string> out;
  for (std::size_t i = 0; i < headway_embedded_file_count; ++i) {
    const std::string_view path = headway_embedded_files[i].path;
    if (path.starts_with(prefix)) out.emplace_back(path);
  }
  return out;
}

std::string embedded_digest() {
  std::string all;
  for (std::size_t i = 0; i < headway_embedded_file_count; ++i) {
    const HeadwayEmbeddedFile& file = headway_embedded_files[i];
    const std::string_view path = file.path;
    if (path.starts_with("web/")) continue;
    all += path;
    all += digest_text({file.begin, static_cast<std::size_t>(file.end - file.begin)});
  }
  return digest_text(all);
}

}  // namespace headway
