// A run as a configuration of DeepSpeed with the command that starts it.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/whole_number.hpp"
#include "launch/megatron/megatron.hpp"
#include "step/frameworks/habits.hpp"

namespace headway::launch {
namespace {

constexpr Launcher kDeepspeed = Launcher::deepspeed;

void refuse_job(const Run& run, Refusals& refusals) {
  const Job& job = run.job;
  const std::string_view recipe = job.recipe->name;
  refusals.refuse(recipe != "bf16" && recipe != "fp16" && recipe != "fp32", "precision",
                  std::string(recipe), "legal: bf16, fp16, fp32");
  refusals.refuse(recipe == "bf16" && run.layout.zero == 0, "zero",
                  "bf16 without ZeRO, as its optimiser shards its states all the same",
                  "legal: 1, 2, 3");
  refusals.refuse(job.optimizer != Optimizer::adam && job.optimizer != Optimizer::adamw,
                  "optimizer", std::string(kOptimizerNames[static_cast<int>(job.optimizer)]),
                  "legal: adam, adamw");
  refusals.refuse(job.attention == AttentionKernel::flash3, "attention", "flash attention 3",
                  "legal: unfused, flash1, flash2, triton");
  refusals.refuse(job.graphs != Graphs::none, "graphs", "CUDA graphs");
  refusals.refuse(job.small_activation_inputs, "small-activation-inputs",
                  "activation inputs in 8 bit");
  refusals.refuse(job.fused_experts, "fused-experts", "fused experts");
  refusals.refuse(job.fused_loss == Choice::on, "fused-loss", "a loss in one kernel");
}

void refuse_layout(const Run& run, Refusals& refusals) {
  const Layout& l = run.layout;
  refusals.refuse(l.vpp > 1, "vpp", "virtual pipeline stages", "legal: 1");
  refusals.refuse(l.pp > 1 && l.schedule != Schedule::one_f_one_b, "schedule",
                  "the schedule " + std::string(kScheduleNames[static_cast<int>(l.schedule)]),
                  "legal: 1f1b");
  const bool even = l.first_stage_layers + l.last_stage_layers + l.embedding_slots + l.head_slots;
  refusals.refuse(l.pp > 1 && even,
                  {FieldName("first-stage-layers"), FieldName("last-stage-layers")},
                  "a stated spread of the layers");
  refusals.refuse(l.cp > 1 && l.context_exchange == ContextExchange::ring, "cp-exchange",
                  "a ring of keys and values", "legal: all-to-all");
  refusals.refuse(l.tp > 1 && l.sequence_parallel && l.keep_gathered, "keep-gathered",
                  "keeping gathered inputs");
  refusals.refuse(l.recompute == Recompute::every_second, "recompute",
                  "recomputation of every second product", "legal: none, full");
  refusals.refuse(l.recompute == Recompute::selective, "recompute",
                  "selective recomputation of pieces of a layer", "legal: none, full");
  refusals.refuse(l.recompute == Recompute::full && l.recompute_one_in > 1, "recompute-one-in",
                  "recomputing one in several layers", "legal: 1");
  refusals.refuse(l.recompute == Recompute::full && l.recompute_early_stop == Choice::on,
                  "recompute-early-stop", "ending recomputation early");
  refusals.refuse(l.shard > 0 && l.shard < l.dp * l.cp && l.zero != 3, "shard",
                  "hybrid sharding below ZeRO 3");
  refusals.refuse(l.offload_optimizer && l.zero == 0, "offload",
                  "offloaded optimiser states without ZeRO");
  refusals.refuse(l.offload_activations && l.recompute != Recompute::full, "offload",
                  "offloaded activations without recomputation");
  refusals.refuse(l.overlap_parameters == Choice::on, "overlap-parameters",
                  "a choice of overlap for gathered parameters");
  refusals.refuse(l.overlap_tensor == Choice::on, "overlap-tensor",
                  "overlap of tensor-parallel calls");
  refusals.refuse(l.overlap_experts == Choice::on, "overlap-experts",
                  "exchange of tokens under other work");
  refusals.refuse(has_experts(run.model) && l.etp != 1 && l.etp != l.tp, "etp",
                  "this tensor degree of experts", "legal: 1, " + std::to_string(l.tp));
  refusals.refuse(has_experts(run.model) && l.dispatch == Dispatch::once, "dispatch",
                  "another dispatcher of tokens", "legal: copies");
  refusals.refuse(!usual_order(l), "order", "this numbering of the ranks", "legal: tp-cp-dp-pp");
}

std::string on_off(bool value) {
  return value ? "true" : "false";
}

std::string config(const Run& run) {
  const Layout& l = run.layout;
  const Habits& habit = habits(run.job);
  std::string out = "{\n";
  const auto line = [&](const std::string& key, const std::string& value) {
    out += "  \"" + key + "\": " + value + ",\n";
  };
  line("train_batch_size", std::to_string(run.job.global_batch));
  line("train_micro_batch_size_per_gpu", std::to_string(l.micro_batch));
  line("gradient_accumulation_steps", std::to_string(micro_batches(run.job, l)));
  line("steps_per_print", "10");
  line("gradient_clipping", "1.0");
  const bool plain = run.job.optimizer == Optimizer::adam;
  line("optimizer", std::string("{\n    \"type\": \"") + (plain ? "Adam" : "AdamW") +
                        "\",\n    \"params\": {\"lr\": 1e-4, \"weight_decay\": 0.1}\n  }");
  const std::string_view recipe = run.job.recipe->name;
  if (recipe != "fp32") line(std::string(recipe), "{\"enabled\": true}");
  // Elements, as DeepSpeed counts them.
  const auto elements = [](double count) {
    return std::to_string(static_cast<std::int64_t>(count));
  };
  std::string zero = "{\n    \"stage\": " + std::to_string(l.zero);
  const auto member = [&](const std::string& key, const std::string& value) {
    zero += ",\n    \"" + key + "\": " + value;
  };
  member("overlap_comm", on_off(chosen(l.overlap_gradients, habit.overlap.gradients)));
  member("contiguous_gradients", "true");
  member("reduce_scatter", "true");
  member("reduce_bucket_size", elements(bucket_parameters(run.job, l)));
  member("allgather_partitions", "true");
  member("allgather_bucket_size", elements(habit.reduction.bucket));
  if (l.zero == 3 && l.shard > 0 && l.shard < l.dp * l.cp) {
    member("mics_shard_size", std::to_string(l.shard));
  }
  if (l.secondary > 0) member("zero_hpz_partition_size", std::to_string(l.secondary));
  if (run.job.quantized_weights) member("zero_quantized_weights", "true");
  if (run.job.quantized_gradients) member("zero_quantized_gradients", "true");
  const std::string cpu = "{\"device\": \"cpu\", \"pin_memory\": true}";
  if (l.offload_optimizer) member("offload_optimizer", cpu);
  if (l.offload_parameters) member("offload_param", cpu);
  line("zero_optimization", zero + "\n  }");
  if (l.recompute == Recompute::full) {
    line("activation_checkpointing",
         "{\n    \"partition_activations\": false,\n    \"cpu_checkpointing\": " +
             on_off(l.offload_activations) +
             ",\n    \"contiguous_memory_optimization\": false,\n"
             "    \"synchronize_checkpoint_boundary\": false\n  }");
  }
  return out + "  \"wall_clock_breakdown\": false\n}\n";
}

// The network in Megatron-DeepSpeed's words; nothing where it has none for it.
std::optional<Words> network_words(const Run& run) {
  Problems problems;
  Refusals refusals(Launcher::megatron, problems);
  const Words words = megatron_model_words(run, refusals);
  if (!problems.empty()) return std::nullopt;
  Words out;
  std::int64_t width = 0, expert_width = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& name = words[i];
    const bool has_value = i + 1 < words.size() && !words[i + 1].starts_with("--");
    const std::string value = has_value ? words[i + 1] : "";
    const auto add = [&](const std::string& as) {
      out.push_back(as);
      if (has_value) out.push_back(value);
    };
    constexpr std::array kMissing = std::to_array<std::string_view>(
        {"--multi-latent-attention", "--qk-layernorm", "--window-size", "--softmax-type",
         "--add-qkv-bias", "--mtp-num-layers", "--moe-shared-expert-intermediate-size",
         "--moe-router-enable-expert-bias", "--moe-layer-freq"});
    if (std::find(kMissing.begin(), kMissing.end(), name) != kMissing.end()) return std::nullopt;
    if (name == "--ffn-hidden-size") width = whole_number(value).value_or(0);
    if (name == "--num-query-groups") {
      add("--num-key-value-heads");
    } else if (name == "--position-embedding-type") {
      if (value == "rope") out.emplace_back("--use-rotary-position-embeddings");
    } else if (name == "--normalization") {
      out.insert(out.end(), {name, value == "RMSNorm" ? "rmsnorm" : "layernorm"});
    } else if (name == "--moe-router-topk") {
      add("--topk");
    } else if (name == "--moe-ffn-hidden-size") {
      expert_width = whole_number(value).value_or(0);
    } else if (name != "--group-query-attention" && name != "--moe-grouped-gemm") {
      add(name);
    }
    if (has_value) ++i;
  }
  // Experts are as wide as the dense part; here, where every layer has them, there is none.
  if (expert_width > 0 && width > 0) return std::nullopt;
  if (expert_width > 0) {
    out.insert(out.end(),
               {"--ffn-hidden-size", std::to_string(expert_width), "--expert-interval", "1"});
  }
  // The null tokenizer adds one token.
  out.insert(out.end(), {"--tokenizer-type", "NullTokenizer", "--vocab-size",
                         std::to_string(run.model.vocabulary - 1)});
  return out;
}

// The most experts of a layer.
std::int64_t experts_of(const Model& model) {
  std::int64_t out = 0;
  for (const Layer& layer : model.kinds) {
    if (layer.experts) out = std::max(out, layer.experts->count);
  }
  return out;
}

// The command; network and degrees are options of Megatron-DeepSpeed's programs, not of the
// configuration.
std::string command(const Run& run) {
  const Layout& l = run.layout;
  const Job& job = run.job;
  const Nodes nodes = nodes_of(run);
  const auto network = network_words(run);
  std::string out = "#!/usr/bin/env bash\n" + headline(run, kDeepspeed);
  out += network ? "# Add the options of your program for data and schedule.\n"
                 : "# Add the options of your program for network, data and schedule: "
                   "Megatron-DeepSpeed has\n# none for this network.\n";
  if (job.checked_collectives) out += "export TORCH_DISTRIBUTED_DEBUG=DETAIL\n";
  out += "deepspeed --num_nodes=" + std::to_string(nodes.count) +
         " --num_gpus=" + std::to_string(nodes.ranks) + " pretrain_gpt.py";
  const auto add = [&](const std::string& words) { out += " \\\n  " + words; };
  const auto degree = [&](const char* name, std::int64_t value) {
    add(std::string(name) + " " + std::to_string(value));
  };
  add("--deepspeed --deepspeed_config ds_config.json");
  degree("--zero-stage", l.zero);
  if (network) {
    std::string line;
    for (const std::string& word : *network) {
      if (word.starts_with("--") && line.size() > 80) add(std::exchange(line, {}));
      line += (line.empty() ? "" : " ") + word;
    }
    add(line);
  }
  degree("--tensor-model-parallel-size", l.tp);
  if (l.tp > 1 && l.sequence_parallel) add("--sequence-parallel");
  if (l.cp > 1) degree("--ds-sequence-parallel-size", l.cp);
  if (l.pp > 1) degree("--pipeline-model-parallel-size", l.pp);
  if (l.pp == 1) add("--no-pipeline-parallel");
  if (l.offload_optimizer) add("--cpu-optimizer");
  if (has_experts(run.model)) {
    if (!network) degree("--num-experts", experts_of(run.model));
    add("--create-moe-param-group");
    degree("--moe-expert-parallel-size", l.ep);
  }
  if (has_experts(run.model) && l.etp > 1) add("--enable-expert-tensor-parallelism");
  degree("--micro-batch-size", l.micro_batch);
  degree("--global-batch-size", job.global_batch);
  degree("--seq-length", job.sequence);
  if (job.recipe->name != "fp32") add("--" + std::string(job.recipe->name));
  if (job.attention == AttentionKernel::flash1) add("--use-flash-attn-v1");
  if (job.attention == AttentionKernel::flash2) add("--use-flash-attn-v2");
  if (job.attention == AttentionKernel::triton) add("--use-flash-attn-triton");
  if (!job.fused) add("--no-bias-gelu-fusion --no-bias-dropout-fusion --no-masked-softmax-fusion");
  if (l.recompute == Recompute::full) {
    add("--checkpoint-activations --deepspeed-activation-checkpointing");
    degree("--checkpoint-num-layers", l.recompute_every);
  }
  if (job.task == Task::finetune) add("--finetune");
  const std::string dropout = number(job.dropout >= 0 ? job.dropout : run.model.dropout);
  add("--attention-dropout " + dropout + " --hidden-dropout " + dropout);
  return out + "\n";
}

}  // namespace

Result<std::vector<LaunchFile>> write_deepspeed(const Run& run) {
  Problems problems;
  Refusals refusals(kDeepspeed, problems);
  refuse_common(refusals, run);
  refuse_job(run, refusals);
  refuse_layout(run, refusals);
  if (!problems.empty()) return problems;
  return std::vector<LaunchFile>{{"ds_config.json", config(run)}, {"train.sh", command(run)}};
}

}  // namespace headway::launch
