#include "run/run.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "cluster/settings.hpp"
#include "cluster/slice.hpp"
#include "model/count.hpp"
#include "model/reading/load.hpp"
#include "platform/files.hpp"
#include "run/defaults.hpp"
#include "run/far_stages.hpp"
#include "run/idle_fields.hpp"
#include "run/method.hpp"
#include "run/network_fields.hpp"
#include "run/refused_fields.hpp"
#include "run/request_reader.hpp"

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
    if (!reader.has(row.field.name) || !can_be_set(row)) continue;
    if (const auto number = reader.value(row)) set_number(run, row, *number);
  }
}

constexpr const char* kDegrees[] = {"dp", "tp", "cp", "pp"};

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
  const auto product = [&] {
    return "tp x cp x pp = " + std::to_string(layout.tp) + " x " + std::to_string(layout.cp) +
           " x " + std::to_string(layout.pp) + " = " + std::to_string(model_ranks);
  };
  if (!reader.has("dp")) {
    if (gpus % model_ranks != 0) {
      reader.fail("gpus",
                  std::to_string(gpus) + " is not a multiple of " + product() +
                      "; legal: a multiple of " + std::to_string(model_ranks),
                  Trouble::illegal, multiples_near(gpus, model_ranks));
      return;
    }
    layout.dp = gpus / model_ranks;
  } else if (static_cast<double>(layout.dp) * others != static_cast<double>(gpus)) {
    reader.fail("gpus", std::to_string(gpus) + " is not dp x " + product() +
                            ", times dp = " + std::to_string(layout.dp));
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

Result<RequestedRun> make_run(const RunRequest& request, Types types) {
  return read_run(request, true, types);
}

Result<RequestedRun> make_unsplit_run(const RunRequest& request) {
  return read_run(request, false, Types::one);
}

}  // namespace headway
