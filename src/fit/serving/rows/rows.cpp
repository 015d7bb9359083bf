// A file of measured serving: what each row measured, and what it asks.
#include <algorithm>
#include <utility>

#include "fit/serving/rows/row.hpp"
#include "model/reading/load.hpp"

namespace headway {

using benchmarks::Cells;
using serving_rows::Loaded;
using serving_rows::RowText;

namespace {

void read_measurements(RowText& text, const Loaded& loaded) {
  for (std::size_t i = 0; i < kServedQuantities.size(); ++i) {
    if (!text.cells.text(kServedQuantities[i]).empty()) {
      text.row.measured[i] = text.cells.number(kServedQuantities[i]);
    }
  }
  if (!text.cells.text("memory_gb").empty()) {
    const auto& binary = loaded.words.gibibytes;
    const bool is_binary =
        std::find(binary.begin(), binary.end(), text.row.source_key) != binary.end();
    text.row.measured_memory_gb =
        text.cells.number("memory_gb") * (is_binary ? 1024.0 * 1024 * 1024 / 1e9 : 1);
  }
  text.row.ran_out = text.cells.text("oom") == "1";
}

void read_row(RowText text, Loaded& loaded, ServedCase& out) {
  read_measurements(text, loaded);
  const auto* word = serving_words::word_in(loaded.words.notes, text.said);
  if (word != nullptr) text.cells.skip(word->skip);
  Serving serving = serving_rows::serving_of(text, loaded);
  if (const auto* benchmark = serving_rows::benchmark_of(text, loaded.words)) {
    out.tuned = serving_rows::tuned_of(text, loaded, std::move(serving), *benchmark);
  } else {
    out.asked = serving_rows::asked_of(text, loaded, std::move(serving));
  }
}

const std::vector<std::string> kNeeded = {"source_key",
                                          "model",
                                          "accelerator",
                                          "n_accel",
                                          "tp",
                                          "pp",
                                          "ep",
                                          "dp",
                                          "engine",
                                          "batch",
                                          "precision_kv",
                                          "precision_weights",
                                          "input_len",
                                          "output_len",
                                          "ttft_s",
                                          "tpot_s",
                                          "latency_s",
                                          "notes",
                                          "oom",
                                          "request_rate",
                                          "throughput_output_tok_s",
                                          "throughput_total_tok_s"};

// What a row says was run.
std::string cells_of_run(const Csv& csv, const CsvRow& row) {
  std::string out;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const std::string& name = csv.header[i];
    const bool is_quantity = std::find(kServedQuantities.begin(), kServedQuantities.end(), name) !=
                             kServedQuantities.end();
    if (is_quantity || name == "id" || name == "source" || name == "memory_gb") continue;
    out += row.cells[i] + '\n';
  }
  return out;
}

}  // namespace

Result<std::vector<ServedCase>> read_serving(const Csv& csv) {
  Problems problems = missing_columns(csv, kNeeded);
  const auto& words = serving_words::Words::embedded();
  const auto& machines = benchmarks::Words::embedded();
  const auto& known = engines();
  if (!words) append(problems, words.problems());
  if (!machines) append(problems, machines.problems());
  if (!known) append(problems, known.problems());
  if (!problems.empty()) return problems;
  Loaded loaded{*words, *machines, *known, model_names()};
  std::vector<ServedCase> cases;
  cases.reserve(csv.rows.size());
  for (const CsvRow& from : csv.rows) {
    Cells cells(csv, from);
    ServedCase& each = cases.emplace_back();
    const std::string& id = cells.text("id");
    each.row.id = id.empty() ? std::to_string(from.line) : id;
    each.row.source_key = cells.text("source_key");
    each.row.cells = cells_of_run(csv, from);
    read_row({each.row, cells, benchmarks::plain(cells.text("notes"))}, loaded, each);
    each.row.skipped_reason = cells.reason;
    each.row.skipped_detail = cells.detail;
  }
  return cases;
}

}  // namespace headway
