#include "fit/corpus/corpus.hpp"

#include <algorithm>
#include <cmath>

#include "base/document/csv.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "cluster/settings.hpp"
#include "fit/corpus/stated.hpp"

namespace headway {
namespace {

struct TextColumn {
  const char* name;
  std::string CorpusRow::*member;
};
struct CountColumn {
  const char* name;
  std::optional<std::int64_t> CorpusRow::*member;
  std::int64_t least, most;
  bool needed = true;
};
struct NumberColumn {
  const char* name;
  std::optional<double> CorpusRow::*member;
  double most;  // in the column's unit; all are greater than zero
};

constexpr TextColumn kTextColumns[] = {
    {"id", &CorpusRow::id},
    {"source_key", &CorpusRow::source_key},
    {"source", &CorpusRow::source},
    {"date", &CorpusRow::date},
    {"system", &CorpusRow::system},
    {"accelerator", &CorpusRow::accelerator},
    {"intra_node_link", &CorpusRow::intra_node_link},
    {"framework", &CorpusRow::framework},
    {"precision", &CorpusRow::precision},
    {"task", &CorpusRow::task},
    {"model_name", &CorpusRow::model_name},
    {"recompute", &CorpusRow::recompute},
    {"offload", &CorpusRow::offload},
    {"outcome", &CorpusRow::outcome},
    {"flops_convention", &CorpusRow::flops_convention},
    {"layout_completeness", &CorpusRow::layout_completeness},
    {"notes", &CorpusRow::notes},
};

constexpr std::int64_t kMany = 1'000'000'000;  // more than any degree, width or batch in use
constexpr CountColumn kCountColumns[] = {
    {"source_tier", &CorpusRow::source_tier, 0, 9},
    {"n_accel", &CorpusRow::n_accel, 1, kMany},
    {"accel_per_node", &CorpusRow::accel_per_node, 1, kMany},
    {"layers", &CorpusRow::layers, 1, 100'000},
    {"d_model", &CorpusRow::d_model, 1, 10'000'000},
    {"n_heads", &CorpusRow::n_heads, 1, 10'000'000},
    {"n_kv_heads", &CorpusRow::n_kv_heads, 1, 10'000'000},
    {"d_ff", &CorpusRow::d_ff, 1, 10'000'000},
    {"gated_mlp", &CorpusRow::gated_mlp, 0, 1},
    {"vocab", &CorpusRow::vocab, 1, 100'000'000},
    {"seq_len", &CorpusRow::seq_len, 1, 100'000'000},
    {"n_experts", &CorpusRow::n_experts, 1, 1'000'000},
    {"top_k", &CorpusRow::top_k, 1, 1'000'000},
    {"global_batch_sequences", &CorpusRow::global_batch_sequences, 1, kMany},
    {"micro_batch", &CorpusRow::micro_batch, 1, kMany},
    {"grad_accum", &CorpusRow::grad_accum, 1, kMany},
    {"dp", &CorpusRow::dp, 1, kMany},
    {"tp", &CorpusRow::tp, 1, kMany},
    {"sp", &CorpusRow::sp, 0, kMany},
    {"cp", &CorpusRow::cp, 1, kMany},
    {"pp", &CorpusRow::pp, 1, kMany},
    {"vpp", &CorpusRow::vpp, 1, kMany},
    {"ep", &CorpusRow::ep, 1, kMany},
    {"zero_stage", &CorpusRow::zero_stage, 0, 3},
    {"flash_attention", &CorpusRow::flash_attention, 0, 3},
    {"compiled", &CorpusRow::compiled, 0, 1, /*needed=*/false},
};

constexpr NumberColumn kNumberColumns[] = {
    {"accel_memory_gb", &CorpusRow::accel_memory_gb, 1e6},
    {"inter_node_network_gbps_per_accel", &CorpusRow::inter_node_network_gbps_per_accel, 1e6},
    {"n_params", &CorpusRow::n_params, 1e18},
    {"step_time_s", &CorpusRow::step_time_s, 1e7},
    {"tokens_per_s_per_accel", &CorpusRow::tokens_per_s_per_accel, 1e12},
    {"model_tflops_per_accel", &CorpusRow::model_tflops_per_accel, 1e9},
    {"hw_tflops_per_accel", &CorpusRow::hw_tflops_per_accel, 1e9},
    {"mfu_reported", &CorpusRow::mfu_reported, 1000},
    {"memory_gb_reported", &CorpusRow::memory_gb_reported, 1e6},
};

template <class Column, std::size_t N>
const Column* find(const Column (&columns)[N], std::string_view name) {
  const auto found = std::find_if(std::begin(columns), std::end(columns),
                                  [&](const Column& column) { return column.name == name; });
  return found == std::end(columns) ? nullptr : found;
}

void fail(CorpusRow& row, std::string_view column, const std::string& cell,
          const std::string& legal) {
  if (!row.bad_cell.empty()) return;
  row.bad_cell = column;
  row.bad_cell_detail = "'" + printable(cell) + "' is not " + legal;
}

}  // namespace

Result<Corpus> read_corpus(std::string_view csv, std::string file) {
  const auto table = parse_csv(csv, std::move(file));
  if (!table) return table.problems();

  std::vector<std::string> names, needed;
  const auto name = [&](const char* column, bool must_be_there) {
    names.emplace_back(column);
    if (must_be_there) needed.emplace_back(column);
  };
  for (const TextColumn& column : kTextColumns) name(column.name, true);
  for (const CountColumn& column : kCountColumns) name(column.name, column.needed);
  for (const NumberColumn& column : kNumberColumns) name(column.name, true);
  if (Problems missing = missing_columns(*table, needed); !missing.empty()) return missing;

  std::vector<std::optional<std::size_t>> index;  // of each name above, in its order
  for (const std::string& each : names) index.push_back(table->column(each));

  std::vector<std::optional<std::size_t>> settings;
  for (const MachineSetting& setting : machine_settings()) {
    names.emplace_back(setting.name);
    std::replace(names.back().begin(), names.back().end(), '-', '_');
    settings.push_back(table->column(names.back()));
  }

  Corpus out{table->file, {}, {}};
  std::vector<std::pair<std::size_t, StatedColumn>> stated;
  for (std::size_t i = 0; i < table->header.size(); ++i) {
    const std::string& column = table->header[i];
    if (std::find(names.begin(), names.end(), column) != names.end()) continue;
    if (const FieldRow* field = stated_field(column)) {
      stated.emplace_back(i, StatedColumn{column, field, 0});
    } else {
      out.unread.push_back(printable(column));
    }
  }

  const std::string absent;
  out.rows.reserve(table->rows.size());
  for (const CsvRow& from : table->rows) {
    CorpusRow& row = out.rows.emplace_back();
    row.line = from.line;
    std::size_t next = 0;
    const auto cell = [&]() -> const std::string& {
      const auto& column = index[next++];
      return column ? from.cells[*column] : absent;
    };
    for (const TextColumn& column : kTextColumns) row.*column.member = cell();
    for (const CountColumn& column : kCountColumns) {
      const std::string& text = cell();
      if (text.empty()) continue;
      const auto value = real_number(text);
      if (value && *value == std::floor(*value) && *value >= static_cast<double>(column.least) &&
          *value <= static_cast<double>(column.most)) {
        row.*column.member = static_cast<std::int64_t>(*value);
      } else {
        fail(row, column.name, text,
             "a whole number from " + std::to_string(column.least) + " to " +
                 std::to_string(column.most));
      }
    }
    for (const NumberColumn& column : kNumberColumns) {
      const std::string& text = cell();
      if (text.empty()) continue;
      const auto value = real_number(text);
      if (value && *value > 0 && *value <= column.most) {
        row.*column.member = value;
      } else {
        fail(row, column.name, text, "a number above 0, at most " + std::to_string(column.most));
      }
    }
    for (const auto& column : settings) {
      row.settings.push_back(column ? from.cells[*column] : std::string());
    }
    for (const auto& [place, column] : stated) {
      const std::string& text = from.cells[place];
      if (text.empty()) continue;
      if (const auto number = stated_number(*column.field, text)) {
        row.stated.push_back(column);
        row.stated.back().number = *number;
      } else {
        fail(row, column.name, text, legal_cells(*column.field));
      }
    }
    if (row.outcome != "ok" && row.outcome != "oom") fail(row, "outcome", row.outcome, "ok or oom");
  }
  return out;
}

Problem unread_columns(const Corpus& corpus) {
  return {corpus.file, "nothing reads these columns: " + join(corpus.unread, ", "),
          Trouble::unknown};
}

bool is_text_column(std::string_view name) {
  return find(kTextColumns, name) != nullptr;
}

bool is_number_column(std::string_view name) {
  return find(kCountColumns, name) != nullptr || find(kNumberColumns, name) != nullptr;
}

const std::string& text_cell(const CorpusRow& row, std::string_view name) {
  return row.*find(kTextColumns, name)->member;
}

std::optional<double> number_cell(const CorpusRow& row, std::string_view name) {
  if (const NumberColumn* column = find(kNumberColumns, name)) return row.*column->member;
  const auto& count = row.*find(kCountColumns, name)->member;
  return count ? std::optional(static_cast<double>(*count)) : std::nullopt;
}

}  // namespace headway
