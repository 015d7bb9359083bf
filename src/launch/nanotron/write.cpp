// A run as a configuration of nanotron.
#include <algorithm>
#include <cmath>

#include "launch/parts.hpp"
#include "step/frameworks/habits.hpp"

namespace headway::launch {
namespace {

constexpr Launcher kNanotron = Launcher::nanotron;

// nanotron's Llama: RMS norms, SiLU with a gate, no biases, no experts.
void refuse_model(const Model& model, Refusals& refusals) {
  bool llama = model.kinds.size() == 1 && model.norm == NormKind::rms_norm && model.norm_weight &&
               !model.labels && !model.embedding_norm && model.final_norm && !model.head_bias &&
               model.learned_positions == 0 && model.embedding_width == 0 &&
               model.prediction_layers == 0 && model.vocabulary > 0;
  if (llama) {
    const Layer& layer = model.kinds[0];
    llama = layer.attention && layer.feed_forward && layer.norms == 2 && !layer.parallel;
    if (llama) {
      const Attention& a = *layer.attention;
      const FeedForward& part = *layer.feed_forward;
      llama = !a.latent && !a.qkv_bias && !a.output_bias && !a.linear && !a.gated &&
              a.query_key_norm == QueryKeyNorm::none && !a.sinks && a.window == 0 &&
              a.head_dim * a.heads == model.hidden && part.gated && !part.bias &&
              part.activation == Activation::silu;
    }
  }
  refusals.refuse(!llama, "model", "a network that is not of Llama's form");
}

void refuse_job(const Run& run, Refusals& refusals) {
  const Job& job = run.job;
  const std::string_view recipe = job.recipe->name;
  refusals.refuse(recipe != "bf16" && recipe != "fp16" && recipe != "fp32", "precision",
                  std::string(recipe), "legal: bf16, fp16, fp32");
  refusals.refuse(job.optimizer != Optimizer::adamw && job.optimizer != Optimizer::sgd, "optimizer",
                  std::string(kOptimizerNames[static_cast<int>(job.optimizer)]),
                  "legal: adamw, sgd");
  refusals.refuse(job.attention != AttentionKernel::flash2, "attention",
                  "another kernel than flash attention 2", "legal: flash2");
  refusals.refuse((job.dropout >= 0 ? job.dropout : run.model.dropout) > 0, "dropout", "dropout",
                  "legal: 0");
  refusals.refuse(job.graphs != Graphs::none, "graphs", "CUDA graphs");
  refusals.refuse(job.small_activation_inputs, "small-activation-inputs",
                  "activation inputs in 8 bit");
  refusals.refuse(job.fused_loss == Choice::on, "fused-loss", "a loss in one kernel");
  refusals.refuse(job.checked_collectives, "checked-collectives",
                  "the variable TORCH_DISTRIBUTED_DEBUG of the environment");
}

void refuse_layout(const Run& run, Refusals& refusals) {
  const Layout& l = run.layout;
  refusals.refuse(l.cp > 1, "cp", "context parallelism", "legal: 1");
  refusals.refuse(l.vpp > 1, "vpp", "virtual pipeline stages", "legal: 1");
  refusals.refuse(l.zero > 1, "zero", "ZeRO " + std::to_string(l.zero), "legal: 0, 1");
  refusals.refuse(l.shard > 0 && l.shard < l.dp * l.cp, "shard", "hybrid sharding");
  refusals.refuse(l.pp > 1 && l.schedule != Schedule::one_f_one_b && l.schedule != Schedule::gpipe,
                  "schedule",
                  "the schedule " + std::string(kScheduleNames[static_cast<int>(l.schedule)]),
                  "legal: 1f1b, gpipe");
  const bool stated =
      l.first_stage_layers + l.last_stage_layers + l.embedding_slots + l.head_slots > 0;
  refusals.refuse(l.pp > 1 && stated,
                  {FieldName("first-stage-layers"), FieldName("last-stage-layers")},
                  "a stated spread of the layers", "nanotron balances stages itself");
  refusals.refuse(l.recompute == Recompute::every_second, "recompute",
                  "recomputation of every second product", "legal: none, full");
  refusals.refuse(l.recompute == Recompute::selective, "recompute",
                  "selective recomputation of pieces of a layer", "legal: none, full");
  refusals.refuse(
      l.recompute == Recompute::full &&
          (l.recompute_every > 1 || l.recompute_one_in > 1 || l.recompute_early_stop == Choice::on),
      {FieldName("recompute-every"), FieldName("recompute-one-in"),
       FieldName("recompute-early-stop")},
      "this kind of recomputation");
  refusals.refuse(l.offload_optimizer || l.offload_activations || l.offload_parameters, "offload",
                  "offload", "legal: none");
  refusals.refuse(l.overlap_gradients == Choice::off || l.overlap_parameters == Choice::on,
                  {FieldName("overlap-gradients"), FieldName("overlap-parameters")},
                  "a choice of overlap for data-parallel calls");
  refusals.refuse(!usual_order(l), "order", "this numbering of the ranks", "legal: tp-cp-dp-pp");
  const double caps = bucket_parameters(run.job, l) / kBucketElements;
  refusals.refuse(
      run.job.bucket_size > Bytes(0) && states_buckets(run.job, l) && caps != std::floor(caps),
      "bucket-size", "a bucket of a part of a MiB", "legal: a multiple of 2 MiB");
}

// Lines of YAML, two blanks a level.
class Yaml {
 public:
  void open(const std::string& key) {
    line(key + ":");
    ++level_;
  }
  void close() { --level_; }
  void set(const std::string& key, const std::string& value) { line(key + ": " + value); }
  void set(const std::string& key, const char* value) { line(key + ": " + value); }
  void set(const std::string& key, std::int64_t value) { set(key, std::to_string(value)); }
  void set(const std::string& key, bool value) { set(key, value ? "true" : "false"); }
  std::string take() && { return std::move(text_); }

 private:
  void line(const std::string& text) { text_ += std::string(2 * level_, ' ') + text + "\n"; }

  std::size_t level_ = 0;
  std::string text_;
};

// MiB of 16-bit gradients.
std::int64_t bucket_cap(const Run& run) {
  const bool stated = run.job.bucket_size > Bytes(0) && states_buckets(run.job, run.layout);
  const double elements =
      stated ? bucket_parameters(run.job, run.layout) : habits(run.job).reduction.bucket;
  return static_cast<std::int64_t>(std::ceil(elements / kBucketElements));
}

void write_model(const Run& run, Yaml& yaml) {
  const Model& model = run.model;
  const Attention& attention = *model.kinds[0].attention;
  const std::string_view recipe = run.job.recipe->name;
  yaml.open("model");
  yaml.set("ddp_bucket_cap_mb", bucket_cap(run));
  yaml.set("dtype", recipe == "bf16" ? "bfloat16" : recipe == "fp16" ? "float16" : "float32");
  yaml.open("init_method");
  yaml.set("std", "0.02");
  yaml.close();
  yaml.set("make_vocab_size_divisible_by", std::int64_t{1});
  yaml.open("model_config");
  yaml.set("bos_token_id", std::int64_t{1});
  yaml.set("eos_token_id", std::int64_t{2});
  yaml.set("hidden_act", "silu");
  yaml.set("hidden_size", model.hidden);
  yaml.set("intermediate_size", model.kinds[0].feed_forward->width);
  yaml.set("is_llama_config", true);
  yaml.set("max_position_embeddings", std::max(model.maximum_sequence, run.job.sequence));
  yaml.set("num_attention_heads", attention.heads);
  yaml.set("num_hidden_layers", model.layers());
  yaml.set("num_key_value_heads", attention.kv_heads);
  yaml.set("rms_norm_eps", "1.0e-05");
  yaml.set("tie_word_embeddings", model.tied_embeddings);
  yaml.set("vocab_size", model.vocabulary);
  yaml.close();
  yaml.close();
}

void write_optimizer(const Run& run, Yaml& yaml) {
  yaml.open("optimizer");
  yaml.set("accumulate_grad_in_fp32", !run.job.small_gradients);
  yaml.set("clip_grad", "1.0");
  yaml.open("learning_rate_scheduler");
  yaml.set("learning_rate", "0.0003");
  yaml.set("lr_decay_style", "cosine");
  yaml.set("lr_warmup_steps", std::int64_t{2});
  yaml.set("lr_warmup_style", "linear");
  yaml.set("min_decay_lr", "1.0e-05");
  yaml.close();
  yaml.open("optimizer_factory");
  if (run.job.optimizer == Optimizer::sgd) {
    yaml.set("name", "sgd");
  } else {
    yaml.set("adam_beta1", "0.9");
    yaml.set("adam_beta2", "0.95");
    yaml.set("adam_eps", "1.0e-08");
    yaml.set("name", "adamW");
    yaml.set("torch_adam_is_fused", true);
  }
  yaml.close();
  yaml.set("weight_decay", "0.01");
  yaml.set("zero_stage", std::int64_t{run.layout.zero});
  yaml.close();
}

void write_parallelism(const Run& run, Yaml& yaml) {
  const Layout& l = run.layout;
  yaml.open("parallelism");
  yaml.set("dp", l.dp);
  yaml.set("expert_parallel_size", std::int64_t{1});
  yaml.set("pp", l.pp);
  yaml.set("pp_engine", l.schedule == Schedule::gpipe ? "afab" : "1f1b");
  yaml.set("recompute_layer", l.recompute == Recompute::full);
  yaml.set("tp", l.tp);
  yaml.set("tp_linear_async_communication", l.overlap_tensor == Choice::on);
  yaml.set("tp_mode", l.sequence_parallel ? "REDUCE_SCATTER" : "ALL_REDUCE");
  yaml.set("tp_recompute_allgather", !l.keep_gathered);
  yaml.close();
  yaml.open("tokens");
  yaml.set("batch_accumulation_per_replica", micro_batches(run.job, l));
  yaml.set("micro_batch_size", l.micro_batch);
  yaml.set("sequence_length", run.job.sequence);
  yaml.set("train_steps", std::int64_t{20});
  yaml.close();
}

}  // namespace

Result<std::vector<LaunchFile>> write_nanotron(const Run& run) {
  Problems problems;
  Refusals refusals(kNanotron, problems);
  refuse_common(refusals, run);
  refuse_model(run.model, refusals);
  refuse_job(run, refusals);
  refuse_layout(run, refusals);
  if (!problems.empty()) return problems;
  Yaml yaml;
  yaml.open("general");
  yaml.set("project", "headway");
  yaml.set("run", "trial");
  yaml.set("seed", std::int64_t{42});
  yaml.close();
  write_model(run, yaml);
  write_optimizer(run, yaml);
  write_parallelism(run, yaml);
  const Nodes nodes = nodes_of(run);
  const std::string start = "# torchrun --nnodes=" + std::to_string(nodes.count) +
                            " --nproc-per-node=" + std::to_string(nodes.ranks) +
                            " run_train.py --config-file config.yaml\n"
                            "# Loads in nanotron at commit 19f88fb of its repository.\n"
                            "# A trial; add your own tokenizer, data_stages and checkpoints.\n";
  return std::vector<LaunchFile>{
      {"config.yaml", headline(run, kNanotron) + start + std::move(yaml).take()}};
}

}  // namespace headway::launch
