// The program of a block as serving has it, where that is not as training has it.
#include <algorithm>
#include <cmath>

#include "study/infer/parts.hpp"

namespace headway {

// Where experts lie inside the group every rank has all tokens already: each adds up what its
// experts, or parts of them, make. Else the ranks of a copy of attention send a part of its tokens
// each.
void spread_experts(Program& program, const Share& share, const Experts& experts,
                    const Routing& routing) {
  const LayerSplit& split = share.split;
  const bool inside = split.ep <= split.tp;
  const double group = inside ? 1 : static_cast<double>(split.ep) / static_cast<double>(split.tp);
  const double tokens = share.rows * group;
  const double active = static_cast<double>(experts.active);
  const double ranks = static_cast<double>(split.ep);
  const double chosen = chosen_experts(routing, experts.count, experts.active, tokens) / ranks;
  // Of the fullest rank, for which the others wait.
  const double fullest = fullest_over_mean(routing, experts.count, experts.active, split.ep);
  const double copies = fullest * tokens * active / ranks;
  const auto busy = std::max<std::int64_t>(1, std::llround(chosen));
  const auto rows = std::max<std::int64_t>(1, std::llround(copies / static_cast<double>(busy)));
  std::erase_if(program.items, [&](const Item& item) {
    const auto* crossing = std::get_if<Crossing>(&item.what);
    return crossing != nullptr && inside &&
           (crossing->seam == Seam::dispatch || crossing->seam == Seam::combine ||
            crossing->seam == Seam::share);
  });
  for (Item& item : program.items) {
    if (auto* op = std::get_if<Op>(&item.what)) {
      auto* product = op->routed ? std::get_if<Matmul>(&op->shape) : nullptr;
      if (product == nullptr) continue;
      product->m = rows;
      product->batch = busy;
    } else if (auto* crossing = std::get_if<Crossing>(&item.what)) {
      if (inside && crossing->seam == Seam::sum) {
        item.what = Crossing{.seam = Seam::exit,
                             .tensor = share.rows * share.hidden * share.element,
                             .module = Module::experts};
      } else if (crossing->seam == Seam::dispatch || crossing->seam == Seam::combine) {
        crossing->tensor = fullest * crossing->tensor / static_cast<double>(split.tp);
      }
    }
  }
}

// Engines make the down projections of latent attention, which read the same input on every rank,
// one product.
void join_projections(Program& program) {
  const auto first = std::find_if(program.products.begin(), program.products.end(),
                                  [](const auto& each) { return each.role == Role::query_down; });
  const auto second =
      std::find_if(program.products.begin(), program.products.end(),
                   [](const auto& each) { return each.role == Role::key_value_down; });
  if (first == program.products.end() || second == program.products.end()) return;
  Op& joint = std::get<Op>(program.items[first->item].what);
  const Op& other = std::get<Op>(program.items[second->item].what);
  std::get<Matmul>(joint.shape).n += std::get<Matmul>(other.shape).n;
  program.items.erase(program.items.begin() + static_cast<std::ptrdiff_t>(second->item));
}

}  // namespace headway
