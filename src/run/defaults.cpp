#include "run/defaults.hpp"

#include <algorithm>

#include "layout/ends.hpp"
#include "model/count.hpp"
#include "step/frameworks/experts.hpp"
#include "step/frameworks/habits.hpp"

namespace headway {
namespace {

// Fields that say how layers are spread.
constexpr const char* kSpreads[] = {"embedding-slots", "head-slots", "first-stage-layers",
                                    "last-stage-layers"};
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

}  // namespace

// What a network of modules is trained with where nothing is said: copies of it, all of whose
// batch is at work at once; of its tables every rank has a part.
void settle_network(RequestReader& reader, RequestedRun& run) {
  if (!run.model.is_network()) return;
  for (const char* name : kOfTransformers) {
    if (reader.has(name)) reader.fail(name, "is of transformers; leave it out");
  }
  if (reader.has("expert-imbalance") && !has_tables(run.model) &&
      !has_class(run.model, ModuleClass::experts)) {
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
  const bool features = has_node_features(run.model);
  if ((has_tables(run.model) || features) && !reader.has("ep") && layout.dp > 1) {
    spread_tables(run.model, run.cluster, layout);
    run.assumptions.push_back("ep " + std::to_string(layout.ep) + ": each rank holds some of the " +
                              (features ? "features of the graph's nodes"
                                        : "embedding tables, each row with one number of the "
                                          "optimiser"));
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

void settle_ends(RequestedRun& run) {
  if (!says_spread(run)) apply(usual_ends(run.model, run.job, run.layout), run.layout);
}

void settle_experts(RequestedRun& run) {
  if (!splits_by_habit(run)) return;
  run.layout.etp = usual_expert_tensor(run.model, run.job, run.layout);
}

}  // namespace headway
