// Properties of what a forecast prices, over random legal runs: work, parameters and memory of all
// ranks together are those of the model, however it is split.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "forecast/random_run_for_test.hpp"
#include "step/pieces.hpp"

namespace headway::testing {
namespace {

bool near(double a, double b, double tolerance) {
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

bool has_experts(const Case& c) {
  return c.model.kinds.back().experts.has_value();
}

Step lowered(const Case& c) {
  return lower(c);
}

/// Sum over all ranks and micro-batches of what `value` says of a block's op.
template <class Value>
double over_ranks(const Case& c, const Step& step, const Value& value) {
  double out = 0;
  for (const StageClass& stage : step.stages) {
    for (std::size_t i = 0; i < step.blocks.size(); ++i) {
      for (const Op& op : only<Op>(step.blocks[i].items)) {
        out += static_cast<double>(stage.stages * stage.counts[i]) * stage.share * value(op);
      }
    }
  }
  return out * static_cast<double>(step.micro_batches * c.layout.tp * c.layout.cp * c.layout.dp);
}

bool is_product(const Op& op) {
  return std::holds_alternative<Matmul>(op.shape);
}
bool is_attention(const Op& op) {
  return std::holds_alternative<AttentionShape>(op.shape);
}

/// Of a vocabulary that every framework splits without padding.
Case with_even_vocabulary() {
  const auto pad = [](Case& c, std::int64_t unit) {
    c.model.vocabulary = (c.model.vocabulary + unit - 1) / unit * unit;
  };
  Case out = random_case([&](Case& c) { pad(c, 1024); });
  if (out.layout.split_vocabulary) pad(out, 1024 * out.layout.pp);
  return out;
}

// [STEP-1] Of routed experts the fullest rank works on `expert_imbalance` times the mean; router
// and latent projections stand whole on every tensor-parallel rank, and are left to tp 1.
RC_GTEST_PROP(Lowered, ForwardProductsAreTheModelsCountHoweverTheRunIsSplit, ()) {
  Case c = with_even_vocabulary();
  if (has_experts(c)) {
    c.layout.tp = c.layout.etp = 1;
    repair(c);
  }
  RC_PRE(c.legal());
  const Step step = lowered(c);
  const double tokens = static_cast<double>(c.job.global_batch * c.job.sequence);
  const double products = over_ranks(c, step, [&](const Op& op) {
    if (!is_product(op) || op.phase != Phase::forward) return 0.0;
    return work(op).value() / (op.routed ? c.job.expert_imbalance : 1);
  });
  // The model's count without scores is that of a sequence so short that it has none to speak of.
  const double expected = tokens * forward_flops(c.model, 1, AttentionFlops::causal).value();
  RC_ASSERT(near(products, expected, has_experts(c) ? 0.02 : 1e-3));

  // A document's tokens attend to it alone: several lie on a rank, or else in the sequence.
  const auto documents_in = [&](double length) {
    return c.job.document > 0 ? std::round(length / static_cast<double>(c.job.document)) : 1.0;
  };
  const bool ring = c.layout.context_exchange == ContextExchange::ring;
  const auto sequence = static_cast<double>(c.job.sequence);
  const double here = ring ? sequence / static_cast<double>(c.layout.cp) : sequence;
  double keys = sequence / std::max(1.0, documents_in(sequence));
  if (documents_in(here) > 1) keys = here / documents_in(here);
  double scores = 0;
  for (std::int64_t i = 0; i < c.model.layers() + c.model.prediction_layers; ++i) {
    const std::size_t kind = i < c.model.layers() ? c.model.pattern[static_cast<std::size_t>(i)]
                                                  : c.model.kinds.size() - 1;
    const Attention& attention = *c.model.kinds[kind].attention;
    RC_ASSERT(attention.window == 0);
    scores += tokens * keys * (c.job.causal ? 0.5 : 1) * 2 *
              static_cast<double>(attention.heads * (attention.head_dim + attention.value_dim));
  }
  const double attended = over_ranks(c, step, [](const Op& op) {
    return is_attention(op) && op.phase == Phase::forward ? work(op).value() : 0.0;
  });
  RC_ASSERT(near(attended, scores, 0.02));
}

// [STEP-1] A product for the gradient of its input, and one for that of its weight where that is
// trained.
RC_GTEST_PROP(Lowered, BackwardProductsAreTwiceTheForwardOnesOrOnceWhereWeightsAreFrozen, ()) {
  const Case c = random_case();
  const double times = c.job.task == Task::lora ? 1 : 2;
  for (const Block& block : lowered(c).blocks) {
    double forward = 0, backward = 0, delayed = 0;
    for (const Op& op : only<Op>(block.items)) {
      if (!is_product(op) || op.phase == Phase::recompute) continue;
      (op.phase == Phase::forward ? forward : backward) += work(op).value();
      if (op.weight_gradient) delayed += work(op).value();
    }
    RC_ASSERT(near(backward, times * forward, 1e-12));
    RC_ASSERT(near(delayed, (times - 1) * forward, 1e-12));
  }
}

// [STEP-1] Full recomputation runs a layer's forward pass again, but for its last product where it
// stops early; selective its pieces; none nothing.
RC_GTEST_PROP(Lowered, UtilisationOfTheHardwareCountsWhatRunsAgain, ()) {
  const Case c = random_case();
  const Step step = lowered(c);
  const auto share = [&](const Op& op) {
    return work(op, c.convention).value() / (op.routed ? c.job.expert_imbalance : 1);
  };
  const double one_in = c.layout.recompute == Recompute::full
                            ? static_cast<double>(c.layout.recompute_one_in)
                            : 1;  // of the layers
  const double again =
      over_ranks(c, step, [&](const Op& op) { return op.recomputed ? share(op) / one_in : 0.0; });
  const double model = (c.job.task == Task::lora ? 2 : 3) *
                       static_cast<double>(c.job.global_batch) *
                       forward_flops(c.model, c.job.sequence, c.convention).value();
  const Forecast f = c.priced();
  RC_ASSERT(near(f.hfu / f.mfu, 1 + again / model, 1e-9));

  for (const Block& block : step.blocks) {
    double forward = 0, run_again = 0, last = 0;
    for (const Op& op : only<Op>(block.items)) {
      if (op.phase != Phase::forward) {  // of joint products a part may run again by itself
        RC_ASSERT(op.recomputed == (op.phase == Phase::recompute));
        continue;
      }
      forward += work(op).value();
      if (is_product(op)) last = std::max(last, work(op).value());
      if (op.recomputed) run_again += work(op).value();
    }
    if (c.layout.recompute == Recompute::none || block.kind == BlockKind::embedding ||
        block.kind == BlockKind::head) {
      RC_ASSERT(run_again == 0);
    } else if (c.layout.recompute == Recompute::full && block.kind == BlockKind::layer) {
      const bool whole = c.layout.recompute_early_stop == Choice::off;
      RC_ASSERT(run_again <= forward * (1 + 1e-12));
      RC_ASSERT(run_again >= (forward - (whole ? 0 : last)) * (1 - 1e-12));
    }
  }
}

// [STEP-9] A table that first and last stage share stands on both; two copies of the model hold it
// twice.
RC_GTEST_PROP(Lowered, TheRanksOfAPipelineHoldTheModelOnce, ()) {
  Case c = with_even_vocabulary();
  c.layout.tp = c.layout.etp = 1;
  repair(c);
  RC_PRE(c.legal());
  const Step step = lowered(c);
  double held = 0;
  for (const StageClass& stage : step.stages) {
    for (std::size_t i = 0; i < step.blocks.size(); ++i) {
      const HeldParameters& each = step.blocks[i].held;
      held += static_cast<double>(stage.stages * stage.counts[i]) * stage.share *
              (each.dense + static_cast<double>(c.layout.ep) * each.experts);
    }
  }
  const Parameters all = parameters(c.model);
  const bool twice = c.model.tied_embeddings && c.layout.pp > 1 && !c.layout.split_vocabulary;
  const double table = twice ? static_cast<double>(c.model.vocabulary * c.model.hidden) : 0;
  RC_ASSERT(near(held, static_cast<double>(all.total + all.prediction) + table, 1e-12));
}

// [STEP-9] What ZeRO spreads over ranks is on all of them together what each has without.
RC_GTEST_PROP(Lowered, ShardsOfTheRanksAreTheWhole, ()) {
  Case c = random_case();
  RC_PRE(!has_experts(c));  // those have ranks of their own
  const double ranks =
      static_cast<double>(c.layout.shard > 0 ? c.layout.shard : c.layout.dp * c.layout.cp);
  c.layout.offload_optimizer = c.layout.offload_parameters = false;
  c.layout.secondary = 0;  // a copy more [STEP-27]
  const auto held_at = [&](int zero) {
    c.layout.zero = zero;
    const Share share(c.model, c.job, c.layout);
    const LoweredBlocks blocks = lower_blocks(share, c.layout);
    std::vector<HeldStates> out;
    for (const StageClass& stage : lower_stages(share, c.layout, blocks)) {
      out.push_back(held_states(blocks.blocks, stage, c.job, c.layout));
    }
    return out;
  };
  const auto whole = held_at(0), states = held_at(1), gradients = held_at(2), all = held_at(3);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    RC_ASSERT(states[i].parameters == whole[i].parameters);
    RC_ASSERT(states[i].gradients == whole[i].gradients);
    for (const auto* some : {&states, &gradients, &all}) {
      RC_ASSERT(near(some->at(i).optimizer.value() * ranks, whole[i].optimizer.value(), 1e-9));
    }
    RC_ASSERT(near(gradients[i].gradients.value() * ranks, whole[i].gradients.value(), 1e-9));
    RC_ASSERT(near(all[i].gradients.value() * ranks, whole[i].gradients.value(), 1e-9));
    RC_ASSERT(near(all[i].parameters.value() * ranks, whole[i].parameters.value(), 1e-9));
  }
}

}  // namespace
}  // namespace headway::testing
