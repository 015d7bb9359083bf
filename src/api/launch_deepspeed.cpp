// A run as a configuration of DeepSpeed with the command that starts it, and back.
#include <algorithm>
#include <array>

#include "api/launch_document.hpp"
#include "base/text.hpp"
#include "step/habits.hpp"

namespace headway::launch {
namespace {

constexpr Launcher kDeepspeed = Launcher::deepspeed;

void refuse_job(const Run& run, Refusals& refusals) {
  const Job& job = run.job;
  const std::string_view recipe = job.recipe->name;
  refusals.refuse(recipe != "bf16" && recipe != "fp16" && recipe != "fp32", "--precision",
                  std::string(recipe), "legal: bf16, fp16, fp32");
  refusals.refuse(job.optimizer != Optimizer::adam && job.optimizer != Optimizer::adamw,
                  "--optimizer", std::string(kOptimizerNames[static_cast<int>(job.optimizer)]),
                  "legal: adam, adamw");
  refusals.refuse(job.attention == AttentionKernel::flash3, "--attention", "flash attention 3",
                  "legal: unfused, flash1, flash2, triton");
  refusals.refuse(job.graphs != Graphs::none, "--graphs", "CUDA graphs");
  refusals.refuse(job.fused_experts, "--fused-experts", "fused experts");
  refusals.refuse(job.fused_loss == Choice::on, "--fused-loss", "a loss in one kernel");
}

void refuse_layout(const Run& run, Refusals& refusals) {
  const Layout& l = run.layout;
  refusals.refuse(l.vpp > 1, "--vpp", "virtual pipeline stages", "legal: 1");
  refusals.refuse(l.pp > 1 && l.schedule != Schedule::one_f_one_b, "--schedule",
                  "the schedule " + std::string(kScheduleNames[static_cast<int>(l.schedule)]),
                  "legal: 1f1b");
  const bool even = l.first_stage_layers + l.last_stage_layers + l.embedding_slots + l.head_slots;
  refusals.refuse(l.pp > 1 && even, "--first-stage-layers, --last-stage-layers",
                  "a stated spread of the layers");
  refusals.refuse(l.cp > 1 && l.context_exchange == ContextExchange::ring, "--cp-exchange",
                  "a ring of keys and values", "legal: all-to-all");
  refusals.refuse(l.tp > 1 && l.sequence_parallel && l.keep_gathered, "--keep-gathered",
                  "keeping gathered inputs");
  refusals.refuse(l.recompute == Recompute::selective, "--recompute",
                  "selective recomputation of pieces of a layer", "legal: none, full");
  refusals.refuse(l.recompute == Recompute::full &&
                      (l.recompute_every > 1 || l.recompute_early_stop == Choice::on),
                  "--recompute-every, --recompute-early-stop", "this kind of recomputation");
  refusals.refuse(l.shard > 0 && l.shard < l.dp * l.cp && l.zero != 3, "--shard",
                  "hybrid sharding below ZeRO 3");
  refusals.refuse(l.offload_optimizer && l.zero == 0, "--offload",
                  "offloaded optimiser states without ZeRO");
  refusals.refuse(l.offload_activations && l.recompute != Recompute::full, "--offload",
                  "offloaded activations without recomputation");
  refusals.refuse(l.overlap_parameters == Choice::on, "--overlap-parameters",
                  "a choice of overlap for gathered parameters");
  refusals.refuse(l.overlap_tensor == Choice::on, "--overlap-tensor",
                  "overlap of tensor-parallel calls");
  refusals.refuse(l.overlap_experts == Choice::on, "--overlap-experts",
                  "exchange of tokens under other work");
  refusals.refuse(has_experts(run.model) && (l.etp != 1 || l.dispatch == Dispatch::once),
                  "--etp, --dispatch", "tensor-parallel experts or another dispatcher");
  refusals.refuse(!usual_order(l), "--order", "this numbering of the ranks", "legal: tp-cp-dp-pp");
}

std::string on_off(bool value) {
  return value ? "true" : "false";
}

std::string config(const Run& run) {
  const Layout& l = run.layout;
  const Habits& habit = habits(run.job.framework);
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
  const auto bucket = std::to_string(static_cast<std::int64_t>(habit.bucket));
  std::string zero = "{\n    \"stage\": " + std::to_string(l.zero);
  const auto member = [&](const std::string& key, const std::string& value) {
    zero += ",\n    \"" + key + "\": " + value;
  };
  member("overlap_comm", on_off(chosen(l.overlap_gradients, habit.overlap_gradients)));
  member("contiguous_gradients", "true");
  member("reduce_scatter", "true");
  member("reduce_bucket_size", bucket);
  member("allgather_partitions", "true");
  member("allgather_bucket_size", bucket);
  if (l.zero == 3 && l.shard > 0 && l.shard < l.dp * l.cp) {
    member("mics_shard_size", std::to_string(l.shard));
  }
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

// The command; degrees are options of Megatron-DeepSpeed's programs, not of the configuration.
std::string command(const Run& run) {
  const Layout& l = run.layout;
  const Job& job = run.job;
  const Nodes nodes = nodes_of(run);
  std::string out = "#!/usr/bin/env bash\n" + headline(run, kDeepspeed) +
                    "# Add the options of your program for network, data and schedule.\n";
  if (job.checked_collectives) out += "export TORCH_DISTRIBUTED_DEBUG=DETAIL\n";
  out += "deepspeed --num_nodes=" + std::to_string(nodes.count) +
         " --num_gpus=" + std::to_string(nodes.ranks) + " pretrain_gpt.py";
  const auto add = [&](const std::string& words) { out += " \\\n  " + words; };
  add("--deepspeed --deepspeed_config ds_config.json --zero-stage " + std::to_string(l.zero));
  add("--tensor-model-parallel-size " + std::to_string(l.tp));
  if (l.tp > 1 && l.sequence_parallel) add("--sequence-parallel");
  if (l.cp > 1) add("--ds-sequence-parallel-size " + std::to_string(l.cp));
  add(l.pp > 1 ? "--pipeline-model-parallel-size " + std::to_string(l.pp)
               : std::string("--no-pipeline-parallel"));
  if (has_experts(run.model)) add("--moe-expert-parallel-size " + std::to_string(l.ep));
  add("--micro-batch-size " + std::to_string(l.micro_batch));
  add("--global-batch-size " + std::to_string(job.global_batch));
  add("--seq-length " + std::to_string(job.sequence));
  if (job.recipe->name != "fp32") add("--" + std::string(job.recipe->name));
  if (job.attention == AttentionKernel::flash1) add("--use-flash-attn-v1");
  if (job.attention == AttentionKernel::flash2) add("--use-flash-attn-v2");
  if (job.attention == AttentionKernel::triton) add("--use-flash-attn-triton");
  if (l.recompute == Recompute::full) {
    add("--checkpoint-activations --deepspeed-activation-checkpointing");
  }
  const std::string dropout = number(job.dropout >= 0 ? job.dropout : run.model.dropout);
  add("--attention-dropout " + dropout + " --hidden-dropout " + dropout);
  return out + "\n";
}

class DeepspeedReader : DocumentReader {
 public:
  using DocumentReader::DocumentReader;

  LaunchRequest read() {
    add("framework", "deepspeed", "", "zero_optimization");
    stated("train_batch_size", "global-batch");
    stated("train_micro_batch_size_per_gpu", "micro-batch");
    precision();
    zero();
    const std::string optimizer = lower(text("optimizer", "type"));
    if (!optimizer.empty()) add("optimizer", optimizer, "optimizer", "type");
    if (find("", "activation_checkpointing") != nullptr) {
      out_.notes.push_back(
          "activation_checkpointing says how, not whether, layers are "
          "recomputed; that is asked for with --recompute full");
    }
    return std::move(out_);
  }

 private:
  // "auto" is filled in by another program.
  void stated(std::string_view key, std::string_view field) {
    if (text("", key) != "auto") copy("", key, field);
  }

  void precision() {
    const bool bf16 = flag("bf16", "enabled", false) || flag("bfloat16", "enabled", false);
    const bool fp16 = flag("fp16", "enabled", false);
    if (text("bf16", "enabled") == "auto" || text("fp16", "enabled") == "auto") return;
    add("precision", bf16 ? "bf16" : fp16 ? "fp16" : "fp32", fp16 ? "fp16" : "bf16", "enabled");
  }

  void zero() {
    constexpr std::string_view kZero = "zero_optimization";
    const Node* node = find("", kZero);
    if (node == nullptr) return add("zero", "0", "", kZero);
    if (std::holds_alternative<bool>(node->value)) {
      return add("zero", flag("", kZero, false) ? "1" : "0", "", kZero);
    }
    const std::string stage = text(kZero, "stage");
    add("zero", stage.empty() ? "0" : stage, kZero, "stage");
    if (text(kZero, "overlap_comm") != "auto") {
      add("overlap-gradients", flag(kZero, "overlap_comm", stage == "3") ? "on" : "off", kZero,
          "overlap_comm");
    }
    if (degree(kZero, "mics_shard_size", -1) > 0) copy(kZero, "mics_shard_size", "shard");
    std::vector<std::string> offload;
    const auto to_host = [&](std::string_view table) {
      const std::string device = text(std::string(kZero) + "." + std::string(table), "device");
      if (device == "nvme") {
        fail(std::string(kZero) + "." + std::string(table), "device",
             "is nvme, which Headway cannot price; legal: cpu, none");
      }
      return device == "cpu";
    };
    if (to_host("offload_optimizer") || flag(kZero, "cpu_offload", false)) {
      offload.emplace_back("optimizer");
    }
    if (flag("activation_checkpointing", "cpu_checkpointing", false)) {
      offload.emplace_back("activations");
    }
    if (to_host("offload_param")) offload.emplace_back("parameters");
    if (!offload.empty()) add("offload", join(offload, ","), "", kZero);
  }
};

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

Result<LaunchRequest> read_deepspeed(std::string_view text, const std::string& file) {
  const auto document = parse_json(text, file);
  if (!document) return document.problems();
  Problems problems;
  LaunchRequest out = DeepspeedReader(*document, problems).read();
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway::launch
