// A run as a configuration of nanotron, and back.
#include <algorithm>
#include <array>

#include "api/launch_document.hpp"
#include "api/launch_options.hpp"
#include "base/text.hpp"
#include "step/habits.hpp"

namespace headway::launch {
namespace {

constexpr Launcher kNanotron = Launcher::nanotron;

// nanotron's Llama: RMS norms, SiLU with a gate, no biases, no experts.
void refuse_model(const Model& model, Refusals& refusals) {
  bool llama = model.kinds.size() == 1 && model.norm == NormKind::rms_norm &&
               !model.embedding_norm && model.final_norm && !model.head_bias &&
               model.learned_positions == 0 && model.embedding_width == 0 &&
               model.prediction_layers == 0 && model.vocabulary > 0;
  if (llama) {
    const Layer& layer = model.kinds[0];
    llama = layer.attention && layer.feed_forward && layer.norms == 2 && !layer.parallel;
    if (llama) {
      const Attention& a = *layer.attention;
      const FeedForward& part = *layer.feed_forward;
      llama = !a.latent && !a.qkv_bias && !a.output_bias && !a.query_key_norm && !a.sinks &&
              a.window == 0 && a.head_dim * a.heads == model.hidden && part.gated && !part.bias &&
              part.activation == Activation::silu;
    }
  }
  refusals.refuse(!llama, "--model", "a network that is not of Llama's form");
}

void refuse_job(const Run& run, Refusals& refusals) {
  const Job& job = run.job;
  const std::string_view recipe = job.recipe->name;
  refusals.refuse(recipe != "bf16" && recipe != "fp16" && recipe != "fp32", "--precision",
                  std::string(recipe), "legal: bf16, fp16, fp32");
  refusals.refuse(job.optimizer != Optimizer::adamw && job.optimizer != Optimizer::sgd,
                  "--optimizer", std::string(kOptimizerNames[static_cast<int>(job.optimizer)]),
                  "legal: adamw, sgd");
  refusals.refuse(job.attention != AttentionKernel::flash2, "--attention",
                  "another kernel than flash attention 2", "legal: flash2");
  refusals.refuse((job.dropout >= 0 ? job.dropout : run.model.dropout) > 0, "--dropout", "dropout",
                  "legal: 0");
  refusals.refuse(job.graphs != Graphs::none, "--graphs", "CUDA graphs");
  refusals.refuse(job.fused_loss == Choice::on, "--fused-loss", "a loss in one kernel");
  refusals.refuse(job.checked_collectives, "--checked-collectives",
                  "the variable TORCH_DISTRIBUTED_DEBUG of the environment");
}

void refuse_layout(const Run& run, Refusals& refusals) {
  const Layout& l = run.layout;
  refusals.refuse(l.cp > 1, "--cp", "context parallelism", "legal: 1");
  refusals.refuse(l.vpp > 1, "--vpp", "virtual pipeline stages", "legal: 1");
  refusals.refuse(l.zero > 1, "--zero", "ZeRO " + std::to_string(l.zero), "legal: 0, 1");
  refusals.refuse(l.shard > 0 && l.shard < l.dp * l.cp, "--shard", "hybrid sharding");
  refusals.refuse(l.pp > 1 && l.schedule != Schedule::one_f_one_b && l.schedule != Schedule::gpipe,
                  "--schedule",
                  "the schedule " + std::string(kScheduleNames[static_cast<int>(l.schedule)]),
                  "legal: 1f1b, gpipe");
  const bool stated =
      l.first_stage_layers + l.last_stage_layers + l.embedding_slots + l.head_slots > 0;
  refusals.refuse(l.pp > 1 && stated, "--first-stage-layers, --last-stage-layers",
                  "a stated spread of the layers", "nanotron balances stages itself");
  refusals.refuse(l.recompute == Recompute::selective, "--recompute",
                  "selective recomputation of pieces of a layer", "legal: none, full");
  refusals.refuse(l.recompute == Recompute::full &&
                      (l.recompute_every > 1 || l.recompute_early_stop == Choice::on),
                  "--recompute-every, --recompute-early-stop", "this kind of recomputation");
  refusals.refuse(l.offload_optimizer || l.offload_activations || l.offload_parameters, "--offload",
                  "offload", "legal: none");
  refusals.refuse(l.overlap_gradients == Choice::off || l.overlap_parameters == Choice::on,
                  "--overlap-gradients, --overlap-parameters",
                  "a choice of overlap for data-parallel calls");
  refusals.refuse(!usual_order(l), "--order", "this numbering of the ranks", "legal: tp-cp-dp-pp");
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

void write_model(const Run& run, Yaml& yaml) {
  const Model& model = run.model;
  const Attention& attention = *model.kinds[0].attention;
  const std::string_view recipe = run.job.recipe->name;
  yaml.open("model");
  yaml.set("ddp_bucket_cap_mb", std::int64_t{25});
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

class NanotronReader : DocumentReader {
 public:
  using DocumentReader::DocumentReader;

  LaunchRequest read() {
    add("framework", "nanotron", "", "parallelism");
    model();
    copy("tokens", "sequence_length", "seq");
    copy("tokens", "micro_batch_size", "micro-batch");
    copy("parallelism", "tp", "tp");
    copy("parallelism", "pp", "pp");
    const std::int64_t context = degree("parallelism", "context_parallel_size", 1);
    if (context > 1) copy("parallelism", "context_parallel_size", "cp");
    if (degree("parallelism", "expert_parallel_size", 1) > 1) {
      copy("parallelism", "expert_parallel_size", "ep");
    }
    batch(std::max<std::int64_t>(1, context));
    // Kernels one by one but for norms and rotary positions; attention by its own.
    add("unfused", "true", "", "model");
    add("attention", "flash2", "", "model");
    precision();
    parallelism();
    judge_options(option_table(Launcher::nanotron), options_of(document_), out_.notes, problems_);
    return std::move(out_);
  }

 private:
  void model() {
    constexpr std::string_view kConfig = "model.model_config";
    const Node* config = find("model", "model_config");
    if (config == nullptr || config->table() == nullptr) return;  // --model says it
    ModelDocument model;
    const auto take = [&](std::string_view key, std::string_view name) {
      const Node* node = find(kConfig, key);
      if (node == nullptr || node->is_null()) return;
      model.set(name, node->value, node->line);
    };
    take("num_hidden_layers", "layers");
    take("hidden_size", "hidden");
    take("num_attention_heads", "heads");
    take("num_key_value_heads", "kv_heads");
    take("intermediate_size", "feed_forward");
    take("vocab_size", "vocabulary");
    take("tie_word_embeddings", "tied");
    take("max_position_embeddings", "sequence");
    take("attention_bias", "qkv_bias");
    const std::string activation = text(kConfig, "hidden_act");
    if (!activation.empty() && activation != "silu") {
      fail(kConfig, "hidden_act", "is not that of Llama's form; legal: silu");
    }
    model.set("norm", std::string("rms"), config->line);
    model.set("gated", true, config->line);
    model.set("activation", std::string("silu"), config->line);
    const Node* experts = find(kConfig, "moe_config");
    if (flag(kConfig, "is_starcoder2_config", false) ||
        (experts != nullptr && !experts->is_null())) {
      // No built-in model has such a name; --model may say what to price instead.
      return add("model", "of another form than Llama's", "model", "model_config");
    }
    out_.fields.push_back(std::move(model).field(document_.file, config->line));
  }

  void batch(std::int64_t context) {
    const std::int64_t dp = degree("parallelism", "dp", 1), tp = degree("parallelism", "tp", 1);
    const std::int64_t pp = degree("parallelism", "pp", 1);
    const std::int64_t micro = degree("tokens", "micro_batch_size", 0);
    const std::int64_t batches = degree("tokens", "batch_accumulation_per_replica", 0);
    const double ranks = static_cast<double>(dp) * static_cast<double>(tp) *
                         static_cast<double>(pp) * static_cast<double>(context);
    if (dp < 1 || tp < 1 || pp < 1 || ranks > 1e9) {
      return fail("parallelism", "dp", "must be degrees from 1 on, of at most 10^9 ranks together");
    }
    add("gpus", std::to_string(dp * tp * pp * context), "parallelism", "dp");
    const double samples = static_cast<double>(micro) * static_cast<double>(batches);
    if (micro < 1 || batches < 1 || samples * static_cast<double>(dp) > 1e12) return;
    add("global-batch", std::to_string(micro * batches * dp), "tokens",
        "batch_accumulation_per_replica");
  }

  void precision() {
    const std::string dtype = text("model", "dtype");
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kTypes = {
        {{"bfloat16", "bf16"}, {"float16", "fp16"}, {"float32", "fp32"}}};
    std::string recipe = dtype.empty() ? "bf16" : dtype;
    for (const auto& [name, known] : kTypes) {
      if (recipe == name) recipe = known;
    }
    add("precision", recipe, "model", "dtype");
    copy("optimizer", "zero_stage", "zero");
    if (!flag("optimizer", "accumulate_grad_in_fp32", true)) {
      add("small-gradients", "true", "optimizer", "accumulate_grad_in_fp32");
    }
    const std::string name = text("optimizer.optimizer_factory", "name");
    if (!name.empty()) add("optimizer", lower(name), "optimizer.optimizer_factory", "name");
  }

  void parallelism() {
    constexpr std::string_view kHere = "parallelism";
    if (degree(kHere, "pp", 1) > 1) {
      const std::string engine = text(kHere, "pp_engine");
      const bool all_forward = engine.empty() || engine == "afab";  // its default
      add("schedule", all_forward ? "gpipe" : engine, kHere, "pp_engine");
    }
    const bool tensor = degree(kHere, "tp", 1) > 1;
    const bool scatter = lower(text(kHere, "tp_mode")) == "reduce_scatter";
    if (tensor && !scatter) add("no-sp", "true", kHere, "tp_mode");
    if (tensor && scatter && !flag(kHere, "tp_recompute_allgather", true)) {
      add("keep-gathered", "true", kHere, "tp_recompute_allgather");
    }
    if (tensor && flag(kHere, "tp_linear_async_communication", false)) {
      add("overlap-tensor", "on", kHere, "tp_linear_async_communication");
    }
    if (flag(kHere, "recompute_layer", false)) add("recompute", "full", kHere, "recompute_layer");
  }
};

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
                            "# A trial; add your own tokenizer, data_stages and checkpoints.\n";
  return std::vector<LaunchFile>{
      {"config.yaml", headline(run, kNanotron) + start + std::move(yaml).take()}};
}

Result<LaunchRequest> read_nanotron(std::string_view text, const std::string& file) {
  const auto document = parse_yaml(text, file);
  if (!document) return document.problems();
  Problems problems;
  LaunchRequest out = NanotronReader(*document, problems).read();
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway::launch
