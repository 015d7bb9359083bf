// What makes a pipeline illegal.
#include <algorithm>
#include <string>
#include <utility>

#include "layout/check_rules.hpp"
#include "layout/ends.hpp"
#include "layout/schedule_rules.hpp"

namespace headway {
namespace {

constexpr const char* kEnds[] = {"first-stage-layers", "last-stage-layers"};

class PipelineRules : CheckRules {
 public:
  PipelineRules(const Run& run, const Layout& layout, CheckFindings& found)
      : CheckRules(run, layout, found) {}

  void check() {
    const std::int64_t chunks = chunks_of_model(layout_);
    const std::int64_t layers = run_.model.layers();
    if (layout_.vpp > 1 && layout_.pp == 1) {
      fail("vpp", "needs a pipeline: --pp must be at least 2");
    }
    // Embedding and head take the place of layers where they count as such.
    const std::int64_t ends = layout_.embedding_slots + layout_.head_slots;
    if (chunks > layers + ends) {
      fail("pp", (chunks > layout_.pp * layout_.vpp ? "2 x pp = " : "pp x vpp = ") +
                     std::to_string(chunks) + " stages for " + std::to_string(layers) + " layers" +
                     (ends > 0 ? " and " + std::to_string(ends) + " for the ends" : "") +
                     "; must be at most the layers");
      return;
    }
    const bool explicit_ends = layout_.first_stage_layers > 0 || layout_.last_stage_layers > 0;
    if (explicit_ends && layout_.pp < 2) {
      fail(kEnds, "need --pp of at least 2");
    } else if (explicit_ends && layout_.vpp > 1) {
      fail(kEnds, "are for --vpp 1");
    } else if (explicit_ends) {
      const std::int64_t even = layers / chunks;
      const std::int64_t first = layout_.first_stage_layers > 0 ? layout_.first_stage_layers : even;
      const std::int64_t last = layout_.last_stage_layers > 0 ? layout_.last_stage_layers : even;
      const std::int64_t rest = layers - first - last;
      const std::int64_t others = chunks - 2;
      if (rest < others || (others == 0 && rest != 0)) {
        fail(kEnds, "leave " + std::to_string(rest) + " of " + std::to_string(layers) +
                        " layers to " + std::to_string(others) + " other stages");
      }
    }
    const bool balanced =
        habits_.pipeline.balances_stages && layout_.pp > 1 && layout_.vpp == 1 && !explicit_ends;
    if (balanced) balance();
    const bool slots = layout_.embedding_slots > 0 || layout_.head_slots > 0;
    if (slots && layout_.pp > 1) {
      if (explicit_ends) {
        fail(kSlots, "spread layers evenly; --first-stage-layers and --last-stage-layers do not");
      } else if (balanced) {
        fail(kSlots, "are not counted by " + title() + ", which balances weights itself");
      } else {
        chunks_with_layers(chunks);
      }
    }
    micro_batches_of_pipeline();
    schedule();
    if (layout_.split_vocabulary) split_vocabulary(balanced);
  }

 private:
  std::string schedule_name() const {
    return std::string(kScheduleNames[static_cast<std::size_t>(layout_.schedule)]);
  }

  // [STEP-26] Every stage has a part of embedding and head: a model must have both as wide as its
  // layers, and a schedule a place for their passes.
  void split_vocabulary(bool balanced) {
    const char* const kSplit = "split-vocabulary";
    const Model& model = run_.model;
    const Layout& layout = layout_;
    if (layout.pp == 1) fail(kSplit, "needs a pipeline: --pp must be at least 2");
    if (model.vocabulary == 0 || model.labels) {
      fail(kSplit, "model " + model.name + " has no head over a vocabulary; legal: off");
    } else if (model.embedding_width > 0 && model.embedding_width != model.hidden) {
      fail(kSplit,
           "embeddings of another width than the layers' are not split over stages here; "
           "legal: off",
           Trouble::unsupported);
    }
    if (is_placed(layout.schedule)) {
      fail(kSplit,
           "has passes that " + schedule_name() +
               " has no place for here; legal: --schedule 1f1b or gpipe",
           Trouble::unsupported);
    }
    if (balanced) {
      fail(kSplit, title() +
                       " places the head by its own balance of weights; legal: off, or stages "
                       "that are stated");
    }
    // What is on every stage takes no layer's place; prediction modules do.
    if (layout.embedding_slots > 0 || (layout.head_slots > 0 && model.prediction_layers == 0)) {
      fail(kSlotsAndSplit,
           "exclude each other: what is split over all stages counts as no layers "
           "of one");
    }
  }

  // What a schedule's order needs.
  void schedule() {
    const std::int64_t count = micro_batches(run_.job, layout_);
    for (ScheduleProblem& problem :
         schedule_problems({layout_.schedule, layout_.pp, layout_.vpp, count})) {
      fail(problem.field, std::move(problem.message));
    }
  }

  // The cast of the logits and the loss take a stage each behind the head's; others would have
  // nothing to run [STEP-13]. A folded pipeline has no place for chunks without a layer but the
  // head's.
  void balance() {
    const std::int64_t chunks = chunks_of_model(layout_);
    const BalancedStages stages = balanced_stages(run_.model, chunks);
    const std::int64_t used = stages.head + 3;
    const std::string does = title() + " balances the weights of layers and head and would leave ";
    const auto head = stages.begins.end() - 1;
    if (used < chunks) {
      fail("pp", does + std::to_string(chunks - used) + " of " + std::to_string(chunks) +
                     " stages without anything");
    } else if (is_folded(layout_.schedule) &&
               std::adjacent_find(stages.begins.begin(), head) != head) {
      fail("schedule",
           does + "a chunk of " + schedule_name() + " without a layer; legal: a smaller --pp");
    }
  }

  // Where slots take all of a chunk there is something else to run.
  void chunks_with_layers(std::int64_t chunks) {
    const auto idle = chunk_without_work(run_.model, layout_);
    if (!idle) return;
    fail(kSlots, "leave chunk " + std::to_string(*idle + 1) + " of " + std::to_string(chunks) +
                     " without a layer");
  }

  // How many micro-batches the frameworks' pipelines take.
  void micro_batches_of_pipeline() {
    if (layout_.pp == 1) return;
    const std::int64_t count = micro_batches(run_.job, layout_);
    const std::string has = "(" + std::to_string(count) + ")";
    const std::string pp = "pp = " + std::to_string(layout_.pp);
    const Interleaving interleaved =
        layout_.vpp > 1 ? habits_.pipeline.interleaved : Interleaving::any;
    if (interleaved == Interleaving::multiple && count % layout_.pp != 0) {
      fail("vpp", "interleaving needs the micro-batches " + has + " to be a multiple of " + pp);
    }
    const std::int64_t rounds = std::max<std::int64_t>(1, count / layout_.pp);
    if (interleaved == Interleaving::rounds && count % rounds != 0) {
      fail("vpp", "interleaving needs the micro-batches " + has + " to be below " + pp +
                      ", or to split into equal rounds of at least that many");
    }
    if (habits_.pipeline.micro_batches_in_rounds && count % layout_.pp != 0) {
      fail("pp", title() + " needs the micro-batches " + has + " to be a multiple of " + pp);
    }
  }
};

}  // namespace

void check_pipeline(const Run& run, const Layout& layout, CheckFindings& found) {
  PipelineRules(run, layout, found).check();
}

}  // namespace headway
