// Chimera, arXiv 2107.06925: two pipelines in opposite directions, p/2 micro-batches through each;
// such units of p micro-batches follow one another, the next one's first forward passes between the
// last backward passes of the one before.
#include <algorithm>

#include "step/schedule/families.hpp"

namespace headway {

RankOrder chimera(std::int64_t p, std::int64_t r, std::int64_t m) {
  struct Timed {
    std::int64_t at;  // where a forward and a backward pass take one each
    Slot slot;
  };
  // No two slots of a rank meet: a unit keeps it busy 2p of the 3p - 2 that it takes, and the next
  // unit begins 2p later.
  std::vector<Timed> unit;
  for (const std::uint8_t chunk : {std::uint8_t{0}, std::uint8_t{1}}) {
    const std::int64_t stage = chunk == 0 ? r : p - 1 - r;
    for (std::int64_t i = 0; i < p / 2; ++i) {
      unit.push_back({stage + 2 * i, {SlotWork::forward, chunk}});
      unit.push_back({2 * p - 1 - stage + 2 * i, {SlotWork::backward, chunk}});
    }
  }
  const auto slots = [&](bool of_this, bool of_last) {  // in 2p from the beginning of a unit on
    std::vector<Timed> timed;
    for (const Timed& each : unit) {
      const bool late = each.at >= 2 * p;
      if (late ? of_last : of_this) timed.push_back({late ? each.at - 2 * p : each.at, each.slot});
    }
    std::sort(timed.begin(), timed.end(),
              [](const Timed& a, const Timed& b) { return a.at < b.at; });
    std::vector<Slot> out;
    for (const Timed& each : timed) out.push_back(each.slot);
    return out;
  };
  RankOrder out;
  out.add(slots(true, false));
  out.add(slots(true, true), m / p - 1, true);
  out.add(slots(false, true));
  return out;
}

}  // namespace headway
