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
#include "cost/calibration/calibration.hpp"
#include "fit/corpus/corpus.hpp"
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
        "recipes recompute in full as a last resort only); nanotron: none (its default); recipes "
        "of NVIDIA: none, selective of norm, latent-up and activation, of feed-forward, too, then "
        "offloaded activations on Grace or full"},
    FillingRule{"global_batch_sequences",
                "micro_batch x grad_accum x dp; without grad_accum: 1 micro-batch, or 8 x pp in a "
                "pipeline"},
    FillingRule{"micro_batch", "global batch / (grad_accum x dp); without grad_accum: 1"},
    FillingRule{"tp, cp, pp, vpp, ep", "1"},
    FillingRule{"vpp of NVIDIA's recipes", "layers / pp, unless the notes say VP n/a"},
    FillingRule{
        "layers / (pp x vpp) not whole (NVIDIA)",
        "embedding and head count as the missing layers: 1 and 1 of two, else all the head"},
    FillingRule{"software", "the release of the container that the notes name, else the date"},
    FillingRule{"overlap_tensor (NVIDIA)",
                "on with tp above 1 inside a node and sp, but not in fp4"},
    FillingRule{"adapters, document (NVIDIA)",
                "adapters on queries, keys and values; documents of 256 tokens packed in tuning"},
    FillingRule{"experts (NVIDIA)",
                "dispatch once on racks of one NVLink domain from release 25.09, where ep leaves "
                "the domain "
                "from 26.04; overlapped where it leaves it and vpp is above 1; on Blackwell but "
                "B200 graphs dense, from "
                "release 26.06 in 8 bit step, with fused experts, 8-bit attention and overlap"},
    FillingRule{"zero_stage", "the habit of the framework"},
    FillingRule{"sp",
                "with tp above 1: on for Megatron-Core, NeMo and JAX, off for Megatron-DeepSpeed "
                "and others"},
    FillingRule{"precision", "fp16 for runs of 2023 and earlier on A100 and V100, else bf16"},
    FillingRule{"flash_attention",
                "unfused for Megatron-DeepSpeed in 2023 and earlier; Composer: flash1 in 2022, its "
                "Triton kernel until January 2024; else by date and hardware: flash1 before July "
                "2023, flash3 on Hopper and later where the framework has it, else flash2"},
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
    FillingRule{"inter_node_network_gbps_per_accel",
                "that of the vendor's reference system; Hugging Face's H100: AWS p5"},
    FillingRule{"fused kernels (no column)",
                "off for eager PyTorch (nanotron, Composer), on where the framework brings or "
                "compiles them"},
    FillingRule{"Composer's formats (notes)",
                "mixed_precision=PURE: 16-bit weights and gradients on the wire; DEFAULT: until "
                "2022 fp32 weights under autocast and 16-bit gradients, then 16-bit weights and "
                "fp32 gradients"},
    FillingRule{"recompute selective, HFU above 1.2 MFU", "full (of every layer)"},
    FillingRule{"fms-fsdp's formats (no columns)",
                "16-bit weights and gradients on the wire (its bfSixteen policy)"},
    FillingRule{"Composer's loop (no columns)",
                "two loss metrics; until 2022 a padding mask and an unfused loss, then a fused "
                "one; recomputation that stops early with DEFAULT from October 2023 (PURE: "
                "software of April 2023)"},
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

/// What may be done where memory does not suffice.
struct Remedy {
  Recompute recompute = Recompute::none;
  std::uint8_t pieces = bit(Piece::core);
  bool offload_activations = false;
  friend bool operator==(const Remedy&, const Remedy&) = default;
};

struct CorpusRun {
  Model model;
  Job job;
  Layout layout;  // legal
  std::shared_ptr<const Machine> machine;
  AttentionFlops convention = AttentionFlops::full;  // of the source's FLOPs and MFU
  bool first_rank_reports = false;                   // the peak in the row is rank 0's
  std::vector<Remedy> remedies;      // recomputation not stated: to be tried, the lightest first
  std::vector<std::string> assumed;  // "cell=value"
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

/// The date of the row's software in years: its release where the notes name one, else its date.
std::optional<double> software_of(const CorpusRow& row);
/// The pieces of a layer that the notes say are recomputed, in the words of Megatron-Core
/// ("recompute modules norm, act") and of JAX's checkpoint policies; nothing where they do not.
std::optional<std::uint8_t> pieces_of(std::string_view notes);
/// Runs by recipes of NVIDIA (NeMo, Megatron-Bridge), and what these switch on.
bool is_vendor_recipe(const CorpusRow& row);
void set_vendor_recipe(const CorpusRow& row, CorpusRun& run);

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
