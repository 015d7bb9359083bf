// From Megatron-LM's arguments to the fields of a run.
#include <algorithm>
#include <array>

#include "api/launch_megatron.hpp"
#include "base/text.hpp"

namespace headway::launch {
namespace {

struct Pair {
  std::string_view option, field;
};

// Options whose value is the field's.
constexpr Pair kCopied[] = {{"--micro-batch-size", "micro-batch"},
                            {"--global-batch-size", "global-batch"},
                            {"--seq-length", "seq"},
                            {"--tensor-model-parallel-size", "tp"},
                            {"--pipeline-model-parallel-size", "pp"},
                            {"--context-parallel-size", "cp"},
                            {"--expert-model-parallel-size", "ep"},
                            {"--hidden-dropout", "dropout"}};
// Options that set a field to the text behind the colon.
constexpr Pair kSwitches[] = {{"--cross-entropy-loss-fusion", "fused-loss:on"},
                              {"--grad-reduce-in-bf16", "small-gradients:true"},
                              {"--finetune", "task:finetune"},
                              {"--tp-comm-overlap", "overlap-tensor:on"},
                              {"--overlap-moe-expert-parallel-comm", "overlap-experts:on"},
                              {"--optimizer-cpu-offload", "offload:optimizer"},
                              {"--use-tp-pp-dp-mapping", "order:tp-cp-pp-dp"}};
// Options that make another step than any that Headway knows.
constexpr std::string_view kUnknownSteps[] = {"--use-torch-fsdp2",
                                              "--heterogeneous-layers-config-path",
                                              "--spec",
                                              "--is-hybrid-model",
                                              "--hybrid-override-pattern",
                                              "--hybrid-attention-ratio",
                                              "--quick-geglu",
                                              "--use-legacy-models",
                                              "--window-attn-skip-freq",
                                              "--yaml-cfg",
                                              "--perform-rl-step",
                                              "--encoder-num-layers",
                                              "--model-parallel-size"};

class MegatronReader {
 public:
  MegatronReader(const MegatronArguments& arguments, Problems& problems)
      : arguments_(arguments), problems_(problems) {}

  LaunchRequest read() {
    out_.notes = arguments_.notes;
    out_.fields.push_back({"framework", "megatron", at("--num-layers")});
    out_.fields.push_back(megatron_model(arguments_, out_.notes));
    for (const Pair& pair : kCopied) copy(pair.option, pair.field);
    if (!arguments_.has("--hidden-dropout")) add("dropout", "0.1", "--hidden-dropout");
    for (const Pair& pair : kSwitches) {
      const std::size_t colon = pair.field.find(':');
      if (!arguments_.has(pair.option)) continue;
      add(pair.field.substr(0, colon), std::string(pair.field.substr(colon + 1)), pair.option);
    }
    accelerators();
    precision();
    kernels();
    sharding();
    recomputation();
    communication();
    read_pipeline(arguments_, out_.fields, problems_);
    unknown();
    return std::move(out_);
  }

 private:
  std::string at(std::string_view option) const {
    const Argument* found = arguments_.find(option);
    return found != nullptr ? arguments_.where(*found)
                            : arguments_.file + ":" + std::to_string(arguments_.line) + ": " +
                                  std::string(option) + " (absent)";
  }
  void add(std::string_view field, std::string text, std::string_view option) {
    out_.fields.push_back({std::string(field), std::move(text), at(option)});
  }
  void copy(std::string_view option, std::string_view field) {
    if (arguments_.has(option)) add(field, arguments_.text(option), option);
  }
  void fail(std::string_view option, std::string message) {
    problems_.push_back({at(option), std::move(message)});
  }
  std::int64_t degree(std::string_view option) const {
    const std::int64_t value = arguments_.count(option).value_or(1);
    return std::clamp<std::int64_t>(value, 1, 1'000'000);
  }

  void accelerators() {
    const std::int64_t gpus = arguments_.accelerators;
    if (gpus > 0) {
      out_.fields.push_back(
          {"gpus", std::to_string(gpus),
           arguments_.file + ":" + std::to_string(arguments_.line) + ": accelerators"});
    }
    if (arguments_.has("--global-batch-size") || gpus == 0) return;
    // One micro-batch on each data-parallel rank.
    const std::int64_t model = degree("--tensor-model-parallel-size") *
                               degree("--pipeline-model-parallel-size") *
                               degree("--context-parallel-size");
    const auto micro = arguments_.count("--micro-batch-size");
    if (micro && *micro > 0 && *micro < 1'000'000 && gpus % model == 0) {
      add("global-batch", std::to_string(*micro * (gpus / model)), "--global-batch-size");
    }
  }

  void precision() {
    std::string recipe = arguments_.has("--bf16")   ? "bf16"
                         : arguments_.has("--fp16") ? "fp16"
                                                    : "fp32";
    std::string_view option = arguments_.has("--fp16") ? "--fp16" : "--bf16";
    if (arguments_.has("--fp8-format")) {
      option = arguments_.has("--fp8-recipe") ? "--fp8-recipe" : "--fp8-format";
      const std::string text = arguments_.text("--fp8-recipe");
      recipe = text.empty() || text == "delayed" ? "fp8"
               : text == "tensorwise"            ? "fp8-current"
               : text == "blockwise"             ? "fp8-block"
               : text == "mxfp8"                 ? "mxfp8"
                                                 : "";
      if (recipe.empty()) {
        return fail(option, "'" + printable(text) +
                                "' is not known; legal: delayed, tensorwise, blockwise, mxfp8");
      }
    }
    if (arguments_.has("--fp4-format")) recipe = "fp4", option = "--fp4-format";
    add("precision", recipe, option);
    const std::string optimizer = arguments_.text("--optimizer");
    if (optimizer == "sgd") add("optimizer", "sgd", "--optimizer");
    if (optimizer.ends_with("muon")) add("optimizer", "muon", "--optimizer");
    if (!optimizer.empty() && optimizer != "adam" && optimizer != "sgd" &&
        !optimizer.ends_with("muon")) {
      fail("--optimizer", "'" + printable(optimizer) + "' is not known; legal: adam, sgd, muon");
    }
  }

  void kernels() {
    const std::string backend = arguments_.text("--attention-backend");
    if (backend == "unfused" || backend == "local") {
      add("attention", "unfused", "--attention-backend");
    } else if (backend == "flash" || (backend.empty() && arguments_.has("--use-flash-attn"))) {
      add("attention", "flash2", backend.empty() ? "--use-flash-attn" : "--attention-backend");
    } else if (!backend.empty() && backend != "fused" && backend != "auto") {
      fail("--attention-backend",
           "'" + printable(backend) + "' is not known; legal: flash, fused, unfused, local, auto");
    }
    const bool activation =
        arguments_.has("--no-bias-gelu-fusion") || arguments_.has("--no-bias-swiglu-fusion");
    if (activation && arguments_.has("--no-bias-dropout-fusion")) {
      add("unfused", "true", "--no-bias-dropout-fusion");
    }
    std::string graphs = arguments_.text("--cuda-graph-impl");
    if (arguments_.has("--enable-cuda-graph")) graphs = "local";
    if (arguments_.has("--external-cuda-graph")) graphs = "transformer_engine";
    if (!graphs.empty() && graphs != "none") {
      const bool step = arguments_.text("--cuda-graph-scope") == "full_iteration";
      add("graphs", step ? "step" : "dense", "--cuda-graph-impl");
    }
    if (arguments_.checks_collectives) add("checked-collectives", "true", "--distributed-backend");
  }

  void sharding() {
    int zero = arguments_.has("--use-distributed-optimizer") ? 1 : 0;
    std::string_view option = "--use-distributed-optimizer";
    if (arguments_.has("--use-megatron-fsdp") || arguments_.has("--use-custom-fsdp")) {
      option = "--data-parallel-sharding-strategy";
      const std::string strategy = arguments_.text(option);
      constexpr std::array<std::string_view, 4> kStrategies = {"no_shard", "optim", "optim_grads",
                                                               "optim_grads_params"};
      const auto found = std::find(kStrategies.begin(), kStrategies.end(), strategy);
      zero = strategy.empty() ? 0 : static_cast<int>(found - kStrategies.begin());
      if (zero == 4) {
        return fail(option, "'" + printable(strategy) +
                                "' is not known; legal: no_shard, optim, optim_grads, "
                                "optim_grads_params");
      }
    }
    add("zero", std::to_string(zero), option);
    constexpr std::string_view kInstances = "--num-distributed-optimizer-instances";
    const std::int64_t instances = degree(kInstances);
    if (instances <= 1) return;
    const std::int64_t replicas =
        arguments_.accelerators /
        (degree("--tensor-model-parallel-size") * degree("--pipeline-model-parallel-size"));
    if (replicas == 0 || replicas % instances != 0) {
      return fail(kInstances, "is " + std::to_string(instances) +
                                  "; must divide the data-parallel ranks, which the script "
                                  "states by its accelerators");
    }
    add("shard", std::to_string(replicas / instances), kInstances);
  }

  void recomputation() {
    const std::string granularity = arguments_.text("--recompute-granularity");
    constexpr std::string_view kHow = "--recompute-granularity";
    if (granularity == "full") {
      add("recompute", "full", kHow);
      const std::string method = arguments_.text("--recompute-method");
      const std::string count = arguments_.text("--recompute-num-layers");
      if (method == "uniform" && !count.empty()) {
        add("recompute-every", count, "--recompute-num-layers");
      } else if (method == "block") {
        const std::int64_t stage =
            arguments_.count("--num-layers").value_or(0) / degree("--pipeline-model-parallel-size");
        if (whole(count).value_or(0) < stage) {
          fail("--recompute-num-layers",
               "recomputes some layers of a stage and not others, which Headway cannot price; "
               "legal with --recompute-method block: all " +
                   std::to_string(stage));
        }
      }
    } else if (granularity == "selective" || arguments_.has("--recompute-activations")) {
      add("recompute", "selective",
          granularity.empty() ? std::string_view("--recompute-activations") : kHow);
      modules();
    } else if (!granularity.empty()) {
      fail(kHow, "'" + printable(granularity) + "' is not known; legal: full, selective");
    } else if (arguments_.has("--moe-layer-recompute")) {
      add("recompute", "selective", "--moe-layer-recompute");
      add("recompute-pieces", "experts", "--moe-layer-recompute");
    }
  }

  void modules() {
    const Argument* modules = arguments_.find("--recompute-modules");
    if (modules == nullptr || modules->values.empty()) return;
    constexpr std::array<Pair, 7> kModules = {{{"core_attn", "core"},
                                               {"layernorm", "norm"},
                                               {"mla_up_proj", "latent-up"},
                                               {"moe_act", "activation"},
                                               {"mlp", "feed-forward"},
                                               {"shared_experts", "feed-forward"},
                                               {"moe", "experts"}}};
    std::vector<std::string> pieces;
    for (const ShellWord& word : modules->values) {
      const auto found = std::find_if(kModules.begin(), kModules.end(),
                                      [&](const Pair& pair) { return pair.option == word.text; });
      if (found == kModules.end()) {
        fail("--recompute-modules", "'" + printable(word.text) +
                                        "' is not known; legal: core_attn, layernorm, "
                                        "mla_up_proj, moe_act, mlp, shared_experts, moe");
      } else {
        pieces.emplace_back(found->field);
      }
    }
    add("recompute-pieces", join(pieces, ","), "--recompute-modules");
  }

  void communication() {
    if (degree("--tensor-model-parallel-size") > 1 && !arguments_.has("--sequence-parallel")) {
      add("no-sp", "true", "--sequence-parallel");
    }
    for (const Pair& pair : {Pair{"--overlap-grad-reduce", "overlap-gradients"},
                             Pair{"--overlap-param-gather", "overlap-parameters"}}) {
      add(pair.field, arguments_.has(pair.option) ? "on" : "off", pair.option);
    }
    if (const Argument* kinds = arguments_.find("--cp-comm-type")) {
      const std::string kind = arguments_.text("--cp-comm-type");
      if (kinds->values.size() > 1 || (kind != "p2p" && kind != "a2a" && kind != "allgather")) {
        fail("--cp-comm-type",
             "mixes ways to exchange, which Headway cannot price; legal: p2p, "
             "a2a, allgather");
      } else {
        add("cp-exchange", kind == "a2a" ? "all-to-all" : "ring", "--cp-comm-type");
        if (kind == "allgather") out_.notes.push_back("--cp-comm-type allgather is priced as p2p");
      }
    }
    if (arguments_.has("--num-experts")) {
      if (arguments_.has("--expert-tensor-parallel-size")) {
        copy("--expert-tensor-parallel-size", "etp");
      } else {  // experts are split as all else
        add("etp", std::to_string(degree("--tensor-model-parallel-size")),
            "--expert-tensor-parallel-size");
      }
      const std::string type = arguments_.text("--moe-token-dispatcher-type");
      const bool once = type == "flex" && arguments_.has("--moe-enable-deepep");
      if (once) add("dispatch", "once", "--moe-token-dispatcher-type");
      if (!once && type != "alltoall") {
        out_.notes.push_back("the token dispatcher " + (type.empty() ? "allgather" : type) +
                             " is priced as alltoall");
      }
    }
    if (arguments_.count("--cpu-offloading-num-layers").value_or(0) > 0) {
      const bool optimizer = arguments_.has("--optimizer-cpu-offload");
      add("offload", optimizer ? "optimizer,activations" : "activations",
          "--cpu-offloading-num-layers");
    }
  }

  void unknown() {
    std::vector<std::string> names;
    for (const Argument& argument : arguments_.arguments) {
      if (argument.launcher) continue;
      const std::string_view name = argument.name;
      if (std::find(std::begin(kUnknownSteps), std::end(kUnknownSteps), name) !=
          std::end(kUnknownSteps)) {
        fail(name, "makes another step than Headway knows; give a run without it");
      } else if (!changes_the_step(name) && !leaves_the_step_alone(name) && names.size() < 20) {
        const std::string shown = printable(name, 60);
        if (std::find(names.begin(), names.end(), shown) == names.end()) names.push_back(shown);
      }
    }
    if (!names.empty()) {
      out_.notes.push_back("left out, unknown to Headway: " + join(names, " "));
    }
  }

  const MegatronArguments& arguments_;
  Problems& problems_;
  LaunchRequest out_;
};

}  // namespace

Result<LaunchRequest> read_megatron(std::string_view text, const std::string& file,
                                    std::int64_t accelerators) {
  auto arguments = megatron_arguments(text, file);
  if (!arguments) return arguments.problems();
  if (accelerators > 0) arguments.value().accelerators = accelerators;
  Problems problems;
  LaunchRequest out = MegatronReader(*arguments, problems).read();
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway::launch
