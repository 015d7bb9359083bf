#include "fit/workloads/workloads.hpp"

#include <algorithm>
#include <array>
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

const workloads::Setup* setup_of(BenchmarkRow& row, Cells& cells, const Shelf& shelf) {
  for (const workloads::Setup& setup : shelf.words.setups) {
    if (!row.source_key.starts_with(setup.source)) continue;
    if (!cells.text("framework").starts_with(setup.library)) continue;
    row.assumed.push_back("framework=" + std::string(name_of(setup.framework)));
    if (setup.graphs != Graphs::none) row.assumed.emplace_back("graphs=step");
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
                       (rule.since.empty() || cells.text("round") >= rule.since);
    if (!holds) continue;
    row.format = rule.recipe->name;
    if (rule.assumed) row.assumed.push_back("precision=" + row.format);
    return rule.recipe;
  }
  cells.skip("no word for this precision", said);
  return nullptr;
}

void take_habits(const BenchmarkRow& row, Cells& cells, const Shelf& shelf, Run& run) {
  for (const workloads::Habit& habit : shelf.words.habits) {
    if (!row.source_key.starts_with(habit.source) || habit.model != run.model.name) continue;
    if (!habit.before.empty() && cells.text("round") >= habit.before) continue;
    run.layout.overlap_gradients = habit.gradients;
    run.job.attention = habit.attention;
    if (run.layout.dp > 1) run.layout.tables.copy_below = habit.copy_below;
    run.job.optimizer = habit.optimizer;
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
  const Recipe* recipe = recipe_of(row, cells, run, shelf);
  const std::int64_t ranks = cells.count("n_accel");
  run.job.global_batch = cells.count("global_batch");
  row.maker = cells.text("submitter");
  row.ranks = ranks;
  row.samples = static_cast<double>(run.job.global_batch);
  if (!cells.sound() || recipe == nullptr) return std::nullopt;
  run.job.recipe = recipe;
  row.size = ranks == 1              ? kOneAccelerator
             : ranks <= kNodeOfEight ? kOneNode
             : ranks <= 64           ? "9 to 64"
                                     : "> 64";
  spread(cells, ranks, run);
  take_habits(row, cells, shelf, run);
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

namespace {

// ln(measured / predicted), on a node and on more.
using Logs = std::array<std::vector<double>, 2>;

Logs logs_of(std::span<const BenchmarkRow> rows, const auto& holds) {
  Logs out;
  for (const BenchmarkRow& row : rows) {
    if (!row.measured || !row.predicted || !row.source_key.starts_with("mlperf")) continue;
    if (holds(row)) out[on_a_node(row)].push_back(std::log(*row.measured / *row.predicted));
  }
  return out;
}

std::string round_of(const BenchmarkRow& row) {
  const std::size_t at = row.source_key.find("_v");
  return at == std::string::npos ? std::string() : row.source_key.substr(at + 1);
}

}  // namespace

std::vector<WorkloadLeftOut> workloads_left_out(std::span<const BenchmarkRow> rows) {
  std::map<std::string, std::size_t> parts;
  const auto names = [](const BenchmarkRow& row) {
    return std::array{"round " + round_of(row), "maker " + row.maker};
  };
  for (const BenchmarkRow& row : rows) {
    const bool counts = row.measured && row.predicted && row.source_key.starts_with("mlperf");
    if (!counts) continue;
    for (const std::string& name : names(row)) ++parts[name];
  }
  std::vector<WorkloadLeftOut> out;
  for (const auto& [name, count] : parts) {
    const auto is_of = [&, &name = name](const BenchmarkRow& row) {
      const auto of = names(row);
      return std::find(of.begin(), of.end(), name) != of.end();
    };
    const Logs left = logs_of(rows, is_of);
    Logs others = logs_of(rows, [&](const BenchmarkRow& row) { return !is_of(row); });
    std::vector<double> errors;
    std::size_t inside = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (left[i].empty() || others[i].empty()) continue;
      const double low = *quantile(others[i], 0.1), high = *quantile(others[i], 0.9);
      for (const double log : left[i]) {
        errors.push_back(std::exp(-log) - 1);
        if (low <= log && log <= high) ++inside;
      }
    }
    if (errors.empty()) continue;
    const double share = static_cast<double>(inside) / static_cast<double>(errors.size());
    out.push_back({name, summarise(errors), share});
  }
  return out;
}

std::vector<WorkloadScaling> workload_scaling(std::span<const BenchmarkRow> rows) {
  struct Rates {
    std::int64_t most = 0;
    std::vector<double> measured[2], predicted[2];  // on eight, on the most
  };
  std::map<std::array<std::string, 3>, Rates> all;
  const auto key = [](const BenchmarkRow& row) {
    return std::array{row.op, row.machine, round_of(row)};
  };
  const auto counts = [](const BenchmarkRow& row) {
    return row.measured && row.predicted && row.source_key.starts_with("mlperf");
  };
  for (const BenchmarkRow& row : rows) {
    if (counts(row)) all[key(row)].most = std::max(all[key(row)].most, row.ranks);
  }
  for (const BenchmarkRow& row : rows) {
    if (!counts(row)) continue;
    Rates& rates = all[key(row)];
    const bool most = row.ranks == rates.most;
    if (rates.most <= 2 * kNodeOfEight || (!most && row.ranks != kNodeOfEight)) continue;
    const double each = row.samples / static_cast<double>(row.ranks);
    rates.measured[most].push_back(each / row.measured->value());
    rates.predicted[most].push_back(each / row.predicted->value());
  }
  std::vector<WorkloadScaling> out;
  for (auto& [name, rates] : all) {
    if (rates.measured[0].empty() || rates.measured[1].empty()) continue;
    const auto kept = [](std::vector<double>(&of)[2]) {
      return *quantile(of[1], 0.5) / *quantile(of[0], 0.5);
    };
    out.push_back(
        {name[0], name[1], name[2], rates.most, kept(rates.measured), kept(rates.predicted)});
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
