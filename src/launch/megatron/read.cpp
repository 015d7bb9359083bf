// From Megatron-LM's arguments to the fields of a run.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "launch/megatron/megatron.hpp"

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
                            {"--hidden-dropout", "dropout"}};
// Options that set a field to the text behind the colon.
constexpr Pair kSwitches[] = {{"--cross-entropy-loss-fusion", "fused-loss:on"},
                              {"--activation-func-fp8-input-store", "small-activation-inputs:true"},
                              {"--grad-reduce-in-bf16", "small-gradients:true"},
                              {"--finetune", "task:finetune"},
                              {"--tp-comm-overlap", "overlap-tensor:on"},
                              {"--overlap-moe-expert-parallel-comm", "overlap-experts:on"},
                              {"--use-tp-pp-dp-mapping", "order:tp-cp-pp-dp"}};
class MegatronReader : ArgumentReader {
 public:
  /// `config`: what stands beside a script of Megatron-DeepSpeed.
  MegatronReader(const MegatronArguments& arguments, const LaunchRequest& config,
                 LaunchRequest& out, Problems& problems)
      : ArgumentReader(arguments, out, problems),
        config_(config),
        deepspeed_(arguments.deepspeed()) {}

  void read() {
    out_.notes = arguments_.notes;
    add("framework", deepspeed_ ? "deepspeed" : "megatron",
        deepspeed_ && has("--deepspeed") ? "--deepspeed" : "--num-layers");
    // A program of DeepSpeed's may know its network itself; --model says it then.
    if (!deepspeed_ || has("--num-layers") || has("--hidden-size")) {
      out_.fields.push_back(megatron_model(arguments_, out_.notes));
    }
    for (const Pair& pair : kCopied) copy(pair.option, pair.field);
    if (!has("--hidden-dropout")) add("dropout", "0.1", "--hidden-dropout");
    for (const Pair& pair : kSwitches) {
      const std::size_t colon = pair.field.find(':');
      if (!has(pair.option)) continue;
      add(pair.field.substr(0, colon), std::string(pair.field.substr(colon + 1)), pair.option);
    }
    accelerators();
    precision();
    kernels();
    if (deepspeed_) {
      deepspeed();
    } else {
      sharding();
    }
    read_recomputation(arguments_, out_, problems_);
    communication();
    read_pipeline(arguments_, out_.fields, problems_);
  }

 private:
  bool config_says(std::string_view field) const {
    return std::any_of(config_.fields.begin(), config_.fields.end(),
                       [&](const GivenField& given) { return given.name == field; });
  }

  void accelerators() {
    const std::int64_t gpus = arguments_.accelerators;
    if (gpus > 0) {
      out_.fields.push_back({"gpus",
                             std::to_string(gpus),
                             {arguments_.file, arguments_.line, FieldName("accelerators")}});
    }
    const bool stated = has("--global-batch-size") || config_says("global-batch");
    if (stated || config_.micro_batches > 0 || gpus == 0) return;
    // One micro-batch on each data-parallel rank.
    const double model = static_cast<double>(degree("--tensor-model-parallel-size")) *
                         static_cast<double>(degree("--pipeline-model-parallel-size")) *
                         static_cast<double>(degree("--context-parallel-size")) *
                         static_cast<double>(degree("--ds-sequence-parallel-size"));
    const auto micro = arguments_.count("--micro-batch-size");
    if (!micro || *micro < 1 || *micro >= 1'000'000 || model > static_cast<double>(gpus)) return;
    const auto ranks = static_cast<std::int64_t>(model);
    if (gpus % ranks != 0) return;
    add("global-batch", std::to_string(*micro * (gpus / ranks)), "--global-batch-size");
  }

  void precision() {
    std::string recipe = has("--bf16") ? "bf16" : has("--fp16") ? "fp16" : "fp32";
    std::string_view option = has("--fp16") ? "--fp16" : "--bf16";
    if (has("--fp8-format")) {
      option = has("--fp8-recipe") ? "--fp8-recipe" : "--fp8-format";
      const std::string scaling = text("--fp8-recipe");
      recipe = scaling.empty() || scaling == "delayed" ? "fp8"
               : scaling == "tensorwise"               ? "fp8-current"
               : scaling == "blockwise"                ? "fp8-block"
               : scaling == "mxfp8"                    ? "mxfp8"
                                                       : "";
      if (recipe.empty()) {
        return fail(option,
                    "'" + printable(scaling) +
                        "' is not known; legal: delayed, tensorwise, blockwise, mxfp8",
                    Trouble::unknown);
      }
    }
    for (const std::string_view older : {"--fp8-e4m3", "--fp8-hybrid"}) {
      if (has(older)) recipe = "fp8", option = older;
    }
    if (has("--fp4-format")) recipe = "fp4", option = "--fp4-format";
    if (recipe != "fp32" || !config_says("precision")) add("precision", recipe, option);
    // In a format of its own it is also reduced in it.
    const std::string gradients = text("--main-grads-dtype");
    if (gradients == "bf16" && !has("--grad-reduce-in-bf16")) {
      add("small-gradients", "true", "--main-grads-dtype");
    } else if (!gradients.empty() && gradients != "bf16" && gradients != "fp32") {
      fail("--main-grads-dtype", "'" + printable(gradients) + "' is not known; legal: fp32, bf16",
           Trouble::unknown);
    }
    const std::string optimizer = text("--optimizer");
    if (optimizer == "sgd") add("optimizer", "sgd", "--optimizer");
    if (optimizer.ends_with("muon")) add("optimizer", "muon", "--optimizer");
    if (!optimizer.empty() && optimizer != "adam" && optimizer != "sgd" &&
        !optimizer.ends_with("muon")) {
      fail("--optimizer", "'" + printable(optimizer) + "' is not known; legal: adam, sgd, muon",
           Trouble::unknown);
    }
  }

  void kernels() {
    const std::string backend = text("--attention-backend");
    const bool wide = !has("--bf16") && !has("--fp16");  // fused kernels take 16 bit only
    if (deepspeed_) {
      deepspeed_attention();
    } else if (has("--use-flash-attn-v2") && backend.empty()) {
      add("attention", "flash2", "--use-flash-attn-v2");
    } else if (backend == "unfused" || backend == "local" || wide) {
      add("attention", "unfused", wide ? "--bf16" : "--attention-backend");
    } else if (text("--transformer-impl") == "local" && !has("--use-flash-attn")) {
      add("attention", "unfused", "--transformer-impl");  // Megatron-LM's own, without a kernel
    } else if (precedes_flash() && !has("--use-flash-attn")) {
      add("attention", "unfused", "--use-flash-attn");
    } else if (backend == "flash" || (backend.empty() && has("--use-flash-attn"))) {
      add("attention", "flash2", backend.empty() ? "--use-flash-attn" : "--attention-backend");
    } else if (!backend.empty() && backend != "fused" && backend != "auto") {
      fail("--attention-backend",
           "'" + printable(backend) + "' is not known; legal: flash, fused, unfused, local, auto",
           Trouble::unknown);
    }
    const bool activation = has("--no-bias-gelu-fusion") || has("--no-bias-swiglu-fusion");
    if (activation && has("--no-bias-dropout-fusion")) {
      add("unfused", "true", "--no-bias-dropout-fusion");
    }
    std::string graphs = text("--cuda-graph-impl");
    if (has("--enable-cuda-graph")) graphs = "local";
    if (has("--external-cuda-graph")) graphs = "transformer_engine";
    if (!graphs.empty() && graphs != "none") {
      const bool step = text("--cuda-graph-scope") == "full_iteration";
      add("graphs", step ? "step" : "dense", "--cuda-graph-impl");
    }
    if (arguments_.checks_collectives) add("checked-collectives", "true", "--distributed-backend");
  }

  // Words of releases up to 3.0; --use-flash-attn came after them.
  bool precedes_flash() const {
    return has("--checkpoint-activations") || has("--activations-checkpoint-method");
  }

  // Without one of these options the scores go through memory.
  void deepspeed_attention() {
    constexpr std::array<Pair, 5> kKernels = {{{"--use-flash-attn-v2", "flash2"},
                                               {"--use-flash-attn-builder", "flash2"},
                                               {"--use-flash-attn-triton", "triton"},
                                               {"--use-flash-attn-v1", "flash1"},
                                               {"--use-flash-attn", "flash1"}}};
    for (const Pair& kernel : kKernels) {
      if (has(kernel.option)) return add("attention", std::string(kernel.field), kernel.option);
    }
    add("attention", "unfused", "--use-flash-attn-v2");
  }

  void deepspeed() {
    copy("--zero-stage", "zero");
    if (degree("--ds-sequence-parallel-size") > 1) {
      copy("--ds-sequence-parallel-size", "cp");
      add("cp-exchange", "all-to-all", "--ds-sequence-parallel-size");
    }
    if (has("--enable-zbh1-pipeline") && degree("--pipeline-model-parallel-size") > 1) {
      add("schedule", "zero-bubble", "--enable-zbh1-pipeline");
    }
  }

  void sharding() {
    int zero = has("--use-distributed-optimizer") ? 1 : 0;
    std::string_view option = "--use-distributed-optimizer";
    if (has("--use-megatron-fsdp") || has("--use-custom-fsdp")) {
      option = "--data-parallel-sharding-strategy";
      const std::string strategy = text(option);
      constexpr std::array<std::string_view, 4> kStrategies = {"no_shard", "optim", "optim_grads",
                                                               "optim_grads_params"};
      const auto found = std::find(kStrategies.begin(), kStrategies.end(), strategy);
      zero = strategy.empty() ? 0 : static_cast<int>(found - kStrategies.begin());
      if (zero == 4) {
        return fail(option,
                    "'" + printable(strategy) +
                        "' is not known; legal: no_shard, optim, optim_grads, "
                        "optim_grads_params",
                    Trouble::unknown);
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

  void communication() {
    if (degree("--tensor-model-parallel-size") > 1 && !has("--sequence-parallel")) {
      add("no-sp", "true", "--sequence-parallel");
    }
    for (const Pair& pair : {Pair{"--overlap-grad-reduce", "overlap-gradients"},
                             Pair{"--overlap-param-gather", "overlap-parameters"}}) {
      if (!deepspeed_) add(pair.field, has(pair.option) ? "on" : "off", pair.option);
    }
    bucket();
    if (const Argument* kinds = arguments_.find("--cp-comm-type")) {
      const std::string kind = text("--cp-comm-type");
      if (kinds->values.size() > 1 || (kind != "p2p" && kind != "a2a" && kind != "allgather")) {
        fail("--cp-comm-type",
             "mixes ways to exchange, which Headway cannot price; legal: p2p, "
             "a2a, allgather");
      } else {
        add("cp-exchange", kind == "a2a" ? "all-to-all" : "ring", "--cp-comm-type");
        if (kind == "allgather") out_.notes.push_back("--cp-comm-type allgather is priced as p2p");
      }
    }
    const bool unknown_network = !has("--num-layers") && has("--moe-expert-parallel-size");
    if (arguments_.has_experts() || unknown_network) {
      experts();
    } else if (!deepspeed_) {
      copy("--expert-model-parallel-size", "ep");  // legal at 1
    }
  }

  // Parameters.
  void bucket() {
    constexpr std::string_view kOption = "--ddp-bucket-size";
    if (!has(kOption) || deepspeed_) return;
    const auto parameters = arguments_.count(kOption);
    if (!parameters || *parameters < 1) return fail(kOption, "must be parameters, from 1 on");
    out_.bucket = static_cast<double>(*parameters);
    out_.bucket_stated = arguments_.where(kOption);
  }

  void experts() {
    if (deepspeed_) {
      copy("--moe-expert-parallel-size", "ep");
      const std::string tensor = std::to_string(degree("--tensor-model-parallel-size"));
      constexpr std::string_view kSplit = "--enable-expert-tensor-parallelism";
      if (has(kSplit)) add("etp", tensor, kSplit);
      return;
    }
    copy("--expert-model-parallel-size", "ep");
    copy("--expert-tensor-parallel-size", "etp");  // else the habit of the framework
    const std::string type = text("--moe-token-dispatcher-type");
    const bool once =
        type == "flex" && (has("--moe-enable-deepep") || has("--moe-flex-dispatcher-backend"));
    if (once) add("dispatch", "once", "--moe-token-dispatcher-type");
    if (!once && type != "alltoall") {
      out_.notes.push_back("the token dispatcher " + (type.empty() ? "allgather" : type) +
                           " is priced as alltoall");
    }
  }

  const LaunchRequest& config_;
  bool deepspeed_;
};

}  // namespace

Result<LaunchRequest> read_megatron(std::string_view text, const std::string& file,
                                    std::int64_t accelerators, const LaunchOpener& open) {
  auto arguments = megatron_arguments(text, file);
  if (!arguments) return arguments.problems();
  if (accelerators > 0) arguments.value().accelerators = accelerators;
  Problems problems;
  LaunchRequest config = deepspeed_beside(*arguments, open, problems);
  LaunchRequest out;
  MegatronReader(*arguments, config, out, problems).read();
  judge_megatron(*arguments, out, problems);
  join_deepspeed(std::move(config), out, problems);
  settle_deepspeed(out);
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway::launch
