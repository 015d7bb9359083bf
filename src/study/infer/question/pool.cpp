#include <algorithm>
#include <array>
#include <set>

#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "study/infer/question/parts.hpp"

namespace headway {

AskedPool asked_pool(RequestReader& in, std::string_view option, std::string_view text) {
  constexpr std::int64_t kMostOfPool = 1'000'000;
  AskedPool out;
  const std::vector<std::string> names = {"tp", "pp", "ep", "dp", "cp", "copies", "step-tokens"};
  std::int64_t step_tokens = 0;
  const std::array<std::int64_t*, 7> into = {&out.split.tp, &out.split.pp, &out.split.ep,
                                             &out.split.dp, &out.split.cp, &out.copies,
                                             &step_tokens};
  std::set<std::string> seen;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t equal = std::min(part.find('='), part.size());
    const std::string name(part.substr(0, equal));
    const auto known = std::find(names.begin(), names.end(), name);
    if (known == names.end() || equal == part.size()) {
      in.fail(option, "'" + printable(part) +
                          "' is not as tp=4, of tp, pp, ep, dp, cp, copies and step-tokens" +
                          suggestion(name, names));
      continue;
    }
    const std::optional<std::int64_t> count = whole_number(part.substr(equal + 1));
    if (!count || *count < 1 || *count > kMostOfPool) {
      in.fail(option, "'" + printable(part) + "' is not a whole number from 1 to 1,000,000");
      continue;
    }
    if (!seen.insert(name).second) in.fail(option, "says " + name + " twice");
    *into[static_cast<std::size_t>(known - names.begin())] = *count;
  }
  if (step_tokens > 0) out.step_tokens = step_tokens;
  return out;
}

}  // namespace headway
