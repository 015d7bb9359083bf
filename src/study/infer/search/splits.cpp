#include "study/infer/search/splits.hpp"

#include "base/divisors.hpp"

namespace headway {

std::vector<ServingSplit> legal_splits(const Serving& base, std::int64_t accelerators) {
  std::vector<ServingSplit> out;
  Serving each = base;
  for (const std::int64_t tp : divisors(accelerators)) {
    for (const std::int64_t pp : divisors(accelerators / tp)) {
      for (const std::int64_t cp : divisors(accelerators / tp / pp)) {
        const std::int64_t dp = accelerators / tp / pp / cp;
        for (const std::int64_t ep : divisors(tp * dp)) {
          static_cast<ServingSplit&>(each) = {tp, pp, ep, dp, cp};
          if (check(each).empty()) out.push_back(each);
        }
      }
    }
  }
  return out;
}

}  // namespace headway
