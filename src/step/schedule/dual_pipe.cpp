// DualPipe, arXiv 2412.19437 §3.2.1, and DualPipeV, its half that needs one copy of the model:
// micro-batches come to a rank from two sides, and the forward pass of one runs together with the
// backward pass of another. The eight phases are those of DeepSeek's repository DualPipe.
#include <deque>

#include "step/schedule/families.hpp"

namespace headway {

RankOrder dual_pipe(const DualRank& rank, std::int64_t m) {
  const std::uint8_t near = rank.near, far = near == 0 ? 1 : 0;
  const std::int64_t behind = rank.way - rank.from - 1;  // ranks until the directions meet
  const auto forward = [](std::uint8_t chunk) { return Slot{SlotWork::forward, chunk}; };
  const auto backward = [](std::uint8_t chunk) { return Slot{SlotWork::backward, chunk}; };
  const auto under = [](std::uint8_t chunk) { return Slot{SlotWork::backward, chunk, true}; };
  const auto input = [](std::uint8_t chunk) { return Slot{SlotWork::input_gradient, chunk}; };
  const auto weight = [](std::uint8_t chunk) { return Slot{SlotWork::weight_gradient, chunk}; };

  RankOrder out;
  out.add({forward(near)}, 2 * behind);
  out.add({forward(near), forward(far)}, rank.from + 1);
  out.add({input(far), weight(far), forward(far)}, behind);
  std::int64_t pairs = m - 2 * rank.way + rank.from + 1;
  if (behind == 0) {  // where the directions meet the first pair would wait for itself
    out.add({forward(near), backward(far), forward(far), under(near)});
    --pairs;
  }
  out.add({forward(near), under(far), forward(far), under(near)}, pairs, true);
  out.add({backward(far), forward(far), under(near)}, behind);
  // Of the backward passes left the second half leave their weight gradients for the end.
  const std::int64_t whole = rank.from + 1;  // of 2·(from + 1)
  std::deque<std::uint8_t> left;
  for (std::int64_t i = 0; i < 2 * (rank.from + 1); ++i) {
    const std::uint8_t chunk = i % 2 == 0 ? far : near;
    out.add({i < whole ? backward(chunk) : input(chunk)});
    if (i >= whole) left.push_back(chunk);
  }
  for (std::int64_t i = 0; i < behind; ++i) {
    out.add({weight(left.front()), input(near)});
    left.pop_front();
    left.push_back(near);
  }
  for (const std::uint8_t chunk : left) out.add({weight(chunk)});
  return out;
}

}  // namespace headway
