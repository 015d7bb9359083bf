// A run as a script that starts Megatron-LM's pretrain_gpt.py.
#include <algorithm>
#include <array>

#include "launch/megatron/megatron.hpp"
#include "step/frameworks/habits.hpp"

namespace headway::launch {
namespace {

constexpr Launcher kMegatron = Launcher::megatron;

void add(Words& words, std::string_view name, std::int64_t value) {
  words.emplace_back(name);
  words.push_back(std::to_string(value));
}
void add(Words& words, std::initializer_list<const char*> more) {
  words.insert(words.end(), more.begin(), more.end());
}

// Megatron-FSDP takes the place of the distributed optimiser from ZeRO 2 on.
bool fully_sharded(const Layout& layout) {
  return layout.zero >= 2;
}

void refuse_job(const Run& run, Refusals& refusals) {
  const Job& job = run.job;
  refusals.refuse(
      job.attention == AttentionKernel::flash1 || job.attention == AttentionKernel::triton,
      "attention", "the first flash attention", "legal: unfused, flash2, flash3");
  refusals.refuse(job.attention == AttentionKernel::flash3 &&
                      run.cluster.accelerator.traits.flash_attention < 3,
                  "attention", "flash attention 3 before Hopper", "legal: unfused, flash2");
  const bool muon = job.optimizer == Optimizer::muon;
  refusals.refuse(job.optimizer == Optimizer::adafactor || job.optimizer == Optimizer::adam_8bit,
                  "optimizer", std::string(kOptimizerNames[static_cast<int>(job.optimizer)]),
                  "legal: adam, adamw, sgd, muon");
  refusals.refuse(run.layout.offload_activations, "offload", "offloaded activations of every layer",
                  "Megatron-LM offloads all but one at most");
  refusals.refuse(muon && run.layout.zero > 0, "zero", "Muon with sharded optimiser states",
                  "legal: 0");
  refusals.refuse(job.recipe->name == "tf32", "precision", "tf32", "legal: fp32, bf16, fp16");
  refusals.refuse(
      has_experts(run.model) && job.recipe->activation == Precision::fp16 && run.layout.ep > 1,
      "precision", "expert parallelism in fp16", "legal: bf16");
  refusals.refuse(job.fused_experts && has_experts(run.model), "fused-experts",
                  "activation and casts inside grouped products");
  const auto other_gate = [](const FeedForward& part) {
    return part.gated && part.activation != Activation::silu;
  };
  const std::vector<Layer>& kinds = run.model.kinds;
  const bool unlike = std::any_of(kinds.begin(), kinds.end(), [&](const Layer& layer) {
    return (layer.feed_forward && other_gate(*layer.feed_forward)) ||
           (layer.experts && other_gate(layer.experts->each));
  });
  refusals.refuse(job.small_activation_inputs && unlike, "small-activation-inputs",
                  "inputs in 8 bit of a gated activation other than SwiGLU");
  refusals.refuse(job.small_gradients && job.recipe->activation != Precision::bf16,
                  "small-gradients", "16-bit gradients without bf16");
  refusals.refuse(job.graphs != Graphs::none && run.layout.recompute == Recompute::full, "graphs",
                  "CUDA graphs with full recomputation");
}

void refuse_layout(const Run& run, Refusals& refusals) {
  const Layout& l = run.layout;
  const Habits& habit = habits(run.job);
  refusals.refuse(l.pp > 1 && l.schedule != Schedule::one_f_one_b, "schedule",
                  "the schedule " + std::string(kScheduleNames[static_cast<int>(l.schedule)]),
                  "legal: 1f1b");
  refusals.refuse(l.tp > 1 && !l.sequence_parallel && has_experts(run.model), "no-sp",
                  "tensor parallelism of experts without sequence parallelism");
  refusals.refuse(l.tp > 1 && l.sequence_parallel && l.keep_gathered, "keep-gathered",
                  "keeping gathered inputs");
  refusals.refuse(l.cp > 1 && run.job.sequence % (2 * l.cp) != 0, "cp",
                  "a sequence that is no multiple of 2 x cp");
  refusals.refuse(l.recompute == Recompute::every_second, "recompute",
                  "recomputation of every second product", "legal: none, selective, full");
  refusals.refuse(l.recompute == Recompute::full && l.recompute_one_in > 1, "recompute-one-in",
                  "recomputing one in several layers", "legal: 1");
  refusals.refuse(l.recompute == Recompute::full && l.recompute_early_stop == Choice::on,
                  "recompute-early-stop", "ending recomputation early");
  refusals.refuse(l.offload_parameters, "offload", "offloaded parameters",
                  "legal: optimizer, activations");
  refusals.refuse(l.offload_activations && (l.pp > 1 || l.recompute != Recompute::none), "offload",
                  "offloaded activations with a pipeline or recomputation");
  refusals.refuse(l.offload_optimizer && l.zero != 1, "offload",
                  "offloaded optimiser states without the distributed optimiser",
                  "legal with --zero 1");
  const bool tensor = chosen(l.overlap_tensor, habit.overlap.tensor);
  refusals.refuse(tensor && (l.tp == 1 || !l.sequence_parallel), "overlap-tensor",
                  "overlap of tensor-parallel calls without sequence parallelism");
  refusals.refuse(l.zero > 0 && chosen(l.overlap_parameters, habit.overlap.parameters) &&
                      !chosen(l.overlap_gradients, habit.overlap.gradients),
                  "overlap-parameters", "overlap of parameters but not of gradients");
  refusals.refuse(fully_sharded(l) && l.pp > 1 && l.vpp > 1, "vpp",
                  "Megatron-FSDP with virtual stages");
  using enum Dimension;
  const bool usual = l.order == std::array{tp, cp, dp, pp};
  const bool inner = l.order == std::array{tp, cp, pp, dp};
  refusals.refuse(!usual && !inner, "order", "this numbering of the ranks",
                  "legal: tp-cp-dp-pp, tp-cp-pp-dp");
}

Words training_words(const Run& run) {
  const Job& job = run.job;
  Words words;
  add(words, "--micro-batch-size", run.layout.micro_batch);
  add(words, "--global-batch-size", job.global_batch);
  add(words, "--seq-length", job.sequence);
  if (job.recipe->activation == Precision::bf16) words.push_back("--bf16");
  if (job.recipe->activation == Precision::fp16) words.push_back("--fp16");
  const std::string_view recipe = job.recipe->name;
  if (recipe == "fp8") add(words, {"--fp8-format", "hybrid", "--fp8-recipe", "delayed"});
  if (recipe == "fp8-current") add(words, {"--fp8-format", "hybrid", "--fp8-recipe", "tensorwise"});
  if (recipe == "fp8-block") add(words, {"--fp8-format", "e4m3", "--fp8-recipe", "blockwise"});
  if (recipe == "mxfp8") add(words, {"--fp8-format", "e4m3", "--fp8-recipe", "mxfp8"});
  if (recipe == "fp4") add(words, {"--fp4-format", "e2m1", "--fp4-recipe", "nvfp4"});
  if (job.small_activation_inputs) words.push_back("--activation-func-fp8-input-store");
  if (job.small_gradients) words.push_back("--grad-reduce-in-bf16");
  add(words, {"--attention-backend", job.attention == AttentionKernel::unfused  ? "unfused"
                                     : job.attention == AttentionKernel::flash3 ? "fused"
                                                                                : "flash"});
  const std::string dropout = number(job.dropout >= 0 ? job.dropout : run.model.dropout);
  words.insert(words.end(), {"--attention-dropout", dropout, "--hidden-dropout", dropout});
  if (!job.fused) {
    add(words, {"--no-bias-gelu-fusion", "--no-bias-swiglu-fusion", "--no-bias-dropout-fusion",
                "--no-rope-fusion", "--no-masked-softmax-fusion"});
  }
  if (chosen(job.fused_loss, false)) {
    add(words, {"--cross-entropy-loss-fusion", "--cross-entropy-fusion-impl", "te"});
  }
  add(words, {"--optimizer", job.optimizer == Optimizer::sgd    ? "sgd"
                             : job.optimizer == Optimizer::muon ? "muon"
                                                                : "adam"});
  if (job.optimizer == Optimizer::muon) add(words, {"--ckpt-format", "torch"});
  if (job.graphs == Graphs::step) {
    add(words, {"--cuda-graph-impl", "local", "--cuda-graph-scope", "full_iteration",
                "--te-rng-tracker", "--no-check-for-nan-in-loss-and-grad"});
  } else if (job.graphs == Graphs::dense) {
    add(words, {"--cuda-graph-impl", "transformer_engine", "--cuda-graph-scope",
                has_experts(run.model) ? "attn" : "full", "--te-rng-tracker"});
  }
  if (job.task == Task::finetune) words.push_back("--finetune");
  return words;
}

void recompute_words(const Run& run, Words& words) {
  const Layout& l = run.layout;
  if (l.recompute == Recompute::full) {
    add(words, {"--recompute-granularity", "full", "--recompute-method", "uniform"});
    add(words, "--recompute-num-layers", l.recompute_every);
  }
  if (l.recompute != Recompute::selective) return;
  add(words, {"--recompute-granularity", "selective", "--recompute-modules"});
  const bool dense = std::any_of(run.model.kinds.begin(), run.model.kinds.end(),
                                 [](const Layer& layer) { return !layer.experts; });
  const bool shared = std::any_of(
      run.model.kinds.begin(), run.model.kinds.end(),
      [](const Layer& layer) { return layer.experts && layer.experts->shared_width > 0; });
  const auto add_piece = [&](Piece piece, const char* module) {
    if ((l.recompute_pieces & bit(piece)) != 0) words.emplace_back(module);
  };
  add_piece(Piece::core, "core_attn");
  add_piece(Piece::norm, "layernorm");
  add_piece(Piece::latent_up, "mla_up_proj");
  add_piece(Piece::activation, "moe_act");
  if (dense || !shared) add_piece(Piece::feed_forward, "mlp");
  if (shared) add_piece(Piece::feed_forward, "shared_experts");
  add_piece(Piece::experts, "moe");
}

void pipeline_words(const Run& run, Words& words) {
  const Layout& l = run.layout;
  if (l.pp == 1) return;
  add(words, "--pipeline-model-parallel-size", l.pp);
  const std::vector<std::int64_t> chunks = layers_of_chunks(run.model, l);
  const bool even = std::equal(chunks.begin() + 1, chunks.end(), chunks.begin());
  if (even && l.vpp > 1) add(words, "--num-virtual-stages-per-pipeline-rank", l.vpp);
  if (even) return;
  std::string layout = "E";
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (i > 0) layout += '|';
    if (chunks[i] > 0) layout += "t*" + std::to_string(chunks[i]);  // else an end alone
  }
  layout += std::string(static_cast<std::size_t>(run.model.prediction_layers), 'm') + "L";
  words.insert(words.end(), {"--pipeline-model-parallel-layout", layout});
}

Words layout_words(const Run& run) {
  const Layout& l = run.layout;
  const Habits& habit = habits(run.job);
  Words words;
  add(words, "--tensor-model-parallel-size", l.tp);
  if (l.tp > 1 && l.sequence_parallel) words.push_back("--sequence-parallel");
  if (l.cp > 1) {
    add(words, "--context-parallel-size", l.cp);
    add(words, {"--cp-comm-type", l.context_exchange == ContextExchange::ring ? "p2p" : "a2a"});
  }
  pipeline_words(run, words);
  if (has_experts(run.model)) {
    add(words, "--expert-model-parallel-size", l.ep);
    add(words, "--expert-tensor-parallel-size", l.etp);
    add(words, {"--moe-token-dispatcher-type", l.dispatch == Dispatch::once ? "flex" : "alltoall"});
    if (l.dispatch == Dispatch::once) words.push_back("--moe-enable-deepep");
    if (chosen(l.overlap_experts, false)) words.push_back("--overlap-moe-expert-parallel-comm");
  }
  if (l.zero > 0) words.push_back("--use-distributed-optimizer");
  if (fully_sharded(l)) {
    add(words,
        {"--use-megatron-fsdp", "--data-parallel-sharding-strategy",
         l.zero == 3 ? "optim_grads_params" : "optim_grads", "--ckpt-format", "fsdp_dtensor"});
  }
  const std::int64_t replicas = l.dp * l.cp;
  if (l.zero > 0 && l.shard > 0 && l.shard < replicas) {
    add(words, "--num-distributed-optimizer-instances", replicas / l.shard);
  }
  if (chosen(l.overlap_gradients, habit.overlap.gradients)) {
    words.push_back("--overlap-grad-reduce");
    if (run.job.bucket_size > Bytes(0) && states_buckets(run.job, l)) {
      add(words, "--ddp-bucket-size", static_cast<std::int64_t>(bucket_parameters(run.job, l)));
    }
    if (l.zero > 0 && chosen(l.overlap_parameters, habit.overlap.parameters)) {
      words.push_back("--overlap-param-gather");
    }
  }
  if (chosen(l.overlap_tensor, habit.overlap.tensor)) words.push_back("--tp-comm-overlap");
  recompute_words(run, words);
  if (l.offload_optimizer) {
    add(words, {"--optimizer-cpu-offload", "--use-precision-aware-optimizer"});
  }
  if (l.order[2] == Dimension::pp) words.push_back("--use-tp-pp-dp-mapping");
  return words;
}

// A list of the shell, one option a line.
std::string list(const std::string& name, const Words& words, const std::string& remark = {}) {
  std::string out = "\n" + (remark.empty() ? "" : "# " + remark + "\n") + name + "=(";
  for (const std::string& word : words) {
    const bool plain = word.find_first_of("()|*\"'$ ,") == std::string::npos;
    out += (word.starts_with("--") ? "\n  " : " ") + (plain ? word : "\"" + word + "\"");
  }
  return out + "\n)\n";
}

}  // namespace

Result<std::vector<LaunchFile>> write_megatron(const Run& run) {
  Problems problems;
  Refusals refusals(kMegatron, problems);
  refuse_common(refusals, run);
  refuse_job(run, refusals);
  refuse_layout(run, refusals);
  const Words model = megatron_model_words(run, refusals);
  if (!problems.empty()) return problems;

  std::string text = "#!/usr/bin/env bash\n" + headline(run, kMegatron);
  if (run.job.optimizer == Optimizer::muon) text += "# Muon needs Megatron-LM core 0.16.\n";
  text += "set -euo pipefail\n";
  const Layout& l = run.layout;
  if ((l.tp > 1 || l.cp > 1) && !fully_sharded(l)) {
    text += "export CUDA_DEVICE_MAX_CONNECTIONS=1\n";
  }
  if (run.job.checked_collectives) text += "export TORCH_DISTRIBUTED_DEBUG=DETAIL\n";
  text += list("MODEL", model);
  text += list("TRAINING", training_words(run));
  text += list("LAYOUT", layout_words(run));
  text += list("DATA",
               {"--mock-data", "--tokenizer-type", "NullTokenizer", "--vocab-size",
                std::to_string(run.model.vocabulary - 1), "--train-iters", "20", "--lr", "1.0e-4",
                "--log-interval", "1", "--eval-iters", "0"},
               "Random tokens for a trial; put your own data, schedule and checkpoints here.\n"
               "# The null tokenizer adds one token to --vocab-size.");
  const Nodes nodes = nodes_of(run);
  text += "\ntorchrun --nnodes=" + std::to_string(nodes.count) +
          " --nproc-per-node=" + std::to_string(nodes.ranks) + " \\\n  ";
  text += nodes.count == 1 ? "--standalone"
                           : "--rdzv-backend=c10d "
                             "--rdzv-endpoint=\"${MASTER_ADDR}:${MASTER_PORT:-29500}\"";
  text +=
      " \\\n  pretrain_gpt.py \"${MODEL[@]}\" \"${TRAINING[@]}\" \"${LAYOUT[@]}\" "
      "\"${DATA[@]}\"\n";
  return std::vector<LaunchFile>{{"train.sh", std::move(text)}};
}

}  // namespace headway::launch
