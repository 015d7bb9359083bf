// scale weak, strong, model, context, hardware, network, layout: one run along one axis. Internal
// to src/api.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/commands.hpp"
#include "api/scale.hpp"
#include "base/generated.hpp"
#include "platform/output.hpp"
#include "study/sweep/batch.hpp"
#include "study/sweep/choice.hpp"
#include "study/sweep/crossover.hpp"
#include "study/sweep/sweep.hpp"

namespace headway {

/// Whether the points of the axis are numbers of accelerators.
constexpr bool is_over_accelerators(SweepAxis axis) {
  return axis == SweepAxis::weak || axis == SweepAxis::strong;
}
/// Whether they are names, so that they stand in a row.
constexpr bool is_over_names(SweepAxis axis) {
  return axis == SweepAxis::model || axis == SweepAxis::hardware;
}

/// What was asked for, read.
struct SweepQuestion {
  SweepAxis axis = SweepAxis::weak;
  RunRequest run_fields, scale_fields;  // of the base run, of its assumptions
  Run base;
  ScaleSettings settings;
  bool tokens_given = false;
  LayoutFreedom free;
  bool best = false;               // each point takes the best layout
  double threshold = 0.5;          // share of the first return that counts as diminished
  bool keep_tokens = true;         // context: as many tokens a step, else as many sequences
  std::vector<std::int64_t> at;    // accelerators, sequence lengths or degrees; empty: the default
  std::vector<std::string> names;  // models or clusters; empty: the default
  std::vector<double> bandwidth, latency;
  std::vector<std::int64_t> domain;
};
/// Everything that is wrong with run, assumptions and axis, or the question.
Result<SweepQuestion> read_sweep(SweepAxis axis, const RunRequest& request);

/// A series of a sweep before its points are made.
struct SweepPlan {
  std::string name;
  std::vector<SweepCase> cases;
};
std::vector<SweepPlan> sweep_plans(const SweepQuestion& question);

struct SweepAnswer {
  SweepQuestion question;
  SameLoss same_loss;
  std::vector<SweepSeries> series;
  // Layout: where model parallelism overtakes, up to `most` accelerators.
  std::optional<Crossover> crossover;
  std::int64_t crossover_from = 0, crossover_to = 0;
};
/// `best`: a layout for each point instead of the given one (among layouts: beside them); empty:
/// the given one, with the fastest micro-batch and recomputation where they were not given.
/// `progress` is told of points.
Result<SweepAnswer> make_sweep(SweepQuestion question, const LayoutChoice& best, int threads,
                               const Progress& progress = {});

/// As predict() of a run that a sweep changed.
Result<Forecast> predict(const SweepRun& run, AttentionFlops convention);

/// "tp 2 mb 4 full": degrees above 1, micro-batch, recomputation.
std::string short_layout_words(const Layout& layout);
/// What the axis counts, "accelerators".
std::string axis_title(SweepAxis axis);

std::string scale_sweep_text(const SweepAnswer& answer);
std::string scale_sweep_json(const SweepAnswer& answer);
std::string scale_sweep_csv(const SweepAnswer& answer);
/// The tables of docs/scaling.md.
std::string scale_sweep_markdown(const SweepAnswer& answer);
/// AXIS-throughput.svg and AXIS-parts.svg.
std::string plot_sweep_throughput(const SweepAnswer& answer);
std::string plot_sweep_parts(const SweepAnswer& answer);

/// The sweeps of docs/scaling.md: their tables and drawings.
struct SweepPage {
  GeneratedBlocks blocks;
  std::vector<OutputFile> files;  // named from the folder of the page
};
Result<SweepPage> sweep_page();

}  // namespace headway
