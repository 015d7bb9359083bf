// infer: what serving a model takes.
#include "report/infer/infer.hpp"

#include "api/commands.hpp"
#include "api/options.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "cluster/load.hpp"
#include "model/load.hpp"
#include "study/infer/engines.hpp"

namespace headway {
namespace {

std::vector<std::string> cache_names() {
  std::vector<std::string> out;
  for (const CacheFormat& format : *cache_formats()) out.push_back(format.name);
  return out;
}

// What was asked, or everything that is wrong with it.
class InferReader {
 public:
  explicit InferReader(const InferRequest& request) : request_(request) {}

  Problems read(Serving& serving, Load& load) {
    load_parts(serving);
    split(serving);
    lengths(load, serving.dp);
    if (!problems_.empty()) return std::move(problems_);
    append(problems_, check(serving));
    if (request_.best && *request_.gpus > serving.cluster.accelerators) {
      fail("gpus", "is more than the cluster's " + std::to_string(serving.cluster.accelerators));
    }
    const std::int64_t most = serving.model.maximum_sequence;
    if (most > 0 && load.input + load.output > most) {
      fail("output-len", "with the prompt these are " + std::to_string(load.input + load.output) +
                             " tokens; the model was made for " + std::to_string(most));
    }
    return std::move(problems_);
  }

 private:
  void fail(std::string_view field, std::string why, Trouble kind = Trouble::illegal) {
    problems_.push_back({FieldName(field), std::move(why), kind});
  }

  void load_parts(Serving& out) {
    if (request_.model.empty()) fail("model", "is missing", Trouble::missing);
    if (request_.cluster.empty()) fail("cluster", "is missing", Trouble::missing);
    if (!request_.model.empty()) keep(load_model(request_.model), out.model);
    if (!request_.cluster.empty()) keep(load_cluster(request_.cluster), out.cluster);
    const auto& known = engines();
    if (!known) return append(problems_, known.problems());
    std::vector<std::string> names;
    const Engine* engine = request_.engine.empty() ? &known->front() : nullptr;
    for (const Engine& each : *known) {
      names.push_back(each.name);
      if (each.name == request_.engine) engine = &each;
    }
    if (engine == nullptr) {
      return fail("engine", not_known(request_.engine, names), Trouble::unknown);
    }
    out.engine = *engine;
  }

  template <class T>
  void keep(const Result<T>& loaded, T& into) {
    if (loaded) {
      into = *loaded;
    } else {
      append(problems_, loaded.problems());
    }
  }

  void split(Serving& out) {
    out.tp = request_.tp;
    out.pp = request_.pp;
    out.ep = request_.ep;
    out.dp = request_.dp;
    out.cp = request_.cp;
    if (request_.best) {
      if (!request_.gpus) fail("gpus", "is missing: --best is of so many", Trouble::missing);
      if (out.ranks() > 1) fail("best", "searches tp, pp, ep and dp; they and cp cannot be given");
    } else if (request_.gpus && *request_.gpus != out.ranks()) {
      if (request_.dp == 1 && *request_.gpus % out.ranks() == 0) {
        out.dp = *request_.gpus / out.ranks();
      } else {
        fail("gpus", "is not tp x pp x cp x dp, " + std::to_string(out.ranks()));
      }
    }
    if (!set_weights(out, request_.weights)) {
      fail("weights", not_known(request_.weights, weights_names()), Trouble::unknown);
    }
    const CacheFormat* cache = cache_format(request_.cache);
    if (cache != nullptr) {
      out.cache = cache;
    } else {
      fail("cache", not_known(request_.cache, cache_names()), Trouble::unknown);
    }
  }

  void lengths(Load& out, std::int64_t copies) {
    if (!request_.input) fail("input-len", "is missing", Trouble::missing);
    if (!request_.output) fail("output-len", "is missing", Trouble::missing);
    const int given =
        (request_.batch ? 1 : 0) + (request_.clients ? 1 : 0) + (request_.rate ? 1 : 0);
    if (request_.best) {
      if (given > 0) fail("best", "searches how many clients; no load can be given");
    } else if (given == 0) {
      fail("batch", "it, --concurrency or --rate must be given", Trouble::missing);
    } else if (given > 1) {
      fail("batch", "one of it, --concurrency and --rate can be given");
    }
    if (request_.rate && !(*request_.rate > 0 && *request_.rate <= 1e9)) {
      fail("rate", "must be above 0 and at most 1e9 requests a second");
    }
    out.first_limit = limit("ttft", request_.first_limit);
    out.each_limit = limit("tpot", request_.each_limit);
    if (request_.batch && (out.first_limit || out.each_limit)) {
      fail("ttft", "limits are of --concurrency and --rate: all sequences of a batch take as long");
    }
    out.input = request_.input.value_or(1);
    out.output = request_.output.value_or(1);
    if (request_.clients) out.arrivals = Arrivals::clients;
    if (request_.rate) out.arrivals = Arrivals::random;
    out.batch = request_.clients.value_or(request_.batch.value_or(1));
    // Copies take turns.
    out.rate = request_.rate.value_or(0) / static_cast<double>(std::max<std::int64_t>(1, copies));
  }

  std::optional<Seconds> limit(std::string_view name, const std::string& said) {
    if (said.empty()) return std::nullopt;
    const auto time = parse_quantity<Seconds>(said, Where(FieldName(name)));
    if (!time) {
      append(problems_, time.problems());
      return std::nullopt;
    }
    if (time->value() <= 0) fail(name, "must be greater than zero");
    return *time;
  }

  const InferRequest& request_;
  Problems problems_;
};

}  // namespace

CommandOutput run_infer(const InferRequest& request) {
  // What is served and what is asked of it, or everything that is wrong with either.
  Serving serving;
  Load load;
  if (Problems problems = InferReader(request).read(serving, load); !problems.empty()) {
    return {.problems = std::move(problems)};
  }
  const auto constants = serving_constants(serving.cluster);
  if (!constants) return {.problems = constants.problems()};

  if (request.best) {
    // Every way of serving it on so many, and the best of them.
    const auto best =
        best_offers(serving, *constants, load, *request.gpus, request.threads, request.progress);
    if (!best) return {.problems = {{"infer", "was stopped", Trouble::stopped}}};
    return {.text = request.json ? infer_best_json(serving, load, *request.gpus, *best)
                                 : infer_best_text(serving, load, *request.gpus, *best),
            .exit_code = best->front.empty() ? 1 : 0};
  }

  // Its passes in time, and what requests get of them.
  const Served answer = served(serving, *constants, load);
  // What would make it fit, where it does not.
  std::vector<ServingChange> changes;
  if (!answer.fits) changes = smallest_changes(serving, *constants, load);
  const std::vector<std::string> notes = unmeasured(serving, *constants);
  return {.text = request.json ? infer_json(serving, load, answer, changes, notes)
                               : infer_text(serving, load, answer, changes, notes),
          .exit_code = answer.fits && answer.stable() ? 0 : 1};
}

Command infer_command() {
  auto request = std::make_shared<InferRequest>();
  Command out{.name = "infer",
              .help = "serving a model: time to the first token and of each after it, tokens/s",
              .examples = {"headway infer --model llama-3-70b --cluster dgx-h100 --tp 8 \\\n"
                           "    --input-len 1000 --output-len 500 --batch 16"},
              .run = running(request, run_infer),
              .door = Door::command_line,
              .doing = "searching",
              .things = "splits"};
  constexpr Range kDegree{1, 1'000'000}, kTokens{1, 10'000'000}, kSequences{1, 100'000};
  const auto degree = [&](std::string_view name, std::string_view help, std::int64_t& target) {
    return Option{.name = name,
                  .value = "N",
                  .help = help,
                  .target = &target,
                  .range = kDegree,
                  .checked = true};
  };
  const auto count = [&](std::string_view name, std::string_view help,
                         std::optional<std::int64_t>& target, Range range) {
    return Option{.name = name,
                  .value = "N",
                  .help = help,
                  .target = &target,
                  .range = range,
                  .checked = true};
  };
  out.options = {
      {.name = "model",
       .value = "M",
       .help = "built-in name (headway list models), config.json or .toml",
       .target = &request->model},
      {.name = "cluster",
       .value = "C",
       .help = "built-in name (headway list clusters) or .toml",
       .target = &request->cluster},
      count("gpus", "accelerators; default: tp x pp x cp x dp", request->gpus, kDegree),
      wordless("best", "the best ways on --gpus: of users' speed against accelerators'",
               request->best),
      count("input-len", "tokens of a prompt", request->input, kTokens),
      count("output-len", "tokens of an answer", request->output, kTokens),
      count("batch", "sequences of each copy that start and end together", request->batch,
            kSequences),
      count("concurrency", "clients of each copy, each with one request at a time",
            request->clients, kSequences),
      {.name = "rate",
       .value = "R",
       .help = "requests a second to all copies, at random moments",
       .target = &request->rate},
      {.name = "ttft",
       .value = "TIME",
       .help = "what a good answer's first token keeps to: the share that does is told",
       .target = &request->first_limit},
      {.name = "tpot",
       .value = "TIME",
       .help = "the same of each token after it",
       .target = &request->each_limit},
      degree("tp", "tensor-parallel degree", request->tp),
      degree("pp", "pipeline-parallel degree", request->pp),
      degree("ep", "ranks over which experts are spread, of tp x dp", request->ep),
      degree("dp", "copies, of attention where experts are shared", request->dp),
      degree("cp", "ranks that share each prompt, and then its cache", request->cp),
      {.name = "weights",
       .value = "FORMAT",
       .help = "of weights: bf16, fp8, fp8-block, fp4, int8-full; in memory alone int8, int4, "
               "mxfp4, nvfp4",
       .target = &request->weights},
      {.name = "cache",
       .value = "FORMAT",
       .help = "of the cache, as the engine has it: bf16, fp8, int8, int4, nvfp4",
       .target = &request->cache},
      {.name = "engine",
       .value = "NAME",
       .help = "software that serves; default: vllm",
       .target = &request->engine}};
  return out;
}

}  // namespace headway
