// Routed experts with what stands beside them: router, shared experts, norm and residual.
#include <algorithm>

#include "step/forward/parts.hpp"

namespace headway {
namespace {

// What a rank's routed experts work on.
struct Routed {
  double rows;             // tokens of the rank that are routed: under sequence parallelism a tp-th
  double sent;             // copies of them that leave it
  double received;         // that its experts work on
  std::int64_t experts;    // of the rank
  std::int64_t rows_each;  // of one of them
  double width;            // of the rank's part of one

  Routed(const Share& share, const Experts& of)
      : rows(share.norm_rows),
        sent(rows * static_cast<double>(of.active)),
        // After the exchange a rank's experts hold what ep ranks sent, spread over ep ranks; a rank
        // of an expert-tensor group works on all tokens of the group.
        received(sent * static_cast<double>(share.split.etp) * share.job.expert_imbalance),
        experts(std::max<std::int64_t>(1, of.count / share.split.ep)),
        rows_each(std::max<std::int64_t>(
            1, static_cast<std::int64_t>(received / static_cast<double>(experts)))),
        width(static_cast<double>(of.each.width) / static_cast<double>(share.split.etp)) {}
};

// Biases of experts are added expert by expert outside the products, weighted, in fp32; with fused
// experts the first one inside.
void add_expert_bias(Writer& writer, const Share& share, const Linear& matrix, double elements) {
  if (!matrix.bias) return;
  writer.pass(Bytes(elements * share.habit.kernels.expert_bias_forward),
              Bytes(elements * share.habit.kernels.expert_bias_backward), 4);
}

void add_router(Writer& writer, const Linear& matrix, const Routed& routed,
                const Experts& experts) {
  const double scores = routed.rows * static_cast<double>(experts.count);
  writer.linear(matrix, 1, static_cast<std::int64_t>(routed.rows), {.kept = false});
  writer.pass(scores * 4 * Bytes(4), scores * 3 * Bytes(4), 16);
  writer.keep(scores * Bytes(8));
}

// The way of the tokens through the experts of all ranks.
void add_routed(Writer& writer, const Share& share, const Layer& layer, const Routed& routed) {
  const Experts& experts = *layer.experts;
  const LayerSplit& split = share.split;
  const Bytes token = share.hidden * share.element;
  // Sent once for each rank that holds some of a token's experts, or a copy for each expert
  // [STEP-6].
  const double active = static_cast<double>(experts.active);
  const bool once = split.dispatch == Dispatch::once;
  const double copies = once ? distinct(static_cast<double>(split.ep), active) : active;
  const auto exchange = [&](Seam seam) {
    writer.cross(
        {.seam = seam, .tensor = routed.rows * copies * token, .choices = once ? active : 1});
  };
  writer.enter(Piece::experts);
  writer.enter_routed(true);
  // Sorted by expert.
  writer.pass((routed.rows + routed.sent) * token, (routed.rows + routed.sent) * token, 10);
  exchange(Seam::dispatch);
  writer.cross(Seam::share, routed.received * token);
  for (const Linear& matrix : linears(layer, share.model.hidden)) {
    if (matrix.role == Role::expert_up) {
      writer.linear(matrix, split.etp, routed.rows_each, routed.experts, {});
      if (!share.job.fused_experts) {
        add_expert_bias(writer, share, matrix,
                        routed.received * routed.width * (experts.each.gated ? 2 : 1));
      }
      add_activation(writer, share, experts.each, routed.received * routed.width, Piece::activation,
                     Piece::experts);
    } else if (matrix.role == Role::expert_down) {
      writer.linear(matrix, split.etp, routed.rows_each, routed.experts,
                    {.piece = Piece::activation});
      add_expert_bias(writer, share, matrix, routed.received * share.hidden);
      // Results, where the router's weights multiply them after the second product and not between
      // the two.
      if (!share.habit.kernels.weighs_between) writer.keep(routed.received * token);
    }
  }
  writer.cross(Seam::sum, routed.received * token);
  exchange(Seam::combine);
  // Sorted back.
  writer.pass((routed.rows + routed.sent) * token, (routed.rows + routed.sent) * token, 10);
  writer.enter_routed(false);
  writer.enter(Piece::other);
}

// Shared experts see the tokens before the exchange.
void add_shared(Writer& writer, const Share& share, const Layer& layer) {
  const Experts& experts = *layer.experts;
  const std::int64_t tp = share.split.tp;
  const std::int32_t entry = writer.cross(Seam::entry, whole(share));
  for (const Linear& matrix : linears(layer, share.model.hidden)) {
    if (matrix.role == Role::shared_up) {
      writer.enter(Piece::feed_forward);
      writer.linear(matrix, tp, share.tokens,
                    {.kept = false, .entry = entry, .apart = gate_and_up(share, layer, matrix)});
      add_activation(
          writer, share, experts.each,
          share.rows * static_cast<double>(experts.shared_width) / static_cast<double>(tp),
          Piece::feed_forward, Piece::feed_forward);
    } else if (matrix.role == Role::shared_down) {
      writer.linear(matrix, tp, share.tokens);
      writer.enter(Piece::other);
    } else if (matrix.role == Role::shared_gate) {
      writer.linear(matrix, 1, share.tokens, {.kept = false});
    }
  }
  writer.cross(Seam::exit, whole(share));
}

}  // namespace

void add_experts(Writer& writer, const Share& share, const Layer& layer) {
  const Experts& experts = *layer.experts;
  const Routed routed(share, experts);
  writer.serve(Module::experts);
  add_norm(writer, share);
  writer.keep(share.norm_rows * share.hidden * share.element);  // input of router and sorting
  for (const Linear& matrix : linears(layer, share.model.hidden)) {
    if (matrix.role == Role::router) add_router(writer, matrix, routed, experts);
  }
  add_routed(writer, share, layer, routed);
  if (experts.shared_width > 0) add_shared(writer, share, layer);
  add_residual(writer, share);
}

}  // namespace headway
