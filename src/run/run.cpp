#include "run/run.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "cluster/load.hpp"
#include "model/load.hpp"
#include "run/request_reader.hpp"
#include "step/frameworks/habits.hpp"

namespace headway {
namespace {

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
                             "' must name tp, cp, dp and pp once each, e.g. tp-cp-dp-pp",
                Trouble::malformed);
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
                      "' cannot be offloaded; legal: optimizer, activations, parameters",
                  Trouble::unknown);
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
                         "'" + printable(item) + "' is not known; legal: " + join(known, ", "),
                         Trouble::unknown);
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
                  "'" + printable(*name) + "' is not known; legal: " + join(known, ", "),
                  Trouble::unknown);
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
      reader.fail("software", "'" + printable(*date) + "' is not a year and month, as 2025-06",
                  Trouble::malformed);
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
  for (const char* name : {"dp", "tp", "cp", "pp"}) {
    if (reader.refused(name)) return;
  }
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

// What stands in for a refused field is its default. Most rules are mildest there (a degree of 1
// divides everything); these, on the first field, may be broken by the default of the second alone.
constexpr std::pair<std::string_view, std::string_view> kReads[] = {
    {"document", "seq"},
    {"seq", "cp-exchange"},
    {"seq", "not-causal"},
    {"seq", "no-sp"},
    {"pp", "vpp"},
    {"pp", "first-stage-layers"},
    {"pp", "last-stage-layers"},
    {"first-stage-layers", "pp"},
    {"vpp", "pp"},
    {"vpp", "global-batch"},
    {"vpp", "framework"},
    {"schedule", "pp"},
    {"schedule", "global-batch"},
    {"offload", "zero"},
    {"offload", "framework"},
    {"param-dtype", "framework"},
    {"reduce-dtype", "framework"},
};

// Whether a rule about these fields has to do with a refused one.
bool concerns_refused(const FieldNames& fields, const RequestReader& reader) {
  return std::any_of(fields.begin(), fields.end(), [&](const FieldName& field) {
    const bool reads = std::any_of(std::begin(kReads), std::end(kReads), [&](const auto& pair) {
      return pair.first == field.name && reader.refused(pair.second);
    });
    return reads || reader.refused(field.name);
  });
}

// With some fields refused, the rules that hold whatever those turn out to be. dp, which may follow
// from them, stands at 1, and rules on what depends on it are left out.
Problems independent_problems(const Run& run, const RequestReader& reader) {
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
  Problems out = check(run.model, job, trial, run.cluster);
  std::erase_if(out,
                [&](const Problem& problem) { return concerns_refused(problem.fields, reader); });
  return out;
}

// Headway's own form, or a Hugging Face config.json, which names its kind of model.
Result<Model> described_model(const Document& document, const std::string& name) {
  return document.root.find("model_type") != nullptr ? model_from_config(document, name)
                                                     : model_from_toml(document, name);
}

// Reads everything; of the layout also whether it is legal, where that is asked for.
Result<Run> read_run(const RunRequest& request, bool split) {
  Problems problems;
  RequestReader reader(request, problems);
  Run run;
  run.given = request;

  bool loaded = true;
  const auto model_name = reader.text("model", /*required=*/true);
  const auto cluster_name = reader.text("cluster", /*required=*/true);
  const auto load = [&](auto&& result, auto& into, const char* field) {
    if (result) {
      into = std::move(result).value();
      return;
    }
    loaded = false;
    for (const Problem& problem : result.problems()) {
      const bool of_name = problem.place.kind != Place::Kind::file;  // and of nothing in a file
      const Where where = of_name ? reader.find(field)->where : problem.where();
      problems.push_back({where, problem.message, problem.kind});
    }
  };
  if (model_name) {
    const GivenField* given = reader.find("model");
    load(given->document != nullptr ? described_model(*given->document, *model_name)
                                    : load_model(*model_name),
         run.model, "model");
    // As on Hugging Face: "organisation/model".
    const bool repository = std::count(model_name->begin(), model_name->end(), '/') == 1 &&
                            model_name->find('.') != 0 && !model_name->ends_with(".json") &&
                            !model_name->ends_with(".toml");
    if (!loaded && repository && problems.back().place.file == *model_name) {
      problems.back().message += "; for a model of Hugging Face give the path of its config.json";
    }
  }
  if (cluster_name) {
    const GivenField* given = reader.find("cluster");
    load(given->document != nullptr ? cluster_from_document(*given->document, *cluster_name)
                                    : load_cluster(*cluster_name),
         run.cluster, "cluster");
  }
  read_job(reader, run);
  read_layout(reader, run.layout);
  settle_ranks(reader, run.layout);
  if (model_name && cluster_name && loaded) assume_defaults(reader, run);
  if (!model_name || !cluster_name || !loaded) return problems;
  if (split) {
    append(problems, problems.empty() ? check(run.model, run.job, run.layout, run.cluster)
                                      : independent_problems(run, reader));
  }
  if (!problems.empty()) return problems;
  return run;
}

}  // namespace

Result<Run> make_run(const RunRequest& request) {
  return read_run(request, true);
}

Result<Run> make_unsplit_run(const RunRequest& request) {
  return read_run(request, false);
}

}  // namespace headway
