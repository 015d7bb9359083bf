// Seconds of one block for one micro-batch, and of single ops and calls. For src/forecast, and for
// studies of the calls.
#pragma once

#include <array>
#include <functional>
#include <optional>

#include "cost/calibration/calibration.hpp"
#include "forecast/forecast.hpp"
#include "step/step.hpp"

namespace headway {

using ByGroup = std::array<Seconds, kGroups.size()>;

/// A direction of a block: forward (with recomputation apart) or backward.
struct Direction {
  Seconds compute;    // kernels, slowed where communication runs beside them
  Seconds host;       // what the host needs beyond the kernels and calls it issues for
  Seconds ahead;      // by which it has issued them before they have run
  ByGroup exposed{};  // communication that nothing hides
  Seconds total() const {
    Seconds out = compute + host;
    for (const Seconds s : exposed) out += s;
    return out;
  }
};

struct PricedBlock {
  Direction forward, recompute, backward;
  Seconds weight_gradient;     // part of backward.compute that a zero-bubble schedule may delay
  Seconds first_gather;        // ZeRO-3: the gather that no earlier block hides
  Seconds last_reduce;         // and the reduction that no later block hides
  Flops recomputed;            // of a rank, attention in full
  bool on_all_stages = false;  // a part of the vocabulary: stages run it at the same time
  Seconds total() const { return forward.total() + recompute.total() + backward.total(); }
};

/// The computation of a block alone: kernels, and how many of them the host issues.
struct PricedWork {
  Seconds forward, recompute, backward;
  Seconds weight_gradient;  // part of backward that a zero-bubble schedule may delay
  double forward_kernels = 0, recompute_kernels = 0, backward_kernels = 0;
  Flops recomputed;             // of a rank, attention in full
  std::vector<Seconds> beside;  // of each call, the computation that may run beside it
};

/// What one call takes.
struct CallPrice {
  std::int64_t ranks = 1;
  int level = 0;  // the outermost level it crosses
  Seconds each;
};

struct Prices;

/// Prices of calls that come again, as long as the spans stay as they are.
class CallMemo {
 public:
  const CallPrice& get(const Call& call, const Prices& prices);
  void clear();

 private:
  struct Slot {
    bool used = false;
    CollectiveOp op{};
    Group group{};
    Bytes bytes;
    double choices = 1;
    CallPrice price;
  };
  std::array<Slot, 64> slots_;
};

/// Seconds of calls that do not take what collective_time says; nothing of the others.
using OtherTimes = std::function<std::optional<Seconds>(const Call&)>;

/// Everything that pricing needs to know besides the block.
struct Prices {
  const Job& job;
  const Layout& layout;
  const Cluster& cluster;
  const Calibration& calibration;
  const Spans& spans;
  CallMemo* memo = nullptr;           // of these spans; null: none
  const OtherTimes* other = nullptr;  // null: none
};

/// Ranks and span over which a call communicates. A send goes to a neighbour; where not all
/// neighbours share a domain, the pace is set by those that do not.
GroupSpan span_of_call(const Call& call, const Spans& spans);

Seconds op_time(const Op& op, const Prices& prices);
Seconds call_time(const Call& call, const Prices& prices);
/// [FORECAST-16] What the hosts need to check one call before it may run; none for transfers.
/// `on_a_node`: ranks of the group on one node.
Seconds check_time(std::int64_t ranks, std::int64_t on_a_node, const Prices& prices);
Seconds check_time(const Call& call, std::int64_t ranks, const Prices& prices);

/// [FORECAST-9] Of the host, to send or receive a message between stages, and to wait for it.
Seconds message_host(const Prices& prices);

/// Reads the job and the machine only.
PricedWork price_work(const Block& block, const Prices& prices);

/// Prices a block and appends its calls (counts for one micro-batch) with what of them is exposed.
PricedBlock price_block(const Block& block, const PricedWork& work, const Prices& prices,
                        std::vector<PricedCall>& calls);
PricedBlock price_block(const Block& block, const Prices& prices, std::vector<PricedCall>& calls);

}  // namespace headway
