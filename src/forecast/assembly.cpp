#include "forecast/assembly.hpp"

#include <algorithm>

#include "base/statistics.hpp"
#include "step/frameworks/habits.hpp"
#include "step/methods/waiting.hpp"

namespace headway {
namespace {

Seconds& part_of(Parts& parts, Group group) {
  return parts[row_of(group).part];
}

// Adds `times` runs of one direction to the parts.
void add(Parts& parts, const Direction& direction, double times) {
  parts.compute += direction.compute * times;
  parts.other += direction.host * times;
  for (std::size_t g = 0; g < kGroups.size(); ++g) {
    parts[kGroups[g].part] += direction.exposed[g] * times;
  }
}

PricedCall price(const Call& call, const Prices& prices) {
  const GroupSpan& span = span_of_group(prices.spans, call.group);
  return {call, is_of_two(call) ? 2 : span.ranks, crossed_level(span, prices.cluster),
          call_time(call, prices), Seconds(0)};
}

// Of calls of one kind under the backward pass the last, under the forward pass the first.
bool is_outermost(const std::vector<StageCall>& calls, std::size_t at) {
  const Call& call = calls[at].priced.call;
  const auto like = [&](const StageCall& made) {
    const Call& other = made.priced.call;
    return other.op == call.op && other.group == call.group && other.hidden_by == call.hidden_by;
  };
  const auto here = calls.begin() + static_cast<std::ptrdiff_t>(at);
  return call.hidden_by == HiddenBy::backward ? std::none_of(here + 1, calls.end(), like)
                                              : std::none_of(calls.begin(), here, like);
}

}  // namespace

std::vector<StageCall> priced_transfers(const StageClass& stage, const Prices& prices) {
  std::vector<StageCall> out;
  for (const Call& call : only<Call>(stage.items)) {
    if (call.phase == Phase::pipeline) out.push_back({price(call, prices), Seconds(0)});
  }
  return out;
}

PricedUpdate priced_update(const StageClass& stage, const Prices& prices) {
  PricedUpdate out;
  for (const Call& call : only<Call>(stage.items)) {
    if (call.phase == Phase::pipeline) continue;
    const PricedCall priced = price(call, prices);
    out.calls.push_back({priced, check_time(call, priced.ranks, prices)});
  }
  for (std::size_t i = 0; i < out.calls.size(); ++i) {
    out.calls[i].outermost = is_outermost(out.calls, i);
  }
  const FrameworkConstants& constants = prices.calibration.of(prices.job.framework);
  const bool offloaded = prices.layout.offload_optimizer;
  if (!offloaded) out.optimizer += stage.pieces * constants.host_piece;
  for (const Op& op : only<Op>(stage.items)) {
    if (op.phase == Phase::gradient) {  // beside the calls of gradients
      out.coding += op_time(op, prices);
      continue;
    }
    if (offloaded) continue;
    out.optimizer += std::max(op_time(op, prices), op.kernels * constants.host_launch);
  }
  return out;
}

HostAhead host_ahead(const StageClass& stage, const std::vector<PricedBlock>& blocks) {
  HostAhead out;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const double count = static_cast<double>(stage.counts[i]) * stage.share;
    out.forward += count * blocks[i].forward.ahead;
    out.backward += count * (blocks[i].recompute.ahead + blocks[i].backward.ahead);
  }
  return out;
}

// A boundary that a micro-batch crosses is a send on one side and a receive on the other: in each
// direction a stage has as many messages as it sends in both.
HostAhead message_excess(const HostAhead& ahead, double sends, Seconds exposed,
                         const Prices& prices) {
  const Seconds needed = sends * message_host(prices), waits = 0.5 * exposed;
  return {std::max(Seconds(0), needed - ahead.forward - waits),
          std::max(Seconds(0), needed - ahead.backward - waits)};
}

HeldMemory held_memory(const MostHeld& most, const Job& job, const Cluster& cluster,
                       const Calibration& calibration) {
  const FrameworkConstants& constants = calibration.of(job.framework);
  HeldMemory out;
  out.held = most.memory;
  out.first = most.first;
  const auto gaps = [&](const Memory& memory) {
    return constants.fragmentation * (memory.activations + memory.buffers);
  };
  for (Memory* memory : {&out.held, &out.first}) {
    memory->other = constants.context + gaps(*memory) + constants.interleaving * memory->in_flight;
  }
  out.gaps = gaps(out.held);
  out.fits = out.held.total() - out.gaps <= cluster.accelerator.memory;
  out.at_limit = out.held.total() > cluster.accelerator.memory && habits(job).memory.gaps_cost_time;
  return out;
}

double straggling(const SharedConstants& constants, std::int64_t ranks) {
  return constants.straggling * expected_maximum(static_cast<double>(ranks));
}

double straggling(const SharedConstants& constants, const Job& job, const Layout& layout) {
  const std::int64_t ranks = layout.ranks();
  const Method& method = job.method;
  if (method.is_synchronous()) return straggling(constants, ranks);
  const std::int64_t replicas = replicas_of(layout) > 1 ? replicas_of(layout) : layout.dp;
  const double within = expected_maximum(static_cast<double>(ranks / replicas));
  const double all = expected_maximum(static_cast<double>(ranks));
  return constants.straggling * (within + waiting_part(method, replicas) * (all - within));
}

BesideSteps beside_steps(const PricedUpdate& update, Seconds step, const Prices& prices) {
  BesideSteps out;
  Seconds all(0), room(0);
  for (const StageCall& made : update.calls) {
    const Call& call = made.priced.call;
    if (call.hidden_by != HiddenBy::next_steps) continue;
    all += made.priced.each * call.count;
    room = std::max(room, step * call.room);
  }
  if (!(all > Seconds(0))) return out;
  out.slower = std::min(all, room) * prices.calibration.shared.interference;
  out.exposed = std::max(Seconds(0), all - room - out.slower);
  const double share = out.exposed / all;
  for (const StageCall& made : update.calls) {
    const bool beside = made.priced.call.hidden_by == HiddenBy::next_steps;
    out.of_calls.push_back(beside ? made.priced.each * made.priced.call.count * share : Seconds(0));
  }
  return out;
}

// [FORECAST-7] Gradients go down and weights come up over the link; between, the host's processors
// update the states in its memory, of which an accelerator's share is about as fast as its link.
Seconds update_time(const PricedUpdate& update, const MostHeld& held, const Prices& prices) {
  if (!prices.layout.offload_optimizer) return update.optimizer;
  const BytesPerSecond link = prices.cluster.accelerator.host_bandwidth;
  const Bytes moved = held.memory.gradients + held.memory.parameters;
  const Bytes updated = 2 * held.offloaded_states + held.memory.gradients;
  return (moved + updated) / link;
}

Seconds reclaiming_time(double micro_batches, const Prices& prices) {
  const BytesPerSecond rate = prices.calibration.of(prices.job.framework).reclaim;
  return micro_batches * (prices.cluster.accelerator.memory / rate);
}

void add_rest(Parts& parts, const Prices& prices, std::optional<double> waiting) {
  const std::int64_t ranks = prices.layout.ranks();
  parts.other += prices.calibration.of(prices.job.framework).step_overhead;
  // All ranks meet at the end of a step.
  parts.other += check_time(ranks, prices.cluster.levels.front().size, prices);
  const double usual = straggling(prices.calibration.shared, prices.job, prices.layout);
  parts.other += parts.total() * waiting.value_or(usual);
  // [OWN-1] As own runs of the setup had it.
  for (const PartRow& row : kParts) parts[row.part] *= prices.calibration.own;
  // [FORECAST-21] A step is no shorter than its samples take to be read and prepared.
  if (prices.job.input_rate > 0) {
    const Seconds fed(static_cast<double>(prices.job.global_batch) / prices.job.input_rate);
    parts.other += std::max(Seconds(0), fed - parts.total());
  }
}

// [FORECAST-17] One transfer, and the host where it stands in the way of each.
Seconds Assembly::transfer_time(const PricedCall& call) const {
  return prices_.job.blocking_transfers
             ? call.each + prices_.calibration.of(prices_.job.framework).transfer_wait
             : call.each;
}

Seconds Assembly::hidden_transfer(const PricedCall& call, const StageTime& time) const {
  if (!overlaps_transfers()) return Seconds(0);
  return std::min(transfer_time(call), time.total() * 0.5 / chunks_of_micro_batch());
}

void Assembly::keep(const PricedCall& priced, Seconds each, Seconds exposed) {
  if (calls_ == nullptr) return;
  calls_->push_back(priced);
  calls_->back().each = each;
  calls_->back().exposed = exposed;
}

void Assembly::add_stage(const StageClass& stage, const std::array<BlockTime, kMostBlocks>& blocks,
                         const std::vector<StageCall>& transfers) {
  StageTime time;
  time.stages = stage.stages;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const double count = static_cast<double>(stage.counts[i]) * stage.share;
    time.forward += count * blocks[i].forward;
    time.backward += count * blocks[i].backward;
    time.weight_gradient += count * blocks[i].weight_gradient;
    if (blocks_[i].on_all_stages) {
      time.vocabulary += count * (blocks[i].forward + blocks[i].backward);
    }
  }
  for (const BlockCounts& chunk : stage.chunks) {
    ChunkTime& of_chunk = time.chunks.emplace_back();
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const double count = static_cast<double>(chunk[i]);
      of_chunk.forward += count * blocks[i].forward;
      of_chunk.backward += count * blocks[i].backward;
      of_chunk.weight_gradient += count * blocks[i].weight_gradient;
    }
  }
  double sends = 0;
  Seconds exposed(0);
  for (const StageCall& transfer : transfers) {
    const Call& call = transfer.priced.call;
    if (call.hidden_by != HiddenBy::pipeline) continue;
    const double of_micro_batch = call.count / micro_batches_;
    exposed +=
        of_micro_batch * (transfer_time(transfer.priced) - hidden_transfer(transfer.priced, time));
    sends += of_micro_batch;
  }
  if (!placed_) {
    time.transfers = exposed;
    time.sends = sends;
  }
  add_messages(message_excess(host_ahead(stage, blocks_), sends, exposed, prices_), time);
  times_.push_back(std::move(time));
}

void Assembly::add_messages(const HostAhead& excess, StageTime& time) {
  time.forward += excess.forward;
  time.backward += excess.backward;
  time.messages = excess.forward + excess.backward;
  const double chunks = static_cast<double>(time.chunks.size());
  for (ChunkTime& chunk : time.chunks) {
    chunk.forward += excess.forward / chunks;
    chunk.backward += excess.backward / chunks;
  }
}

void Assembly::run_micro_batches() {
  const StageClass& stage = stages_[pace_];
  Seconds first_gather(0), last_reduce(0);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (stage.counts[i] == 0) continue;
    const double times = micro_batches_ * static_cast<double>(stage.counts[i]) * stage.share;
    const PricedBlock& block = blocks_[i];
    add(parts_, block.forward, times);
    add(parts_, block.recompute, times);
    add(parts_, block.backward, times);
    first_gather = std::max(first_gather, block.first_gather);
    last_reduce = std::max(last_reduce, block.last_reduce);
  }
  // ZeRO-3: nothing runs before the first gather or after the last reduction.
  parts_.dp += first_gather + last_reduce;
}

void Assembly::run_pipeline(const std::vector<StageCall>& transfers) {
  if (prices_.layout.pp == 1) return;
  parts_.other += micro_batches_ * times_[pace_].messages;
  for (const StageCall& transfer : transfers) {
    const PricedCall& priced = transfer.priced;
    const Call& call = priced.call;
    Seconds each = priced.each;
    Seconds exposed = each * call.count;
    if (call.hidden_by == HiddenBy::pipeline) {
      each = transfer_time(priced);
      send_ = each;
      const Seconds hidden = hidden_transfer(priced, times_[pace_]);
      exposed = placed_ ? Seconds(0) : (each - hidden) * call.count;
      hidden_sends_ = hidden * chunks_of_micro_batch();
      parts_.compute += hidden * call.count * prices_.calibration.shared.interference;
    }
    part_of(parts_, call.group) += exposed;
    keep(priced, each, exposed);
  }
  parts_.bubble =
      bubble_time(times_, prices_.layout, static_cast<std::int64_t>(micro_batches_), send_);
}

void Assembly::run_data_parallel(const PricedUpdate& update) {
  // A step ends with the first stage; a later one has time until then for its last bucket, which
  // may be all that it has.
  const bool first = stages_[pace_].first == 0;
  const StageTime& time = times_[pace_];
  // What hides the transfers between stages does not hide these, too.
  Seconds under_backward = std::max(Seconds(0), time.backward - hidden_sends_);
  Seconds under_forward = std::max(Seconds(0), time.forward - hidden_sends_);
  parts_.compute += update.coding;
  for (const StageCall& made : update.calls) {
    const PricedCall& priced = made.priced;
    const Call& call = priced.call;
    if (call.hidden_by == HiddenBy::next_steps) continue;
    const Seconds all = priced.each * call.count;
    Seconds hidden(0);
    if (call.hidden_by == HiddenBy::backward || call.hidden_by == HiddenBy::forward) {
      Seconds& room = call.hidden_by == HiddenBy::backward ? under_backward : under_forward;
      const Seconds bare = first && made.outermost ? priced.each : Seconds(0);
      hidden = std::clamp(all - bare, Seconds(0), room);
      room -= hidden;
    }
    // [FORECAST-16] The host checks under the pass that hides the calls, too.
    const Seconds pass = call.hidden_by == HiddenBy::backward  ? time.backward
                         : call.hidden_by == HiddenBy::forward ? time.forward
                                                               : Seconds(0);
    parts_.other += std::max(Seconds(0), made.check * call.count - pass);
    part_of(parts_, call.group) += all - hidden;
    parts_.compute += hidden * prices_.calibration.shared.interference;
    keep(priced, priced.each, all - hidden);
  }
}

void Assembly::run_reclaiming() {
  parts_.other += reclaiming_time(micro_batches_, prices_);
}

void Assembly::run_beside_steps(const PricedUpdate& update) {
  const BesideSteps beside = beside_steps(update, parts_.total(), prices_);
  if (beside.of_calls.empty()) return;
  parts_.compute += beside.slower;
  parts_.dp += beside.exposed;
  for (std::size_t i = 0; i < update.calls.size(); ++i) {
    const PricedCall& priced = update.calls[i].priced;
    if (priced.call.hidden_by != HiddenBy::next_steps) continue;
    keep(priced, priced.each, beside.of_calls[i]);
  }
}

void Assembly::run_rest() {
  add_rest(parts_, prices_);
}

}  // namespace headway
