// Runs made of rows with some cells changed, for tests.
#pragma once

#include <algorithm>
#include <string>

#include "base/problem.hpp"
#include "fit/corpus/run.hpp"
#include "fit/corpus/table_for_test.hpp"

namespace headway {

inline Result<CorpusRun> run_with(const CorpusCells& changed) {
  const auto corpus = read_corpus(corpus_table({row_with(changed)}), "x");
  Shelf shelf;
  return run_of(corpus->rows.at(0), shelf);
}

inline std::string reason_with(const CorpusCells& changed) {
  const auto run = run_with(changed);
  return run ? "" : where_text(run.problems().front());
}

inline bool assumes(const Result<CorpusRun>& run, const std::string& cell) {
  return std::find(run->assumed.begin(), run->assumed.end(), cell) != run->assumed.end();
}

}  // namespace headway
