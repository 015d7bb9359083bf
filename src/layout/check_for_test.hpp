// Legal runs, and layouts that break one rule of check(). Tests only.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "cluster/load.hpp"
#include "layout/run.hpp"
#include "model/reading/load.hpp"

namespace headway::testing::checks {

struct Case : Run {
  Problems problems() const { return check(*this); }
};

inline std::string listed(const Problems& problems) {
  std::string out;
  for (const Problem& problem : problems)
    out += where_text(problem) + ": " + problem.message + "\n";
  return out;
}

inline Case run_of(const char* model, const char* cluster) {
  Case run;
  run.model = load_model(model).value();
  run.cluster = load_cluster(cluster).value();
  return run;
}

// Llama-2-7B (32 layers, 32 heads, feed-forward width 11,008), legal.
inline Case dense() {
  Case run = run_of("llama-2-7b", "dgx-h100");
  run.job.sequence = 4096;
  run.job.global_batch = 64;
  run.layout.dp = 4;
  run.layout.tp = 2;
  run.layout.pp = 2;
  return run;
}

// Mixtral-8x7B (32 layers, 8 experts of width 14,336), legal.
inline Case mixture() {
  Case run = run_of("mixtral-8x7b", "dgx-h100");
  run.job.sequence = 4096;
  run.job.global_batch = 120;
  run.layout.dp = 8;
  run.layout.ep = 8;
  return run;
}

struct Wrong {
  const char* what;
  std::function<void(Case&)> make;
  const char* where;
  const char* legal;  // stands in the message
};

inline void expect_one_problem(const Case& legal, const std::vector<Wrong>& cases) {
  ASSERT_EQ(listed(legal.problems()), "");
  for (const Wrong& wrong : cases) {
    Case run = legal;
    wrong.make(run);
    const Problems problems = run.problems();
    ASSERT_EQ(problems.size(), 1u) << wrong.what << "\n" << listed(problems);
    EXPECT_EQ(where_text(problems[0]), wrong.where) << wrong.what;
    EXPECT_NE(problems[0].message.find(wrong.legal), std::string::npos)
        << wrong.what << ": " << problems[0].message;
  }
}

}  // namespace headway::testing::checks
