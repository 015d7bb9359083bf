#include "simulate/step/once.hpp"

#include <algorithm>
#include <cmath>

#include "simulate/step/slot_program.hpp"

namespace headway {
namespace {

// Of the calls that run under other blocks the one that takes longest.
std::optional<TaskCall> longest_beside_blocks(const Block& block, bool gathers,
                                              const Prices& prices) {
  std::optional<TaskCall> out;
  Seconds longest(0);
  for (const Call& call : only<Call>(block.items)) {
    const bool here =
        call.hidden_by == HiddenBy::next_block && (call.op == CollectiveOp::all_gather) == gathers;
    if (!here || !(call_time(call, prices) > longest)) continue;
    longest = call_time(call, prices);
    out = task_call(call, 1);
  }
  return out;
}

bool joins_stages(Group group) {
  return (row_of(group).along & bit(Dimension::pp)) != 0;
}

class Reader {
 public:
  Reader(const StageClass& stage, const PricedStep& step)
      : stage_(stage), step_(step), prices_(step.prices) {}

  // Transfers, as Assembly has them [FORECAST-17]: where they run beside slots they slow them.
  void transfers(const SlotsOfRank& slots, OnceAStep& out) const {
    const bool overlaps = prices_.layout.vpp > 1 || is_placed(prices_.layout.schedule);
    double sends = 0;  // of a micro-batch
    Seconds exposed(0);
    for (const StageCall& transfer : priced_transfers(stage_, prices_)) {
      const PricedCall& priced = transfer.priced;
      const Call& call = priced.call;
      if (call.hidden_by != HiddenBy::pipeline) {
        const Seconds time = priced.each * call.count / slots.count;
        out.of_slot[row_of(call.group).part] += time;
        out.slot_calls.push_back({task_call(call, call.count / slots.count), time});
        continue;
      }
      out.send = priced.each;
      out.sent = task_call(call, 1);
      if (prices_.job.blocking_transfers) {
        out.send += prices_.calibration.of(prices_.job.framework).transfer_wait;
      }
      const Seconds hidden = overlaps ? std::min(out.send, slots.half) : Seconds(0);
      const double of_micro_batch = call.count / static_cast<double>(step_.step.micro_batches);
      sends += of_micro_batch;
      exposed += of_micro_batch * (out.send - hidden);
      out.of_slot.compute +=
          hidden * call.count * prices_.calibration.shared.interference / slots.count;
    }
    const HostAhead excess =
        message_excess(host_ahead(stage_, step_.blocks), sends, exposed, prices_);
    out.of_slot.other += (excess.forward + excess.backward) *
                         static_cast<double>(step_.step.micro_batches) / slots.count;
  }

  // Calls and the update, in their order.
  void items(const MostHeld& held, const SlotsOfRank& slots, OnceAStep& out) const {
    const PricedUpdate update = priced_update(stage_, prices_);
    std::size_t at = 0;
    Seconds checks(0);
    bool updated = false, reduced = false;
    for (const Item& item : stage_.items) {
      const auto* call = std::get_if<Call>(&item.what);
      if (call == nullptr && std::get<Op>(item.what).phase == Phase::gradient) {
        // Of compressed gradients: before their calls, and behind them.
        const Op& op = std::get<Op>(item.what);
        const Seconds time = op_time(op, prices_);
        if (!reduced) {
          out.encode += time;
        } else {
          out.after.push_back({"decompress", kKernels, Part::compute, time, std::nullopt});
        }
        continue;
      }
      if (call == nullptr) {
        if (!updated) add_update(update, held, out);
        updated = true;
        continue;
      }
      if (call->phase == Phase::pipeline) continue;
      reduced = reduced || call->phase == Phase::gradient;
      const StageCall& made = update.calls[at++];
      const Seconds each = made.priced.each;
      if (call->hidden_by == HiddenBy::next_steps) continue;  // by the steps that follow
      if (call->hidden_by == HiddenBy::backward || call->hidden_by == HiddenBy::forward) {
        auto& beside =
            call->hidden_by == HiddenBy::backward ? out.under_backward : out.under_forward;
        const double count = std::max(1.0, std::round(call->count));
        const Seconds pass = call->hidden_by == HiddenBy::backward ? slots.backward : slots.forward;
        checks += std::max(Seconds(0), made.check * call->count - pass);
        beside.push_back({call->group, name_of(*call), static_cast<std::int64_t>(count),
                          each * (call->count / count), task_call(*call, call->count / count)});
        continue;
      }
      checks += made.check * call->count;
      out.after.push_back({name_of(*call), stream_of(call->group), row_of(call->group).part,
                           each * call->count,
                           joins_stages(call->group) ? std::optional(call->group) : std::nullopt,
                           task_call(*call, call->count)});
    }
    if (!updated) add_update(update, held, out);
    if (checks > Seconds(0)) {
      out.after.push_back({"checks of the host", kHost, Part::other, checks, std::nullopt});
    }
  }

 private:
  void add_update(const PricedUpdate& update, const MostHeld& held, OnceAStep& out) const {
    const Seconds time = update_time(update, held, prices_);
    if (time > Seconds(0)) {
      out.after.push_back({"update", kKernels, Part::optimizer, time, std::nullopt});
    }
  }

  const StageClass& stage_;
  const PricedStep& step_;
  const Prices& prices_;
};

}  // namespace

OnceAStep once_a_step(const StageClass& stage, const PricedStep& step, const SlotsOfRank& slots) {
  OnceAStep out;
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {
    if (stage.counts[i] == 0) continue;
    for (const bool gathers : {true, false}) {
      const Seconds bare = gathers ? step.blocks[i].first_gather : step.blocks[i].last_reduce;
      Seconds& longest = gathers ? out.first_gather : out.last_reduce;
      if (!(bare > longest)) continue;
      longest = bare;
      (gathers ? out.first_gathered : out.last_reduced) =
          longest_beside_blocks(step.step.blocks[i], gathers, step.prices);
    }
  }
  const Reader reader(stage, step);
  reader.transfers(slots, out);
  reader.items(step.step.held, slots, out);
  return out;
}

}  // namespace headway
