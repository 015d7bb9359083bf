#include "run/run.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "cluster/settings.hpp"
#include "cluster/slice.hpp"
#include "layout/ends.hpp"
#include "model/count.hpp"
#include "model/load.hpp"
#include "platform/files.hpp"
#include "run/far_stages.hpp"
#include "run/method.hpp"
#include "run/network_fields.hpp"
#include "run/request_reader.hpp"
#include "step/frameworks/experts.hpp"
#include "step/frameworks/habits.hpp"

namespace headway {
namespace {

// The fields of the table as they are given; those that follow from others are settled later.
void read_fields(RequestReader& reader, Run& run) {
  reader.text("global-batch", /*required=*/true);
  // A network's sample is whole: one token of a sequence.
  if (run.model.is_network()) {
    run.job.sequence = 1;
  } else {
    reader.text("seq", /*required=*/true);
  }
  run.layout.zero = -1;  // not given: the framework's habit
  for (const FieldRow& row : field_rows()) {
    if (!can_be_set(row)) continue;
    if (const auto number = reader.value(row)) set_number(run, row, *number);
  }
}

// Fields that say how layers are spread.
constexpr const char* kSpreads[] = {"embedding-slots", "head-slots", "first-stage-layers",
                                    "last-stage-layers"};
constexpr const char* kDegrees[] = {"dp", "tp", "cp", "pp"};

// Fields that say nothing of a network of modules.
constexpr const char* kOfTransformers[] = {"cp-exchange",
                                           "dispatch",
                                           "document",
                                           "dropout",
                                           "embedding-slots",
                                           "fused-experts",
                                           "fused-loss",
                                           "head-slots",
                                           "keep-gathered",
                                           "loss-metrics",
                                           "no-sp",
                                           "not-causal",
                                           "overlap-experts",
                                           "overlap-tensor",
                                           "padding-mask",
                                           "schedule",
                                           "split-vocabulary",
                                           "attention-flops",
                                           "first-stage-layers",
                                           "last-stage-layers"};

// dp from the GPUs, or the GPUs from the degrees; they must agree.
void settle_ranks(RequestReader& reader, Layout& layout, bool split) {
  const double others = static_cast<double>(layout.tp) * static_cast<double>(layout.cp) *
                        static_cast<double>(layout.pp);
  std::int64_t gpus = 0;
  reader.count("gpus", gpus);
  const bool said = std::any_of(std::begin(kDegrees), std::end(kDegrees),
                                [&](const char* name) { return reader.has(name); });
  if (split && !said && !reader.has("gpus")) {
    reader.fail("gpus", "is missing: the accelerators of the run, or its degrees (dp, tp, cp, pp)",
                Trouble::missing);
  }
  if (gpus == 0) return;     // not given (or refused already): the degrees say it
  if (others > 1e9) return;  // check() says so
  for (const char* name : kDegrees) {
    if (reader.refused(name)) return;
  }
  const std::int64_t model_ranks = layout.tp * layout.cp * layout.pp;
  const std::string product = "tp x cp x pp = " + std::to_string(layout.tp) + " x " +
                              std::to_string(layout.cp) + " x " + std::to_string(layout.pp) +
                              " = " + std::to_string(model_ranks);
  if (!reader.has("dp")) {
    if (gpus % model_ranks != 0) {
      reader.fail("gpus",
                  std::to_string(gpus) + " is not a multiple of " + product +
                      "; legal: a multiple of " + std::to_string(model_ranks),
                  Trouble::illegal, multiples_near(gpus, model_ranks));
      return;
    }
    layout.dp = gpus / model_ranks;
  } else if (static_cast<double>(layout.dp) * others != static_cast<double>(gpus)) {
    reader.fail("gpus", std::to_string(gpus) + " is not dp x " + product +
                            ", times dp = " + std::to_string(layout.dp));
  }
}

// What a network of modules is trained with where nothing is said: copies of it, all of whose
// batch is at work at once; of its tables every rank has a part.
void settle_network(RequestReader& reader, RequestedRun& run) {
  if (!run.model.is_network()) return;
  for (const char* name : kOfTransformers) {
    if (reader.has(name)) reader.fail(name, "is of transformers; leave it out");
  }
  const bool experts =
      std::any_of(run.model.kinds.begin(), run.model.kinds.end(), [](const Layer& layer) {
        return std::any_of(
            layer.modules.begin(), layer.modules.end(),
            [](const NetworkModule& each) { return each.of == ModuleClass::experts; });
      });
  if (reader.has("expert-imbalance") && !has_tables(run.model) && !experts) {
    reader.fail("expert-imbalance", "is read of experts and of embedding tables; leave it out");
  }
  Layout& layout = run.layout;
  if (!reader.has("framework")) {
    run.job.framework = framework_of_networks();
  }
  if (!reader.has("micro-batch") && layout.dp > 0 && run.job.global_batch % layout.dp == 0) {
    layout.micro_batch = std::max<std::int64_t>(1, run.job.global_batch / layout.dp);
    run.assumptions.push_back("micro-batch " + std::to_string(layout.micro_batch) +
                              ": a rank's part of the batch at once");
  }
  layout.node_ranks = replicas_on_node(layout, run.cluster);
  if (has_tables(run.model) && !reader.has("ep") && layout.dp > 1) {
    spread_tables(run.model, run.cluster, layout);
    run.assumptions.push_back("ep " + std::to_string(layout.ep) +
                              ": each rank holds some of the embedding tables, each row "
                              "with one number of the optimiser");
  }
}

bool says_spread(const RequestedRun& run) {
  return std::any_of(run.given.begin(), run.given.end(), [](const GivenField& field) {
    return std::find(std::begin(kSpreads), std::end(kSpreads), field.name) != std::end(kSpreads);
  });
}

// What the ends count as, in words.
std::string words_of(const EndSlots& ends) {
  return (ends.embedding > 0 ? "embedding-slots " + std::to_string(ends.embedding)
                             : std::string()) +
         (ends.embedding > 0 && ends.head > 0 ? ", " : "") +
         (ends.head > 0 ? "head-slots " + std::to_string(ends.head) : std::string());
}

bool splits_by_habit(const RequestedRun& run) {
  const bool given = std::any_of(run.given.begin(), run.given.end(),
                                 [](const GivenField& field) { return field.name == "etp"; });
  return !given && habits(run.job).experts.split_as_layers;
}

// Experts as the framework splits them.
void assume_expert_tensor(RequestedRun& run) {
  if (!has_experts(run.model) || run.layout.tp == 1) return;
  if (!splits_by_habit(run)) return;
  settle_experts(run);
  const std::string etp = std::to_string(run.layout.etp);
  run.assumptions.push_back("etp " + etp +
                            (run.layout.etp > 1
                                 ? ": the framework splits experts over as many ranks as layers"
                                 : ": experts cannot be split over as many ranks as layers"));
}

// What is known of the framework itself.
void assume_framework(const RequestReader& reader, RequestedRun& run) {
  const Framework framework = run.job.framework;
  if (!reader.has("unfused")) run.job.fused = !habits(run.job).kernels.eager;
  if (!told_of(framework).empty()) {
    run.assumptions.push_back("framework " + std::string(name_of(framework)) + ": " +
                              std::string(told_of(framework)));
  }
}

void assume_defaults(const RequestReader& reader, RequestedRun& run, bool split) {
  assume_framework(reader, run);
  if (run.layout.zero < 0) {
    run.layout.zero = habits(run.job).sharding.zero;
    if (split && run.layout.dp * run.layout.cp > 1) {
      run.assumptions.push_back("zero " + std::to_string(run.layout.zero) +
                                ": the habit of the framework");
    }
  }
  if (split) {
    assume_expert_tensor(run);
    settle_ends(run);
    const EndSlots ends{run.layout.embedding_slots, run.layout.head_slots};
    if (ends != EndSlots{} && !says_spread(run)) {
      run.assumptions.push_back(words_of(ends) +
                                ": what the ends count as where layers are spread");
    }
  }
  const Accelerator& accelerator = run.cluster.accelerator;
  if (!reader.has("precision") && accelerator.peak_of(Precision::bf16).value() <= 0 &&
      accelerator.peak_of(Precision::fp16).value() > 0) {
    run.job.recipe = recipe_from("fp16");
    run.assumptions.push_back("precision fp16: the accelerator has no bf16");
  }
  if (reader.has("attention")) return;
  run.job.attention = usual_attention(run.job, accelerator);
  // Published runs of a model from before flash attention, on hardware of that time, are asked
  // about as they were run.
  if (run.model.before_flash_attention && accelerator.traits.before_flash_attention &&
      run.job.attention != AttentionKernel::unfused) {
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
    {"bucket-size", "framework"},
    {"quantized-weights", "framework"},
    {"quantized-weights", "zero"},
    {"quantized-gradients", "framework"},
    {"quantized-gradients", "zero"},
    {"secondary-shard", "framework"},
    {"secondary-shard", "zero"},
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
  Run trial = run;
  trial.layout.dp = 1;
  if (has_experts(run.model)) trial.layout.ep = trial.layout.etp = 1;
  trial.layout.shard = trial.layout.secondary = 0;
  trial.job.method = {};
  follow(trial.job.method, trial.layout);
  trial.job.quantized_gradients = false;
  trial.job.sequence = std::max<std::int64_t>(1, trial.job.sequence);
  trial.job.global_batch = std::max<std::int64_t>(1, trial.job.global_batch);
  Problems out = check(trial);
  std::erase_if(out,
                [&](const Problem& problem) { return concerns_refused(problem.fields, reader); });
  return out;
}

// Fields that are read only where another one says so.
struct ReadWith {
  std::string_view name;
  bool (*is_read)(const Run& run);
  std::string_view by, as;
};
bool recomputes_fully(const Run& run) {
  return run.layout.recompute == Recompute::full;
}
bool recomputes_layers(const Run& run) {
  return recomputes_fully(run) || run.layout.recompute == Recompute::every_second;
}
bool recomputes_pieces(const Run& run) {
  return run.layout.recompute == Recompute::selective;
}
bool trains_adapters(const Run& run) {
  return run.job.task == Task::lora;
}
bool cuts_tables(const Run& run) {
  const TableSplit& tables = run.layout.tables;
  return tables.uses(TableScheme::column_wise) || tables.uses(TableScheme::grid);
}
bool caches_tables(const Run& run) {
  return run.layout.tables.cached < 1;
}
bool shards(const Run& run) {
  return run.layout.zero > 0;
}
constexpr ReadWith kReadWith[] = {
    {"recompute-every", recomputes_fully, "recompute", "full"},
    {"recompute-one-in", recomputes_fully, "recompute", "full"},
    {"recompute-early-stop", recomputes_layers, "recompute", "full or every-second-product"},
    {"recompute-pieces", recomputes_pieces, "recompute", "selective"},
    {"lora-rank", trains_adapters, "task", "lora"},
    {"adapters", trains_adapters, "task", "lora"},
    {"shard", shards, "zero", "1, 2 or 3"},
    {"table-columns", cuts_tables, "tables", "column-wise or grid"},
    {"table-hits", caches_tables, "table-cache", "below 1"},
};

// [STEP-18] Only gradients that go out in buckets of a size that configurations state.
void refuse_idle_buckets(RequestReader& reader, const Run& run) {
  const ReductionHabits& habit = habits(run.job).reduction;
  if (!reader.has("bucket-size") || habit.bucket_stated == 0) return;
  for (const char* name : {"bucket-size", "framework", "task", "zero", "overlap-gradients"}) {
    if (reader.refused(name)) return;
  }
  if (states_buckets(run.job, run.layout)) return;
  std::string stages;
  for (int stage = 0; stage < 4; ++stage) {
    Layout other = run.layout;
    other.zero = stage;
    other.overlap_gradients = Choice::on;
    if (!states_buckets(run.job, other)) continue;
    stages += (stages.empty() ? "" : " or ") + std::to_string(stage);
  }
  reader.fail("bucket-size",
              "is read by " + std::string(title_of(run.job.framework)) + " with zero " + stages +
                  (habit.bucket_if_overlapped ? " and overlap-gradients on alone" : " alone") +
                  "; leave it out, or give that, too");
}

// What is given there and would change nothing is not what is meant, unless it is the default.
void refuse_idle(RequestReader& reader, const Run& run) {
  refuse_idle_buckets(reader, run);
  const Run usual;
  for (const ReadWith& field : kReadWith) {
    if (!reader.has(field.name) || field.is_read(run)) continue;
    if (reader.refused(field.name) || reader.refused(field.by)) continue;
    const FieldRow& row = *field_row(field.name);
    if (number_of(run, row) == number_of(usual, row)) continue;
    reader.fail(field.name, "is read with " + std::string(field.by) + " " + std::string(field.as) +
                                " alone; leave it out, or give that, too");
  }
}

// Headway's own form, or a Hugging Face config.json, which names its kind of model. `vocabulary`
// takes the place of the document's, and fills it where it has none; 0: as it is described.
Result<Model> described_model(const Document& document, const std::string& name,
                              std::int64_t vocabulary) {
  for (const char* key : {"model_type", "_class_name"}) {
    if (document.root.find(key) != nullptr) return model_from_config(document, name);
  }
  if (vocabulary == 0 || document.root.table() == nullptr) return model_from_toml(document, name);
  Document stated = document;
  Node::Table members = *document.root.table();
  std::erase_if(members, [](const auto& member) { return member.first == "vocabulary"; });
  members.emplace_back("vocabulary", Node{vocabulary, document.root.line});
  stated.root = Node{std::move(members), document.root.line};
  return model_from_toml(stated, name);
}

// What own runs say, which must be of the run's setup.
void read_own_runs(RequestReader& reader, Problems& problems, RequestedRun& run) {
  const GivenField* given = reader.find("calibration");
  if (given == nullptr) return;
  const auto document =
      given->document != nullptr ? Result<Document>(*given->document) : read_document(given->text);
  auto own = document ? own_runs_from(*document) : Result<OwnRuns>(document.problems());
  if (!own) return append(problems, own.problems());
  const Setup setup = setup_of(run.cluster.accelerator, run.job);
  if (own->of(setup) == nullptr) {
    std::vector<std::string> known;
    for (const OwnSetup& each : own->setups) known.push_back(to_text(each.setup));
    return reader.fail("calibration", "holds no runs of " + to_text(setup) + "; it has those of " +
                                          join(known, "; "));
  }
  run.own = std::make_shared<const OwnRuns>(std::move(own).value());
}

// Reads everything; of the layout also whether it is legal, where that is asked for.
Result<RequestedRun> read_run(const RunRequest& request, bool split, Types types) {
  Problems problems;
  RequestReader reader(request, problems, all_fields());
  RequestedRun run;
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
    reader.fail(field, result.problems());
  };
  const auto tokens = reader.has("vocab") ? reader.value(*field_row("vocab")) : std::nullopt;
  const auto vocabulary = static_cast<std::int64_t>(tokens.value_or(0));
  if (model_name) {
    const GivenField* given = reader.find("model");
    load(given->document != nullptr ? described_model(*given->document, *model_name, vocabulary)
                                    : load_model(*model_name),
         run.model, "model");
    if (loaded && vocabulary > 0 && run.model.vocabulary == 0) {
      reader.fail("vocab", "is given for a model without embedding and head");
    }
    if (vocabulary > 0) run.model.vocabulary = vocabulary;
    // As on Hugging Face: "organisation/model".
    const bool repository = std::count(model_name->begin(), model_name->end(), '/') == 1 &&
                            model_name->find('.') != 0 && !model_name->ends_with(".json") &&
                            !model_name->ends_with(".toml");
    if (!loaded && repository && problems.back().place.file == *model_name) {
      problems.back().message += "; for a model of Hugging Face give the path of its config.json";
    }
  }
  if (cluster_name) {
    load(cluster_of(*reader.find("cluster")), run.cluster, "cluster");
  }
  for (const MachineSetting& setting : machine_settings()) {
    const auto text = reader.text(setting.name);
    if (!text || !loaded || !cluster_name) continue;
    if (const auto wrong = setting.set(*text, run.cluster)) {
      reader.fail(setting.name, *wrong);
    }
  }
  read_fields(reader, run);
  settle_ranks(reader, run.layout, split);
  if (model_name && cluster_name && loaded) settle_method(reader, run);
  const auto slice = reader.text("slice");
  if (slice && loaded && cluster_name) {
    const bool known = problems.empty() && (split || reader.has("gpus"));
    const std::int64_t ranks = known ? run.layout.ranks() : 0;
    if (const auto wrong = set_slices(*slice, ranks, run.cluster)) reader.fail("slice", *wrong);
  }
  if (model_name && cluster_name && loaded) {
    if (split) {
      append(problems, fields_of_other_models(run));
      settle_network(reader, run);
    }
    assume_defaults(reader, run, split);
  }
  if (!model_name || !cluster_name || !loaded) return problems;
  if (problems.empty()) read_own_runs(reader, problems, run);
  read_far_stages(reader, types, run);
  if (run.far != nullptr && !run.job.method.is_synchronous()) {
    reader.fail("method", "is not priced with stages on two types of machine; leave one out",
                Trouble::unsupported);
  }
  if (split) {
    refuse_idle(reader, run);
    if (!problems.empty()) {
      append(problems, independent_problems(run, reader));
    } else {
      append(problems, run.far != nullptr ? check_on_both(run) : check(run));
    }
  }
  if (!problems.empty()) return problems;
  return run;
}

}  // namespace

void settle_ends(RequestedRun& run) {
  if (!says_spread(run)) apply(usual_ends(run.model, run.job, run.layout), run.layout);
}

void settle_experts(RequestedRun& run) {
  if (!splits_by_habit(run)) return;
  run.layout.etp = usual_expert_tensor(run.model, run.job, run.layout);
}

Result<RequestedRun> make_run(const RunRequest& request, Types types) {
  return read_run(request, true, types);
}

Result<RequestedRun> make_unsplit_run(const RunRequest& request) {
  return read_run(request, false, Types::one);
}

}  // namespace headway
