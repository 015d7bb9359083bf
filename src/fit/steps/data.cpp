#include "fit/steps/data.hpp"

#include "fit/corpus/forecast.hpp"

namespace headway {

std::vector<MeasuredRun> measured_runs(const Corpus& corpus) {
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  Shelf shelf;
  std::vector<MeasuredRun> out;
  for (const CorpusRow& row : corpus.rows) {
    auto run = run_of(row, shelf);
    if (!run) continue;
    MeasuredRun measured;
    measured.id = row.id;
    measured.source = row.source_key;
    measured.accelerator = row.accelerator;
    measured.ran = !row.out_of_memory();
    if (measured.ran) {
      measured.step_time = measured_step_time(row, *run);
      if (!measured.step_time) continue;
      if (row.memory_gb_reported) measured.memory = *row.memory_gb_reported * kGiB;
    }
    measured.run = *std::move(run);
    settle_recomputation(measured.run);
    out.push_back(std::move(measured));
  }
  return out;
}

}  // namespace headway
