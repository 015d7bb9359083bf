// The fields of a run, in the order in which help shows them.
#include "run/run.hpp"

namespace headway {
namespace {

constexpr RunField kFields[] = {
    {"model", "NAME|FILE", "built-in name (headway list models), config.json or .toml"},
    {"cluster", "NAME|FILE", "built-in name (headway list clusters) or .toml"},
    {"gpus", "N", "accelerators of the run; default: the product of the degrees"},
    {"seq", "N", "tokens in one sequence"},
    {"global-batch", "N", "sequences in one step"},
    {"framework", "NAME", "megatron (default), fsdp, deepspeed, nanotron, jax"},
    {"precision", "RECIPE",
     "bf16 (default), fp32, tf32, fp16, fp8, fp8-current, fp8-block, mxfp8, fp4"},
    {"task", "NAME", "pretrain (default), finetune, lora"},
    {"optimizer", "NAME", "adamw (default), adam, sgd, adafactor, muon, adam-8bit"},
    {"attention", "KERNEL",
     "unfused, flash1, flash2, flash3, triton; default: what the hardware runs best"},
    {"dp", "N", "data-parallel degree; default: what the other degrees leave of --gpus"},
    {"tp", "N", "tensor-parallel degree"},
    {"cp", "N", "context-parallel degree"},
    {"pp", "N", "pipeline-parallel degree"},
    {"vpp", "N", "virtual pipeline stages on each rank"},
    {"ep", "N", "expert-parallel degree, inside dp x cp x tp"},
    {"etp", "N", "tensor-parallel degree inside an expert"},
    {"micro-batch", "N", "sequences in one micro-batch"},
    {"zero", "0..3", "ZeRO stage; default: the framework's habit (megatron 1, fsdp 3)"},
    {"shard", "N", "ranks that share one copy of sharded states (hybrid sharding)"},
    {"no-reshard", "", "ZeRO-3: keep gathered weights from forward to backward"},
    {"no-sp", "", "tensor parallelism without sequence parallelism"},
    {"keep-gathered", "", "sequence parallelism keeps gathered inputs for the backward pass"},
    {"cp-exchange", "KIND", "ring (default) or all-to-all"},
    {"recompute", "MODE", "none (default), selective (attention core), full"},
    {"recompute-pieces", "LIST",
     "selective recomputes core (default), norm, latent-up, activation, feed-forward, experts"},
    {"recompute-every", "N", "full recomputation keeps the input of every n-th layer"},
    {"recompute-early-stop", "on|off",
     "full: a layer's recomputation ends before its last product"},
    {"schedule", "NAME", "1f1b (default), gpipe, zero-bubble, zero-bubble-v, dual-pipe"},
    {"first-stage-layers", "N", "layers on the first pipeline stage"},
    {"last-stage-layers", "N", "layers on the last pipeline stage"},
    {"embedding-slots", "N", "layers that the embedding counts as where layers are spread"},
    {"head-slots", "N", "the same of the head with prediction modules"},
    {"offload", "LIST", "optimizer, activations, parameters (comma-separated)"},
    {"order", "DIMS", "numbering of the ranks from the innermost, default tp-cp-dp-pp"},
    {"overlap-gradients", "on|off", "reduce gradients under the backward pass"},
    {"overlap-parameters", "on|off", "gather parameters under the forward pass"},
    {"overlap-tensor", "on|off", "tensor-parallel calls under split products"},
    {"param-dtype", "bf16|fp32",
     "FSDP: format of gathered weights; fp32 with a 16-bit recipe is autocast"},
    {"reduce-dtype", "bf16|fp32", "FSDP: format of reduced gradients"},
    {"padding-mask", "", "batches come with a mask: tokens are gathered for flash attention"},
    {"fused-loss", "on|off", "cross-entropy in one kernel each way"},
    {"loss-metrics", "N", "times that training metrics evaluate the loss again"},
    {"overlap-experts", "on|off", "exchange tokens under the work of another micro-batch"},
    {"dispatch", "KIND", "copies (default): a token goes to each expert; once: to each rank"},
    {"graphs", "KIND", "CUDA graphs: none (default), dense (all but routed experts), step"},
    {"fused-experts", "", "activation and casts inside the experts' grouped products"},
    {"attention-8-bit", "", "the attention core in 8 bit, too, with an 8-bit recipe"},
    {"small-gradients", "", "gradients in 16 bit where the framework's habit is 32"},
    {"unfused", "", "one kernel for each operation of norms, activation, rotary, dropout"},
    {"not-causal", "", "every token attends to every other"},
    {"dropout", "P", "probability; default: the model's own recipe"},
    {"lora-rank", "N", "rank of the adapters (task lora)"},
    {"adapters", "KIND", "all (default) or query-key-value: matrices with adapters (task lora)"},
    {"document", "N", "mean tokens of documents packed into a sequence; default: one fills it"},
    {"expert-imbalance", "X", "tokens of the fullest expert rank over the mean, at least 1"},
    {"software", "YEAR-MONTH", "date of framework and libraries, as 2025-06; default: today's"},
    {"checked-collectives", "", "hosts check each collective (TORCH_DISTRIBUTED_DEBUG=DETAIL)"},
    {"blocking-transfers", "", "pipeline transfers wait for the host (nanotron before 2025)"},
    {"attention-flops", "KIND", "full (default) or causal: how MFU counts attention"},
};

}  // namespace

std::span<const RunField> run_fields() {
  return kFields;
}

}  // namespace headway
