// Random legal runs for property tests. Tests only.
#pragma once

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "cluster/load.hpp"
#include "forecast/forecast.hpp"
#include "layout/any_field_for_test.hpp"
#include "model/load.hpp"

namespace headway::testing {

struct Case {
  Model model;
  Cluster cluster;
  Calibration calibration;
  Job job;
  Layout layout;

  Forecast priced() const { return forecast(model, job, layout, cluster, calibration); }
  bool legal() const { return check(model, job, layout, cluster).empty(); }
};

/// Loads each model and cluster once.
inline Case case_of(const std::string& model, const std::string& cluster) {
  static std::map<std::string, Case> loaded;
  const std::string key = model + " " + cluster;
  if (!loaded.contains(key)) {
    Case made;
    made.model = load_model(model).value();
    made.cluster = load_cluster(cluster).value();
    made.calibration = calibration_for(made.cluster).value();
    loaded[key] = made;
  }
  return loaded[key];
}

/// Of the sizes and choices below each alone is legal with most others; all together often not.
inline Case any_case() {
  const auto model = *rc::gen::element<std::string>("llama-2-7b", "llama-3-70b", "gpt3-175b",
                                                    "mixtral-8x7b", "deepseek-v3", "gpt-neox-1.3b");
  const auto cluster = *rc::gen::element<std::string>("dgx-a100-80gb", "dgx-h100", "gb200-nvl72",
                                                      "frontier", "tpu-v5p", "dgx-v100");
  Case c = case_of(model, cluster);
  c.job.framework = static_cast<Framework>(*rc::gen::inRange(0, 5));
  c.job.sequence = 2048 * power_of_two(2);
  // What every machine here can compute; bf16 where it can.
  const bool bf16 = c.cluster.accelerator.peak_of(Precision::bf16).value() > 0;
  c.job.recipe = recipe_from(bf16 ? "bf16" : "fp16");
  c.job.attention = static_cast<AttentionKernel>(*rc::gen::inRange(0, 3));
  c.layout.tp = power_of_two(3);
  c.layout.cp = power_of_two(1);
  c.layout.dp = power_of_two(5);
  c.layout.pp = power_of_two(3);
  c.layout.vpp = c.layout.pp > 1 ? power_of_two(1) : 1;
  c.layout.micro_batch = power_of_two(1);
  c.layout.zero = *rc::gen::inRange(0, 4);
  c.layout.reshard_after_forward = *rc::gen::arbitrary<bool>();
  c.layout.sequence_parallel = *rc::gen::arbitrary<bool>();
  c.layout.recompute = static_cast<Recompute>(*rc::gen::inRange(0, 3));
  c.layout.context_exchange = static_cast<ContextExchange>(*rc::gen::inRange(0, 2));
  c.layout.overlap_tensor = static_cast<Choice>(*rc::gen::inRange(0, 3));
  c.layout.overlap_gradients = static_cast<Choice>(*rc::gen::inRange(0, 3));
  c.layout.overlap_parameters = static_cast<Choice>(*rc::gen::inRange(0, 3));
  if (c.layout.vpp == 1) c.layout.schedule = static_cast<Schedule>(*rc::gen::inRange(0, 5));
  if (c.model.kinds.back().experts) {
    c.layout.ep = std::min(power_of_two(3), c.layout.dp * c.layout.cp * c.layout.tp);
  }
  c.job.global_batch =
      c.layout.dp * c.layout.micro_batch * c.layout.pp * 2 * *rc::gen::inRange(1, 9);
  return c;
}

/// The same with any number of micro-batches, fewer than stages among them.
inline Case any_pipeline() {
  Case c = any_case();
  if (c.layout.vpp > 1) c.layout.vpp = *rc::gen::inRange<std::int64_t>(2, 9);
  c.layout.pp = power_of_two(4);
  c.job.global_batch = c.layout.dp * c.layout.micro_batch * *rc::gen::inRange(1, 40);
  return c;
}

/// A legal case that `draw` comes upon: drawn again rather than discarded, since a property that
/// discards most of its cases is given up.
template <class Draw>
Case legal_case(const Draw& draw) {
  for (int tries = 0; tries < 100; ++tries) {
    Case c = draw();
    if (c.legal()) return c;
  }
  RC_DISCARD("illegal");
}

inline void set_number(Case& c, const FieldRow& row, double number) {
  if (const auto* of_job = std::get_if<FieldAccess<Job>>(&row.access)) {
    of_job->set(c.job, number);
  } else if (const auto* of_layout = std::get_if<FieldAccess<Layout>>(&row.access)) {
    of_layout->set(c.layout, number);
  }
}

/// any_case() with a few fields of the table at other values: of all of them, most are illegal
/// together.
inline Case any_run() {
  Case c = any_case();
  for (const FieldRow& row : field_rows()) {
    if (can_be_set(row) && *rc::gen::inRange(0, 12) == 0) set_number(c, row, any_number(row.form));
  }
  return c;
}

inline Case random_case() {
  return legal_case(any_case);
}

inline Case random_run() {
  return legal_case(any_run);
}

}  // namespace headway::testing
