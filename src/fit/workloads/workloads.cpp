#include "fit/workloads/workloads.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "cluster/load.hpp"
#include "fit/benchmarks/cells.hpp"
#include "fit/benchmarks/words.hpp"
#include "fit/workloads/words.hpp"
#include "forecast/predict/predict.hpp"
#include "layout/run.hpp"
#include "model/count.hpp"
#include "model/reading/load.hpp"

namespace headway {

using benchmarks::Cells;

namespace {

// What is loaded once.
struct Shelf {
  const workloads::Words& words;
  const benchmarks::Words& machines;
  std::map<std::string, Result<Model>> models = {};
  std::map<std::string, Result<Cluster>> clusters = {};
};

const Result<Model>& model_named(Shelf& shelf, const std::string& name) {
  const auto found = shelf.models.find(name);
  return found != shelf.models.end() ? found->second
                                     : shelf.models.emplace(name, load_model(name)).first->second;
}

const Result<Cluster>& cluster_named(Shelf& shelf, const std::string& name) {
  const auto found = shelf.clusters.find(name);
  return found != shelf.clusters.end()
             ? found->second
             : shelf.clusters.emplace(name, load_cluster(name)).first->second;
}

const Model* model_of(BenchmarkRow& row, Cells& cells, Shelf& shelf) {
  const std::string said = benchmarks::plain(cells.text("model"));
  row.op = cells.text("model");
  for (const workloads::Network& network : shelf.words.networks) {
    const bool holds = network.is == said &&
                       cells.text("source").find(network.source) != std::string::npos &&
                       cells.text("notes").find(network.note) != std::string::npos;
    if (!holds) continue;
    if (!network.skip.empty()) return cells.skip(network.skip), nullptr;
    row.op = network.model;
    const std::string& sample = cells.text("seq_or_image");
    if (!sample.empty() && sample.find(network.sample) == sample.npos) {
      return cells.skip("the network is known for other samples", sample), nullptr;
    }
    const auto& model = model_named(shelf, network.model);
    if (model) return &*model;
    return cells.skip("no such model", model.problems()[0].message), nullptr;
  }
  cells.skip("no model is known by this name", cells.text("model"));
  return nullptr;
}

const Cluster* cluster_of(BenchmarkRow& row, Cells& cells, Shelf& shelf) {
  const std::string& said = cells.text("accelerator");
  row.machine = said;
  const benchmarks::Machine* machine = shelf.machines.machine(said);
  if (machine == nullptr || (machine->skip.empty() && machine->cluster.empty())) {
    cells.skip("no cluster is known of this accelerator", said);
    return nullptr;
  }
  if (!machine->skip.empty()) return cells.skip(machine->skip), nullptr;
  row.machine = machine->accelerator;
  row.assumed.push_back("cluster=" + machine->cluster);
  const auto& cluster = cluster_named(shelf, machine->cluster);
  if (cluster) return &*cluster;
  return cells.skip("no cluster is known of this accelerator", cluster.problems()[0].message),
         nullptr;
}

const workloads::Setup* setup_of(const BenchmarkRow& row, Cells& cells, const Shelf& shelf) {
  for (const workloads::Setup& setup : shelf.words.setups) {
    if (!row.source_key.starts_with(setup.source)) continue;
    if (!cells.text("framework").starts_with(setup.library)) continue;
    return &setup;
  }
  cells.skip("no setup is known of this source", row.source_key);
  return nullptr;
}

const workloads::Note* note_of(const Cells& cells, const Shelf& shelf) {
  const std::string& said = cells.text("notes");
  for (const workloads::Note& note : shelf.words.notes) {
    if (said.find(note.has) != std::string::npos) return &note;
  }
  return nullptr;
}

const Recipe* recipe_of(BenchmarkRow& row, Cells& cells, const Run& run, const Shelf& shelf) {
  if (const workloads::Note* note = note_of(cells, shelf); note != nullptr && note->recipe) {
    row.format = note->recipe->name;
    return note->recipe;
  }
  const std::string& said = cells.text("precision");
  for (const workloads::Precision& rule : shelf.words.precisions) {
    const bool holds = rule.said == said && (rule.model.empty() || rule.model == run.model.name) &&
                       run.cluster.accelerator.architecture.starts_with(rule.architecture) &&
                       (rule.since.empty() || cells.text("round") >= rule.since) &&
                       row.ranks >= rule.from_accelerators;
    if (!holds) continue;
    row.format = rule.recipe->name;
    if (rule.assumed) row.assumed.push_back("precision=" + row.format);
    return rule.recipe;
  }
  cells.skip("no word for this precision", said);
  return nullptr;
}

bool holds(const workloads::Habit& habit, const BenchmarkRow& row, const Cells& cells,
           const Run& run) {
  return row.source_key.starts_with(habit.source) && habit.model == run.model.name &&
         run.cluster.accelerator.architecture.starts_with(habit.architecture) &&
         (habit.since.empty() || cells.text("round") >= habit.since) &&
         (habit.before.empty() || cells.text("round") < habit.before) &&
         (habit.accelerator.empty() || habit.accelerator == row.machine) &&
         (habit.to_accelerators == 0 || row.ranks <= habit.to_accelerators) &&
         row.ranks >= habit.from_accelerators;
}

void take_habits(const BenchmarkRow& row, Cells& cells, const Shelf& shelf, Run& run) {
  for (const workloads::Habit& habit : shelf.words.habits) {
    if (!holds(habit, row, cells, run)) continue;
    if (habit.gradients) run.layout.overlap_gradients = *habit.gradients;
    if (habit.attention) run.job.attention = *habit.attention;
    if (habit.copy_below && run.layout.dp > 1) run.layout.tables.copy_below = *habit.copy_below;
    if (habit.optimizer) run.job.optimizer = *habit.optimizer;
    if (habit.attention_8_bit) run.job.attention_8_bit = *habit.attention_8_bit;
    if (habit.bucket) run.job.bucket_size = *habit.bucket;
    if (habit.framework) run.job.framework = *habit.framework;
    if (habit.graphs) run.job.graphs = *habit.graphs;
    if (habit.table_cache) run.layout.tables.cached = *habit.table_cache;
  }
}

// All of the batch is at work at once.
void spread(Cells& cells, std::int64_t ranks, Run& run) {
  Layout& layout = run.layout;
  layout.dp = ranks;
  if (run.job.global_batch < ranks) {
    return cells.skip("a sample lies on several accelerators");
  }
  if (run.job.global_batch % ranks != 0) return cells.skip("the batch does not divide");
  layout.micro_batch = run.job.global_batch / ranks;
  spread_tables(run.model, run.cluster, layout);
}

std::optional<Run> run_of(BenchmarkRow& row, Cells& cells, Shelf& shelf) {
  const Model* model = model_of(row, cells, shelf);
  const Cluster* cluster = model != nullptr ? cluster_of(row, cells, shelf) : nullptr;
  const workloads::Setup* setup = cluster != nullptr ? setup_of(row, cells, shelf) : nullptr;
  if (setup == nullptr) return std::nullopt;
  Run run;
  run.model = *model;
  run.cluster = *cluster;
  run.job.framework = setup->framework;
  run.job.graphs = setup->graphs;
  run.job.reduce_dtype = setup->reduced;
  run.job.fused = setup->fused;
  run.job.optimizer = Optimizer::sgd;
  run.job.sequence = 1;
  for (const workloads::Round& round : shelf.words.rounds) {
    if (round.is == cells.text("round")) run.job.software = round.software;
  }
  run.layout.zero = setup->zero;
  const std::int64_t ranks = cells.count("n_accel");
  row.ranks = ranks;
  const Recipe* recipe = recipe_of(row, cells, run, shelf);
  run.job.global_batch = cells.count("global_batch");
  row.maker = cells.text("submitter");
  row.samples = static_cast<double>(run.job.global_batch);
  if (!cells.sound() || recipe == nullptr) return std::nullopt;
  run.job.recipe = recipe;
  row.size = ranks == 1    ? "1 accelerator"
             : ranks <= 8  ? "2 to 8"
             : ranks <= 64 ? "9 to 64"
                           : "> 64";
  spread(cells, ranks, run);
  take_habits(row, cells, shelf, run);
  row.assumed.push_back("framework=" + std::string(name_of(run.job.framework)));
  if (run.job.graphs != Graphs::none) row.assumed.emplace_back("graphs=step");
  return cells.sound() ? std::optional(std::move(run)) : std::nullopt;
}

void predict_row(BenchmarkRow& row, Cells& cells, Shelf& shelf) {
  const std::optional<Run> run = run_of(row, cells, shelf);
  if (const double time = cells.number_or("step_time_s", 0); time > 0) row.measured = Seconds(time);
  if (!run || !cells.sound()) return;
  if (!row.measured) return cells.skip("cell missing: step_time_s");
  const Problems illegal = check(*run);
  if (!illegal.empty()) return cells.skip("illegal layout", illegal[0].message);
  const auto forecast = predict(*run);
  if (!forecast) return cells.skip("no constants", forecast.problems()[0].message);
  row.predicted = forecast->step_time;
  row.fits = forecast->fits;
  if (const auto& interval = forecast->step_time_interval) {
    row.least = interval->low;
    row.most = interval->high;
  }
}

}  // namespace

Result<std::vector<BenchmarkRow>> predict_workloads(const Csv& csv) {
  Problems problems =
      missing_columns(csv, {"id", "source_key", "model", "accelerator", "n_accel", "precision",
                            "global_batch", "seq_or_image", "step_time_s", "round"});
  const auto& words = workloads::Words::embedded();
  if (!words) append(problems, words.problems());
  const auto& machines = benchmarks::Words::embedded();
  if (!machines) append(problems, machines.problems());
  if (!problems.empty()) return problems;
  Shelf shelf{*words, *machines};
  std::vector<BenchmarkRow> rows;
  rows.reserve(csv.rows.size());
  for (const CsvRow& from : csv.rows) {
    Cells cells(csv, from);
    BenchmarkRow& row = rows.emplace_back();
    row.id = cells.text("id");
    row.source_key = cells.text("source_key");
    row.outcome = "ok";
    if (cells.text("division") == "open") cells.skip("the open division: other models");
    if (const workloads::Note* note = note_of(cells, shelf); note && !note->skip.empty()) {
      cells.skip(note->skip);
    }
    if (cells.sound()) predict_row(row, cells, shelf);
    row.skipped_reason = cells.reason;
    row.skipped_detail = cells.detail;
    if (!cells.sound()) row.predicted.reset();
  }
  return rows;
}

}  // namespace headway
