// Recomputation and offloading in Megatron-LM's and Megatron-DeepSpeed's arguments.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "launch/megatron/megatron.hpp"

namespace headway::launch {
namespace {

class RecomputationReader : ArgumentReader {
 public:
  using ArgumentReader::ArgumentReader;

  void read() {
    if (older()) {
      full_ = true;
    } else {
      granularity();
    }
    offloading();
  }

 private:
  // Words of before Megatron-LM core 0.3, and of Megatron-DeepSpeed.
  bool older() {
    const std::string method = text("--activations-checkpoint-method");
    if (!method.empty()) {
      add("recompute", "full", "--activations-checkpoint-method");
      spread("--activations-checkpoint-method", method, "--activations-checkpoint-num-layers");
      return true;
    }
    if (has("--checkpoint-activations")) {
      add("recompute", "full", "--checkpoint-activations");
      copy("--checkpoint-num-layers", "recompute-every");
      return true;
    }
    // --deepspeed-activation-checkpointing says how, and recomputes nothing by itself.
    return false;
  }

  // How many layers are recomputed together, or which of a stage.
  void spread(std::string_view how, const std::string& method, std::string_view layers) {
    const std::string count = text(layers);
    if (method == "uniform") {
      if (!count.empty()) add("recompute-every", count, layers);
      return;
    }
    if (method != "block") {
      return fail(how, "'" + printable(method) + "' is not known; legal: uniform, block",
                  Trouble::unknown);
    }
    const std::int64_t stage =
        arguments_.count("--num-layers").value_or(0) / degree("--pipeline-model-parallel-size");
    if (whole_number(count).value_or(1) < stage) {
      fail(layers,
           "recomputes some layers of a stage and not others, which Headway cannot price; legal "
           "with the method block: all " +
               std::to_string(stage));
    }
  }

  void granularity() {
    constexpr std::string_view kHow = "--recompute-granularity";
    const std::string granularity = text(kHow);
    if (granularity == "full") {
      full_ = true;
      add("recompute", "full", kHow);
      const std::string method = text("--recompute-method");
      if (!method.empty()) spread("--recompute-method", method, "--recompute-num-layers");
    } else if (granularity == "selective" || has("--recompute-activations")) {
      add("recompute", "selective",
          granularity.empty() ? std::string_view("--recompute-activations") : kHow);
      modules();
    } else if (!granularity.empty()) {
      fail(kHow, "'" + printable(granularity) + "' is not known; legal: full, selective",
           Trouble::unknown);
    } else if (has("--moe-layer-recompute")) {
      add("recompute", "selective", "--moe-layer-recompute");
      add("recompute-pieces", "experts", "--moe-layer-recompute");
    }
  }

  void modules() {
    struct Module {
      std::string_view option, field;
    };
    const Argument* modules = arguments_.find("--recompute-modules");
    if (modules == nullptr || modules->values.empty()) return;
    constexpr std::array<Module, 7> kModules = {{{"core_attn", "core"},
                                                 {"layernorm", "norm"},
                                                 {"mla_up_proj", "latent-up"},
                                                 {"moe_act", "activation"},
                                                 {"mlp", "feed-forward"},
                                                 {"shared_experts", "feed-forward"},
                                                 {"moe", "experts"}}};
    std::vector<std::string> pieces;
    for (const ShellWord& word : modules->values) {
      const auto found = std::find_if(kModules.begin(), kModules.end(), [&](const Module& module) {
        return module.option == word.text;
      });
      if (found == kModules.end()) {
        fail("--recompute-modules",
             "'" + printable(word.text) +
                 "' is not known; legal: core_attn, layernorm, "
                 "mla_up_proj, moe_act, mlp, shared_experts, moe",
             Trouble::unknown);
      } else {
        pieces.emplace_back(found->field);
      }
    }
    add("recompute-pieces", join(pieces, ","), "--recompute-modules");
  }

  void offloading() {
    std::vector<std::string> what;
    std::string_view option;
    const auto offload = [&](std::string_view name, const char* states) {
      what.emplace_back(states);
      option = name;
    };
    for (const std::string_view name : {"--optimizer-cpu-offload", "--cpu-optimizer"}) {
      if (has(name) && what.empty()) offload(name, "optimizer");
    }
    constexpr std::string_view kLayers = "--cpu-offloading-num-layers";
    const std::int64_t offloaded = arguments_.count(kLayers).value_or(0);
    const std::int64_t layers = arguments_.count("--num-layers").value_or(0);
    if (offloaded > 0 && offloaded + 1 < layers) {
      fail(kLayers, "offloads some layers and not others, which Headway cannot price; legal: 0, " +
                        std::to_string(layers - 1));
    } else if (offloaded > 0) {
      offload(kLayers, "activations");
    }
    if (has("--checkpoint-in-cpu") && full_) offload("--checkpoint-in-cpu", "activations");
    if (!what.empty()) add("offload", join(what, ","), option);
  }

  bool full_ = false;
};

}  // namespace

void read_recomputation(const MegatronArguments& arguments, LaunchRequest& out,
                        Problems& problems) {
  RecomputationReader(arguments, out, problems).read();
}

}  // namespace headway::launch
