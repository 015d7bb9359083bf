#include "study/infer/question/question.hpp"

#include <algorithm>
#include <cmath>

#include "base/formatted.hpp"
#include "cluster/load.hpp"
#include "model/load.hpp"
#include "study/infer/engines.hpp"
#include "study/infer/question/options.hpp"
#include "study/infer/requests.hpp"

namespace headway {
namespace {

Result<Model> model_of(const GivenField& given) {
  if (given.document == nullptr) return load_model(given.text);
  const bool is_config = given.document->root.find("model_type") != nullptr;
  return is_config ? model_from_config(*given.document, given.text)
                   : model_from_toml(*given.document, given.text);
}

Result<Cluster> cluster_of(const GivenField& given) {
  return given.document == nullptr ? load_cluster(given.text)
                                   : cluster_from_document(*given.document, given.text);
}

class QuestionReader {
 public:
  QuestionReader(const RunRequest& request, Problems& problems)
      : in_(request, problems, serving_fields()), problems_(problems) {
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
    load_of(out.load, serving.dp);
    serving.weights = asked_.weights;
    serving.cache = kCacheFormats[asked_.cache];
    out.gpus = asked_.gpus.value_or(0);
    if (has_model_ && has_cluster_) rules(out);
    if (has_model_) lengths(out);
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
    static_cast<ServingSplit&>(out) = {asked_.tp, asked_.pp, asked_.ep, asked_.dp};
    if (asked_.best) {
      if (!in_.has("gpus"))
        in_.fail("gpus", "is missing: the best are of so many", Trouble::missing);
      if (asked_.curve) in_.fail("curve", "is of one way of serving, not of the best");
      for (const char* degree : {"tp", "pp", "ep", "dp"}) {
        if (in_.has(degree)) in_.fail(degree, "is searched; it cannot be given beside best");
      }
      return;
    }
    for (const char* degree : {"tp", "pp", "dp", "gpus"}) {
      if (in_.refused(degree)) return;
    }
    if (!asked_.gpus || *asked_.gpus == out.ranks()) return;
    if (!in_.has("dp") && *asked_.gpus % out.ranks() == 0) {
      out.dp = *asked_.gpus / out.ranks();
    } else {
      in_.fail("gpus", "is not tp x pp x dp, " + std::to_string(out.ranks()));
    }
  }

  void load_of(Load& out, std::int64_t copies) {
    for (const char* length : {"input-len", "output-len"}) {
      if (!in_.has(length)) in_.fail(length, "is missing", Trouble::missing);
    }
    amount_of_load();
    const bool alike = asked_.batch || asked_.curve == CurveOf::batch;
    for (const char* limit : {"ttft", "tpot"}) {
      if (!alike || !in_.has(limit)) continue;
      in_.fail(limit, "is of clients and rates: all sequences of a batch take as long");
    }
    out.first_limit = asked_.first_limit;
    out.each_limit = asked_.each_limit;
    out.input = asked_.input.value_or(1);
    out.output = asked_.output.value_or(1);
    if (asked_.clients) out.arrivals = Arrivals::clients;
    if (asked_.rate) out.arrivals = Arrivals::random;
    out.batch = asked_.clients.value_or(asked_.batch.value_or(1));
    // Copies take turns.
    out.rate = asked_.rate.value_or(0) / static_cast<double>(std::max<std::int64_t>(1, copies));
  }

  // One of the three, unless it is what the question is about.
  void amount_of_load() {
    int given = 0;
    for (const char* load : {"batch", "concurrency", "rate"}) {
      if (!in_.has(load)) continue;
      ++given;
      if (asked_.best) in_.fail(load, "is searched; it cannot be given beside best");
      if (asked_.curve) in_.fail(load, "is what the curve goes along; it cannot be given");
    }
    if (asked_.best || asked_.curve || in_.refused("curve") || in_.refused("best")) return;
    if (given == 0) {
      in_.fail("batch", "is missing, or instead of it concurrency or rate", Trouble::missing);
    }
    if (given > 1) in_.fail("batch", "concurrency and rate are loads, each of its own: give one");
  }

  // What stands in for a refused field breaks no rule of its own.
  void rules(const ServingQuestion& question) {
    const Serving& serving = question.serving;
    for (Problem& problem : check(serving)) {
      const auto refused = [&](const FieldName& field) { return in_.refused(field.name); };
      if (std::any_of(problem.fields.begin(), problem.fields.end(), refused)) continue;
      if (problem.fields.size() == 1 && in_.has(problem.fields.front().name)) {
        in_.fail(problem.fields.front().name, std::move(problem.message), problem.kind);
      } else {
        problems_.push_back(std::move(problem));
      }
    }
    const std::int64_t most = serving.cluster.accelerators;
    if (question.best && question.gpus > most) {
      in_.fail("gpus", "is more than the cluster's " + std::to_string(most));
    }
  }

  void lengths(const ServingQuestion& question) {
    const std::int64_t most = question.serving.model.maximum_sequence;
    const std::int64_t together = question.load.input + question.load.output;
    if (most <= 0 || together <= most) return;
    in_.fail("output-len", "with the prompt these are " + std::to_string(together) +
                               " tokens; the model was made for " + std::to_string(most));
  }

  RequestReader in_;
  Problems& problems_;
  ServingAsked asked_;
  bool has_model_ = false, has_cluster_ = false;
};

}  // namespace

double most_steps(const ServingQuestion& question) {
  const Load& load = question.load;
  const double output = static_cast<double>(load.output);
  // Of ten requests of each client when all are decoded at a time, and of two that wait outside.
  const double of_clients = kRequestsOfClient * output;
  if (question.best || question.curve == CurveOf::clients) return 2 * of_clients;
  const double of_random = kRandomRequests * output + of_clients;  // and what finds the capacity
  if (question.curve == CurveOf::rate) return of_random;
  if (question.curve || load.arrivals == Arrivals::together) return 0;
  if (load.arrivals == Arrivals::random) return of_random;
  const ServingMemory memory = memory_of(question.serving, load.input + load.output);
  const double at_a_time =
      std::max(1.0, memory.cached_tokens / (static_cast<double>(load.input) + output));
  return of_clients * std::max(1.0, std::ceil(static_cast<double>(load.batch) / at_a_time));
}

Result<ServingQuestion> read_serving(const RunRequest& request, Asker asker) {
  Problems problems;
  ServingQuestion out = QuestionReader(request, problems).read();
  if (problems.empty() && asker == Asker::another && most_steps(out) > kMostStepsOfAnother) {
    problems.push_back(
        {FieldName("output-len"),
         formatted("these requests take up to %.0g steps of the engine, more than the %.0g that a "
                   "request may ask for: shorter answers, a batch, or the command line",
                   most_steps(out), kMostStepsOfAnother)});
  }
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway
