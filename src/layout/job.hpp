// What is trained and how, apart from how it is split.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "cluster/precision.hpp"

namespace headway {

/// lora: the model's weights are frozen and low-rank adapters are trained beside each matrix.
enum class Task : std::uint8_t { pretrain, finetune, lora };
constexpr std::array<std::string_view, 3> kTaskNames = {"pretrain", "finetune", "lora"};

enum class Framework : std::uint8_t { megatron, fsdp, deepspeed, nanotron, jax };
constexpr std::array<std::string_view, 5> kFrameworkNames = {"megatron", "fsdp", "deepspeed",
                                                             "nanotron", "jax"};

enum class Optimizer : std::uint8_t { adam, adamw, sgd, adafactor, muon, adam_8bit };
constexpr std::array<std::string_view, 6> kOptimizerNames = {"adam",      "adamw", "sgd",
                                                             "adafactor", "muon",  "adam-8bit"};

/// unfused: the scores go through memory (before flash attention, arXiv 2205.14135).
enum class AttentionKernel : std::uint8_t { unfused, flash1, flash2, flash3 };
constexpr std::array<std::string_view, 4> kAttentionKernelNames = {"unfused", "flash1", "flash2",
                                                                   "flash3"};

/// A mixed-precision recipe: which format each part of training uses.
struct Recipe {
  std::string_view name;
  Precision matmul;          // products with weights inside layers
  Precision activation;      // everything else: attention core, norms, residual, embedding, head
  double saved_input_bytes;  // an element of a matrix product's input kept for the backward pass
  double cast_passes;   // extra bytes an element read and written by casts, scaling, transposes
  bool master_weights;  // an fp32 copy of the weights beside those the products read
};

/// The known recipes. fp8: per-tensor delayed scaling; fp8-current: per-tensor current scaling (an
/// extra pass for the maximum); fp8-block: 128-wide blocks (DeepSeek-V3); mxfp8: 32-wide blocks
/// with hardware scaling; fp4: NVFP4, all three products (arXiv 2509.25149). In all of them
/// embedding, head, attention core, norms and the residual stay in bf16.
std::span<const Recipe> recipes();
const Recipe* recipe_from(std::string_view name);

struct Job {
  Task task = Task::pretrain;
  Framework framework = Framework::megatron;
  std::int64_t sequence = 0;      // tokens in one sequence
  std::int64_t global_batch = 0;  // sequences in one step
  const Recipe* recipe = recipe_from("bf16");
  Optimizer optimizer = Optimizer::adamw;
  AttentionKernel attention = AttentionKernel::flash2;
  bool causal = true;
  bool fused = true;    // fused norms, activation, rotary, bias-dropout-add kernels
  double dropout = -1;  // negative: the model's own
  std::int64_t lora_rank = 16;
  double expert_imbalance = 1;  // tokens of the fullest expert rank over the mean (>= 1)
  double software = 0;          // date of framework and libraries in years (2025.5); 0: today's
  /// The hosts compare what each rank is about to call before every collective (PyTorch with
  /// TORCH_DISTRIBUTED_DEBUG=DETAIL).
  bool checked_collectives = false;
  /// Every transfer between stages waits for the host (nanotron before the repair of its pipeline
  /// engine in December 2024).
  bool blocking_transfers = false;
};

}  // namespace headway
