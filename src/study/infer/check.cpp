// What cannot be served so.
#include <algorithm>
#include <cstdlib>

#include "base/text.hpp"
#include "layout/run.hpp"
#include "study/infer/parts.hpp"

namespace headway {
namespace {

class ServingRules {
 public:
  explicit ServingRules(const Serving& serving) : serving_(serving) {}

  Problems check() {
    shapes();
    degrees();
    formats();
    graphs();
    experts();
    speculation();
    return std::move(problems_);
  }

 private:
  void fail(std::string_view field, std::string why, Trouble kind = Trouble::illegal) {
    problems_.push_back({FieldName(field), std::move(why), kind});
  }

  void shapes() {
    const Model& model = serving_.model;
    if (model.vocabulary == 0 || model.labels) {
      fail("model", "makes no tokens: it has no head over a vocabulary", Trouble::unsupported);
    }
    const bool attends =
        std::any_of(model.kinds.begin(), model.kinds.end(),
                    [](const Layer& layer) { return layer.attention.has_value(); });
    if (!attends) return fail("model", "has no attention", Trouble::unsupported);
    if (serving_.cp > 1 && chooses_keys(model)) {
      fail("cp", "of keys that an indexer chooses is not predicted; legal: 1",
           Trouble::unsupported);
    }
    if (serving_.engine.whole.only() && has_experts(model)) {
      fail("model", "has experts, whose buffers by " + serving_.engine.name + " are not known",
           Trouble::unsupported);
    }
  }

  void degrees() {
    const Serving& s = serving_;
    const std::int64_t copies = s.ep > 1 ? s.routing.redundant : 0;
    Problems of_split = check_split(s.model, layout_of(s, 1, s.cp), copies);
    const bool splits = of_split.empty();
    for (Problem& problem : of_split) {
      // The tensor degree inside an expert is what tp is over ep here.
      for (FieldName& field : problem.fields) {
        if (field.name == "etp") field.name = "tp";
      }
      problems_.push_back(std::move(problem));
    }
    if (s.engine.splits_layers) {
      const std::pair<const char*, std::int64_t> others[] = {
          {"tp", s.tp}, {"ep", s.ep}, {"cp", s.cp}};
      for (const auto& [degree, is] : others) {
        if (is > 1) fail(degree, s.engine.name + " splits by layers, which is pp; legal: 1");
      }
    }
    if (s.pp > s.model.layers()) {
      fail("pp", "is more than the " + std::to_string(s.model.layers()) + " layers");
    }
    const bool shares = std::any_of(s.model.kinds.begin(), s.model.kinds.end(),
                                    [](const Layer& layer) { return !layer.modules.empty(); });
    if (s.pp > 1 && shares) {
      fail("pp", "cuts layers that share weights into stages; legal: 1", Trouble::unsupported);
    }
    if (s.ranks() > s.cluster.accelerators) {
      fail("cluster", "has " + std::to_string(s.cluster.accelerators) +
                          " accelerators; tp x pp x cp x dp takes " + std::to_string(s.ranks()));
    }
    const bool inside = s.tp % s.ep == 0, around = s.ep % s.tp == 0 && s.dp % (s.ep / s.tp) == 0;
    if (splits && !inside && !around) {
      fail("ep", "must divide tp, or be tp times what divides dp");
    }
  }

  void graphs() {
    if (!serving_.eager || has_graphs(serving_)) return;
    fail("eager", "is of an engine that replays graphs; " + serving_.engine.name + " on " +
                      serving_.cluster.accelerator.title + " is known by what it takes as it is");
  }

  void formats() {
    const std::vector<std::string>& weights = serving_.engine.weights;
    // An engine that serves 16 bits does in those that the accelerator has.
    const Accelerator& accelerator = serving_.cluster.accelerator;
    const std::string_view wide = sixteen_bits(accelerator);
    const std::string name(weights_name(serving_) == wide ? "bf16" : weights_name(serving_));
    if (!weights.empty() && std::find(weights.begin(), weights.end(), name) == weights.end()) {
      std::vector<std::string> legal = weights;
      std::replace(legal.begin(), legal.end(), std::string("bf16"), std::string(wide));
      fail("weights", serving_.engine.name + " is not known to serve " + name +
                          "; legal: " + join(legal, ", "));
    }
    const std::vector<std::string>& caches = serving_.engine.caches;
    if (std::find(caches.begin(), caches.end(), serving_.cache->name) == caches.end()) {
      fail("cache", serving_.engine.name + " has none in " + serving_.cache->name +
                        "; legal: " + join(caches, ", "));
    }
    if (serving_.stored != nullptr && serving_.stored->integer) {
      const auto kernels = format_kernels_for(accelerator);
      if (kernels && kernels->integer_rate.value() > 0) return;
      return fail("weights",
                  "no rate of 8-bit integers is known of the accelerator; int8 has them "
                  "in memory alone");
    }
    const WeightFormat* stored = serving_.stored;
    const bool apart = stored != nullptr && stored->arithmetic != stored->recipe;
    const Recipe& products = apart ? *recipe_from(stored->arithmetic) : *serving_.weights;
    const Precision matmul = products.matmul;
    if (accelerator.peak_of(matmul).value() <= 0) {
      std::string other;
      if (matmul >= Precision::fp8) {
        other = "; int8, int4, mxfp4 and nvfp4 have weights small in memory alone";
      } else if (matmul == Precision::bf16 || matmul == Precision::fp16) {
        other = "; legal: " + std::string(wide);
      }
      fail("weights", "the accelerator has no products in " + std::string(to_name(matmul)) + other);
    } else if (products.scaled_by_products && !accelerator.scales_blocks()) {
      fail("weights", accelerator.title + " does not multiply with the scales of blocks of " +
                          std::string(products.name) + "; legal: fp8, fp8-block, bf16, mxfp4");
    }
  }

  void experts() {
    const Accelerator& accelerator = serving_.cluster.accelerator;
    if (serving_.own_exchange && accelerator.peak_of(Precision::fp8).value() <= 0) {
      fail("exchange", "by kernels of its own sends 8 bits, which " + accelerator.title +
                           " has no arithmetic for; legal: collective");
    }
    const Routing& routing = serving_.routing;
    std::int64_t count = 0;
    for (const Layer& layer : serving_.model.kinds) {
      if (layer.experts) count = layer.experts->count;
    }
    if (count == 0) {
      const std::pair<const char*, bool> asked[] = {{"imbalance", routing.power > 0},
                                                    {"redundant-experts", routing.redundant > 0},
                                                    {"exchange", serving_.own_exchange},
                                                    {"two-batches", serving_.two_batches}};
      for (const auto& [field, is] : asked) {
        if (is) fail(field, "is of experts, which the model has none of");
      }
      return;
    }
    if (routing.redundant == 0 || serving_.ep == 1) return;
    if (routing.redundant > count * (serving_.ep - 1)) {
      fail("redundant-experts", "is more than each of " + std::to_string(count) +
                                    " experts once on each of " + std::to_string(serving_.ep) +
                                    " ranks (ep)");
    } else if ((count + routing.redundant) % serving_.ep != 0) {
      fail("redundant-experts", "with the " + std::to_string(count) + " experts these are " +
                                    std::to_string(count + routing.redundant) +
                                    ", which ep does not divide");
    }
  }

  // A draft is served as the model is.
  void speculation() {
    if (!serving_.speculation || !serving_.speculation->draft) return;
    // Vocabularies are padded to what products like, by some hundreds.
    constexpr std::int64_t kPadded = 1024;
    const std::int64_t own = serving_.model.vocabulary,
                       other = serving_.speculation->draft->vocabulary;
    if (std::abs(own - other) > kPadded) {
      fail("draft", "has a vocabulary of " + std::to_string(other) + ", the model one of " +
                        std::to_string(own) + ": its guesses would be other tokens");
    }
    for (Problem& problem : ::headway::check(draft_of(serving_))) {
      problem.message = "of the draft: " + problem.message;
      problem.fields = {FieldName("draft")};
      problems_.push_back(std::move(problem));
    }
  }

  const Serving& serving_;
  Problems problems_;
};

}  // namespace

Problems check(const Serving& serving) {
  return ServingRules(serving).check();
}

std::string why_together_only(const Engine& engine) {
  if (!engine.whole.only()) return {};
  return engine.name + " serves batches that start and end together; legal: batch";
}

}  // namespace headway
