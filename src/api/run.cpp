#include "api/run.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/text.hpp"
#include "cluster/load.hpp"
#include "model/load.hpp"
#include "step/habits.hpp"

namespace headway {
namespace {

constexpr RunField kFields[] = {
    {"model", "NAME|FILE", "built-in name (headway list models), config.json or .toml"},
    {"cluster", "NAME|FILE", "built-in name (headway list clusters) or .toml"},
    {"gpus", "N", "accelerators of the run; default: the product of the degrees"},
    {"seq", "N", "tokens in one sequence"},
    {"global-batch", "N", "sequences in one step"},
    {"framework", "NAME", "megatron (default), fsdp, deepspeed, nanotron, jax"},
    {"precision", "RECIPE",
     "bf16 (default), fp32, tf32, fp16, fp8, fp8-current, fp8-block, mxfp8, fp4"},
    {"task", "NAME", "pretrain (default), finetune, lora"},
    {"optimizer", "NAME", "adamw (default), adam, sgd, adafactor, muon, adam-8bit"},
    {"attention", "KERNEL",
     "unfused, flash1, flash2, flash3, triton; default: what the hardware runs best"},
    {"dp", "N", "data-parallel degree; default: what the other degrees leave of --gpus"},
    {"tp", "N", "tensor-parallel degree"},
    {"cp", "N", "context-parallel degree"},
    {"pp", "N", "pipeline-parallel degree"},
    {"vpp", "N", "virtual pipeline stages on each rank"},
    {"ep", "N", "expert-parallel degree, inside dp x cp x tp"},
    {"etp", "N", "tensor-parallel degree inside an expert"},
    {"micro-batch", "N", "sequences in one micro-batch"},
    {"zero", "0..3", "ZeRO stage; default: the framework's habit (megatron 1, fsdp 3)"},
    {"shard", "N", "ranks that share one copy of sharded states (hybrid sharding)"},
    {"no-reshard", "", "ZeRO-3: keep gathered weights from forward to backward"},
    {"no-sp", "", "tensor parallelism without sequence parallelism"},
    {"keep-gathered", "", "sequence parallelism keeps gathered inputs for the backward pass"},
    {"cp-exchange", "KIND", "ring (default) or all-to-all"},
    {"recompute", "MODE", "none (default), selective (attention core), full"},
    {"recompute-pieces", "LIST",
     "selective recomputes core (default), norm, latent-up, activation, feed-forward, experts"},
    {"recompute-every", "N", "full recomputation keeps the input of every n-th layer"},
    {"recompute-early-stop", "on|off",
     "full: a layer's recomputation ends before its last product"},
    {"schedule", "NAME", "1f1b (default), gpipe, zero-bubble, zero-bubble-v, dual-pipe"},
    {"first-stage-layers", "N", "layers on the first pipeline stage"},
    {"last-stage-layers", "N", "layers on the last pipeline stage"},
    {"embedding-slots", "N", "layers that the embedding counts as where layers are spread"},
    {"head-slots", "N", "the same of the head with prediction modules"},
    {"offload", "LIST", "optimizer, activations, parameters (comma-separated)"},
    {"order", "DIMS", "numbering of the ranks from the innermost, default tp-cp-dp-pp"},
    {"overlap-gradients", "on|off", "reduce gradients under the backward pass"},
    {"overlap-parameters", "on|off", "gather parameters under the forward pass"},
    {"overlap-tensor", "on|off", "tensor-parallel calls under split products"},
    {"param-dtype", "bf16|fp32",
     "FSDP: format of gathered weights; fp32 with a 16-bit recipe is autocast"},
    {"reduce-dtype", "bf16|fp32", "FSDP: format of reduced gradients"},
    {"padding-mask", "", "batches come with a mask: tokens are gathered for flash attention"},
    {"fused-loss", "on|off", "cross-entropy in one kernel each way"},
    {"loss-metrics", "N", "times that training metrics evaluate the loss again"},
    {"overlap-experts", "on|off", "exchange tokens under the work of another micro-batch"},
    {"dispatch", "KIND", "copies (default): a token goes to each expert; once: to each rank"},
    {"graphs", "KIND", "CUDA graphs: none (default), dense (all but routed experts), step"},
    {"fused-experts", "", "activation and casts inside the experts' grouped products"},
    {"attention-8-bit", "", "the attention core in 8 bit, too, with an 8-bit recipe"},
    {"small-gradients", "", "gradients in 16 bit where the framework's habit is 32"},
    {"unfused", "", "one kernel for each operation of norms, activation, rotary, dropout"},
    {"not-causal", "", "every token attends to every other"},
    {"dropout", "P", "probability; default: the model's own recipe"},
    {"lora-rank", "N", "rank of the adapters (task lora)"},
    {"adapters", "KIND", "all (default) or query-key-value: matrices with adapters (task lora)"},
    {"document", "N", "mean tokens of documents packed into a sequence; default: one fills it"},
    {"expert-imbalance", "X", "tokens of the fullest expert rank over the mean, at least 1"},
    {"software", "YEAR-MONTH", "date of framework and libraries, as 2025-06; default: today's"},
    {"checked-collectives", "", "hosts check each collective (TORCH_DISTRIBUTED_DEBUG=DETAIL)"},
    {"blocking-transfers", "", "pipeline transfers wait for the host (nanotron before 2025)"},
    {"attention-flops", "KIND", "full (default) or causal: how MFU counts attention"},
};

/// Reads the given fields by name; what is wrong becomes a problem where the field stands.
class RequestReader {
 public:
  RequestReader(const RunRequest& request, Problems& problems)
      : request_(request), problems_(problems) {
    std::vector<std::string> names;
    for (const RunField& field : kFields) names.emplace_back(field.name);
    for (const GivenField& given : request) {
      if (std::find(names.begin(), names.end(), given.name) == names.end()) {
        problems_.push_back({given.where, "is not a known field" + suggestion(given.name, names)});
      }
    }
  }

  const GivenField* find(std::string_view name) const {
    // A later value overrides an earlier one: flags override the run file.
    for (auto it = request_.rbegin(); it != request_.rend(); ++it) {
      if (it->name == name) return &*it;
    }
    return nullptr;
  }
  bool has(std::string_view name) const { return find(name) != nullptr; }

  void fail(std::string_view name, std::string message) {
    const GivenField* given = find(name);
    problems_.push_back(
        {given != nullptr ? given->where : "--" + std::string(name), std::move(message)});
  }

  std::optional<std::string> text(std::string_view name, bool required = false) {
    if (const GivenField* given = find(name)) return given->text;
    if (required) fail(name, "is missing");
    return std::nullopt;
  }

  void count(std::string_view name, std::int64_t& into, std::int64_t least = 1) {
    const GivenField* given = find(name);
    if (given == nullptr) return;
    std::int64_t value = 0;
    const char* const end = given->text.data() + given->text.size();
    const auto [rest, status] = std::from_chars(given->text.data(), end, value);
    if (status != std::errc() || rest != end) {
      return fail(name, "'" + printable(given->text) + "' is not a whole number");
    }
    if (value < least || value > 1'000'000'000'000) {
      return fail(name, "is " + std::to_string(value) + "; must be from " + std::to_string(least) +
                            " to 10^12");
    }
    into = value;
  }

  void number(std::string_view name, double& into, double least, double most) {
    const GivenField* given = find(name);
    if (given == nullptr) return;
    double value = 0;
    const char* const end = given->text.data() + given->text.size();
    const auto [rest, status] = std::from_chars(given->text.data(), end, value);
    if (status != std::errc() || rest != end || !(value >= least && value <= most)) {
      char range[64];
      std::snprintf(range, sizeof range, "%g to %g", least, most);
      return fail(name, "'" + printable(given->text) + "' is not a number from " + range);
    }
    into = value;
  }

  /// One of `names`; the index goes to `into`.
  template <class Enum, std::size_t N>
  void choice(std::string_view name, const std::array<std::string_view, N>& names, Enum& into) {
    const GivenField* given = find(name);
    if (given == nullptr) return;
    std::vector<std::string> known(names.begin(), names.end());
    for (std::size_t i = 0; i < N; ++i) {
      if (names[i] == given->text) return void(into = static_cast<Enum>(i));
    }
    fail(name, "'" + printable(given->text) + "' is not known; legal: " + join(known, ", "));
  }

  /// A switch: present, or true in a file.
  bool flag(std::string_view name) {
    const GivenField* given = find(name);
    if (given == nullptr || given->text == "false") return false;
    if (given->text.empty() || given->text == "true") return true;
    fail(name, "'" + printable(given->text) + "' is not true or false");
    return false;
  }

  void on_off(std::string_view name, Choice& into) {
    constexpr std::array<std::string_view, 3> kNames = {"default", "off", "on"};
    choice(name, kNames, into);
  }

 private:
  const RunRequest& request_;
  Problems& problems_;
};

void read_order(RequestReader& reader, Layout& layout) {
  const auto text = reader.text("order");
  if (!text) return;
  std::array<Dimension, 4> order{};
  std::array<bool, 4> seen{};
  std::size_t used = 0;
  std::string_view rest = *text;
  while (!rest.empty() && used < order.size()) {
    const std::size_t dash = rest.find('-');
    const std::string_view name = rest.substr(0, dash);
    const auto found = std::find(kDimensionNames.begin(), kDimensionNames.end(), name);
    if (found == kDimensionNames.end()) break;
    const auto index = static_cast<std::size_t>(found - kDimensionNames.begin());
    if (seen[index]) break;
    seen[index] = true;
    order[used++] = static_cast<Dimension>(index);
    rest = dash == std::string_view::npos ? std::string_view() : rest.substr(dash + 1);
  }
  if (used != order.size() || !rest.empty()) {
    reader.fail("order", "'" + printable(*text) +
                             "' must name tp, cp, dp and pp once each, e.g. tp-cp-dp-pp");
    return;
  }
  layout.order = order;
}

void read_offload(RequestReader& reader, Layout& layout) {
  const auto text = reader.text("offload");
  if (!text || *text == "none") return;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    std::string_view item = rest.substr(0, comma);
    while (item.starts_with(' ')) item.remove_prefix(1);
    if (item == "optimizer") {
      layout.offload_optimizer = true;
    } else if (item == "activations") {
      layout.offload_activations = true;
    } else if (item == "parameters") {
      layout.offload_parameters = true;
    } else {
      reader.fail("offload",
                  "'" + printable(item) +
                      "' cannot be offloaded; legal: optimizer, activations, parameters");
    }
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
}

void read_pieces(RequestReader& reader, Layout& layout) {
  const auto text = reader.text("recompute-pieces");
  if (!text) return;
  layout.recompute_pieces = 0;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const auto found = std::find(kPieceNames.begin() + 1, kPieceNames.end(), item);
    if (found == kPieceNames.end()) {
      const std::vector<std::string> known(kPieceNames.begin() + 1, kPieceNames.end());
      return reader.fail("recompute-pieces",
                         "'" + printable(item) + "' is not known; legal: " + join(known, ", "));
    }
    layout.recompute_pieces |= bit(static_cast<Piece>(found - kPieceNames.begin()));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
}

void read_job(RequestReader& reader, Run& run) {
  Job& job = run.job;
  for (const char* name : {"seq", "global-batch"}) reader.text(name, /*required=*/true);
  reader.count("seq", job.sequence);
  reader.count("global-batch", job.global_batch);
  reader.choice("task", kTaskNames, job.task);
  reader.choice("framework", kFrameworkNames, job.framework);
  reader.choice("optimizer", kOptimizerNames, job.optimizer);
  reader.choice("attention", kAttentionKernelNames, job.attention);
  if (const auto name = reader.text("precision")) {
    if (const Recipe* recipe = recipe_from(*name)) {
      job.recipe = recipe;
    } else {
      std::vector<std::string> known;
      for (const Recipe& each : recipes()) known.emplace_back(each.name);
      reader.fail("precision",
                  "'" + printable(*name) + "' is not known; legal: " + join(known, ", "));
    }
  }
  job.fused = !reader.flag("unfused");
  job.causal = !reader.flag("not-causal");
  reader.choice("param-dtype", kWireFormatNames, job.param_dtype);
  reader.choice("reduce-dtype", kWireFormatNames, job.reduce_dtype);
  job.padding_mask = reader.flag("padding-mask");
  reader.on_off("fused-loss", job.fused_loss);
  reader.count("loss-metrics", job.loss_metrics, 0);
  job.checked_collectives = reader.flag("checked-collectives");
  job.blocking_transfers = reader.flag("blocking-transfers");
  reader.number("dropout", job.dropout, 0, 0.999);
  reader.count("lora-rank", job.lora_rank);
  reader.choice("adapters", kAdapterNames, job.adapters);
  reader.count("document", job.document);
  reader.choice("graphs", kGraphNames, job.graphs);
  job.fused_experts = reader.flag("fused-experts");
  job.attention_8_bit = reader.flag("attention-8-bit");
  job.small_gradients = reader.flag("small-gradients");
  reader.number("expert-imbalance", job.expert_imbalance, 1, 1000);
  if (const auto date = reader.text("software")) {
    job.software = years_of(*date).value_or(0);
    if (job.software == 0) {
      reader.fail("software", "'" + printable(*date) + "' is not a year and month, as 2025-06");
    }
  }
  constexpr std::array<std::string_view, 2> kConventions = {"full", "causal"};
  reader.choice("attention-flops", kConventions, run.convention);
}

void read_layout(RequestReader& reader, Layout& layout) {
  reader.count("dp", layout.dp);
  reader.count("tp", layout.tp);
  reader.count("cp", layout.cp);
  reader.count("pp", layout.pp);
  reader.count("vpp", layout.vpp);
  reader.count("ep", layout.ep);
  reader.count("etp", layout.etp);
  reader.count("micro-batch", layout.micro_batch);
  std::int64_t zero = -1;
  reader.count("zero", zero, 0);
  if (zero > 3) reader.fail("zero", "is " + std::to_string(zero) + "; legal: 0, 1, 2, 3");
  layout.zero = static_cast<int>(std::clamp<std::int64_t>(zero, -1, 3));
  reader.count("shard", layout.shard);
  layout.reshard_after_forward = !reader.flag("no-reshard");
  layout.sequence_parallel = !reader.flag("no-sp");
  layout.keep_gathered = reader.flag("keep-gathered");
  reader.choice("cp-exchange", kContextExchangeNames, layout.context_exchange);
  reader.choice("recompute", kRecomputeNames, layout.recompute);
  read_pieces(reader, layout);
  reader.count("embedding-slots", layout.embedding_slots, 0);
  reader.count("head-slots", layout.head_slots, 0);
  reader.choice("dispatch", kDispatchNames, layout.dispatch);
  reader.count("recompute-every", layout.recompute_every);
  reader.choice("schedule", kScheduleNames, layout.schedule);
  reader.count("first-stage-layers", layout.first_stage_layers);
  reader.count("last-stage-layers", layout.last_stage_layers);
  read_offload(reader, layout);
  read_order(reader, layout);
  reader.on_off("recompute-early-stop", layout.recompute_early_stop);
  reader.on_off("overlap-gradients", layout.overlap_gradients);
  reader.on_off("overlap-parameters", layout.overlap_parameters);
  reader.on_off("overlap-tensor", layout.overlap_tensor);
  reader.on_off("overlap-experts", layout.overlap_experts);
}

// dp from the GPUs, or the GPUs from the degrees; they must agree.
void settle_ranks(RequestReader& reader, Layout& layout) {
  const double others = static_cast<double>(layout.tp) * static_cast<double>(layout.cp) *
                        static_cast<double>(layout.pp);
  std::int64_t gpus = 0;
  reader.count("gpus", gpus);
  if (gpus == 0) return;     // not given (or refused already): the degrees say it
  if (others > 1e9) return;  // check() says so
  const std::int64_t model_ranks = layout.tp * layout.cp * layout.pp;
  const std::string product = "tp x cp x pp = " + std::to_string(layout.tp) + " x " +
                              std::to_string(layout.cp) + " x " + std::to_string(layout.pp) +
                              " = " + std::to_string(model_ranks);
  if (!reader.has("dp")) {
    if (gpus % model_ranks != 0) {
      reader.fail("gpus", std::to_string(gpus) + " is not a multiple of " + product +
                              "; legal: a multiple of " + std::to_string(model_ranks));
      return;
    }
    layout.dp = gpus / model_ranks;
  } else if (static_cast<double>(layout.dp) * others != static_cast<double>(gpus)) {
    reader.fail("gpus", std::to_string(gpus) + " is not dp x " + product +
                            ", times dp = " + std::to_string(layout.dp));
  }
}

void assume_defaults(const RequestReader& reader, Run& run) {
  if (run.layout.ranks() == 1 && !reader.has("gpus") && !reader.has("dp")) {
    run.assumptions.push_back("one accelerator: neither --gpus nor a degree was given");
  }
  if (run.layout.zero < 0) {
    run.layout.zero = habits(run.job.framework).default_zero;
    if (run.layout.dp * run.layout.cp > 1) {
      run.assumptions.push_back("zero " + std::to_string(run.layout.zero) +
                                ": the habit of the framework");
    }
  }
  const Accelerator& accelerator = run.cluster.accelerator;
  if (!reader.has("precision") && accelerator.peak_of(Precision::bf16).value() <= 0 &&
      accelerator.peak_of(Precision::fp16).value() > 0) {
    run.job.recipe = recipe_from("fp16");
    run.assumptions.push_back("precision fp16: the accelerator has no bf16");
  }
  if (reader.has("attention")) return;
  const std::string& architecture = run.cluster.accelerator.architecture;
  const bool hopper_or_later = architecture == "hopper" || architecture == "blackwell";
  run.job.attention = hopper_or_later           ? habits(run.job.framework).hopper_attention
                      : architecture == "volta" ? AttentionKernel::unfused
                                                : AttentionKernel::flash2;
  // Published runs of a model from before flash attention, on hardware of that time, are asked
  // about as they were run.
  if (run.model.before_flash_attention && architecture == "ampere") {
    run.job.attention = AttentionKernel::unfused;
    run.assumptions.push_back(
        "attention unfused: the published runs of this model came before flash attention; "
        "--attention flash2 for today's software");
  }
}

// With some fields refused, the rules that hold whatever those turn out to be: the refused ones and
// dp stand at 1, and rules on what depends on them are left out.
Problems independent_problems(const Run& run, const Problems& refused) {
  Layout trial = run.layout;
  trial.dp = 1;
  const bool has_experts =
      std::any_of(run.model.kinds.begin(), run.model.kinds.end(),
                  [](const Layer& layer) { return layer.experts.has_value(); });
  if (has_experts) trial.ep = trial.etp = 1;
  trial.shard = 0;
  Job job = run.job;
  job.sequence = std::max<std::int64_t>(1, job.sequence);
  job.global_batch = std::max<std::int64_t>(1, job.global_batch);
  const auto was_refused = [&](std::string_view flag) {
    return std::any_of(refused.begin(), refused.end(), [&](const Problem& problem) {
      return problem.where.find(flag.substr(2)) != std::string::npos;
    });
  };
  Problems out;
  for (Problem& problem : check(run.model, job, trial, run.cluster)) {
    const bool pipeline = problem.where == "--pp" || problem.where == "--vpp" ||
                          problem.where == "--schedule" ||
                          problem.where.find("stage") != std::string::npos;
    if (was_refused(problem.where.substr(0, problem.where.find(',')))) continue;
    if (pipeline && (was_refused("--pp") || was_refused("--vpp"))) continue;
    if (problem.where == "--seq" && (was_refused("--cp") || was_refused("--tp"))) continue;
    if (problem.where == "--global-batch" && was_refused("--micro-batch")) continue;
    out.push_back(std::move(problem));
  }
  return out;
}

}  // namespace

std::span<const RunField> run_fields() {
  return kFields;
}

Result<Run> make_run(const RunRequest& request) {
  Problems problems;
  RequestReader reader(request, problems);
  Run run;
  run.given = request;

  bool loaded = true;
  const auto model_name = reader.text("model", /*required=*/true);
  const auto cluster_name = reader.text("cluster", /*required=*/true);
  const auto load = [&](auto&& result, auto& into, const char* flag) {
    if (result) {
      into = std::move(result).value();
      return;
    }
    loaded = false;
    for (Problem problem : result.problems()) {
      if (problem.where.empty() || problem.where == flag) problem.where = reader.find(flag)->where;
      problems.push_back(std::move(problem));
    }
  };
  if (model_name) {
    load(load_model(*model_name), run.model, "model");
    // As on Hugging Face: "organisation/model".
    const bool repository = std::count(model_name->begin(), model_name->end(), '/') == 1 &&
                            model_name->find('.') != 0 && !model_name->ends_with(".json") &&
                            !model_name->ends_with(".toml");
    if (!loaded && repository && problems.back().where == *model_name) {
      problems.back().message += "; for a model of Hugging Face give the path of its config.json";
    }
  }
  if (cluster_name) load(load_cluster(*cluster_name), run.cluster, "cluster");
  read_job(reader, run);
  read_layout(reader, run.layout);
  settle_ranks(reader, run.layout);
  if (model_name && cluster_name && loaded) assume_defaults(reader, run);
  if (!model_name || !cluster_name || !loaded) return problems;
  append(problems, problems.empty() ? check(run.model, run.job, run.layout, run.cluster)
                                    : independent_problems(run, problems));
  if (!problems.empty()) return problems;
  return run;
}

}  // namespace headway
