// What the tests of src/step share: one run, and sums over its ranks. Tests only.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "cluster/load.hpp"
#include "model/count.hpp"
#include "model/reading/load.hpp"
#include "step/step.hpp"

namespace headway::testing {

struct Case : Run {
  Step lowered() const { return lower(*this); }
};

/// One rank, one sequence of 2,048 tokens in bf16, unless the test says otherwise.
inline Case case_of(const std::string& model, const std::string& cluster = "dgx-a100-80gb") {
  Case out;
  out.model = load_model(model).value();
  out.cluster = load_cluster(cluster).value();
  out.job.sequence = 2048;
  out.job.global_batch = 1;
  return out;
}

/// Data parallel on `ranks` of `samples` each, in fp16, tables spread.
inline Case case_of_network(const std::string& model, std::int64_t ranks, std::int64_t samples) {
  Case c = case_of(model);
  c.job.sequence = 1;
  c.job.framework = framework_of_networks();
  c.job.recipe = recipe_from("fp16");
  c.layout.dp = ranks;
  c.layout.zero = 0;
  c.layout.micro_batch = samples;
  c.job.global_batch = ranks * samples;
  spread_tables(c.model, c.cluster, c.layout);
  return c;
}

/// The layout must be legal, or what is tested means nothing.
inline void expect_legal(const Case& c) {
  for (const Problem& problem : check(c)) {
    ADD_FAILURE() << c.model.name << " " << where_text(problem) << ": " << problem.message;
  }
}

inline std::vector<Call> calls_in(const std::vector<Item>& items) {
  std::vector<Call> out;
  for (const Call& call : only<Call>(items)) out.push_back(call);
  return out;
}

/// Sum of call bytes times counts of the calls that `wanted` picks.
template <class Wanted>
double bytes_of(const std::vector<Call>& calls, Wanted wanted) {
  double out = 0;
  for (const Call& call : calls) {
    if (wanted(call)) out += call.bytes.value() * call.count;
  }
  return out;
}
inline double bytes_of(const std::vector<Call>& calls, CollectiveOp op, Group group) {
  return bytes_of(calls, [&](const Call& c) { return c.op == op && c.group == group; });
}

template <class Wanted>
double count_of(const std::vector<Call>& calls, Wanted wanted) {
  double out = 0;
  for (const Call& call : calls) {
    if (wanted(call)) out += call.count;
  }
  return out;
}

/// Sum over all ranks of the run and all micro-batches of what `value` says of an op of a block.
template <class Value>
double sum_over_ranks(const Case& c, const Step& step, Value value) {
  double out = 0;
  for (const StageClass& stage : step.stages) {
    for (std::size_t i = 0; i < step.blocks.size(); ++i) {
      double block = 0;
      for (const Op& op : only<Op>(step.blocks[i].items)) block += value(op);
      out += static_cast<double>(stage.stages * stage.counts[i]) * block;
    }
  }
  return out * static_cast<double>(step.micro_batches * c.layout.tp * c.layout.cp * c.layout.dp);
}

inline bool is_product(const Op& op) {
  return std::holds_alternative<Matmul>(op.shape);
}
inline bool is_attention(const Op& op) {
  return std::holds_alternative<AttentionShape>(op.shape);
}

}  // namespace headway::testing
