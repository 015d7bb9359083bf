// From a row of a corpus to a run that can be forecast.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.hpp"
#include "cost/calibration.hpp"
#include "fit/corpus.hpp"
#include "layout/layout.hpp"
#include "model/count.hpp"

namespace headway {

/// How a cell that the source leaves empty is filled. Each filled cell is named in
/// CorpusRun::assumed. What is not here is not filled: the row is skipped with that as the reason.
struct FillingRule {
  std::string_view cell, rule;
};
inline constexpr std::array kFillingPolicy = {
    FillingRule{
        "recompute",
        "the lightest mode that fits: none, selective, full; Megatron: none, selective (its "
        "recipes recompute in full as a last resort only); nanotron: none (its default)"},
    FillingRule{"global_batch_sequences",
                "micro_batch x grad_accum x dp; without grad_accum: 1 micro-batch, or 8 x pp in a "
                "pipeline"},
    FillingRule{"micro_batch", "global batch / (grad_accum x dp); without grad_accum: 1"},
    FillingRule{"tp, cp, pp, vpp, ep", "1"},
    FillingRule{"zero_stage", "the habit of the framework"},
    FillingRule{"sp",
                "with tp above 1: on for Megatron-Core, NeMo and JAX, off for Megatron-DeepSpeed "
                "and others"},
    FillingRule{"precision", "fp16 for runs of 2023 and earlier on A100 and V100, else bf16"},
    FillingRule{"flash_attention",
                "unfused for Megatron-DeepSpeed in 2023 and earlier, else by date and hardware: "
                "flash1 before July 2023, flash3 on Hopper and later where the framework has it, "
                "else flash2"},
    FillingRule{"vpp above layers / pp",
                "the most chunks that hold a layer (embedding and head can count as chunks)"},
    FillingRule{"offload of some activations", "none: the sources do not say how many"},
    FillingRule{"layers, d_model, n_heads, d_ff",
                "those of the built-in model that model_name names"},
    FillingRule{"d_ff", "without such a model: what n_params leaves for it"},
    FillingRule{"n_kv_heads", "those of the built-in model, else n_heads"},
    FillingRule{"gated_mlp", "that of the built-in model, else 1"},
    FillingRule{"vocab", "that of the built-in model or family (32,000; GPT: 51,200)"},
    FillingRule{"accel_memory_gb", "the larger variant on sale"},
    FillingRule{"inter_node_network_gbps_per_accel", "that of the vendor's reference system"},
    FillingRule{"fused kernels (no column)",
                "off for eager PyTorch (nanotron, Composer), on where the framework brings or "
                "compiles them"},
    FillingRule{"tied embeddings",
                "as the notes say, else what comes nearer to n_params, else the family's"},
};

/// A cluster with its calibration for software of one date.
struct Machine {
  Cluster cluster;
  double software = 0;
  Benchmarked alone;
  Calibration calibration;
};

struct CorpusRun {
  Model model;
  Job job;
  Layout layout;  // legal
  std::shared_ptr<const Machine> machine;
  AttentionFlops convention = AttentionFlops::full;  // of the source's FLOPs and MFU
  bool first_rank_reports = false;                   // the peak in the row is rank 0's
  std::vector<Recompute> recompute_modes;            // not stated: to be tried, the lightest first
  std::vector<std::string> assumed;                  // "cell=value"
};

/// What rows share, loaded once: built-in models and machines.
class Shelf {
 public:
  const Result<Model>& model(const std::string& name);
  /// A built-in cluster with software of a date in years (0: today's); `network_gbps` above 0: with
  /// that bandwidth of each accelerator, Gb/s per direction, outside of a node.
  const Result<std::shared_ptr<const Machine>>& machine(const std::string& name,
                                                        double network_gbps, double software);

 private:
  std::optional<Result<StepConstants>> constants_;
  std::map<std::string, Result<Model>> models_;
  std::map<std::tuple<std::string, double, double>, Result<std::shared_ptr<const Machine>>>
      machines_;
};

/// The framework family of the row.
Framework framework_of(const CorpusRow& row);

/// The model of the row: the built-in one its name tells, or of its family, in the row's shape.
/// A reason stands in Problem::where ("cell missing: layers"), details in the message.
Result<Model> model_of(const CorpusRow& row, Shelf& shelf, std::vector<std::string>& assumed);

/// A legal run, or why the row cannot be predicted, as above. Only the first reason is given.
Result<CorpusRun> run_of(const CorpusRow& row, Shelf& shelf);

/// The number that stands behind `words` in `text` ("head_dim 128"), or nothing.
std::optional<std::int64_t> number_after(std::string_view text, std::string_view words);

}  // namespace headway
