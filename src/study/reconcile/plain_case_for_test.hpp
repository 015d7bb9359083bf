// A small run, and what is found of its recordings, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "forecast/random_run_for_test.hpp"
#include "study/reconcile/reconcile.hpp"
#include "study/reconcile/synthetic_recording_for_test.hpp"
#include "study/reconcile/verdict.hpp"

namespace headway::testing {

/// Rows that differ.
inline std::size_t different(const Reconciliation& all) {
  return static_cast<std::size_t>(
      std::count_if(all.rows.begin(), all.rows.end(),
                    [](const ReconciledRow& row) { return differs(row.match); }));
}

inline Verdict judged(const Recording& recording, const Case& c, double steps = 0) {
  return verdict_of(reconcile(recording, c, c.calibration, steps), recording, c.cluster);
}

/// A run small enough to reason about: 2.7 GB of gradients in buckets, all over one fabric.
inline Case plain_case(std::int64_t dp, int zero = 1) {
  Case c = case_of("gpt-neox-1.3b", "dgx-a100-80gb");
  c.job.framework = framework_from("megatron").value();
  c.job.sequence = 2048;
  c.job.recipe = recipe_from("bf16");
  c.layout = Layout();
  c.layout.dp = dp;
  c.layout.zero = zero;
  c.job.global_batch = 2 * dp;
  EXPECT_TRUE(c.legal());
  return c;
}

}  // namespace headway::testing
