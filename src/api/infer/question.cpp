#include "api/infer/question.hpp"

#include <algorithm>
#include <array>

#include "api/options.hpp"
#include "base/text.hpp"
#include "cluster/load.hpp"
#include "model/load.hpp"
#include "study/infer/engines.hpp"

namespace headway {
namespace {

constexpr std::array<std::string_view, 2> kCacheFormats = {"bf16", "fp8"};

// What was asked, or everything that is wrong with it.
class InferReader {
 public:
  explicit InferReader(const InferRequest& request) : request_(request) {}

  Result<InferQuestion> read() {
    InferQuestion out;
    Serving& serving = out.serving;
    load_parts(serving);
    numbers();
    ask_policy(request_, serving.engine.policy, problems_);
    split(serving);
    routing(serving.routing);
    speculation(serving);
    pools(out);
    out.load = asked_load(request_, serving.model, out.apart ? 1 : serving.dp, problems_);
    if (!loaded_) return problems_;
    append(problems_, out.apart ? check(*out.apart) : check(serving));
    if (request_.best && request_.gpus && *request_.gpus > serving.cluster.accelerators) {
      fail("gpus", "is more than the cluster's " + std::to_string(serving.cluster.accelerators));
    }
    if (!problems_.empty()) return problems_;
    return out;
  }

 private:
  void fail(std::string_view field, std::string why, Trouble kind = Trouble::illegal) {
    problems_.push_back({FieldName(field), std::move(why), kind});
  }

  void in_range(std::string_view field, std::optional<std::int64_t> value, Range range) {
    if (!value || (*value >= range.least && *value <= range.most)) return;
    loaded_ = false;  // nothing can be made of it
    fail(field, "is " + std::to_string(*value) + "; it must be from " +
                    std::to_string(range.least) + " to " + std::to_string(range.most));
  }
  void numbers() {
    using namespace infer_ranges;
    in_range("tp", request_.tp, kDegree);
    in_range("pp", request_.pp, kDegree);
    in_range("ep", request_.ep, kDegree);
    in_range("dp", request_.dp, kDegree);
    in_range("gpus", request_.gpus, kDegree);
    in_range("input-len", request_.input, kTokens);
    in_range("output-len", request_.output, kTokens);
    in_range("batch", request_.batch, kSequences);
    in_range("concurrency", request_.clients, kSequences);
    in_range("count", request_.count, kDegree);
    in_range("step-tokens", request_.step_tokens, kTokens);
    in_range("step-sequences", request_.step_sequences, kSequences);
    in_range("block", request_.block, kDegree);
    in_range("guesses", request_.guesses, kGuesses);
    in_range("redundant-experts", request_.redundant_experts, kSequences);
  }

  void load_parts(Serving& out) {
    loaded_ = !request_.model.empty() && !request_.cluster.empty();
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
      loaded_ = false;
      return fail("engine", not_known(request_.engine, names), Trouble::unknown);
    }
    out.engine = *engine;
  }

  // Prefill and decode on accelerators of their own.
  void pools(InferQuestion& out) {
    const bool one = !request_.prefill.empty(), other = !request_.decode.empty();
    if (request_.disaggregate && !request_.best) {
      fail("disaggregate", "is of --best; else --prefill and --decode say how");
    }
    if (request_.streamed && !(one && other) && !request_.disaggregate) {
      fail("stream", "is of --prefill and --decode: else no cache moves");
    }
    if (!one && !other) return;
    if (!one) return fail("prefill", "is missing beside --decode", Trouble::missing);
    if (!other) return fail("decode", "is missing beside --prefill", Trouble::missing);
    if (request_.best) fail("best", "searches splits; --prefill and --decode cannot be given");
    if (out.serving.ranks() > 1 || out.serving.ep > 1) {
      fail("prefill", "and --decode have splits of their own: tp, pp, ep and dp cannot be given");
    }
    if (request_.batch) {
      fail("batch",
           "is of one engine; beside --prefill and --decode --concurrency, --rate or a "
           "file says when requests come");
    }
    ServingApart& apart = out.apart.emplace();
    const AskedPool prefill = asked_pool(request_.prefill, "prefill", problems_);
    const AskedPool decode = asked_pool(request_.decode, "decode", problems_);
    apart.prefill = apart.decode = out.serving;
    static_cast<ServingSplit&>(apart.prefill) = prefill.split;
    static_cast<ServingSplit&>(apart.decode) = decode.split;
    apart.prefill_copies = prefill.copies;
    apart.decode_copies = decode.copies;
    apart.streamed = request_.streamed;
    if (request_.gpus && *request_.gpus != apart.ranks()) {
      fail("gpus", "is not what --prefill and --decode take, " + std::to_string(apart.ranks()));
    }
  }

  void routing(Routing& out) {
    if (request_.redundant_experts && !request_.imbalance) {
      fail("redundant-experts", "even out --imbalance, which is not given");
    }
    if (!request_.imbalance) return;
    if (!(*request_.imbalance > 0 && *request_.imbalance <= 4)) {
      fail("imbalance",
           "must be above 0 and at most 4: the i-th expert is chosen as i to minus it");
    }
    out = {*request_.imbalance, request_.redundant_experts.value_or(0)};
  }

  // Guesses of the next tokens, by a model or by the model's own prediction layers.
  void speculation(Serving& out) {
    if (!request_.guesses) {
      if (request_.acceptance) fail("acceptance", "is of --guesses, which is not given");
      if (!request_.draft.empty()) fail("draft", "makes --guesses, which is not given");
      return;
    }
    Speculation asked;
    asked.guesses.length = *request_.guesses;
    if (!request_.acceptance) {
      fail("acceptance", "is missing: the share of guesses that are right", Trouble::missing);
    } else if (!(*request_.acceptance >= 0 && *request_.acceptance <= 1)) {
      fail("acceptance", "must be from 0 to 1");
    }
    asked.guesses.chance = request_.acceptance.value_or(0);
    if (!request_.draft.empty()) {
      keep(load_model(request_.draft), asked.draft.emplace());
    } else if (loaded_ && out.model.prediction_layers == 0) {
      fail("draft", "is missing: the model has no prediction layers of its own", Trouble::missing);
    }
    out.speculation = std::move(asked);
  }

  template <class T>
  void keep(const Result<T>& loaded, T& into) {
    if (loaded) {
      into = *loaded;
    } else {
      loaded_ = false;
      append(problems_, loaded.problems());
    }
  }

  void split(Serving& out) {
    out.tp = request_.tp;
    out.pp = request_.pp;
    out.ep = request_.ep;
    out.dp = request_.dp;
    const bool apart = !request_.prefill.empty() || !request_.decode.empty();
    if (request_.best) {
      if (!request_.gpus) fail("gpus", "is missing: --best is of so many", Trouble::missing);
      if (out.ranks() > 1) fail("best", "searches tp, pp, ep and dp; they cannot be given");
    } else if (request_.gpus && loaded_ && !apart && *request_.gpus != out.ranks()) {
      if (request_.dp == 1 && *request_.gpus % out.ranks() == 0) {
        out.dp = *request_.gpus / out.ranks();
      } else {
        fail("gpus", "is not tp x pp x dp, " + std::to_string(out.ranks()));
      }
    }
    std::vector<std::string> names;
    for (const Recipe& recipe : recipes()) names.emplace_back(recipe.name);
    out.weights = recipe_from(request_.weights);
    if (out.weights == nullptr) {
      loaded_ = false;
      fail("weights", not_known(request_.weights, names), Trouble::unknown);
    }
    const bool known = std::find(kCacheFormats.begin(), kCacheFormats.end(), request_.cache) !=
                       kCacheFormats.end();
    if (!known) fail("cache", not_known(request_.cache, words(kCacheFormats)), Trouble::unknown);
    out.cache = request_.cache == "fp8" ? Precision::fp8 : Precision::bf16;
  }

  const InferRequest& request_;
  bool loaded_ = false;  // there is a serving whose parts can be held against each other
  Problems problems_;
};

}  // namespace

Result<InferQuestion> infer_question(const InferRequest& request) {
  return InferReader(request).read();
}

}  // namespace headway
