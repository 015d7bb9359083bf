#include "trace/unknown.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/formatted.hpp"
#include "base/text.hpp"

namespace headway {
namespace {

// The keys of the outermost object, as far as the text goes; at most six.
std::vector<std::string> members_of(std::string_view json) {
  std::vector<std::string> keys;
  int depth = 0;
  for (std::size_t at = 0; at < json.size() && keys.size() < 6; ++at) {
    const char c = json[at];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c != '"') continue;
    std::size_t end = at + 1;
    while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
    if (end >= json.size()) break;
    const std::size_t next = json.find_first_not_of(" \t\r\n", end + 1);
    if (depth == 1 && next != std::string_view::npos && json[next] == ':') {
      keys.push_back("'" + printable(json.substr(at + 1, end - at - 1), 40) + "'");
    }
    at = end;
  }
  return keys;
}

std::string bytes_in_hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes.substr(0, 8)) {
    out += formatted(" %02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return out;
}

}  // namespace

bool is_tar(std::string_view beginning) {
  constexpr std::size_t kMagicAt = 257;  // POSIX.1-1988, ustar
  return beginning.size() > kMagicAt && beginning.substr(kMagicAt).starts_with("ustar");
}

std::string looks_like(std::string_view beginning, std::string_view name) {
  if (name.ends_with(".nsys-rep") || name.ends_with(".qdrep")) {
    return "a report of Nsight Systems; export it first: nsys export --type sqlite";
  }
  // Score-P's; its anchor and its definitions and events have these endings.
  for (const std::string_view ending : {".otf2", ".evt"}) {
    if (name.ends_with(ending)) {
      return "a trace in OTF2 (Score-P), which is not read; give the profiler's or NCCL's own "
             "record "
             "of the run";
    }
  }
  if (is_tar(beginning)) return "a tar archive; unpack it first and give the folder";
  constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"PK\x03\x04", "a zip archive; unpack it first"},
      {"\x28\xb5\x2f\xfd", "packed with zstd; unpack it first"},
      {"\xfd\x37zXZ", "packed with xz; unpack it first"},
      {"BZh", "packed with bzip2; unpack it first"},
      {"\x7f"
       "ELF",
       "a program"},
      {"\x80", "a Python pickle"},
      {"@ mpiP",
       "a report of mpiP, which sums calls up by the place in the program and names neither groups "
       "nor "
       "sizes of single calls: not read; give a trace or a log of the calls"},
  };
  for (const auto& [magic, what] : known) {
    if (beginning.starts_with(magic)) return std::string(what);
  }
  const std::size_t first = beginning.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first == std::string_view::npos) return "white space only";
  const std::string_view text = beginning.substr(first);
  if (beginning.find('\0') != std::string_view::npos) {
    return "binary; begins with" + bytes_in_hex(beginning);
  }
  if (text.front() == '{') {
    const std::vector<std::string> keys = members_of(text);
    return keys.empty() ? "JSON without members" : "JSON with " + join(keys, ", ");
  }
  if (text.front() == '[') return "a JSON array";
  return "a text that begins with '" + printable(text.substr(0, text.find_first_of("\r\n")), 60) +
         "'";
}

}  // namespace headway
