// From a configuration of DeepSpeed to the fields of a run.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "launch/document.hpp"
#include "launch/options.hpp"
#include "step/frameworks/habits.hpp"

namespace headway::launch {
namespace {

constexpr double kMostCount = 1e12;

class DeepspeedReader : DocumentReader {
 public:
  DeepspeedReader(const Document& document, bool beside_script, Problems& problems)
      : DocumentReader(document, problems), beside_script_(beside_script) {}

  LaunchRequest read() {
    add("framework", "deepspeed", "", "zero_optimization");
    stated("train_batch_size", "global-batch");
    stated("train_micro_batch_size_per_gpu", "micro-batch");
    precision();
    zero();
    offload();
    const std::string optimizer = lower(text("optimizer", "type"));
    if (!optimizer.empty()) add("optimizer", optimizer, "optimizer", "type");
    recomputation();
    degrees();
    judge_options(option_table(Launcher::deepspeed), options_of(document_), out_.notes, problems_);
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
    if (!bf16 && !fp16 && beside_script_) return;  // the script's options say it
    if (text("bf16", "enabled") == "auto" || text("fp16", "enabled") == "auto") return;
    add("precision", bf16 ? "bf16" : fp16 ? "fp16" : "fp32", fp16 ? "fp16" : "bf16", "enabled");
  }

  // The table says how layers are recomputed; that they are is its program's to say.
  void recomputation() {
    constexpr std::string_view kTable = "activation_checkpointing";
    if (find("", kTable) == nullptr) return;
    if (flag(kTable, "partition_activations", false)) {
      out_.with_tensor_parallelism.push_back(
          {at(kTable, "partition_activations"),
           "splits what is kept of recomputed layers over tensor ranks, which Headway cannot "
           "price; legal with a tensor degree of 1, or at false"});
    }
    if (beside_script_) return;
    add("recompute", "full", "", kTable);
    out_.notes.push_back(
        "priced with full recomputation, since activation_checkpointing says how it is done; "
        "--recompute none where the program does without");
  }

  void degrees() {
    out_.micro_batches = degree("", "gradient_accumulation_steps", 0);
    if (degree("", "sequence_parallel_size", 1) > 1) {
      copy("", "sequence_parallel_size", "cp");
      add("cp-exchange", "all-to-all", "", "sequence_parallel_size");
    }
    if (degree("pipeline", "stages", 0) > 0) copy("pipeline", "stages", "pp");
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
    bucket();
    zero_plus_plus();
    if (degree(kZero, "mics_shard_size", -1) > 0) copy(kZero, "mics_shard_size", "shard");
  }

  // A partition of one rank is none.
  void zero_plus_plus() {
    constexpr std::string_view kZero = "zero_optimization", kSecond = "zero_hpz_partition_size";
    if (text(kZero, kSecond) != "auto" && degree(kZero, kSecond, 1) > 1)
      copy(kZero, kSecond, "secondary-shard");
    for (const auto& [key, field] :
         {std::pair("zero_quantized_weights", "quantized-weights"),
          std::pair("zero_quantized_gradients", "quantized-gradients")}) {
      if (flag(kZero, key, false)) add(field, "true", kZero, key);
    }
  }

  // Elements; "auto" is filled in by another program.
  void bucket() {
    constexpr std::string_view kZero = "zero_optimization", kKey = "reduce_bucket_size";
    const std::string elements = text(kZero, kKey);
    if (elements.empty() || elements == "auto") return;
    const auto number = number_of({.kind = FieldForm::Kind::number}, elements);
    if (!number || !(*number >= 1 && *number <= kMostCount)) {
      return fail(std::string(kZero), kKey, "must be elements, from 1 to 10^12, or auto");
    }
    if (*number == habits(framework_from("deepspeed").value()).reduction.bucket) return;
    out_.bucket = *number;
    out_.bucket_stated = at(kZero, kKey);
  }

  void offload() {
    constexpr std::string_view kZero = "zero_optimization";
    std::vector<std::string> parts;
    const auto to_host = [&](std::string_view table) {
      const std::string device = text(std::string(kZero) + "." + std::string(table), "device");
      if (device == "nvme") {
        fail(std::string(kZero) + "." + std::string(table), "device",
             "is nvme, which Headway cannot price; legal: cpu, none");
      }
      return device == "cpu";
    };
    if (to_host("offload_optimizer") || flag(kZero, "cpu_offload", false)) {
      parts.emplace_back("optimizer");
    }
    if (flag("activation_checkpointing", "cpu_checkpointing", false)) {
      parts.emplace_back("activations");
    }
    if (to_host("offload_param") || flag(kZero, "cpu_offload_param", false)) {
      parts.emplace_back("parameters");
    }
    if (!parts.empty()) add("offload", join(parts, ","), "", kZero);
  }

  bool beside_script_;
};

}  // namespace

// Without ZeRO bf16 is trained by an optimiser of its own, which keeps its states in shards and
// gathers the weights as ZeRO 1 does (runtime/bf16_optimizer.py, DeepSpeed 0.6 to 0.17).
void settle_deepspeed(LaunchRequest& request) {
  const auto says = [&](std::string_view name, std::string_view text) {
    std::string_view last;
    for (const GivenField& field : request.fields) {
      if (field.name == name) last = field.text;
    }
    return last == text;
  };
  if (!says("framework", "deepspeed") || !says("precision", "bf16") || !says("zero", "0")) return;
  for (GivenField& field : request.fields) {
    if (field.name == "zero") field.text = "1";
  }
  request.notes.push_back("bf16 without ZeRO is priced as ZeRO 1: its optimiser shards its states");
}

Result<LaunchRequest> read_deepspeed(std::string_view text, const std::string& file,
                                     bool beside_script) {
  const auto document = parse_json(text, file);
  if (!document) return document.problems();
  Problems problems;
  LaunchRequest out = DeepspeedReader(*document, beside_script, problems).read();
  if (!problems.empty()) return problems;
  if (!beside_script) settle_deepspeed(out);
  return out;
}

}  // namespace headway::launch
