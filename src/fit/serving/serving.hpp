// Measured serving, one configuration a row, predicted and held against what was measured.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/csv.hpp"
#include "base/result.hpp"
#include "fit/statistics.hpp"
#include "platform/shard.hpp"

namespace headway {

/// What a row may say of a serving; seconds, tokens a second of all accelerators.
constexpr std::array<std::string_view, 5> kServedQuantities = {
    "ttft_s", "tpot_s", "latency_s", "throughput_output_tok_s", "throughput_total_tok_s"};
enum ServedQuantity : std::size_t { kFirstToken, kEachToken, kLatency, kOutput, kTotal };
using ServedNumbers = std::array<std::optional<double>, kServedQuantities.size()>;

struct ServedBounds {
  double low = 0, high = 0;
};

struct ServedRow {
  std::string id, source_key;
  std::string machine, model, engine;
  bool ran_out = false;  // of memory, when it was measured
  ServedNumbers measured, predicted;
  /// Of each quantity, in its unit: in which four of five measurements lie.
  std::array<std::optional<ServedBounds>, kServedQuantities.size()> intervals;
  /// Of the fullest accelerator, of batches that start together; 10^9 bytes.
  std::optional<double> measured_memory_gb, predicted_memory_gb;
  std::string precision, load;  // of the weights; "together", "clients", "full"
  std::optional<bool> fits;     // as predicted; none: skipped
  /// [INFER-17] Of clients and random requests, in one place: what is answered over what would be
  /// with as many as one likes. 1 where the row is of as many as memory holds.
  std::optional<double> of_capacity;
  std::vector<std::string> assumed;  // what the row does not say, "cell=value"
  std::string skipped_reason, skipped_detail;
  std::string cells;  // all of the row but its id, its place and what was measured

  /// Predicted over measured, less 1, of one quantity; of the main one: the first that is measured
  /// of latency, tokens a second, TPOT, TTFT.
  std::optional<double> error(std::size_t quantity) const;
  std::optional<std::size_t> main() const;
  std::optional<double> error() const;
  std::optional<ServedBounds> interval() const;
};

/// What groups of rows share.
enum class ServedBy : std::uint8_t { source, accelerator, engine, model, precision, load };
constexpr std::array<std::string_view, 6> kServedByNames = {"source", "accelerator", "engine",
                                                            "model",  "precision",   "load"};

/// Of capacity: below it few requests wait for others.
constexpr double kShortOfFull = 0.8;

/// Rows of one source (engine, ...), one quantity.
struct ServedGroup {
  std::string name, quantity;
  ErrorSummary error;
  std::size_t with_interval = 0, in_interval = 0;  // rows
  std::optional<double> width;                     // high over low, the median
};

/// Rows that repeat others: how far their measurements lie apart, which no prediction explains.
struct ServedRepeats {
  std::string alike;  // in what
  std::string quantity;
  std::size_t configurations = 0, rows = 0;
  double median = 0, p90 = 0;  // of configurations: their largest over their smallest, less 1
};

/// Of predicted rows whose cells are all alike, and of those whose predictions are: releases and
/// settings that the program does not tell apart are among these.
std::vector<ServedRepeats> repeats_of(const std::vector<ServedRow>& rows);

struct ServedReport {
  std::vector<ServedRow> rows;
  ServedBy by = ServedBy::source;
  std::vector<ServedGroup> groups;  // by name and quantity; all of them last
  /// Of first tokens of clients: those that are below kShortOfFull of capacity, and the others.
  std::vector<ServedGroup> by_capacity;
  std::vector<ServedRepeats> repeats;
  ErrorSummary memory;  // of rows that say how much they held
  std::size_t predicted = 0;
  /// Of rows that say whether memory was enough.
  std::size_t ran_and_fits = 0, ran = 0, ran_out_and_does_not_fit = 0, ran_out = 0;
  std::map<std::string, std::size_t> skipped;  // by reason
};

/// Every row predicted or skipped with its reason, the same by any number of threads; missing
/// columns are problems of the file.
Result<std::vector<ServedRow>> predict_serving(const Csv& csv, int threads = 1);
/// The same in parts of its rows, of a file that is called `name` among them; of a part alone none.
Result<std::vector<ServedRow>> predict_serving_in_parts(const Csv& csv, const std::string& name,
                                                        const Division& division, int threads);

ServedReport summarise_serving(std::vector<ServedRow> rows, ServedBy by = ServedBy::source);

}  // namespace headway
