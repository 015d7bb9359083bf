#include "simulate/ranks/cells.hpp"

#include <algorithm>

namespace headway {
namespace {

// A deviation so large that a kernel would take nothing, or less, is cut: below a tenth.
constexpr double kLeastFactor = 0.1;

bool is_among(const std::vector<std::int64_t>& ranks, std::int64_t rank) {
  return std::binary_search(ranks.begin(), ranks.end(), rank);
}

}  // namespace

Cells::Cells(const RanksWork& work, std::uint64_t seed)
    : work_(work), draws_(seed), lanes_(static_cast<std::size_t>(work.run.layout.dp)) {
  const Perturbations& differ = work.differ;
  const Layout& layout = work.run.layout;
  faster_.resize(static_cast<std::size_t>(layout.ranks()));
  for (std::int64_t s = 0; s < layout.pp; ++s) {
    auto& slow = slow_links_.emplace_back(lanes_);
    auto& fails = flapping_.emplace_back(lanes_);
    for (std::size_t l = 0; l < lanes_; ++l) {
      Cell& cell = cells_.emplace_back();
      cell.kernels = 0;
      for (const std::int64_t rank : ranks_of(s, static_cast<std::int64_t>(l), layout)) {
        Rank& each = cell.ranks.emplace_back();
        each.number = static_cast<std::size_t>(rank);
        if (is_among(differ.slow_ranks, rank)) each.kernels = cell.update = differ.slow_factor;
        if (differ.step_noise > 0) {
          const double z = draws_.normal(DrawKind::step, each.number);
          each.kernels *= std::max(kLeastFactor, 1 + differ.step_noise * z);
        }
        if (differ.pause_every > 0 && !differ.pause_together) {
          const double place = draws_.uniform(DrawKind::pause, each.number);
          each.pauses_behind =
              std::min(differ.pause_every - 1,
                       static_cast<std::int64_t>(place * static_cast<double>(differ.pause_every)));
        }
        if (is_among(differ.slow_links, rank)) slow[l] = true;
        if (is_among(differ.flapping, rank)) fails[l] = true;
        cell.kernels = std::max(cell.kernels, each.kernels);
      }
      cell.differs = std::any_of(cell.ranks.begin(), cell.ranks.end(),
                                 [&](const Rank& r) { return r.kernels != cell.kernels; });
    }
  }
  outages_ = {differ.flapping_period, differ.flapping_down * differ.flapping_period,
              draws_.uniform(DrawKind::outage, 0) * differ.flapping_period};
}

double Cells::kernels(std::size_t stage, std::size_t lane, std::int64_t slot, Seconds work) {
  const Cell& cell = at(stage, lane);
  const double noise = work_.differ.slot_noise;
  if (!(noise > 0)) {
    if (cell.differs) {
      for (const Rank& r : cell.ranks) faster_[r.number] += work * (cell.kernels - r.kernels);
    }
    return cell.kernels;
  }
  double slowest = 0;
  for (const Rank& r : cell.ranks) {
    const double z = draws_.normal(DrawKind::slot, r.number, static_cast<std::uint64_t>(slot));
    const double own = r.kernels * std::max(kLeastFactor, 1 + noise * z);
    faster_[r.number] -= work * own;
    slowest = std::max(slowest, own);
  }
  for (const Rank& r : cell.ranks) faster_[r.number] += work * slowest;
  return slowest;
}

double Cells::attention(std::size_t lane, std::int64_t micro_batch, std::int64_t copy) const {
  const double variation = work_.differ.sequence_variation;
  if (!(variation > 0)) return 1;
  // Log-normal: of mean 1 and this deviation.
  const double spread = std::log1p(variation * variation);
  const std::int64_t number = micro_batch + copy * work_.usual.pipeline.micro_batches_of_copy();
  const double z = draws_.normal(DrawKind::sequence, lane, static_cast<std::uint64_t>(number));
  return std::exp(std::sqrt(spread) * z - spread / 2);
}

Seconds Cells::pause(std::size_t stage, std::size_t lane, std::int64_t slot) const {
  const std::int64_t every = work_.differ.pause_every;
  if (every == 0) return Seconds(0);
  if (work_.differ.pause_together) {
    return slot % every == every - 1 ? work_.differ.pause : Seconds(0);
  }
  const auto& ranks = at(stage, lane).ranks;
  const bool pauses = std::any_of(ranks.begin(), ranks.end(),
                                  [&](const Rank& r) { return slot % every == r.pauses_behind; });
  return pauses ? work_.differ.pause : Seconds(0);
}

}  // namespace headway
