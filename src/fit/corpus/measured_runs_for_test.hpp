// Runs "measured" by the model itself with known constants, for tests of fits.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fit/corpus/forecast.hpp"
#include "fit/corpus/table_for_test.hpp"
#include "fit/steps/data.hpp"

namespace headway {

/// Runs of two sources, named for their frameworks, on two accelerators, of many sizes, on one node
/// and more.
inline std::vector<MeasuredRun> runs_of_two_sources() {
  std::vector<CorpusCells> rows;
  int id = 0;
  for (const char* accelerator : {"A100", "H100"}) {
    for (const char* framework : {"NeMo", "nanotron"}) {
      for (const char* sequence : {"512", "2048", "8192"}) {
        for (const int gpus : {1, 8, 64}) {
          for (const char* width : {"1024", "4096"}) {
            rows.push_back(row_with({{"id", std::to_string(++id)},
                                     {"source_key", framework},
                                     {"accelerator", accelerator},
                                     {"framework", framework},
                                     {"n_accel", std::to_string(gpus)},
                                     {"model_name", "a model"},
                                     {"d_model", width},
                                     {"n_heads", "16"},
                                     {"n_kv_heads", "16"},
                                     {"d_ff", width},
                                     {"seq_len", sequence},
                                     {"global_batch_sequences", std::to_string(gpus * 2)},
                                     {"cp", "1"}}));
          }
        }
      }
    }
  }
  const auto corpus = read_corpus(corpus_table(rows), "test.csv");
  EXPECT_TRUE(corpus.ok());
  return measured_runs(*corpus);
}

/// "Measures" every run with the given constants.
inline void measure(std::vector<MeasuredRun>& runs, const StepConstants& truth) {
  for (MeasuredRun& run : runs) {
    const Machine& machine = *run.run.machine;
    const Forecast made =
        forecast(run.run, in_step(machine.alone, truth, machine.cluster, machine.software));
    run.step_time = made.step_time.value();
    run.ran = made.fits;
  }
}

}  // namespace headway
