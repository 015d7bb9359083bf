// A run with a pipeline, for tests.
#pragma once

#include <gtest/gtest.h>

#include "forecast/random_run_for_test.hpp"

namespace headway::testing {

/// 16 micro-batches of 2 replicas of 4 stages of 2 ranks.
inline Case piped(std::int64_t vpp) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.sequence = 4096;
  c.job.global_batch = 32;
  c.layout.dp = 2;
  c.layout.tp = 2;
  c.layout.pp = 4;
  c.layout.vpp = vpp;
  EXPECT_TRUE(c.legal());
  return c;
}

}  // namespace headway::testing
