// GPipe, arXiv 1811.06965; with several chunks a rank the breadth-first schedule, arXiv 2211.05953:
// every micro-batch through one chunk before any goes through the next.
#include "step/schedule/families.hpp"

namespace headway {

RankOrder all_forward(std::int64_t m, std::int64_t v) {
  RankOrder out;
  for (std::int64_t k = 0; k < v; ++k)
    out.add({{SlotWork::forward, static_cast<std::uint8_t>(k)}}, m);
  return out;
}

RankOrder fill_and_drain(std::int64_t m, std::int64_t v) {
  RankOrder out = all_forward(m, v);
  for (std::int64_t k = v; k-- > 0;)
    out.add({{SlotWork::backward, static_cast<std::uint8_t>(k)}}, m);
  return out;
}

}  // namespace headway
