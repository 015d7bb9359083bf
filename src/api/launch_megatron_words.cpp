// From a script to the arguments of its training command.
#include <algorithm>
#include <array>
#include <map>

#include "api/launch_megatron.hpp"
#include "base/text.hpp"

namespace headway::launch {
namespace {

constexpr std::string_view kStep[] = {
    // network
    "--num-layers", "--hidden-size", "--ffn-hidden-size", "--num-attention-heads", "--kv-channels",
    "--group-query-attention", "--num-query-groups", "--window-size", "--max-position-embeddings",
    "--position-embedding-type", "--use-rotary-position-embeddings", "--normalization", "--swiglu",
    "--squared-relu", "--untie-embeddings-and-output-weights", "--disable-bias-linear",
    "--add-qkv-bias", "--qk-layernorm", "--softmax-type", "--vocab-size", "--padded-vocab-size",
    "--tokenizer-type", "--multi-latent-attention", "--q-lora-rank", "--kv-lora-rank",
    "--qk-head-dim", "--qk-pos-emb-head-dim", "--v-head-dim", "--mtp-num-layers", "--num-experts",
    "--moe-layer-freq", "--moe-ffn-hidden-size", "--moe-shared-expert-intermediate-size",
    "--moe-router-topk", "--moe-router-enable-expert-bias",
    // training
    "--micro-batch-size", "--global-batch-size", "--seq-length", "--bf16", "--fp16", "--fp8-format",
    "--fp8-recipe", "--fp4-format", "--optimizer", "--hidden-dropout", "--attention-dropout",
    "--attention-backend", "--use-flash-attn", "--cross-entropy-loss-fusion",
    "--grad-reduce-in-bf16", "--no-bias-gelu-fusion", "--no-bias-swiglu-fusion",
    "--no-bias-dropout-fusion", "--no-rope-fusion", "--finetune", "--cuda-graph-impl",
    "--cuda-graph-scope", "--enable-cuda-graph", "--external-cuda-graph",
    // layout
    "--tensor-model-parallel-size", "--pipeline-model-parallel-size", "--context-parallel-size",
    "--expert-model-parallel-size", "--expert-tensor-parallel-size", "--sequence-parallel",
    "--num-layers-per-virtual-pipeline-stage", "--num-virtual-stages-per-pipeline-rank",
    "--pipeline-model-parallel-layout", "--decoder-first-pipeline-num-layers",
    "--decoder-last-pipeline-num-layers", "--account-for-embedding-in-pipeline-split",
    "--account-for-loss-in-pipeline-split", "--cp-comm-type", "--use-distributed-optimizer",
    "--num-distributed-optimizer-instances", "--use-megatron-fsdp", "--use-custom-fsdp",
    "--data-parallel-sharding-strategy", "--recompute-activations", "--recompute-granularity",
    "--recompute-method", "--recompute-num-layers", "--recompute-modules", "--moe-layer-recompute",
    "--overlap-grad-reduce", "--overlap-param-gather", "--tp-comm-overlap",
    "--overlap-moe-expert-parallel-comm", "--moe-token-dispatcher-type", "--moe-enable-deepep",
    "--optimizer-cpu-offload", "--cpu-offloading-num-layers", "--use-tp-pp-dp-mapping"};

// What a step's time and memory do not depend on; a name that ends in '-' stands for all that begin
// with it.
constexpr std::string_view kAlone[] = {"--adam-",
                                       "--adlr-",
                                       "--app-tag-",
                                       "--apply-",
                                       "--async-",
                                       "--attention-softmax-in-fp32",
                                       "--auto-detect-",
                                       "--calculate-per-token-loss",
                                       "--check-for-",
                                       "--ckpt-",
                                       "--clip-grad",
                                       "--config-logger-",
                                       "--data-",
                                       "--dataloader-type",
                                       "--decoupled-",
                                       "--disable-gloo-",
                                       "--dist-ckpt-",
                                       "--distributed-",
                                       "--embedding-init-",
                                       "--empty-unused-memory-level",
                                       "--end-weight-decay",
                                       "--eod-mask-loss",
                                       "--eval-",
                                       "--exit-",
                                       "--hysteresis",
                                       "--init-method-",
                                       "--init-model-",
                                       "--initial-loss-scale",
                                       "--legacy-tokenizer",
                                       "--load",
                                       "--local-rank",
                                       "--log-",
                                       "--logging-",
                                       "--loss-scale",
                                       "--lr",
                                       "--lr-",
                                       "--make-vocab-size-divisible-by",
                                       "--manual-gc",
                                       "--manual-gc-",
                                       "--merge-file",
                                       "--min-lr",
                                       "--min-loss-scale",
                                       "--mock-data",
                                       "--moe-aux-loss-coeff",
                                       "--moe-grouped-gemm",
                                       "--moe-per-layer-logging",
                                       "--moe-permute-fusion",
                                       "--moe-router-bias-update-rate",
                                       "--moe-router-dtype",
                                       "--moe-router-force-load-balancing",
                                       "--moe-router-fusion",
                                       "--moe-router-group-topk",
                                       "--moe-router-load-balancing-type",
                                       "--moe-router-num-groups",
                                       "--moe-router-pre-softmax",
                                       "--moe-router-score-function",
                                       "--moe-router-topk-scaling-factor",
                                       "--moe-z-loss-coeff",
                                       "--mscale",
                                       "--mscale-",
                                       "--mtp-loss-scaling-factor",
                                       "--no-async-",
                                       "--no-barrier-",
                                       "--no-check-",
                                       "--no-create-",
                                       "--no-gradient-accumulation-fusion",
                                       "--no-initialization",
                                       "--no-load-",
                                       "--no-log-",
                                       "--no-masked-softmax-fusion",
                                       "--no-mmap-bin-files",
                                       "--no-one-logger",
                                       "--no-persist-layer-norm",
                                       "--no-save-",
                                       "--norm-epsilon",
                                       "--num-dataset-builder-threads",
                                       "--num-workers",
                                       "--object-storage-",
                                       "--one-logger-",
                                       "--override-",
                                       "--persist-",
                                       "--pretrained-checkpoint",
                                       "--profile",
                                       "--profile-",
                                       "--qk-clip",
                                       "--rampup-batch-size",
                                       "--record-memory-history",
                                       "--rerun-mode",
                                       "--reset-attention-mask",
                                       "--reset-position-ids",
                                       "--rope-",
                                       "--rotary-",
                                       "--save",
                                       "--save-",
                                       "--seed",
                                       "--sgd-momentum",
                                       "--split",
                                       "--start-weight-decay",
                                       "--te-rng-tracker",
                                       "--tensorboard-",
                                       "--tiktoken-",
                                       "--timing-log-",
                                       "--tokenizer-",
                                       "--train-",
                                       "--transformer-impl",
                                       "--trust-remote-code",
                                       "--use-checkpoint-",
                                       "--use-cpu-initialization",
                                       "--use-dist-ckpt",
                                       "--use-mcore-models",
                                       "--use-mp-args-",
                                       "--use-precision-aware-optimizer",
                                       "--use-pytorch-profiler",
                                       "--use-rope-scaling",
                                       "--valid-data-path",
                                       "--test-data-path",
                                       "--vocab-file",
                                       "--wandb-",
                                       "--weight-decay",
                                       "--weight-decay-",
                                       "--accumulate-allreduce-grads-in-fp32",
                                       "--cross-entropy-fusion-impl",
                                       "--bert-no-binary-head",
                                       "--no-align-",
                                       "--check-weight-",
                                       "--train-sync-interval",
                                       "--iterations-to-skip",
                                       "--high-priority-stream-groups",
                                       "--enable-experimental",
                                       "--distribute-saved-activations"};

bool is_flag(std::string_view word) {
  return word.size() > 2 && word.starts_with("--");
}

// A word of the kind "torchrun ... --num-layers 24": a whole command in quotes.
bool holds_a_command(std::string_view word) {
  return word.find(" --") != std::string_view::npos;
}

ShellCommand flattened(const ShellCommand& command) {
  ShellCommand out;
  for (const ShellWord& word : command) {
    if (!holds_a_command(word.text)) {
      out.push_back(word);
      continue;
    }
    std::string_view rest = word.text;
    while (!rest.empty()) {
      const std::size_t begin = rest.find_first_not_of(" \t\r\n");
      if (begin == std::string_view::npos) break;
      rest.remove_prefix(begin);
      const std::size_t end = std::min(rest.find_first_of(" \t\r\n"), rest.size());
      if (rest.substr(0, end) != "\\") out.push_back({std::string(rest.substr(0, end)), word.line});
      rest.remove_prefix(end);
    }
  }
  return out;
}

// What stands before the program is its launcher's.
std::vector<Argument> arguments_of(const ShellCommand& command) {
  const auto program = std::find_if(command.begin(), command.end(), [](const ShellWord& word) {
    return word.text.ends_with(".py");
  });
  std::vector<Argument> out;
  for (auto at = command.begin(); at != command.end(); ++at) {
    const ShellWord& word = *at;
    if (!is_flag(word.text)) {
      if (!out.empty()) out.back().values.push_back(word);
      continue;
    }
    const std::size_t equals = word.text.find('=');
    Argument argument{
        word.text.substr(0, equals), {}, word.line, program != command.end() && at < program};
    std::replace(argument.name.begin(), argument.name.end(), '_', '-');
    if (equals != std::string::npos) {
      argument.values.push_back({word.text.substr(equals + 1), word.line});
    }
    out.push_back(std::move(argument));
  }
  return out;
}

// Accelerators from the flags of torchrun, or from #SBATCH lines.
std::int64_t accelerators_of(const std::vector<Argument>& flags) {
  const auto count = [&](std::initializer_list<std::string_view> names) -> std::int64_t {
    for (const std::string_view name : names) {
      for (const Argument& flag : flags) {
        if (flag.name != name || flag.values.empty()) continue;
        const std::string& text = flag.values[0].text;  // "8", "gpu:8", "gpu:h100:8"
        const std::size_t colon = text.rfind(':');
        return whole(colon == std::string::npos ? text : text.substr(colon + 1)).value_or(-1);
      }
    }
    return 0;
  };
  const std::int64_t nodes = count({"--nnodes", "--nodes", "-N"});
  const std::int64_t each =
      count({"--nproc-per-node", "--gpus-per-node", "--gres", "--ntasks-per-node"});
  if (nodes < 0 || each <= 0 || nodes > 1'000'000 || each > 1'000'000) return 0;
  return std::max<std::int64_t>(1, nodes) * each;
}

}  // namespace

bool changes_the_step(std::string_view name) {
  return std::find(std::begin(kStep), std::end(kStep), name) != std::end(kStep);
}

bool leaves_the_step_alone(std::string_view name) {
  return std::any_of(std::begin(kAlone), std::end(kAlone), [&](std::string_view known) {
    return known.ends_with('-') ? name.starts_with(known) : name == known;
  });
}

const Argument* MegatronArguments::find(std::string_view name) const {
  for (auto it = arguments.rbegin(); it != arguments.rend(); ++it) {
    if (it->name == name) return &*it;
  }
  return nullptr;
}

std::string MegatronArguments::text(std::string_view name) const {
  const Argument* found = find(name);
  return found == nullptr || found->values.empty() ? std::string() : found->values[0].text;
}

std::optional<std::int64_t> MegatronArguments::count(std::string_view name) const {
  return whole(text(name));
}

std::string MegatronArguments::where(const Argument& argument) const {
  return file + ":" + std::to_string(argument.line) + ": " + printable(argument.name);
}

Result<MegatronArguments> megatron_arguments(std::string_view text, const std::string& file) {
  const auto script = read_shell(text, file);
  if (!script) return script.problems();
  // The command with the most arguments that matter; a file of bare arguments is one command.
  ShellCommand bare;
  std::vector<ShellCommand> commands;
  for (const ShellCommand& command : script->commands) {
    if (is_flag(command[0].text)) {
      bare.insert(bare.end(), command.begin(), command.end());
    } else {
      commands.push_back(flattened(command));
    }
  }
  if (!bare.empty()) commands.push_back(std::move(bare));
  MegatronArguments out;
  std::ptrdiff_t most = 0;
  for (const ShellCommand& command : commands) {
    std::vector<Argument> arguments = arguments_of(command);
    const auto known =
        std::count_if(arguments.begin(), arguments.end(),
                      [](const Argument& argument) { return changes_the_step(argument.name); });
    if (known == 0 || known < most) continue;
    most = known;
    out.arguments = std::move(arguments);
    out.line = command[0].line;
  }
  if (most == 0) return Problem{file, "holds no command with arguments of Megatron-LM"};
  out.file = file;
  out.accelerators = accelerators_of(out.arguments);
  if (out.accelerators == 0) {
    ShellCommand batch;
    for (const ShellWord& word : script->batch) {
      // "-N 4" as "--nodes 4".
      batch.push_back(word.text == "-N" ? ShellWord{"--nodes", word.line} : word);
    }
    out.accelerators = accelerators_of(arguments_of(batch));
  }
  if (script->branch_line > 0) {
    out.notes.push_back(file + ":" + std::to_string(script->branch_line) +
                        ": conditions and loops are not evaluated; every line is read once");
  }
  const auto debug = script->settings.find("TORCH_DISTRIBUTED_DEBUG");
  out.checks_collectives = debug != script->settings.end() && debug->second == "DETAIL";
  return out;
}

}  // namespace headway::launch
