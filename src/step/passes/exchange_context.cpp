// Context parallelism: a ring that passes keys and values on (arXiv 2310.01889; Megatron-LM), or an
// all-to-all that trades tokens for heads (DeepSpeed-Ulysses, arXiv 2309.14509).
#include "step/passes/passes.hpp"

namespace headway {

void exchange_context(Program& program, const Share& share) {
  if (share.split.cp == 1) return;
  const bool ring = share.split.context_exchange == ContextExchange::ring;
  for (std::uint32_t i = 0; i < program.items.size(); ++i) {
    const auto* crossing = std::get_if<Crossing>(&program.items[i].what);
    if (crossing == nullptr) continue;
    const bool keys = crossing->seam == Seam::keys;
    if (!keys && (ring || crossing->seam != Seam::result)) continue;
    Call call{.op = ring ? CollectiveOp::send_receive : CollectiveOp::all_to_all,
              .group = Group::cp,
              .phase = Phase::forward,
              .dtype = share.activation,
              .bytes = crossing->tensor,
              .module = crossing->module};
    Call back = call;
    if (ring) {
      // cp - 1 passes on of the rank's own keys and values, each under the attention of the piece
      // that came before; backward carries their gradients, too [STEP-3].
      // Of keys that attention selects alone, with their places in 4 bytes [METHOD-7].
      const double selected = share.job.method.selected;
      if (selected < 1) call.bytes = selected * (call.bytes + share.rows * Bytes(4));
      call.count = back.count = static_cast<double>(share.split.cp - 1);
      back.bytes = 2 * call.bytes;
    } else {
      // Queries, keys and values in, the result out; the reverse backward [STEP-4].
      call.bytes = back.bytes = crossing->tensor + crossing->beside;
    }
    const Flow flow = ring ? Flow::in_pieces : Flow::chain;
    program.items[i].what = call;
    program.items[i].flow = flow;
    program.conjugates.push_back({i, back, flow});
  }
}

}  // namespace headway
