// The answer of a sweep: its series, and what follows from them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "platform/shard.hpp"
#include "study/sweep/batch.hpp"
#include "study/sweep/crossover.hpp"
#include "study/sweep/question.hpp"

namespace headway {

struct SweepAnswer {
  SweepQuestion question;
  SameLoss same_loss;
  std::vector<SweepSeries> series;
  // Layout: where model parallelism overtakes, up to `most` accelerators.
  std::optional<Crossover> crossover;
  std::int64_t crossover_from = 0, crossover_to = 0;
};
/// `best`: a layout for each point instead of the given one (among layouts: beside them); empty:
/// the given one, with the fastest micro-batch and recomputation where they were not given.
/// `progress` is told of points.
Result<SweepAnswer> make_sweep(SweepQuestion question, const LayoutChoice& best, int threads,
                               const Progress& progress = {});
/// The same with best_of_all() chosen for the points of a series over an axis, whose work is
/// divided: in a part of it nothing else is worked out.
Result<SweepAnswer> make_sweep_in_parts(SweepQuestion question, const Division& division,
                                        int threads, const Progress& progress = {});

}  // namespace headway
