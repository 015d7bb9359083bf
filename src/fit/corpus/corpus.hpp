// A corpus: a table of measured training runs, one configuration a row, in the columns of
// data/measurements/training.csv.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "layout/fields.hpp"

namespace headway {

/// What a column says of a row that is named as a field of a run (stated.hpp).
struct StatedColumn {
  std::string name;  // of the column
  const FieldRow* field = nullptr;
  double number = 0;  // what the cell stands for
};

/// One measured run as its source states it. An empty cell means that the source does not say:
/// numbers are then absent, texts empty. Members bear the names of the columns.
struct CorpusRow {
  int line = 0;
  std::string id, source_key, source, date, system, accelerator, intra_node_link, framework,
      precision, task, model_name, recompute, offload, outcome, flops_convention,
      layout_completeness, notes;
  std::optional<std::int64_t> source_tier, n_accel, accel_per_node, layers, d_model, n_heads,
      n_kv_heads, d_ff, gated_mlp, vocab, seq_len, n_experts, top_k, global_batch_sequences,
      micro_batch, grad_accum, dp, tp, sp, cp, pp, vpp, ep, zero_stage, flash_attention, compiled;
  std::optional<double> accel_memory_gb, inter_node_network_gbps_per_accel, n_params, step_time_s,
      tokens_per_s_per_accel, model_tflops_per_accel, hw_tflops_per_accel, mfu_reported,
      memory_gb_reported;
  /// Of machine_settings(), each: what its column says, where the table has one.
  std::vector<std::string> settings;
  /// Fields of a run that columns of their names give it, in the order of the table.
  std::vector<StatedColumn> stated;
  /// The first cell that cannot be read and why; empty for a sound row. Such a row is counted as
  /// skipped, the others of the file are used.
  std::string bad_cell, bad_cell_detail;

  bool out_of_memory() const { return outcome == "oom"; }
  /// Whether a column of a field's name says something.
  bool states(std::string_view column) const {
    return std::any_of(stated.begin(), stated.end(),
                       [&](const StatedColumn& each) { return each.name == column; });
  }
};

struct Corpus {
  std::string file;
  std::vector<CorpusRow> rows;
  std::vector<std::string> unread;  // columns that nothing reads
};

/// Reads a corpus. Every column must be there (in any order), but for `compiled`, those of
/// machine_settings(), board_power and so on, and those named as fields of a run (stated.hpp),
/// which may; others are not read. A missing one is a problem of the file, a cell that is no number
/// in its range, or no name of its field, a defect of its row.
Result<Corpus> read_corpus(std::string_view csv, std::string file);

/// What is to be told of a corpus with columns that nothing reads.
Problem unread_columns(const Corpus& corpus);

/// A row's cells by the name of their column.
bool is_text_column(std::string_view name);
bool is_number_column(std::string_view name);
const std::string& text_cell(const CorpusRow& row, std::string_view name);
std::optional<double> number_cell(const CorpusRow& row, std::string_view name);

}  // namespace headway
