#include "base/written_count.hpp"

#include <limits>
#include <string>

#include "base/whole_number.hpp"

namespace headway {
namespace {

constexpr std::int64_t kBinaryThousand = 1024;

// Without the commas between thousands; empty where they stand elsewhere.
std::string without_commas(std::string_view text) {
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  const std::size_t first = text.find(',');
  if (first == std::string_view::npos) return std::string(text);
  if (first <= sign || first > sign + 3) return {};
  std::string out(text.substr(0, first));
  for (std::size_t at = first; at < text.size(); at += 4) {
    if (text[at] != ',' || at + 4 > text.size()) return {};
    out += text.substr(at + 1, 3);
  }
  return out;
}

}  // namespace

std::optional<std::int64_t> written_count(std::string_view text) {
  std::int64_t times = 1;
  if (text.ends_with('k') || text.ends_with('K')) times = kBinaryThousand;
  if (text.ends_with('m') || text.ends_with('M')) times = kBinaryThousand * kBinaryThousand;
  if (times > 1) text.remove_suffix(1);
  const auto count = whole_number(without_commas(text));
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (!count || *count > kMost / times || *count < -(kMost / times)) return std::nullopt;
  return *count * times;
}

}  // namespace headway
