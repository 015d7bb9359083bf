// 1F1B and its interleaved form, arXiv 2104.04473 §2.2: one forward pass, one backward pass, behind
// the forward passes that fill the pipeline.
#include <algorithm>

#include "step/schedule/families.hpp"

namespace headway {

RankOrder one_f_one_b(std::int64_t p, std::int64_t r, std::int64_t m) {
  const std::int64_t ahead = std::min(p - 1 - r, m);
  RankOrder out;
  out.add({{SlotWork::forward}}, ahead);
  out.add({{SlotWork::forward}, {SlotWork::backward}}, m - ahead, true);
  out.add({{SlotWork::backward}}, ahead);
  return out;
}

// A rank takes a group of p micro-batches through its first chunk, then through its next, ...; then
// the next group. Backward the same from the last chunk on. Where p does not divide them there are
// as many groups as hold p, as equal as may be (torch.distributed.pipelining has equal ones alone).
RankOrder interleaved(std::int64_t p, std::int64_t r, std::int64_t m, std::int64_t v) {
  const std::int64_t groups = std::max<std::int64_t>(1, m / p), all = m * v;
  const std::int64_t least = m / groups, larger = m % groups;  // so many have one more
  std::vector<std::uint8_t> chunk;                             // of each visit
  for (std::int64_t group = 0; group < groups; ++group) {
    for (std::int64_t k = 0; k < v; ++k) {
      const std::int64_t size = least + (group < larger ? 1 : 0);
      chunk.insert(chunk.end(), static_cast<std::size_t>(size), static_cast<std::uint8_t>(k));
    }
  }
  const auto forward = [&](std::int64_t visit) {
    return Slot{SlotWork::forward, chunk[static_cast<std::size_t>(visit)]};
  };
  const auto backward = [&](std::int64_t visit) {
    const std::int64_t last = v - 1;
    return Slot{SlotWork::backward,
                static_cast<std::uint8_t>(last - chunk[static_cast<std::size_t>(visit)])};
  };
  // Megatron-LM runs one group of p without turns.
  const std::int64_t largest = least + (larger > 0 ? 1 : 0);
  const std::int64_t ahead = m == p ? all : std::min(2 * (p - 1 - r) + (v - 1) * largest, all);
  RankOrder out;
  std::vector<Slot> slots;
  for (std::int64_t i = 0; i < ahead; ++i) slots.push_back(forward(i));
  out.add(slots);
  // After the visits of a whole group the pairs are the same again.
  const auto pairs = [&](std::int64_t begin, std::int64_t end) {
    slots.clear();
    for (std::int64_t i = begin; i < end; ++i) {
      slots.push_back(forward(i));
      slots.push_back(backward(i - ahead));
    }
  };
  const std::int64_t period = largest * v;
  const std::int64_t rounds = larger > 0 ? 0 : (all - ahead) / period;
  pairs(ahead, ahead + (rounds > 0 ? period : 0));
  out.add(slots, rounds, true);
  pairs(ahead + rounds * period, all);
  out.add(slots);
  slots.clear();
  for (std::int64_t i = all - ahead; i < all; ++i) slots.push_back(backward(i));
  out.add(slots);
  return out;
}

}  // namespace headway
