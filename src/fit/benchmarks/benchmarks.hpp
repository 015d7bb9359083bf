// Benchmarks of kernels and calls, read from files of three forms, predicted and held against their
// measurements: gemm.csv (matrix products), inference_kernels.csv (kernels of serving engines),
// collectives.csv (nccl-tests).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/document/csv.hpp"
#include "base/quantity.hpp"
#include "base/result.hpp"
#include "cluster/cluster.hpp"
#include "cost/serving/exchange.hpp"
#include "cost/serving/experts.hpp"
#include "cost/serving/serving.hpp"
#include "fit/statistics.hpp"

namespace headway {

/// What the rows of a corpus are, told by its columns; training: whole steps, or none of the
/// others.
enum class CorpusKind : std::uint8_t {
  training,
  products,
  inference_kernels,
  collectives,
  serving,
  workloads
};
constexpr std::array<std::string_view, 6> kCorpusKindNames = {
    "training", "products", "inference kernels", "collectives", "serving", "workloads"};
CorpusKind corpus_kind(const Csv& csv);

/// An all-reduce of an engine's own [INFER-2].
struct OwnAllReduce {
  Bytes bytes;
  std::int64_t ranks = 1;
  BytesPerSecond bandwidth;  // of an accelerator to its peers
};
/// A kernel whose constants stand in data/serving/kernels.toml.
using ServingKernel =
    std::variant<CachedAttention, PromptAttention, OwnAllReduce, ExpertExchange, ExpertProducts>;
Seconds time_of(const ServingKernel& kernel, const Accelerator& accelerator,
                const KernelParameters& flash, const ServingKernels& kernels);

/// One row, measured and predicted, or skipped with the reason.
struct BenchmarkRow {
  std::string id, source_key, outcome;
  std::string machine;     // the accelerator; of a collective the system
  std::string format;      // "bf16", "fp8 by blocks"; of a collective empty
  std::string op;          // "gemm", "all-reduce", ...
  std::string size;        // class of size: ">= 512 rows", "> 64 MiB", ...
  std::string engine;      // that ran it, of kernels of serving
  std::string maker;       // who ran a step
  std::int64_t ranks = 0;  // of a step
  double samples = 0;      // of a step: its batch
  std::optional<ServingKernel> serving;
  std::optional<Seconds> measured, predicted;
  std::optional<bool> fits;                    // of a step: in the accelerators' memory
  std::optional<Seconds> least, most;          // between which four of five such steps lie
  std::vector<std::string> assumed;            // what the row does not say, "cell=value"
  std::string skipped_reason, skipped_detail;  // empty where predicted

  /// Predicted over measured time, less 1.
  std::optional<double> error() const;
};

/// Rows that share accelerator, format, operation and class of size.
struct BenchmarkGroup {
  std::string machine, format, op, size;
  std::size_t rows = 0, predicted = 0, assumed = 0;  // assumed: predicted with something assumed
  ErrorSummary error;
};

struct BenchmarkReport {
  CorpusKind kind = CorpusKind::products;
  std::vector<BenchmarkRow> rows;      // in the order of the files
  std::vector<BenchmarkGroup> groups;  // by machine, format, op, size
  BenchmarkGroup all;
  std::map<std::string, std::size_t> skipped;  // by reason; with all.predicted they make all.rows
};

/// Predicts every row of a table of this kind (not training) with the embedded constants.
/// `cluster`: on which the calls of collectives run, with its own constants; else the one their
/// hardware names. Missing columns are problems of the file, a cell that cannot be read skips its
/// row.
Result<std::vector<BenchmarkRow>> predict_benchmarks(const Csv& csv, CorpusKind kind,
                                                     const std::optional<Cluster>& cluster = {});

BenchmarkReport summarise(CorpusKind kind, std::vector<BenchmarkRow> rows);

}  // namespace headway
