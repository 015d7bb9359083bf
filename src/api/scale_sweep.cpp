#include "api/scale_sweep.hpp"

#include <algorithm>
#include <numeric>

#include "api/predict.hpp"
#include "model/count.hpp"

namespace headway {
namespace {

SweepTools tools_for(const SweepQuestion& question, const LayoutChoice& best, int threads) {
  const AttentionFlops convention = question.base.convention;
  SweepTools out;
  out.layout = best ? best : fastest_that_fits(question.free, convention);
  out.forecast = [convention](const SweepRun& run) { return predict(run, convention); };
  out.assumed = [fields = question.scale_fields](const SweepRun& run) -> Result<RunAssumptions> {
    auto settings = scale_settings(fields, run.cluster, run.layout.ranks());
    if (!settings) return settings.problems();
    return settings->assumed;
  };
  out.threads = threads;
  return out;
}

SameLoss same_loss_as(const SweepQuestion& question) {
  const Run& base = question.base;
  const ScaleSettings& settings = question.settings;
  const double held = static_cast<double>(parameters(base.model).active);
  const double loss = loss_of(settings.loss, held, settings.assumed.tokens);
  SameLoss out;
  out.critical_batch =
      settings.critical_batch.value_or(critical_batch(settings.critical_law, loss));
  out.batch = static_cast<double>(base.job.global_batch) * static_cast<double>(base.job.sequence);
  out.tokens = settings.assumed.tokens;
  return out;
}

// What is set against pure data parallelism, one degree at a time.
std::vector<Degrees> split_layouts(const SweepQuestion& question) {
  std::vector<std::int64_t> degrees = question.at;
  if (degrees.empty()) degrees = {2, 4, 8};
  std::vector<Degrees> out;
  for (const std::int64_t degree : degrees) {
    if (degree == 1) continue;
    out.push_back({.tp = degree});
    out.push_back({.cp = degree});
    out.push_back({.pp = degree});
  }
  return out;
}

// Counts points over all series; where the time to a loss is found too, each point twice.
class PointCount {
 public:
  PointCount(const std::vector<SweepPlan>& plans, bool twice, const Progress& progress)
      : progress_(progress) {
    for (const SweepPlan& plan : plans) of_ += plan.cases.size() * (twice ? 2 : 1);
  }
  Progress callback() {
    if (!progress_) return {};
    return [this](std::size_t done, std::size_t) {
      if (!progress_(before_ + done, of_)) stopped_ = true;
      return !stopped_;
    };
  }
  void pass(std::size_t points) { before_ += points; }
  bool stopped() const { return stopped_; }

 private:
  const Progress& progress_;
  std::size_t before_ = 0, of_ = 0;
  bool stopped_ = false;
};

// Beside all degrees of a sweep of layouts.
SweepCase best_case(const Run& base) {
  return {"of all", 1, SweepRun{base.model, base.cluster, base.job, base.layout}};
}

void add_crossover(SweepAnswer& answer, const SweepTools& tools) {
  const Run& base = answer.question.base;
  constexpr std::int64_t kMost = 65'536;  // as large as any run yet
  const std::int64_t most = std::min(kMost, base.cluster.accelerators);
  // Every layout must be possible at every number of accelerators that is looked at.
  std::int64_t unit = base.cluster.levels.front().size;
  std::vector<Degrees> split;
  for (const Degrees& degrees : split_layouts(answer.question)) {
    const std::int64_t shared = std::lcm(unit, degrees.tp * degrees.cp * degrees.pp);
    if (shared > most) continue;
    unit = shared;
    split.push_back(degrees);
  }
  answer.crossover_from = unit;
  answer.crossover_to = most / unit * unit;
  if (answer.crossover_to < unit || split.empty()) return;
  const SweepRun run = {base.model, base.cluster, base.job, base.layout};
  answer.crossover = crossover(run, answer.crossover_from, answer.crossover_to, unit, split, tools);
}

}  // namespace

Result<Forecast> predict(const SweepRun& run, AttentionFlops convention) {
  Run as_run;
  as_run.model = run.model;
  as_run.cluster = run.cluster;
  as_run.job = run.job;
  as_run.layout = run.layout;
  as_run.convention = convention;
  return predict(as_run);
}

Result<SweepAnswer> make_sweep(SweepQuestion question, const LayoutChoice& best, int threads,
                               const Progress& progress) {
  const auto& constants = step_constants();
  if (!constants) return constants.problems();
  const std::vector<SweepPlan> plans = sweep_plans(question);
  PointCount points(plans, is_over_accelerators(question.axis), progress);
  // The layout as it stands, and as it is chosen: layouts are set against each other, and other
  // batches tried on a point's own layout, as they stand.
  SweepTools standing = tools_for(question, {}, threads),
             chosen = tools_for(question, best, threads);
  standing.power = chosen.power = constants->power;
  standing.progress = chosen.progress = points.callback();
  SweepAnswer out;
  out.question = std::move(question);
  out.same_loss = same_loss_as(out.question);
  const bool layouts = out.question.axis == SweepAxis::layout;
  for (const SweepPlan& plan : plans) {
    out.series.push_back(sweep(plan.name, plan.cases, layouts ? standing : chosen));
    points.pass(plan.cases.size());
    if (points.stopped()) break;
    if (!is_over_accelerators(out.question.axis)) continue;
    add_marginal_returns(out.series.back(), out.question.threshold);
    add_time_to_loss(out.series.back(), out.same_loss, standing);
    points.pass(plan.cases.size());
  }
  if (points.stopped()) return Problem{"scale", "was stopped", Trouble::stopped};
  if (!layouts) return out;
  standing.progress = chosen.progress = {};
  if (best) out.series.push_back(sweep("best", {best_case(out.question.base)}, chosen));
  add_crossover(out, standing);
  return out;
}

std::string short_layout_words(const Layout& layout) {
  std::string out;
  const auto degree = [&](const char* name, std::int64_t value) {
    if (value > 1) out += std::string(name) + " " + std::to_string(value) + " ";
  };
  degree("tp", layout.tp);
  degree("cp", layout.cp);
  degree("pp", layout.pp);
  degree("vpp", layout.vpp);
  degree("ep", layout.ep);
  out += "mb " + std::to_string(layout.micro_batch);
  if (layout.recompute != Recompute::none) {
    out += " " + std::string(kRecomputeNames[static_cast<std::size_t>(layout.recompute)]);
  }
  return out;
}

std::string axis_title(SweepAxis axis) {
  switch (axis) {
    case SweepAxis::weak:
    case SweepAxis::strong:
      return "accelerators";
    case SweepAxis::model:
      return "model";
    case SweepAxis::context:
      return "sequence";
    case SweepAxis::hardware:
      return "cluster";
    case SweepAxis::network:
      return "network";
    case SweepAxis::layout:
      return "degree";
  }
  return {};
}

CommandOutput run_scale_sweep(const ScaleSweepRequest& request) {
  // The fields: those of the run file, overridden by the flags.
  const auto fields = read_run_request(request.run_file, request.fields);
  if (!fields) return {.problems = fields.problems()};

  // What is asked, or everything that is wrong with it.
  auto question = read_sweep(request.axis, *fields);
  if (!question) return {.problems = question.problems()};

  // Every point.
  const LayoutChoice best = question->best ? best_of_all() : LayoutChoice();
  const auto answer =
      make_sweep(std::move(question).value(), best, request.threads, request.progress);
  if (!answer) return {.problems = answer.problems()};
  const bool none = std::all_of(answer->series.begin(), answer->series.end(),
                                [](const SweepSeries& series) { return series.points.empty(); });

  // What was asked for beside the answer.
  std::vector<OutputFile> files;
  if (!request.csv.empty()) files.push_back({request.csv, scale_sweep_csv(*answer)});
  if (!request.plot.empty() && !none) {
    const std::string begin =
        request.plot + "/" + std::string(kSweepNames[static_cast<std::size_t>(request.axis)]);
    files.push_back({begin + "-throughput.svg", plot_sweep_throughput(*answer)});
    files.push_back({begin + "-parts.svg", plot_sweep_parts(*answer)});
  }
  Problems problems = write_files(files, request.plot);
  if (!problems.empty()) return {.problems = std::move(problems)};
  return {.text = request.json ? scale_sweep_json(*answer) : scale_sweep_text(*answer),
          .exit_code = none ? 1 : 0};
}

}  // namespace headway
