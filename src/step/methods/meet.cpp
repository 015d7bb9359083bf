// [METHOD-1] What replicas exchange, and when. N parameters of a rank, d ranks that share them
// within a replica, M replicas, g bytes an element as gradients travel, H steps between meetings:
//   every-step  the run's own calls of gradients, compressed where the method says so
//   late        the same calls, beside the step that follows: of their time T hides all but what is
//               longer than a step
//   seldom      once in H steps each rank's N/d in an all-reduce over the M, in F fragments one
//   after
//               the other; of whole weights what came is gathered within the replica. With a delay
//               of t steps an exchange has the time of t steps, of H/F at most, beside it. Then the
//               outer step: weights read and written, and all that is kept for it
//   neighbours  every step N g bytes to each of k neighbours, and their mean with one's own
//   never       nothing
// Calls that come once in H steps have 1/H in their count: times and bytes are means over a cycle.
// Sources: Stich 2018 (1805.09767), Douillard et al. 2023 (2311.08105), 2025 (2501.18512), Lian et
// al. 2017, 2018 (1705.09056, 1710.06952), Ho et al. 2013. The server of federated averaging is
// spread over its clients.
#include <algorithm>

#include "step/methods/compress.hpp"
#include "step/methods/methods.hpp"
#include "step/passes/data_parallel.hpp"
#include "step/passes/passes.hpp"
#include "step/passes/update.hpp"

namespace headway {
namespace {

constexpr double kWeight = 4;  // bytes: what is updated is in fp32

// Trained parameters of a rank, those that it alone of its replica answers for.
struct Owned {
  double dense = 0, experts = 0, whole = 0;  // whole: of both, that the rank holds
  double all() const { return dense + experts; }
};
Owned owned(const StageClass& stage, const Layout& layout, const std::vector<Block>& blocks) {
  const bool shares = layout.zero >= 1;
  const double dense_ranks =
      shares ? states_ranks(layout) : static_cast<double>(ranks_of_replica(layout));
  Owned out;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const HeldParameters& held = blocks[i].held;
    const double trained = static_cast<double>(stage.counts[i]) * held.trained;
    out.dense += trained * held.dense / dense_ranks;
    out.experts += trained * held.experts / expert_states_ranks(layout);
    out.whole += trained * (held.dense + held.experts);
  }
  return out;
}

Item outer_pass(double bytes) {
  return {.what = Op{.shape = Pass{Bytes(bytes)}, .phase = Phase::optimizer}};
}

// Of all time, the share that lies beside exchanges which come `times` a step.
double room_beside(const Method& method, double times) {
  return std::min(1.0, static_cast<double>(method.delay) * times);
}

class Meetings {
 public:
  Meetings(StageClass& stage, const Share& share, const Layout& layout,
           const std::vector<Block>& blocks, const Spans& spans)
      : stage_(stage),
        share_(share),
        layout_(layout),
        blocks_(blocks),
        spans_(spans),
        method_(share.job.method),
        owned_(owned(stage, layout, blocks)) {}

  void run() {
    switch (method_.meeting) {
      case Meeting::every_step:
        return compress_over(kGradientGroups);
      case Meeting::late:
        return late();
      case Meeting::seldom:
        return seldom();
      case Meeting::neighbours:
        return neighbours();
      case Meeting::never:
        return;
    }
  }

 private:
  void compress_over(std::span<const Group> groups, double times = 1) {
    const Compression compression = compression_here();
    if (compression.by == Compressor::none) return;
    const Compressed of{share_.model,      share_.job, blocks_, spans_,
                        share_.activation, groups,     times};
    compress(stage_, of, compression);
  }
  // [METHOD-8] Gradients of weights that are not zero, with their places where masks are sent;
  // those of embedding and head are counted as sparse as the layers'.
  Compression compression_here() const {
    if (!(method_.sparsity.density < 1)) return method_.compression;
    Sparsity of = method_.sparsity;
    of.value_bits = static_cast<int>(8 * reduced_bytes(share_.job).value());
    return {Compressor::masked, sparse_shares(of).exchange, 0};
  }

  void late() {
    compress_over(kGradientGroups);
    for (Item& item : stage_.items) {
      auto* call = std::get_if<Call>(&item.what);
      if (call == nullptr || !carries_gradients(*call)) continue;
      call->hidden_by = HiddenBy::next_steps;
      call->room = 1;
    }
  }

  Call exchange(CollectiveOp op, double elements, double times) const {
    const Bytes reduced = reduced_bytes(share_.job);
    const double room = room_beside(method_, times);
    return {.op = op,
            .group = Group::dp_meeting,
            .phase = Phase::gradient,
            .hidden_by = room > 0 ? HiddenBy::next_steps : HiddenBy::nothing,
            .dtype = wire_precision(reduced),
            .bytes = elements * reduced,
            .count = times,
            .module = Module::stage,
            .room = room};
  }

  void seldom() {
    if (spans_.meeting.ranks == 1) return;
    const double fragments = static_cast<double>(method_.fragments);
    const double cycle = 1 / static_cast<double>(method_.every);
    const double elements = owned_.all() / fragments, times = fragments * cycle;
    if (method_.submodels > 1) {
      // Each of the narrow models hands its neurons on, and gets others.
      push(stage_, exchange(CollectiveOp::all_to_all, elements, times));
    } else {
      push(stage_, exchange(CollectiveOp::all_reduce, elements, times));
    }
    const std::array<Group, 1> group = {Group::dp_meeting};
    compress_over(group, times);
    // Read and written: weights, and what is kept of the meetings before.
    stage_.items.push_back(outer_pass(owned_.all() * cycle * 2 * (kWeight + method_.kept)));
    if (layout_.zero > 0 || spans_.shard.ranks == 1) return;
    push(stage_, {.op = CollectiveOp::all_gather,
                  .group = Group::dp,
                  .phase = Phase::optimizer,
                  .dtype = share_.activation,
                  .bytes = owned_.whole * share_.element,
                  .count = cycle,
                  .module = Module::stage});
  }

  void neighbours() {
    if (spans_.meeting.ranks == 1) return;
    const auto count =
        static_cast<double>(std::min<std::int64_t>(method_.neighbours, spans_.meeting.ranks - 1));
    Call send = exchange(CollectiveOp::send_receive, owned_.all(), 1);
    const double bits = row_of(method_.compression.by).bits;
    if (bits > 0) {
      send.bytes = Bytes(owned_.all() * bits / 8);
      send.dtype = bits >= 16 ? Precision::fp16 : bits >= 8 ? Precision::fp8 : Precision::fp4;
    }
    send.count = count;
    if (method_.delay > 0) send.room = 1;
    push(stage_, send);
    // Those that came are read, one's own read and written.
    stage_.items.push_back(outer_pass(owned_.all() * kWeight * (count + 2)));
  }

  StageClass& stage_;
  const Share& share_;
  const Layout& layout_;
  const std::vector<Block>& blocks_;
  const Spans& spans_;
  const Method& method_;
  Owned owned_;
};

// [METHOD-2] Stages that wait for nobody clip by norms of their own: of what was asked of all ranks
// of a pipeline that of a stage is left.
void keep_norms_of_stage(StageClass& stage, const Spans& spans) {
  for (Item& item : stage.items) {
    auto* call = std::get_if<Call>(&item.what);
    if (call == nullptr) continue;
    if (call->group == Group::model) call->group = Group::tp;
    if (call->group == Group::world) call->group = Group::dp;
  }
  std::erase_if(stage.items, [&](const Item& item) {
    const auto* call = std::get_if<Call>(&item.what);
    return call != nullptr && call->phase == Phase::optimizer &&
           span_of_group(spans, call->group).ranks == 1;
  });
}

}  // namespace

void meet(StageClass& stage, const Share& share, const Layout& layout,
          const std::vector<Block>& blocks, const Spans& spans) {
  if (share.job.method.is_synchronous()) return;
  if (layout.losses != Losses::model) keep_norms_of_stage(stage, spans);
  if (share.job.method.forward_only) {
    return compare_members(stage, share, layout, owned(stage, layout, blocks).all());
  }
  Meetings(stage, share, layout, blocks, spans).run();
}

// [METHOD-2] A head of the same form as the model's, with weights of its own.
void add_heads(std::vector<StageClass>& stages, const Layout& layout, int head) {
  if (layout.losses == Losses::model || head < 0) return;
  for (StageClass& stage : stages) {
    const bool last = stage.first + stage.stages == layout.pp;
    const bool alone = layout.losses == Losses::of_pairs && stage.first == 0;
    std::int64_t& heads = stage.counts[static_cast<std::size_t>(head)];
    heads += layout.loss_blocks - 1;  // behind the blocks before the last one of the stage
    if (!last && !alone) ++heads;
  }
}

Bytes kept_states(const Method& method) {
  return Bytes(method.kept);
}

Bytes kept_gradients(const Method& method) {
  return Bytes(row_of(method.compression.by).feeds_back ? 4 : 0);
}

// [METHOD-3] One exchange is under way at a time: of late gradients all, else a fragment.
Bytes waiting_bytes(const Job& job) {
  const Method& method = job.method;
  const bool late = method.meeting == Meeting::late;
  if (!late && method.delay == 0) return Bytes(0);
  return reduced_bytes(job) / (late ? 1.0 : static_cast<double>(method.fragments));
}

}  // namespace headway
