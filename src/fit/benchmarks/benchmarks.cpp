#include "fit/benchmarks/benchmarks.hpp"

#include <algorithm>
#include <tuple>

#include "fit/benchmarks/predict.hpp"

namespace headway {

using benchmarks::Bench;
using benchmarks::Cells;

namespace {

// The columns that tell a file of each kind from the others.
struct Telling {
  CorpusKind kind;
  std::vector<std::string> columns;
};
const std::vector<Telling>& tellings() {
  static const std::vector<Telling> all = {
      {CorpusKind::products, {"op", "latency_ms", "tflops"}},
      {CorpusKind::inference_kernels, {"engine", "kernel", "op"}},
      {CorpusKind::collectives, {"hardware", "op", "bytes"}},
      {CorpusKind::serving, {"input_len", "output_len", "ttft_s"}},
      {CorpusKind::workloads, {"model", "seq_or_image", "step_time_s"}}};
  return all;
}

// The columns that a file of benchmarks must have.
struct Form {
  CorpusKind kind;
  std::vector<std::string> needed;
  void (*predict)(BenchmarkRow&, Cells&, Bench&);
};
const std::vector<Form>& forms() {
  static const std::vector<Form> all = {
      {CorpusKind::products,
       {"source", "accelerator", "dtype", "op", "m", "n", "k", "batch", "latency_ms", "tflops",
        "notes"},
       benchmarks::predict_product},
      {CorpusKind::inference_kernels,
       {"source_key", "accelerator",  "engine", "kernel", "op",       "dtype",
        "kv_dtype",   "ranks",        "nodes",  "m",      "n",        "k",
        "batch",      "seq_q",        "seq_kv", "heads",  "kv_heads", "head_dim",
        "tokens",     "hidden",       "inter",  "topk",   "experts",  "moe_tp",
        "ep",         "distribution", "bytes",  "time_us"},
       benchmarks::predict_inference_kernel},
      {CorpusKind::collectives,
       {"source", "hardware", "network", "nodes", "ranks", "op", "bytes", "time_us"},
       benchmarks::predict_collective},
  };
  return all;
}

// "github:owner/name@commit:path" -> "owner/name".
std::string source_key_of(const Cells& cells) {
  const std::string& key = cells.text("source_key");
  if (!key.empty()) return key;
  const std::string& source = cells.text("source");
  const std::size_t begin = source.starts_with("github:") ? 7 : 0;
  return source.substr(begin, source.find('@') - begin);
}

}  // namespace

CorpusKind corpus_kind(const Csv& csv) {
  for (const Telling& telling : tellings()) {
    const auto has = [&](const std::string& name) { return csv.column(name).has_value(); };
    if (std::all_of(telling.columns.begin(), telling.columns.end(), has)) return telling.kind;
  }
  return CorpusKind::training;
}

std::optional<double> BenchmarkRow::error() const {
  if (!measured || !predicted) return std::nullopt;
  return *predicted / *measured - 1;
}

Result<std::vector<BenchmarkRow>> predict_benchmarks(const Csv& csv, CorpusKind kind,
                                                     const std::optional<Cluster>& cluster) {
  const auto form = std::find_if(forms().begin(), forms().end(),
                                 [&](const Form& each) { return each.kind == kind; });
  Problems problems = missing_columns(csv, form->needed);
  const auto& words = benchmarks::Words::embedded();
  if (!words) append(problems, words.problems());
  const auto systems = load_collective_systems();
  if (!systems) append(problems, systems.problems());
  if (!problems.empty()) return problems;
  Bench bench{*words, {}, *systems, {}};
  if (cluster) {
    const auto alone = benchmarked_for(*cluster);
    if (!alone) return alone.problems();
    bench.cluster = benchmarks::Joined{*cluster, alone->levels};
  }
  std::vector<BenchmarkRow> rows;
  rows.reserve(csv.rows.size());
  for (const CsvRow& from : csv.rows) {
    Cells cells(csv, from);
    BenchmarkRow& row = rows.emplace_back();
    const std::string& id = cells.text("id");
    row.id = id.empty() ? std::to_string(from.line) : id;
    row.source_key = source_key_of(cells);
    const std::string& outcome = cells.text("outcome");
    row.outcome = outcome.empty() ? "ok" : outcome;
    form->predict(row, cells, bench);
    row.skipped_reason = cells.reason;
    row.skipped_detail = cells.detail;
    if (!cells.sound()) row.predicted.reset();
  }
  return rows;
}

BenchmarkReport summarise(CorpusKind kind, std::vector<BenchmarkRow> rows) {
  BenchmarkReport report;
  report.kind = kind;
  report.all.machine = "all";
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Key, std::pair<BenchmarkGroup, std::vector<double>>> groups;
  std::vector<double> all;
  for (const BenchmarkRow& row : rows) {
    auto& [group, errors] = groups[{row.machine, row.format, row.op, row.size}];
    for (BenchmarkGroup* each : {&group, &report.all}) {
      ++each->rows;
      if (!row.predicted) continue;
      ++each->predicted;
      if (!row.assumed.empty()) ++each->assumed;
    }
    if (!row.predicted) ++report.skipped[row.skipped_reason];
    if (const auto error = row.error()) {
      errors.push_back(*error);
      all.push_back(*error);
    }
  }
  for (auto& [key, entry] : groups) {
    auto& [group, errors] = entry;
    std::tie(group.machine, group.format, group.op, group.size) = key;
    group.error = summarise(errors);
    report.groups.push_back(group);
  }
  report.all.error = summarise(all);
  report.rows = std::move(rows);
  return report;
}

}  // namespace headway

namespace headway::benchmarks {

std::optional<Placed> accelerator_of(BenchmarkRow& row, Cells& cells, Bench& bench) {
  const std::string& said = cells.text("accelerator");
  row.machine = said;
  const Machine* machine = bench.words.machine(said);
  if (said.empty()) {
    cells.skip("cell missing: accelerator");
  } else if (!machine) {
    cells.skip("no data sheet of this accelerator", said);
  } else if (!machine->skip.empty()) {
    cells.skip(machine->skip);
  } else {
    const auto& on = bench.machines.accelerator(machine->accelerator);
    if (on) {
      row.machine = machine->accelerator;
      return Placed{*machine, *on};
    }
    cells.skip("no data sheet of this accelerator", on.problems()[0].message);
  }
  return std::nullopt;
}

const Format* format_of(std::string_view column, BenchmarkRow& row, Cells& cells, Bench& bench) {
  const std::string& said = cells.text(column);
  const Format* format = bench.words.format(said);
  row.format = format ? name_of(*format) : said;
  if (said.empty()) {
    cells.skip("cell missing: " + std::string(column));
  } else if (!format) {
    cells.skip("no products of this format: " + said);
  }
  return format;
}

std::string rows_class(std::int64_t rows) {
  return rows >= 512 ? ">= 512 rows" : rows >= 128 ? "128 to 511 rows" : "< 128 rows";
}

}  // namespace headway::benchmarks
