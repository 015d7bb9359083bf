// From a configuration of torchtitan to the fields of a run.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "launch/document.hpp"
#include "launch/options.hpp"
#include "launch/torchtitan/models.hpp"
#include "launch/torchtitan/pipeline.hpp"
#include "model/reading/load.hpp"

namespace headway::launch {
namespace {

class TorchtitanReader : DocumentReader {
 public:
  /// `early`: the file has words of releases before 0.1.
  TorchtitanReader(const Document& document, std::int64_t accelerators, bool early,
                   Problems& problems)
      : DocumentReader(document, problems), accelerators_(accelerators), early_(early) {}

  LaunchRequest read() {
    out_.fields.push_back({"framework", "fsdp", at("model", "name")});
    if (const std::string does = other_network(text("model", "name")); !does.empty()) {
      fail("model", "name", does + ", which Headway cannot price; legal: a decoder of text");
      return std::move(out_);
    }
    model();
    copy("training", "seq_len", "seq");
    copy("parallelism", "tensor_parallel_degree", "tp");
    copy("parallelism", "context_parallel_degree", "cp");
    copy("parallelism", "pipeline_parallel_degree", "pp");
    copy("parallelism", "expert_parallel_degree", "ep");
    copy("parallelism", "expert_tensor_parallel_degree", "etp");
    data_parallelism();
    batch();
    precision();
    recomputation();
    communication();
    pipeline();
    if (flag("training", "enable_cpu_offload", false)) {
      add("offload", "optimizer,parameters", "training", "enable_cpu_offload");
    }
    std::vector<GivenOption> options = options_of(document_);
    std::erase_if(options, [&](const GivenOption& option) { return is_idle(option.name); });
    judge_options(option_table(Launcher::torchtitan), options, out_.notes, problems_);
    return std::move(out_);
  }

 private:
  // Whether a list of texts, or one text with commas, holds `item`.
  bool lists(std::string_view table, std::string_view key, std::string_view item,
             bool usual) const {
    const Node* node = find(table, key);
    if (node == nullptr) return usual;
    if (const Node::Array* array = node->array()) {
      return std::any_of(array->begin(), array->end(), [&](const Node& one) {
        const auto* value = std::get_if<std::string>(&one.value);
        return value != nullptr && *value == item;
      });
    }
    return ("," + text(table, key) + ",").find("," + std::string(item) + ",") != std::string::npos;
  }

  // Tables of model, training and so on are left to --model and flags where they are missing.
  void model() {
    const std::string name = text("model", "name"), flavor = text("model", "flavor");
    if (name.empty() && flavor.empty()) return;
    const Node* node = find("model", "flavor");
    const Flavor* known = flavor_named(name, flavor);
    if (known != nullptr) {
      const int line = node != nullptr ? node->line : document_.root.line;
      return out_.fields.push_back(model_field(*known, document_.file, line));
    }
    // Refused where no flag names another: no built-in model has a blank in its name.
    add("model", name + " " + flavor, "model", "flavor");
    out_.notes.push_back("flavors known: " + flavors_text());
  }

  void data_parallelism() {
    constexpr std::string_view kReplicas = "data_parallel_replicate_degree";
    constexpr std::string_view kShard = "data_parallel_shard_degree";
    const std::int64_t tp =
        std::max<std::int64_t>(1, degree("parallelism", "tensor_parallel_degree", 1));
    const std::int64_t pp =
        std::max<std::int64_t>(1, degree("parallelism", "pipeline_parallel_degree", 1));
    cp_ = std::max<std::int64_t>(1, degree("parallelism", "context_parallel_degree", 1));
    const std::int64_t replicas = std::max<std::int64_t>(1, degree("parallelism", kReplicas, 1));
    std::int64_t shard = degree("parallelism", kShard, -1);
    const double others = static_cast<double>(tp) * static_cast<double>(pp) *
                          static_cast<double>(cp_) * static_cast<double>(replicas);
    if (others > 1e9) return;  // the check of degrees says so
    const std::int64_t product = tp * pp * cp_ * replicas;
    if (shard < 1 && accelerators_ > 0 && accelerators_ % product == 0) {
      shard = accelerators_ / product;
    }
    if (shard >= 1 && shard <= 1'000'000'000 / product) {
      add("gpus", std::to_string(product * shard), "parallelism", kShard);
      dp_ = replicas * shard;
    }
    const bool replicated = replicas > 1 && shard == 1 && cp_ == 1;
    const std::string policy = text("parallelism", "fsdp_reshard_after_forward");
    if (replicated) {
      add("zero", "0", "parallelism", kReplicas);
    } else if (policy == "never" || ((policy.empty() || policy == "default") && pp > 1)) {
      add("zero", "2", "parallelism", "fsdp_reshard_after_forward");
    } else if (policy.empty() || policy == "default" || policy == "always") {
      add("zero", "3", "parallelism", "fsdp_reshard_after_forward");
    } else {
      add("zero", policy, "parallelism", "fsdp_reshard_after_forward");
    }
    if (replicas > 1 && !replicated) {
      if (shard < 1) {
        return fail("parallelism", kShard,
                    "must be stated beside " + std::string(kReplicas) + ", or --gpus given");
      }
      add("shard", std::to_string(shard * cp_), "parallelism", kShard);
    }
  }

  void batch() {
    const std::string_view local =
        find("training", "local_batch_size") != nullptr ? "local_batch_size" : "batch_size";
    const std::int64_t at_once = degree("training", local, 8);
    const std::int64_t pp = degree("parallelism", "pipeline_parallel_degree", 1);
    if (pp <= 1) add("micro-batch", std::to_string(at_once), "training", local);
    const std::int64_t global = degree("training", "global_batch_size", -1);
    if (global > 0) {
      add("global-batch", std::to_string(global), "training", "global_batch_size");
      if (pp > 1 && dp_ > 0 && at_once > 0 && global > at_once * dp_) {
        out_.notes.push_back(
            "the pipeline is priced as if it drained once a step, not after each "
            "of " +
            std::to_string(global / (at_once * dp_)) + " local batches");
      }
    } else if (dp_ > 0 && at_once > 0) {
      add("global-batch", std::to_string(at_once * dp_), "training", local);
    }
  }

  void converters() {
    constexpr std::array<std::string_view, 6> kKnown = {
        "float8", "quantize.linear.float8", "quantize.dense.float8",
        "mx",     "quantize.linear.mx",     "quantize.dense.mx"};
    const Node* node = find("model", "converters");
    if (node == nullptr || node->array() == nullptr) return;
    for (const Node& one : *node->array()) {
      const std::string name = scalar_text(one);
      if (std::find(kKnown.begin(), kKnown.end(), name) != kKnown.end()) continue;
      fail("model", "converters",
           "'" + printable(name) +
               "' converts the network in a way that Headway cannot price; legal: " +
               join(std::vector<std::string>(kKnown.begin(), kKnown.end()), ", "));
    }
  }

  // A table of a converter that the network is not converted by, whatever it is called; what is of
  // recomputation by operator alone.
  bool is_idle(std::string_view option) const {
    if (option == "activation_checkpoint.per_op_sac_force_recompute_mm_shapes_by_fqns") {
      return text("activation_checkpoint", "selective_ac_option") != "op";
    }
    const bool converts = option.starts_with("quantize.") || option.starts_with("float8.") ||
                          option.starts_with("mx.");
    if (!converts || option == "float8.enable_float8_linear") return false;
    return !lists("model", "converters", option.substr(0, option.rfind('.')), false);
  }

  void precision() {
    converters();
    // Before converters a switch of the table asked for it.
    bool float8 = flag("float8", "enable_float8_linear", false), mx = false;
    for (const char* name : {"float8", "quantize.linear.float8", "quantize.dense.float8"}) {
      float8 = float8 || lists("model", "converters", name, false);
    }
    for (const char* name : {"mx", "quantize.linear.mx", "quantize.dense.mx"}) {
      mx = mx || lists("model", "converters", name, false);
    }
    const bool full = text("training", "mixed_precision_param") == "float32";
    add("precision",
        float8 ? "fp8-current"
        : mx   ? "mxfp8"
        : full ? "fp32"
               : "bf16",
        float8 || mx ? "model" : "training", float8 || mx ? "converters" : "mixed_precision_param");
    if (float8) out_.notes.push_back("float8 is priced with scales of whole tensors");
    const std::string optimizer = text("optimizer", "name");
    if (!optimizer.empty()) add("optimizer", lower(optimizer), "optimizer", "name");
    const bool old = flag("training", "compile", false);
    const bool compiled = flag("compile", "enable", old);
    if (!compiled) {
      add("unfused", "true", "compile", "enable");
    } else if (!lists("compile", "components", "model", true)) {
      add("unfused", "true", "compile", "components");
    }
    if (compiled && lists("compile", "components", "loss", true)) {
      add("fused-loss", "on", "compile", "components");
    }
  }

  void recomputation() {
    const std::string mode = text("activation_checkpoint", "mode");
    const std::string option = text("activation_checkpoint", "selective_ac_option");
    const bool selective = mode.empty() || mode == "selective";
    const std::int64_t one_in = option.empty() ? 2 : whole_number(option).value_or(0);
    if (mode == "full" || (selective && one_in > 0)) {
      add("recompute", "full", "activation_checkpoint", "mode");
      // Every second layer by default; each counts from 1 on its rank.
      if (selective) {
        add("recompute-one-in", std::to_string(one_in), "activation_checkpoint",
            "selective_ac_option");
      }
      early_stop();
    } else if (selective && option == "op") {
      add("recompute", "every-second-product", "activation_checkpoint", "selective_ac_option");
      early_stop();
    } else if (selective) {
      fail("activation_checkpoint", "selective_ac_option",
           "'" + printable(option) + "' is not known; legal: op, or a whole number from 1");
    } else {
      add("recompute", mode, "activation_checkpoint", "mode");
    }
  }

  // PyTorch's own default before the word (pull request 1580); by then these had other names.
  void early_stop() {
    const bool before = early_ || find("training", "batch_size") != nullptr ||
                        find("training", "compile") != nullptr;
    add("recompute-early-stop", flag("activation_checkpoint", "early_stop", before) ? "on" : "off",
        "activation_checkpoint", "early_stop");
  }

  void communication() {
    if (flag("parallelism", "enable_async_tensor_parallel", false)) {
      add("overlap-tensor", "on", "parallelism", "enable_async_tensor_parallel");
    }
    if (cp_ > 1 && text("parallelism", "context_parallel_rotate_method") != "alltoall") {
      out_.notes.push_back("gathered keys and values of context parallelism are priced as a ring");
    }
    if (text("parallelism", "expert_parallel_comm_backend") == "deepep") {
      add("dispatch", "once", "parallelism", "expert_parallel_comm_backend");
    }
  }

  void pipeline() {
    LaunchRequest of = pipeline_fields(document_, layers_of_model(), early_, problems_);
    for (GivenField& field : of.fields) out_.fields.push_back(std::move(field));
  }

  std::int64_t layers_of_model() const {
    const Flavor* flavor = flavor_named(text("model", "name"), text("model", "flavor"));
    if (flavor == nullptr) return 0;
    const auto model = flavor_model(*flavor);
    return model ? model->layers() : 0;
  }

  std::int64_t accelerators_;
  bool early_;
  std::int64_t dp_ = 0;  // 0: not known
  std::int64_t cp_ = 1;
};

// Moves what releases before 0.1 wrote in other tables to where it stands today; whether it found
// any.
bool take_older_words(Node& root) {
  bool found = false;
  const auto table_named = [&](std::string_view name) -> Node::Table* {
    for (auto& [key, node] : *std::get_if<Node::Table>(&root.value)) {
      if (key == name) return std::get_if<Node::Table>(&node.value);
    }
    return nullptr;
  };
  if (root.table() == nullptr) return false;
  for (const auto& [older, today] : option_table(Launcher::torchtitan).older) {
    const std::size_t dot = older.find('.'), dot_today = today.find('.');
    Node::Table* from = table_named(older.substr(0, dot));
    if (from == nullptr) continue;
    const auto member = std::find_if(from->begin(), from->end(), [&](const auto& one) {
      return one.first == older.substr(dot + 1);
    });
    if (member == from->end()) continue;
    found = true;
    const Node node = member->second;
    from->erase(member);
    const std::string table = today.substr(0, dot_today);
    if (table_named(table) == nullptr) {
      std::get_if<Node::Table>(&root.value)->emplace_back(table, Node{Node::Table(), node.line});
    }
    if (Node::Table* into = table_named(table)) {
      into->emplace_back(today.substr(dot_today + 1), node);
    }
  }
  return found;
}

}  // namespace

Result<LaunchRequest> read_torchtitan(std::string_view text, const std::string& file,
                                      std::int64_t accelerators) {
  auto document = parse_toml(text, file);
  if (!document) return document.problems();
  const bool early = take_older_words(document.value().root);
  Problems problems;
  LaunchRequest out = TorchtitanReader(*document, accelerators, early, problems).read();
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway::launch
