#include "study/infer/question/question.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/formatted.hpp"
#include "model/reading/load.hpp"
#include "study/infer/engines.hpp"
#include "study/infer/question/options.hpp"
#include "study/infer/question/parts.hpp"

namespace headway {
namespace {

Result<Model> model_of(const GivenField& given) {
  if (given.document == nullptr) return load_model(given.text);
  const bool is_config = given.document->root.find("model_type") != nullptr;
  return is_config ? model_from_config(*given.document, given.text)
                   : model_from_toml(*given.document, given.text);
}

constexpr std::string_view kDegreeNames[] = {"tp", "pp", "ep", "dp", "cp"};
// How much load, or a question about all loads: one choice.
constexpr std::string_view kLoadChoices[] = {"batch", "concurrency", "rate", "curve", "best"};

bool is_among(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Flags override a file: one load the other that stands there, and what is searched its degrees.
RunRequest overridden(RunRequest request) {
  const auto by_flag = [&](std::span<const std::string_view> names) {
    return std::any_of(request.begin(), request.end(), [&](const GivenField& field) {
      return field.where.place.kind != Place::Kind::file && is_among(names, field.name);
    });
  };
  constexpr std::string_view kBest[] = {"best"}, kFormats[] = {"formats"};
  const bool load = by_flag(kLoadChoices), best = by_flag(kBest), formats = by_flag(kFormats);
  std::erase_if(request, [&](const GivenField& field) {
    return field.where.place.kind == Place::Kind::file &&
           ((load && is_among(kLoadChoices, field.name)) ||
            (best && is_among(kDegreeNames, field.name)) || (formats && field.name == "weights"));
  });
  return request;
}

class QuestionReader {
 public:
  QuestionReader(const RunRequest& request, const ServingFiles& files, Problems& problems)
      : in_(request, problems, serving_fields()), files_(files), problems_(problems) {
    for (const ServingOption& row : serving_options()) {
      if (row.read != nullptr) row.read(in_, row.field, asked_);
    }
  }

  ServingQuestion read() {
    ServingQuestion out;
    out.best = asked_.best;
    out.curve = asked_.curve;
    Serving& serving = out.serving;
    has_model_ = load("model", model_of, serving.model);
    has_cluster_ = load("cluster", cluster_of, serving.cluster);
    engine(serving);
    split(serving);
    if (asked_.weights) {
      set_weights(serving, weights_names()[*asked_.weights]);
    } else if (!set_weights(serving, serving.model.weights)) {
      set_weights(serving, sixteen_bits(serving.cluster.accelerator));
    }
    if (const auto& formats = cache_formats(); formats) serving.cache = &(*formats)[asked_.cache];
    serving.engine.memory = asked_.memory_share.value_or(serving.engine.memory);
    policy(serving.engine.policy);
    routing(serving);
    serving.own_exchange = asked_.exchange && kExchangeNames[*asked_.exchange] == "kernels";
    serving.two_batches = asked_.two_batches;
    serving.eager = asked_.eager;
    speculation(serving);
    pools(out);
    space(out);
    out.load =
        asked_load(in_, problems_, asked_, files_, has_model_ ? serving.model.maximum_sequence : 0,
                   out.apart ? 1 : serving.dp);
    out.gpus = asked_.gpus.value_or(0);
    if (!asked_.best) out.goodput = asked_.goodput;
    if (has_model_ && has_cluster_) rules(out);
    return out;
  }

 private:
  // Whether it is there.
  template <class T>
  bool load(std::string_view name, Result<T> (*of)(const GivenField&), T& into) {
    const GivenField* given = in_.find(name);
    if (given == nullptr) return in_.fail(name, "is missing", Trouble::missing), false;
    auto loaded = of(*given);
    if (!loaded) return append(problems_, loaded.problems()), false;
    into = std::move(loaded).value();
    return true;
  }

  void engine(Serving& out) {
    const auto& known = engines();
    if (!known) return append(problems_, known.problems());
    out.engine = (*known)[asked_.engine];
  }

  void split(Serving& out) {
    static_cast<ServingSplit&>(out) = {asked_.tp, asked_.pp, asked_.ep, asked_.dp, asked_.cp};
    if (asked_.best) {
      if (!in_.has("gpus"))
        in_.fail("gpus", "is missing: the best are of so many", Trouble::missing);
      if (asked_.curve) in_.fail("curve", "is of one way of serving, not of the best");
      for (const std::string_view degree : kDegreeNames) {
        if (in_.has(degree)) in_.fail(degree, "is searched; it cannot be given beside best");
      }
      return;
    }
    for (const char* degree : {"tp", "pp", "dp", "cp", "gpus"}) {
      if (in_.refused(degree)) return;
    }
    if (asked_.prefill || asked_.decode) return;
    if (!asked_.gpus || *asked_.gpus == out.ranks()) return;
    if (!in_.has("dp") && *asked_.gpus % out.ranks() == 0) {
      out.dp = *asked_.gpus / out.ranks();
    } else {
      in_.fail("gpus", "is not tp x pp x cp x dp, " + std::to_string(out.ranks()));
    }
  }

  void policy(Policy& out) {
    out.most_tokens = asked_.step_tokens.value_or(out.most_tokens);
    out.most_sequences = asked_.step_sequences.value_or(out.most_sequences);
    out.block = asked_.block.value_or(out.block);
    if (asked_.prompts) out.prompts_first = kPromptNames[*asked_.prompts] == "first";
    if (asked_.admit) out.reserve = kAdmitNames[*asked_.admit] == "whole";
  }

  void routing(Serving& serving) {
    Routing& out = serving.routing;
    const double usual = has_experts(serving.model) ? usual_imbalance() : 0;
    out = {asked_.imbalance.value_or(usual), asked_.redundant_experts.value_or(0)};
    if (out.redundant > 0 && asked_.imbalance && *asked_.imbalance == 0) {
      in_.fail("redundant-experts", "even out imbalance, which there is none of");
    }
  }

  // Guesses of the next tokens, by a model or by the model's own prediction layers.
  void speculation(Serving& out) {
    if (!in_.has("guesses")) {
      if (in_.has("acceptance")) in_.fail("acceptance", "is of guesses, which are not given");
      if (in_.has("draft")) in_.fail("draft", "makes guesses, which are not given");
      return;
    }
    Speculation asked;
    asked.guesses = {asked_.acceptance.value_or(0), asked_.guesses.value_or(1)};
    if (!in_.has("acceptance")) {
      in_.fail("acceptance", "is missing: the share of guesses that are right", Trouble::missing);
    }
    if (in_.has("draft")) {
      has_model_ = load("draft", model_of, asked.draft.emplace()) && has_model_;
    } else if (has_model_ && out.model.prediction_layers == 0) {
      in_.fail("draft", "is missing: the model has no prediction layers of its own",
               Trouble::missing);
    }
    out.speculation = std::move(asked);
  }

  // What the best are chosen among.
  void space(ServingQuestion& out) {
    out.space.step_tokens = !in_.has("step-tokens");
    if (!asked_.formats) return;
    if (!asked_.best) in_.fail("formats", "are of the best; else weights and cache say them");
    if (in_.has("weights")) in_.fail("weights", "is among the formats; it cannot be given beside");
    if (!has_model_ || !has_cluster_) return;
    out.space.formats = asked_formats(in_, out.serving, *asked_.formats);
    // Nobody asked for any other.
    if (!out.space.formats.empty()) set_formats(out.serving, out.space.formats.front());
  }

  // Prefill and decode on accelerators of their own.
  void pools(ServingQuestion& out) {
    out.disaggregate = asked_.disaggregate;
    out.streamed = asked_.streamed;
    if (asked_.disaggregate && !asked_.best) {
      in_.fail("disaggregate", "is of the best; else prefill and decode say how");
    }
    const bool both = asked_.prefill && asked_.decode;
    if (asked_.streamed && !both && !asked_.disaggregate) {
      in_.fail("stream", "is of prefill and decode apart: else no cache moves");
    }
    if (!asked_.prefill && !asked_.decode) return;
    AskedPool prefill, decode;
    if (asked_.prefill) prefill = asked_pool(in_, "prefill", *asked_.prefill);
    if (asked_.decode) decode = asked_pool(in_, "decode", *asked_.decode);
    const char* const missing = asked_.prefill ? "decode" : "prefill";
    if (!both) return in_.fail(missing, "is missing beside the other", Trouble::missing);
    if (asked_.best) in_.fail("prefill", "and decode are one way; best cannot be beside them");
    if (asked_.curve == CurveOf::batch) {
      in_.fail("curve", "of a batch is of one engine, not of prefill and decode apart");
    }
    for (const char* degree : {"tp", "pp", "ep", "dp", "cp"}) {
      if (in_.has(degree)) in_.fail(degree, "is of one engine; prefill and decode have their own");
    }
    if (asked_.batch) in_.fail("batch", "is of one engine, not of prefill and decode apart");
    ServingApart apart{out.serving, out.serving};
    static_cast<ServingSplit&>(apart.prefill) = prefill.split;
    static_cast<ServingSplit&>(apart.decode) = decode.split;
    const auto step = [](Serving& part, const AskedPool& asked) {
      Policy& policy = part.engine.policy;
      policy.most_tokens = asked.step_tokens.value_or(policy.most_tokens);
    };
    step(apart.prefill, prefill);
    step(apart.decode, decode);
    if (in_.has("step-tokens") && prefill.step_tokens && decode.step_tokens) {
      in_.fail("step-tokens",
               "are of a part that says none; prefill and decode both say their own");
    }
    apart.prefill_copies = prefill.copies;
    apart.decode_copies = decode.copies;
    apart.streamed = asked_.streamed;
    if (asked_.gpus && *asked_.gpus != apart.ranks()) {
      in_.fail("gpus", "is not what prefill and decode take, " + std::to_string(apart.ranks()));
    }
    out.apart = std::move(apart);
  }

  // Of several ways of serving, as the best are, some have ranks of experts, and an exchange.
  void experts(const ServingQuestion& question) {
    if (!has_experts(question.serving.model)) {
      if (asked_.exchange) in_.fail("exchange", "is of experts, which the model has none of");
      return;
    }
    if (question.best || in_.refused("ep") || in_.refused("tp")) return;
    const auto& apart = question.apart;
    const Serving& one = apart ? apart->prefill : question.serving;
    const Serving& other = apart ? apart->decode : question.serving;
    if (one.routing.redundant > 0 && one.ep == 1 && other.ep == 1) {
      in_.fail("redundant-experts", "even out the ranks of experts, of which there is one (ep)");
    }
    if (one.ep > one.tp || other.ep > other.tp) return;
    constexpr const char* kOf =
        "is of experts over more ranks than tp, which have tokens of their own";
    if (asked_.exchange) in_.fail("exchange", kOf);
    if (asked_.two_batches) in_.fail("two-batches", kOf);
  }

  // What stands in for a refused field breaks no rule of its own.
  void rules(const ServingQuestion& question) {
    const Serving& serving = question.serving;
    experts(question);
    for (Problem& problem : question.apart ? check(*question.apart) : check(serving)) {
      const auto refused = [&](const FieldName& field) {
        const bool of_format = field.name == "weights" || field.name == "cache";
        return in_.refused(of_format && in_.has("formats") ? "formats" : field.name);
      };
      if (std::any_of(problem.fields.begin(), problem.fields.end(), refused)) continue;
      if (problem.fields.size() == 1 && in_.has(problem.fields.front().name)) {
        in_.fail(problem.fields.front().name, std::move(problem.message), problem.kind);
      } else {
        problems_.push_back(std::move(problem));
      }
    }
    const bool batch = question.load.arrivals == Arrivals::together && !question.best &&
                       (!question.curve || question.curve == CurveOf::batch);
    const std::string why = why_together_only(serving.engine);
    if (!why.empty() && (!batch || question.apart)) in_.fail("engine", why);
    const std::int64_t most = serving.cluster.accelerators;
    if (question.best && question.gpus > most) {
      in_.fail("gpus", "is more than the cluster's " + std::to_string(most));
    }
  }

  RequestReader in_;
  const ServingFiles& files_;
  Problems& problems_;
  ServingAsked asked_;
  bool has_model_ = false, has_cluster_ = false;
};

}  // namespace

double most_steps(const ServingQuestion& question) {
  const Load& load = question.load;
  const double output = static_cast<double>(load.output);
  const double asked = static_cast<double>(load.count);
  // Of ten requests of each client when all are decoded at a time, and of two that wait outside.
  const double of_clients = std::max(static_cast<double>(kRequestsOfClient), asked) * output;
  const double engines = question.apart ? static_cast<double>(question.apart->decode_copies) : 1;
  if (question.best || question.curve == CurveOf::clients) return 2 * of_clients * engines;
  // And what finds the capacity.
  const double of_random =
      (asked > 0 ? asked : static_cast<double>(kRandomRequests)) * output + of_clients;
  // A search of the rate places 10,000 requests some thirty times, 4 in a step at least.
  if (question.goodput) return 30 * (asked > 0 ? asked : 10'000) * output / 4;
  if (question.curve == CurveOf::rate) return of_random;
  if (question.curve || load.arrivals == Arrivals::together) return 0;
  if (load.arrivals == Arrivals::random) return of_random;
  if (load.arrivals == Arrivals::listed) return static_cast<double>(load.listed->size()) * output;
  if (question.apart) return of_clients * static_cast<double>(load.batch);
  const ServingMemory memory = memory_of(question.serving, load);
  const double at_a_time =
      std::max(1.0, memory.sequences_that_fit(static_cast<double>(load.input) + output));
  return of_clients * std::max(1.0, std::ceil(static_cast<double>(load.batch) / at_a_time));
}

Result<ServingQuestion> read_serving(const RunRequest& request, Asker asker,
                                     const ServingFiles& files) {
  Problems problems;
  const RunRequest settled = overridden(request);
  ServingQuestion out = QuestionReader(settled, files, problems).read();
  if (problems.empty() && asker == Asker::another && most_steps(out) > kMostStepsOfAnother) {
    problems.push_back(
        {FieldName("output-len"),
         formatted("these requests take up to %.0g steps of the engine, more than the %.0g that a "
                   "request may ask for: shorter answers, a batch, or the command line",
                   most_steps(out), kMostStepsOfAnother)});
  }
  // Of more a search takes longer than another may have it.
  constexpr std::int64_t kMostApartOfAnother = 64, kMostAmongFormatsOfAnother = 128;
  const auto at_most = [&](bool asked, const char* what, std::int64_t most) {
    if (asker != Asker::another || !asked || out.gpus <= most) return;
    problems.push_back({FieldName("gpus"), std::string(what) + " a request may search " +
                                               std::to_string(most) +
                                               "; ask the command line for more"});
  };
  at_most(out.disaggregate, "of prefill and decode apart", kMostApartOfAnother);
  at_most(out.space.formats.size() > 1, "among formats", kMostAmongFormatsOfAnother);
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway
