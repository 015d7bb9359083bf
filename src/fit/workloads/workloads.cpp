#include "fit/workloads/workloads.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/statistics.hpp"
#include "cluster/load.hpp"
#include "fit/benchmarks/cells.hpp"
#include "fit/benchmarks/words.hpp"
#include "fit/workloads/words.hpp"
#include "forecast/predict/predict.hpp"
#include "layout/run.hpp"
#include "model/count.hpp"
#include "model/load.hpp"

namespace headway {

using benchmarks::Cells;

namespace {

constexpr std::int64_t kNodeOfEight = 8;
constexpr std::string_view kOneAccelerator = "1 accelerator", kOneNode = "2 to 8";

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
    if (network.is != said) continue;
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

const workloads::Setup* setup_of(BenchmarkRow& row, Cells& cells, const Shelf& shelf) {
  for (const workloads::Setup& setup : shelf.words.setups) {
    if (!row.source_key.starts_with(setup.source)) continue;
    row.assumed.push_back("framework=" + std::string(name_of(setup.framework)));
    if (setup.graphs != Graphs::none) row.assumed.emplace_back("graphs=step");
    return &setup;
  }
  cells.skip("no setup is known of this source", row.source_key);
  return nullptr;
}

const Recipe* recipe_of(BenchmarkRow& row, Cells& cells, const Run& run, const Shelf& shelf) {
  const std::string& said = cells.text("precision");
  for (const workloads::Precision& rule : shelf.words.precisions) {
    const bool holds = rule.said == said && (rule.model.empty() || rule.model == run.model.name) &&
                       run.cluster.accelerator.architecture.starts_with(rule.architecture) &&
                       (rule.since.empty() || cells.text("round") >= rule.since);
    if (!holds) continue;
    row.format = rule.recipe->name;
    if (rule.assumed) row.assumed.push_back("precision=" + row.format);
    return rule.recipe;
  }
  cells.skip("no word for this precision", said);
  return nullptr;
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
  const Recipe* recipe = recipe_of(row, cells, run, shelf);
  const std::int64_t ranks = cells.count("n_accel");
  run.job.global_batch = cells.count("global_batch");
  if (!cells.sound() || recipe == nullptr) return std::nullopt;
  run.job.recipe = recipe;
  row.size = ranks == 1              ? kOneAccelerator
             : ranks <= kNodeOfEight ? kOneNode
             : ranks <= 64           ? "9 to 64"
                                     : "> 64";
  spread(cells, ranks, run);
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
    if (cells.sound()) predict_row(row, cells, shelf);
    row.skipped_reason = cells.reason;
    row.skipped_detail = cells.detail;
    if (!cells.sound()) row.predicted.reset();
  }
  return rows;
}

namespace {

// "mlperf_training_v2.0": rounds of one source are one.
std::string source_of(const BenchmarkRow& row) {
  return row.source_key.substr(0, row.source_key.find("_v"));
}

bool on_a_node(const BenchmarkRow& row) {
  return row.size == kOneAccelerator || row.size == kOneNode;
}

}  // namespace

std::vector<WorkloadSpread> workload_spreads(std::span<const BenchmarkRow> rows) {
  struct Logs {
    std::vector<double> all;
    std::size_t inside = 0;
  };
  std::map<std::pair<std::string, bool>, Logs> spreads;
  for (const BenchmarkRow& row : rows) {
    if (!row.measured || !row.predicted) continue;
    Logs& logs = spreads[{source_of(row), on_a_node(row)}];
    logs.all.push_back(std::log(*row.measured / *row.predicted));
    if (row.least && row.most && *row.least <= *row.measured && *row.measured <= *row.most) {
      ++logs.inside;
    }
  }
  std::vector<WorkloadSpread> out;
  for (auto& [name, logs] : spreads) {
    const double all = static_cast<double>(logs.all.size());
    out.push_back({.source = name.first,
                   .node = name.second,
                   .rows = logs.all.size(),
                   .below = -*quantile(logs.all, 0.1),
                   .above = *quantile(logs.all, 0.9),
                   .inside = static_cast<double>(logs.inside) / all});
  }
  return out;
}

std::vector<WorkloadGroup> workload_groups(std::span<const BenchmarkRow> rows) {
  struct Errors {
    std::size_t rows = 0;
    std::vector<double> all, node;
  };
  std::map<std::pair<std::string, std::string>, Errors> groups;
  Errors total;
  for (const BenchmarkRow& row : rows) {
    for (Errors* each : {&groups[{source_of(row), row.op}], &total}) {
      ++each->rows;
      const auto error = row.error();
      if (!error) continue;
      each->all.push_back(*error);
      if (on_a_node(row)) each->node.push_back(*error);
    }
  }
  std::vector<WorkloadGroup> out;
  for (const auto& [name, errors] : groups) {
    if (errors.all.empty()) continue;
    out.push_back(
        {name.first, name.second, errors.rows, summarise(errors.all), summarise(errors.node)});
  }
  out.push_back({"all", "", total.rows, summarise(total.all), summarise(total.node)});
  return out;
}

}  // namespace headway
