// A configuration of nanotron as the fields of a run.
#include <algorithm>
#include <array>

#include "base/document/yaml.hpp"
#include "base/text.hpp"
#include "launch/document.hpp"
#include "launch/options.hpp"
#include "step/frameworks/habits.hpp"

namespace headway::launch {
namespace {

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
    bucket();
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
    take("sliding_window_size", "window");
    const std::string activation = text(kConfig, "hidden_act");
    if (!activation.empty() && activation != "silu" && activation != "gelu") {
      fail(kConfig, "hidden_act", "is not that of Llama's form; legal: silu, gelu");
    }
    model.set("norm", std::string("rms"), config->line);
    model.set("gated", true, config->line);
    model.set("activation", activation.empty() ? "silu" : activation, config->line);
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

  // MiB of 16-bit gradients, which are sent in fp32.
  void bucket() {
    const Node* node = find("model", "ddp_bucket_cap_mb");
    if (node == nullptr || node->is_null()) return;
    const std::int64_t cap = degree("model", "ddp_bucket_cap_mb", 0);
    if (cap < 1) return;
    const double elements = static_cast<double>(cap) * kBucketElements;
    if (elements == habits(framework_from("nanotron").value()).reduction.bucket) return;
    out_.bucket = elements;
    out_.bucket_stated = at("model", "ddp_bucket_cap_mb");
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

Result<LaunchRequest> read_nanotron(std::string_view text, const std::string& file) {
  std::vector<std::string> twice;
  const auto document = parse_yaml(text, file, twice);
  if (!document) return document.problems();
  Problems problems;
  LaunchRequest out = NanotronReader(*document, problems).read();
  if (!problems.empty()) return problems;
  out.notes.insert(out.notes.end(), twice.begin(), twice.end());
  return out;
}

}  // namespace headway::launch
