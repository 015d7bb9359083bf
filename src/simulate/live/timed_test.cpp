// Lists run on an abstract machine on which computation and calls take what was planned: as long as
// the simulated step.
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "forecast/random_run_for_test.hpp"
#include "simulate/live/of_step.hpp"
#include "simulate/step/simulated.hpp"
#include "step/program/group_ranks.hpp"

namespace headway {
namespace {

using Kind = LiveItem::Kind;

// What each kind of call takes in the simulation.
using CallTimes = std::map<std::tuple<Operation, std::string, std::int64_t>, Seconds>;
CallTimes times_of(const Workload& workload) {
  CallTimes out;
  for (const auto& nodes : workload.stages) {
    for (const WorkloadNode& node : nodes) {
      if (node.kind == WorkloadNode::Kind::compute || node.kind == WorkloadNode::Kind::host)
        continue;
      const Operation op =
          node.kind == WorkloadNode::Kind::collective ? traced_as(node.op) : Operation::send;
      out[{op, std::string(to_name(node.group)), std::llround(node.bytes.value())}] = node.time;
    }
  }
  return out;
}

class TimedMachine {
 public:
  TimedMachine(const LiveList& list, const CallTimes& times) : list_(list), times_(times) {
    ranks_.resize(list.ranks.size());
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      std::map<std::int32_t, std::size_t> last;
      std::map<std::pair<std::uint32_t, std::int32_t>, std::size_t> ordinal;
      for (const LiveItem& item : list.ranks[r]) {
        if (item.kind != Kind::call) continue;
        Call& call = ranks_[r].calls.emplace_back();
        call.item = &item;
        if (item.stream != kBesideStreams) {
          if (last.contains(item.stream)) call.before = last[item.stream];
          last[item.stream] = ranks_[r].calls.size() - 1;
        }
        call.meeting = key_of(r, item);
        if (!is_between_two(item.op))
          std::get<5>(call.meeting) = ordinal[{item.group, item.stream}]++;
        meetings_[call.meeting].emplace_back(r, ranks_[r].calls.size() - 1);
      }
    }
  }

  double run() {
    for (bool any = true; any;) {
      any = false;
      for (std::size_t r = 0; r < ranks_.size(); ++r) any |= go_on(r);
    }
    double end = 0;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      EXPECT_EQ(ranks_[r].at, list_.ranks[r].size());
      end = std::max(end, ranks_[r].now);
      for (std::size_t c = 0; c < ranks_[r].calls.size(); ++c) end = std::max(end, *end_of(r, c));
    }
    return end;
  }

 private:
  // Group, whether of two, ends, tag, number.
  using Key = std::tuple<std::uint32_t, std::int32_t, std::int64_t, std::int64_t, std::int64_t,
                         std::size_t>;
  struct Call {
    const LiveItem* item = nullptr;
    std::optional<std::size_t> before;
    Key meeting;
    std::optional<double> handed, end;
  };
  struct Rank {
    std::vector<Call> calls;
    std::size_t at = 0, called = 0;
    double now = 0;
  };

  Key key_of(std::size_t r, const LiveItem& item) const {
    if (!is_between_two(item.op)) return {item.group, item.stream, 0, 0, 0, 0};
    const auto& ranks = list_.groups[item.group].ranks;
    const std::int64_t own = place_in(ranks, static_cast<std::int64_t>(r));
    const bool sends = item.op == Operation::send;
    return {item.group, kBesideStreams, sends ? own : item.peer, sends ? item.peer : own, item.tag,
            0};
  }

  std::optional<double> begin_of(std::size_t r, std::size_t c) {
    Call& call = ranks_[r].calls[c];
    if (!call.handed) return std::nullopt;
    double out = *call.handed;
    std::vector<std::size_t> needs(call.item->after.begin(), call.item->after.end());
    if (call.before) needs.push_back(*call.before);
    for (const std::size_t need : needs) {
      const auto end = end_of(r, need);
      if (!end) return std::nullopt;
      out = std::max(out, *end);
    }
    return out;
  }
  std::optional<double> end_of(std::size_t r, std::size_t c) {
    Call& call = ranks_[r].calls[c];
    if (call.end) return call.end;
    double begin = 0;
    for (const auto& [rank, number] : meetings_.at(call.meeting)) {
      const auto own = begin_of(rank, number);
      if (!own) return std::nullopt;
      begin = std::max(begin, *own);
    }
    const Operation op = is_between_two(call.item->op) ? Operation::send : call.item->op;
    const auto time = times_.find({op, list_.groups[call.item->group].name, call.item->bytes});
    const double taken = time == times_.end() ? 0 : time->second.value();
    for (const auto& [rank, number] : meetings_.at(call.meeting)) {
      ranks_[rank].calls[number].end = begin + taken;
    }
    return call.end;
  }

  bool go_on(std::size_t r) {
    Rank& rank = ranks_[r];
    const std::size_t before = rank.at;
    for (; rank.at < list_.ranks[r].size(); ++rank.at) {
      const LiveItem& item = list_.ranks[r][rank.at];
      if (item.kind == Kind::call) rank.calls[rank.called++].handed = rank.now;
      if (item.kind == Kind::compute) rank.now += item.time.value();
      if (item.kind != Kind::wait) continue;
      const auto end = end_of(r, item.awaited);
      if (!end) break;
      rank.now = std::max(rank.now, *end);
    }
    return rank.at > before;
  }

  const LiveList& list_;
  const CallTimes& times_;
  std::vector<Rank> ranks_;
  std::map<Key, std::vector<std::pair<std::size_t, std::size_t>>> meetings_;
};

double ratio_of_times(const testing::Case& c) {
  const SimulatedStep step = simulate_step(c, c.calibration);
  const Workload workload = workload_of(step);
  const CallTimes times = times_of(workload);
  const LiveList list = list_of_step(workload, c, "timed");
  return TimedMachine(list, times).run() / step.step_time.value();
}

// [LIVE-1]
TEST(LiveList, TakesAsLongAsTheSimulatedStepWhereAllTakesWhatIsPlanned) {
  struct Split {
    std::int64_t dp, tp, pp, vpp;
    int zero;
  };
  for (const Split& split :
       {Split{2, 2, 4, 1, 1}, Split{2, 2, 4, 2, 1}, Split{8, 1, 1, 1, 3}, Split{2, 4, 1, 1, 2}}) {
    testing::Case c = testing::case_of("llama-2-7b", "dgx-h100");
    c.job.sequence = 4096;
    c.job.global_batch = split.dp * 8;
    c.layout.dp = split.dp;
    c.layout.tp = split.tp;
    c.layout.pp = split.pp;
    c.layout.vpp = split.vpp;
    c.layout.zero = split.zero;
    ASSERT_TRUE(c.legal());
    EXPECT_NEAR(ratio_of_times(c), 1, 0.03) << testing::flags_of(c);
  }
}

}  // namespace
}  // namespace headway
