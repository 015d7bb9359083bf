#include "fit/serving/words/pools.hpp"

#include <charconv>
#include <map>
#include <string>

namespace headway::serving_words {
namespace {

// Takes a number off the front of the text.
std::optional<std::int64_t> number_off(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  std::int64_t out = 0;
  const auto [rest, status] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (status != std::errc() || out < 1 || out > 1'000'000) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return out;
}

}  // namespace

std::optional<StatedPool> pool_behind(std::string_view before, std::string_view text) {
  const std::size_t at = text.find(before);
  if (at == text.npos) return std::nullopt;
  text.remove_prefix(at + before.size());
  const auto copies = number_off(text);
  const std::size_t open = text.find('('), close = text.find(')');
  if (!copies || open == text.npos || close == text.npos || close < open) return std::nullopt;
  text = text.substr(open + 1, close - open - 1);
  // "moe ep" is ep, the degrees inside an expert follow from the others.
  std::map<std::string, std::int64_t, std::less<>> degrees;
  while (!text.empty()) {
    const std::size_t digits = text.find_first_of("0123456789");
    if (digits == text.npos) break;
    std::string name(text.substr(0, digits));
    while (name.starts_with(' ')) name.erase(0, 1);
    while (name.ends_with(' ')) name.pop_back();
    text.remove_prefix(digits);
    const auto degree = number_off(text);
    if (!degree) return std::nullopt;
    degrees[name] = *degree;
  }
  StatedPool out;
  out.copies = *copies;
  const auto degree = [&](std::string_view name) {
    const auto found = degrees.find(name);
    return found != degrees.end() ? found->second : std::int64_t{1};
  };
  if (!degrees.contains("tp")) return std::nullopt;
  out.split = {degree("tp"), degree("pp"), degree("moe ep"), degree("dp")};
  return out;
}

}  // namespace headway::serving_words
