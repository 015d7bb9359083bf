// Random legal runs for property tests: every field of the table is drawn, and where what was drawn
// breaks a simple rule (a degree must divide, a count must suffice) the field is brought to the
// nearest number that keeps it. Tests only.
#pragma once

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <string_view>

#include "cluster/load.hpp"
#include "forecast/forecast.hpp"
#include "layout/any_field_for_test.hpp"
#include "model/reading/load.hpp"
#include "run/network_fields.hpp"
#include "step/frameworks/habits.hpp"

namespace headway::testing {

struct Case : Run {
  Calibration calibration;

  Forecast priced() const { return forecast(*this, calibration); }
  bool legal() const { return check(*this).empty(); }
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

/// The fields that are not at their defaults, as flags.
inline std::string flags_of(const Case& c) {
  std::string out = "--model " + c.model.name + " --cluster " + c.cluster.name;
  for (const FieldRow& row : field_rows()) {
    const std::optional<double> number = number_of(c, row);
    if (!can_be_set(row) || number == number_of(Case(), row)) continue;
    const std::string text = text_of(row.field.form, *number);
    out += " --" + std::string(row.field.name);
    if (row.field.form.kind != FieldForm::Kind::flag) out += " " + text;
  }
  return out;
}

/// The largest power of two of which `wholes` are multiples, at most `most`.
inline std::int64_t power_dividing(std::int64_t most, std::initializer_list<std::int64_t> wholes) {
  std::int64_t out = 1;
  const auto divides = [&](std::int64_t whole) { return whole % (2 * out) == 0; };
  while (2 * out <= most && std::all_of(wholes.begin(), wholes.end(), divides)) out *= 2;
  return out;
}

/// Brings degrees, counts and choices to the nearest that keep the rules of check(); a case that
/// breaks another is drawn again.
inline void repair(Case& c) {
  Job& job = c.job;
  Layout& l = c.layout;
  const Habits& habit = habits(job);
  const std::int64_t layers = c.model.layers();

  // Widths.
  std::int64_t experts = 0;
  for (const Layer& layer : c.model.kinds) {
    if (layer.attention) {
      const bool exchange = l.context_exchange == ContextExchange::all_to_all;
      l.tp = power_dividing(l.tp, {layer.attention->heads});
      if (exchange) l.cp = power_dividing(l.cp, {layer.attention->heads / l.tp});
    }
    if (layer.experts) {
      experts = layer.experts->count;
      l.etp = power_dividing(l.etp, {layer.experts->each.width, l.dp * l.cp * l.tp});
    }
  }
  if (experts == 0) l.etp = 1;
  l.ep = experts == 0 ? 1 : power_dividing(l.ep, {experts, l.dp * l.cp * l.tp / l.etp});
  if (l.shard > 0) l.shard = std::gcd(l.shard, l.dp * l.cp);

  // Stages.
  while (l.pp * (is_folded(l.schedule) ? 2 : 1) > layers && l.pp > 1) l.pp /= 2;
  if (l.pp == 1 || !takes_virtual_stages(l.schedule)) l.vpp = 1;
  if (l.pp == 1) l.schedule = Schedule::one_f_one_b;
  l.vpp = std::min(l.vpp, layers / l.pp);
  if (l.pp == 1 || l.vpp > 1 || is_folded(l.schedule)) {
    l.first_stage_layers = l.last_stage_layers = 0;
  }
  if (l.pp == 2 && l.first_stage_layers > 0) l.last_stage_layers = layers - l.first_stage_layers;
  const bool spread = l.first_stage_layers == 0 && l.last_stage_layers == 0 &&
                      (l.vpp > 1 || !habit.pipeline.balances_stages);
  // So few that they take no more than a chunk.
  const std::int64_t slots = spread ? (layers - 1) / chunks_of_model(l) : 0;
  l.embedding_slots = std::min(l.embedding_slots, slots);
  l.head_slots = std::min(l.head_slots, slots);

  const bool placed = is_placed(l.schedule);
  const bool balanced = habit.pipeline.balances_stages && spread == false &&
                        l.first_stage_layers + l.last_stage_layers == 0;
  if (l.pp == 1 || placed || balanced) l.split_vocabulary = false;
  if (l.split_vocabulary) {
    l.embedding_slots = 0;
    if (c.model.prediction_layers == 0) l.head_slots = 0;
  }

  // Sequences.
  const bool ring = l.cp > 1 && l.context_exchange == ContextExchange::ring;
  const std::int64_t pieces = (ring ? 2 : 1) * l.cp * l.tp;
  job.sequence = (job.sequence + pieces - 1) / pieces * pieces;
  job.document = std::min(job.document, job.sequence);
  job.lora_rank = std::min(job.lora_rank, c.model.hidden);
  const std::int64_t at_once = l.dp * l.micro_batch;
  std::int64_t micro_batches = std::max<std::int64_t>(1, job.global_batch / at_once);
  if (l.schedule == Schedule::dual_pipe || l.schedule == Schedule::dual_pipe_v) {
    micro_batches = std::max(micro_batches, 2 * l.pp);
  }
  if (l.schedule == Schedule::dual_pipe) micro_batches += micro_batches % 2;
  const bool rounds = habit.pipeline.micro_batches_in_rounds ||
                      (l.vpp > 1 && habit.pipeline.interleaved != Interleaving::any) ||
                      l.schedule == Schedule::chimera;
  if (rounds) micro_batches = (micro_batches + l.pp - 1) / l.pp * l.pp;
  job.global_batch = at_once * micro_batches;

  // What machine and framework can do.
  const auto computes = [&](Precision p) { return c.cluster.accelerator.peak_of(p).value() > 0; };
  if (!computes(job.recipe->matmul) || !computes(job.recipe->activation)) {
    job.recipe = recipe_from(computes(Precision::bf16) ? "bf16" : "fp16");
  }
  if (!habit.sharding.formats_chosen) job.param_dtype = job.reduce_dtype = WireFormat::framework;
  if (l.pp > 1) l.zero = std::min(l.zero, habit.sharding.most_zero_in_pipeline);
  if (c.cluster.accelerator.host_bandwidth.value() <= 0) {
    l.offload_optimizer = l.offload_activations = l.offload_parameters = false;
  }
  if (l.zero < 3) l.offload_parameters = false;
  if (habit.reduction.bucket_stated == 0) job.bucket_size = Bytes(0);
  if (l.recompute == Recompute::every_second && !habit.kernels.every_second_product) {
    l.recompute = Recompute::selective;
  }
  l.secondary = power_dividing(l.secondary, {l.dp * l.cp});
  const bool plus_plus = habit.sharding.zero_plus_plus && l.zero == 3 && l.shard == 0 &&
                         experts == 0 && job.task != Task::lora && job.recipe->master_weights;
  if (!plus_plus) job.quantized_weights = job.quantized_gradients = false;
  if (replicas_on_node(l, c.cluster) == 1) job.quantized_gradients = false;
  if (!plus_plus || l.tp > 1 || l.secondary == 1) l.secondary = 0;
  if (l.overlap_tensor == Choice::on && !c.legal()) l.overlap_tensor = Choice::framework;
}

/// The number of a field whose size makes a run large; of any other as its form says.
inline double usual_number(const FieldRow& row) {
  static const std::map<std::string_view, int> largest = {// power of two
                                                          {"dp", 5},
                                                          {"tp", 3},
                                                          {"cp", 2},
                                                          {"pp", 4},
                                                          {"vpp", 3},
                                                          {"ep", 4},
                                                          {"etp", 2},
                                                          {"shard", 5},
                                                          {"micro-batch", 2},
                                                          {"loss-metrics", 2},
                                                          {"first-stage-layers", 4},
                                                          {"last-stage-layers", 4},
                                                          {"embedding-slots", 3},
                                                          {"head-slots", 3}};
  const auto found = largest.find(row.field.name);
  if (found == largest.end()) return any_number(row.field.form);
  return row.field.form.least - (row.field.form.least == 0 ? 0 : 1) +
         static_cast<double>(power_of_two(found->second));
}

/// ZeRO++, which is legal only beside much else.
inline void draw_zero_plus_plus(Case& c) {
  c.job.framework = framework_from("deepspeed").value();
  c.job.task = Task::pretrain;
  c.layout.zero = 3;
  c.layout.shard = 0;
  c.layout.tp = c.layout.pp = c.layout.vpp = 1;
  c.layout.dp = *rc::gen::element<std::int64_t>(16, 32);
  c.job.quantized_weights = *rc::gen::inRange(0, 3) > 0;
  c.job.quantized_gradients = *rc::gen::inRange(0, 3) > 0;
  c.layout.secondary = *rc::gen::element<std::int64_t>(0, 4, 8, 16);
}

/// Degrees, batch and sequence of any size; every other field at its default or, one time in three,
/// at another number. `drawn`: of these fields only.
inline Case any_case(bool (*drawn)(std::string_view) = nullptr) {
  const auto model = *rc::gen::element<std::string>("llama-2-7b", "llama-3-70b", "gpt3-175b",
                                                    "mixtral-8x7b", "deepseek-v3", "gpt-neox-1.3b");
  const auto cluster = *rc::gen::element<std::string>("dgx-a100-80gb", "dgx-h100", "gb200-nvl72",
                                                      "frontier", "tpu-v5p", "dgx-v100");
  Case c = case_of(model, cluster);
  for (const FieldRow& row : field_rows()) {
    const bool always = row.member == "dp" || row.member == "tp" || row.member == "pp" ||
                        row.member == "micro_batch" || row.member == "ep" ||
                        row.field.name == "framework";
    const bool together = row.field.name == "quantized-weights" ||
                          row.field.name == "quantized-gradients" ||
                          row.field.name == "secondary-shard";
    if (!can_be_set(row) || together || is_of_networks(row.field.name) ||
        (drawn != nullptr && !drawn(row.field.name)))
      continue;
    if (always || *rc::gen::inRange(0, 3) == 2) set_number(c, row, usual_number(row));
  }
  // In place of any but FSDP's, whose own fields are drawn seldom, too.
  const bool other = drawn == nullptr && !habits(c.job).sharding.formats_chosen;
  if (other && *rc::gen::inRange(0, 6) == 5) draw_zero_plus_plus(c);
  if (c.layout.vpp > 1) c.layout.vpp = *rc::gen::inRange<std::int64_t>(2, 9);
  c.job.sequence = 1024 * *rc::gen::inRange(1, 9);
  // Fewer micro-batches than stages, or enough.
  const std::int64_t micro_batches = *rc::gen::arbitrary<bool>()
                                         ? *rc::gen::inRange(1, 40)
                                         : 2 * c.layout.pp * *rc::gen::inRange(1, 9);
  c.job.global_batch = c.layout.dp * c.layout.micro_batch * micro_batches;
  c.job.input_rate = 0;  // readers set the pace whatever else there is: a test of their own
  repair(c);
  return c;
}

/// A legal case that `draw` comes upon: drawn again rather than discarded, since a property that
/// discards most of its cases is given up.
template <class Draw>
Case legal_case(const Draw& draw) {
  for (int tries = 0; tries < 100; ++tries) {
    Case c = draw();
    if (!c.legal()) continue;
    RC_LOG() << flags_of(c) << "\n";
    return c;
  }
  RC_DISCARD("illegal");
}

inline Case random_case() {
  return legal_case([] { return any_case(); });
}

/// One in which `change` has set fields.
template <class Change>
Case random_case(const Change& change) {
  return legal_case([&] {
    Case c = any_case();
    change(c);
    repair(c);
    return c;
  });
}

}  // namespace headway::testing
