// What a configuration says, random runs that a framework can express, and whether a configuration
// is read back as the same run. Tests only.
#pragma once

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "forecast/random_run_for_test.hpp"
#include "launch/parts.hpp"
#include "step/frameworks/habits.hpp"

namespace headway::testing {

inline std::string messages(const Problems& problems) {
  std::string out;
  for (const Problem& problem : problems)
    out += where_text(problem) + ": " + problem.message + "\n";
  return out;
}

/// What a field of a request was given last.
inline std::string field(const LaunchRequest& request, std::string_view name) {
  for (auto it = request.fields.rbegin(); it != request.fields.rend(); ++it) {
    if (it->name == name) return it->text;
  }
  return "(none)";
}

/// The layout with every field that does not matter for this run at its default, choices of the
/// framework made, and the spread of layers (compared apart) left out.
inline Layout canonical(const Run& run) {
  Layout out = run.layout;
  const Habits& habit = habits(run.job);
  const auto settle = [](Choice& choice, bool usual, bool matters = true) {
    choice = matters && chosen(choice, usual) ? Choice::on : Choice::off;
  };
  const bool experts = std::any_of(run.model.kinds.begin(), run.model.kinds.end(),
                                   [](const Layer& layer) { return layer.experts.has_value(); });
  if (out.tp == 1) out.sequence_parallel = true;
  if (out.tp == 1 || !out.sequence_parallel) out.keep_gathered = false;
  if (out.pp == 1) out.schedule = Schedule::one_f_one_b;
  if (out.cp == 1) out.context_exchange = ContextExchange::ring;
  if (out.recompute != Recompute::selective) out.recompute_pieces = bit(Piece::core);
  if (out.recompute != Recompute::full) out.recompute_every = out.recompute_one_in = 1;
  if (out.zero == 0 || out.shard >= out.dp * out.cp) out.shard = 0;
  if (!experts) out.ep = out.etp = 1, out.dispatch = Dispatch::copies;
  // FSDP with ZeRO 2 is ZeRO 3 that keeps what it gathered.
  if (shards_weights(run.job, out) && !gathers_again(run.job, out)) {
    out.zero = 3;
    out.reshard_after_forward = false;
  } else {
    out.reshard_after_forward = true;
  }
  out.recompute_early_stop = stops_recompute_early(run.job, out) ? Choice::on : Choice::off;
  settle(out.overlap_gradients, habit.overlap.gradients);
  settle(out.overlap_parameters, habit.overlap.parameters, out.zero > 0);
  settle(out.overlap_tensor, habit.overlap.tensor, out.tp > 1);
  settle(out.overlap_experts, false, experts);
  out.first_stage_layers = out.last_stage_layers = 0;
  out.embedding_slots = out.head_slots = 0;
  return out;
}

/// The fields of a layout in their order, for messages.
inline std::string text_of(const Layout& l) {
  std::string out;
  for (const std::int64_t value : {l.dp,
                                   l.tp,
                                   l.cp,
                                   l.pp,
                                   l.vpp,
                                   l.ep,
                                   l.etp,
                                   l.micro_batch,
                                   std::int64_t{l.zero},
                                   l.shard,
                                   l.secondary,
                                   std::int64_t{l.reshard_after_forward},
                                   std::int64_t{l.sequence_parallel},
                                   std::int64_t{l.keep_gathered},
                                   static_cast<std::int64_t>(l.context_exchange),
                                   static_cast<std::int64_t>(l.recompute),
                                   l.recompute_every,
                                   l.recompute_one_in,
                                   static_cast<std::int64_t>(l.recompute_early_stop),
                                   std::int64_t{l.recompute_pieces},
                                   static_cast<std::int64_t>(l.dispatch),
                                   static_cast<std::int64_t>(l.schedule),
                                   std::int64_t{l.offload_optimizer},
                                   std::int64_t{l.offload_activations},
                                   std::int64_t{l.offload_parameters},
                                   static_cast<std::int64_t>(l.overlap_gradients),
                                   static_cast<std::int64_t>(l.overlap_parameters),
                                   static_cast<std::int64_t>(l.overlap_tensor),
                                   static_cast<std::int64_t>(l.overlap_experts)}) {
    out += " " + std::to_string(value);
  }
  return out;
}

/// The run that a written configuration is read back as, on the same cluster; `more` are the fields
/// that the configuration does not carry.
inline Result<RequestedRun> read_back(const Run& run, const std::vector<LaunchFile>& files,
                                      Launcher launcher, const RunRequest& more = {}) {
  auto read = read_launch(files[0].text, files[0].name, launcher);
  if (!read) return read.problems();
  RunRequest fields = std::move(read.value().fields);
  fields.push_back({"cluster", run.cluster.name});
  fields.insert(fields.end(), more.begin(), more.end());
  return make_run(fields);
}

inline Forecast priced(const Run& run) {
  const auto calibration = calibration_for(run.cluster, run.job.software);
  return forecast(run, *calibration);
}

/// The same layout, job and shape, and to the last bit the same forecast.
inline void expect_same_run(const Run& run, const Run& again) {
  if (!(canonical(run) == canonical(again))) {
    RC_FAIL("layouts differ:\n" + text_of(canonical(run)) + "\n" + text_of(canonical(again)));
  }
  RC_ASSERT(launch::layers_of_chunks(run.model, run.layout) ==
            launch::layers_of_chunks(again.model, again.layout));
  RC_ASSERT(launch::same_shape(run.model, again.model));
  RC_ASSERT(run.job.sequence == again.job.sequence);
  RC_ASSERT(run.job.global_batch == again.job.global_batch);
  RC_ASSERT(run.job.recipe->name == again.job.recipe->name);
  RC_ASSERT(run.job.attention == again.job.attention);
  RC_ASSERT(run.job.bucket_size == again.job.bucket_size);
  RC_ASSERT(run.job.quantized_weights == again.job.quantized_weights);
  RC_ASSERT(run.job.quantized_gradients == again.job.quantized_gradients);
  const Forecast before = priced(run), after = priced(again);
  if (before.step_time.value() != after.step_time.value()) {
    RC_FAIL("step times differ: " + std::to_string(before.step_time.value()) + " s, " +
            std::to_string(after.step_time.value()) + " s:\n" + text_of(run.layout) + "\n" +
            text_of(again.layout));
  }
  RC_ASSERT(before.memory.total().value() == after.memory.total().value());
}

/// Fields that all of their configurations carry.
inline bool is_carried(std::string_view field) {
  constexpr std::array<std::string_view, 13> kCarried = {"dp",
                                                         "tp",
                                                         "cp",
                                                         "pp",
                                                         "ep",
                                                         "micro-batch",
                                                         "zero",
                                                         "no-reshard",
                                                         "no-sp",
                                                         "recompute",
                                                         "unfused",
                                                         "overlap-gradients",
                                                         "overlap-parameters"};
  return std::find(kCarried.begin(), kCarried.end(), field) != kCarried.end();
}

/// With what that framework never has left out.
inline Case any_case_of(Framework framework) {
  Case c = any_case(is_carried);
  c.job.framework = framework;
  if (c.layout.pp > 1 && *rc::gen::arbitrary<bool>()) {
    c.layout.vpp = *rc::gen::element<std::int64_t>(1, 2, 3);
  }
  c.layout.overlap_tensor = static_cast<Choice>(*rc::gen::inRange(0, 3));
  c.layout.embedding_slots = *rc::gen::inRange(0, 2);
  c.layout.head_slots = *rc::gen::inRange(0, 2);
  c.layout.recompute_every = c.layout.recompute == Recompute::full ? *rc::gen::inRange(1, 4) : 1;
  c.job.attention = usual_attention(c.job, c.cluster.accelerator);
  return c;
}

/// ZeRO++, each part of it where it is legal.
inline void add_zero_plus_plus(Run& run) {
  const auto drawn = [&](auto set) {
    Run with = run;
    set(with);
    if (*rc::gen::arbitrary<bool>() && is_legal(with)) run = std::move(with);
  };
  drawn([](Run& with) { with.job.quantized_weights = true; });
  drawn([](Run& with) { with.job.quantized_gradients = true; });
  drawn([](Run& with) { with.layout.secondary = 8; });
}

/// A random legal run of a framework.
inline Run random_run_of(Framework framework) {
  const Case c = legal_case([&] { return any_case_of(framework); });
  Run out;
  out.model = c.model;
  out.cluster = c.cluster;
  out.job = c.job;
  out.layout = c.layout;
  // Where the configuration states how large buckets are: of what all frameworks can state, from 2
  // MiB on, below nanotron's habit, which is read as that.
  const bool written = framework != framework_from("fsdp").value();
  if (written && states_buckets(out.job, out.layout) && *rc::gen::arbitrary<bool>()) {
    const auto size = static_cast<double>(*rc::gen::inRange(1, 25));
    out.job.bucket_size = Bytes(size * 2097152);
  }
  add_zero_plus_plus(out);
  return out;
}

}  // namespace headway::testing
