// What is trained and how, apart from how it is split.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/quantity.hpp"
#include "cluster/precision.hpp"
#include "layout/frameworks/framework.hpp"
#include "method/method.hpp"

namespace headway {

/// lora: the model's weights are frozen and low-rank adapters are trained beside each matrix.
enum class Task : std::uint8_t { pretrain, finetune, lora };
constexpr std::array<std::string_view, 3> kTaskNames = {"pretrain", "finetune", "lora"};

enum class Optimizer : std::uint8_t { adam, adamw, sgd, adafactor, muon, adam_8bit };
constexpr std::array<std::string_view, 6> kOptimizerNames = {"adam",      "adamw", "sgd",
                                                             "adafactor", "muon",  "adam-8bit"};

/// unfused: the scores go through memory (before flash attention, arXiv 2205.14135). triton: the
/// first flash algorithm written in Triton (OpenAI's tutorial, flash_attn_triton.py).
enum class AttentionKernel : std::uint8_t { unfused, flash1, flash2, flash3, triton };
constexpr std::array<std::string_view, 5> kAttentionKernelNames = {"unfused", "flash1", "flash2",
                                                                   "flash3", "triton"};

/// Which weight matrices carry adapters (task lora).
enum class Adapters : std::uint8_t { all, query_key_value };
constexpr std::array<std::string_view, 2> kAdapterNames = {"all", "query-key-value"};

/// What CUDA graphs replay, so that the host does not issue it kernel by kernel: nothing; all but
/// the routed experts, whose shapes change from step to step; the whole step.
enum class Graphs : std::uint8_t { none, dense, step };
constexpr std::array<std::string_view, 3> kGraphNames = {"none", "dense", "step"};

/// A mixed-precision recipe: which format each part of training uses.
struct Recipe {
  std::string_view name;
  Precision matmul;          // products with weights inside layers
  Precision activation;      // everything else: attention core, norms, residual, embedding, head
  double saved_input_bytes;  // an element of a matrix product's input kept for the backward pass
  double cast_passes;   // extra bytes an element read and written by casts, scaling, transposes
  bool master_weights;  // an fp32 copy of the weights beside those the products read
  bool block_scaled = false;        // products with a scale for each block of their operands
  bool scaled_by_products = false;  // by the unit that multiplies, as Accelerator::scales_blocks()
};

/// The known recipes. fp8: per-tensor delayed scaling; fp8-current: per-tensor current scaling (an
/// extra pass for the maximum); fp8-block: 128-wide blocks (DeepSeek-V3); mxfp8: 32-wide blocks
/// with hardware scaling; fp4: NVFP4, all three products (arXiv 2509.25149). In all of them
/// embedding, head, attention core, norms and the residual stay in bf16.
std::span<const Recipe> recipes();
const Recipe* recipe_from(std::string_view name);

/// A choice that the framework makes where the user leaves it open.
enum class Choice : std::uint8_t { framework, off, on };
constexpr std::array<std::string_view, 3> kChoiceNames = {"default", "off", "on"};

/// A format that the framework chooses where the user leaves it open.
enum class WireFormat : std::uint8_t { framework, bf16, fp32 };
constexpr std::array<std::string_view, 3> kWireFormatNames = {"default", "bf16", "fp32"};

struct Job {
  Task task = Task::pretrain;
  Framework framework{};
  std::int64_t sequence = 0;      // tokens in one sequence
  std::int64_t global_batch = 0;  // sequences in one step
  const Recipe* recipe = recipe_from("bf16");
  Optimizer optimizer = Optimizer::adamw;
  AttentionKernel attention = AttentionKernel::flash2;
  bool causal = true;
  bool fused = true;  // fused norms, activation, rotary, bias-dropout-add kernels
  /// Of frameworks that let them be chosen. Weights of a gathered block: 16 bit; fp32 with a 16-bit
  /// recipe is torch.autocast on fp32 weights, where norms and residual stay fp32 and each product
  /// casts what it reads. Gradients on the wire: framework, or as stated.
  WireFormat param_dtype = WireFormat::framework;
  WireFormat reduce_dtype = WireFormat::framework;
  /// ZeRO++ (arXiv 2306.10209): gathered weights travel in 8 bit; gradients in 4 bit, exchanged
  /// within a node and then between nodes.
  bool quantized_weights = false;
  bool quantized_gradients = false;
  Bytes bucket_size{};  // of gradients that are sent together, as sent; 0: the framework's habit
  Choice fused_loss = Choice::framework;  // cross-entropy in one kernel each way, in 16 bit
  /// The batch comes with a padding mask: flash kernels get their tokens gathered, and their result
  /// is scattered back.
  bool padding_mask = false;
  /// Times that metrics of the training loop evaluate the loss again from a micro-batch's logits.
  std::int64_t loss_metrics = 0;
  double dropout = -1;  // negative: the model's own
  std::int64_t lora_rank = 16;
  Adapters adapters = Adapters::all;
  std::int64_t document = 0;  // mean tokens of the documents packed into a sequence, which attend
                              // only to themselves; 0: one document fills it
  Graphs graphs = Graphs::none;
  bool attention_8_bit = false;          // the attention core in the recipe's 8-bit format, too
  bool small_activation_inputs = false;  // what enters a gated activation is kept in 8 bit
  bool small_gradients = false;          // in 16 bit, where the framework's habit may be 32
  bool fused_experts = false;   // activation and casts inside the experts' grouped products
  double expert_imbalance = 1;  // tokens of the fullest expert rank over the mean (>= 1)
  double software = 0;          // date of framework and libraries in years (2025.5); 0: today's
  /// The hosts compare what each rank is about to call before every collective (PyTorch with
  /// TORCH_DISTRIBUTED_DEBUG=DETAIL).
  bool checked_collectives = false;
  /// Every transfer between stages waits for the host.
  bool blocking_transfers = false;
  double input_rate = 0;  // samples a second that feed all ranks; 0: no bound
  Method method = {};     // when replicas meet, and what they send
};

}  // namespace headway
