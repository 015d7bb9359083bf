// Lists of steps and recordings: what they call, that they run to their end, and their file.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "forecast/random_run_for_test.hpp"
#include "simulate/live/check.hpp"
#include "simulate/live/file.hpp"
#include "simulate/live/of_recording.hpp"
#include "simulate/live/of_step.hpp"
#include "simulate/live/single.hpp"
#include "simulate/step/simulated.hpp"
#include "simulate/workload/files.hpp"
#include "step/program/group_ranks.hpp"

namespace headway {
namespace {

using Kind = LiveItem::Kind;

LiveList live_list(const testing::Case& c) {
  return list_of_step(workload_of(simulate_step(c, c.calibration)), c, "test");
}

testing::Case case_of_list(std::int64_t dp, std::int64_t tp, std::int64_t pp, std::int64_t vpp,
                           int zero) {
  testing::Case c = testing::case_of("llama-2-7b", "dgx-h100");
  c.job.sequence = 4096;
  c.job.global_batch = dp * 8;
  c.layout.dp = dp;
  c.layout.tp = tp;
  c.layout.pp = pp;
  c.layout.vpp = vpp;
  c.layout.zero = zero;
  EXPECT_TRUE(c.legal());
  return c;
}
std::vector<testing::Case> cases_of_lists() {
  return {case_of_list(2, 2, 4, 1, 1), case_of_list(2, 2, 4, 2, 1), case_of_list(8, 1, 1, 1, 3),
          case_of_list(2, 4, 1, 1, 2)};
}

// Operation, ranks -> calls, bytes.
using Sums = std::map<std::pair<Operation, std::vector<std::int64_t>>, std::pair<double, double>>;

// As the lowered step counts them: those of blocks for every micro-batch, those of the stage once.
Sums expected_sums(const testing::Case& c, std::int64_t rank) {
  Sums out;
  const Step step = lower(c);
  const auto expect = [&](const Call& call, double times) {
    auto ranks = group_ranks(c.layout, call.group, rank, step.spans.node.ranks);
    if (ranks.size() < 2 || call.op == CollectiveOp::send_receive || !(call.bytes.value() > 0)) {
      return;
    }
    if (!(call.count * times > 0)) return;
    auto& sum = out[{traced_as(call.op), ranks}];
    sum.first += call.count * times;
    sum.second += call.bytes.value() * call.count * times;
  };
  const std::int64_t at = stage_of(c.layout, rank);
  const StageClass* stage = &step.stages.front();
  for (const StageClass& each : step.stages) {
    if (each.first <= at) stage = &each;
  }
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {
    for (const Call& call : only<Call>(step.blocks[i].items)) {
      expect(call, static_cast<double>(step.micro_batches * stage->counts[i]));
    }
  }
  for (const Call& call : only<Call>(stage->items)) expect(call, 1);
  return out;
}
Sums sums_of_list(const LiveList& list, std::size_t rank) {
  Sums out;
  for (const LiveItem& item : list.ranks[rank]) {
    if (item.kind != Kind::call || is_between_two(item.op)) continue;
    auto& sum = out[{item.op, list.groups[item.group].ranks}];
    sum.first += 1;
    sum.second += static_cast<double>(item.bytes);
  }
  return out;
}

// [LIVE-1] Not one call more where slots gather for each other (ZeRO-3).
TEST(LiveList, OfAStepCallsWhatTheStepCalls) {
  for (const testing::Case& c : cases_of_lists()) {
    const LiveList list = live_list(c);
    ASSERT_EQ(static_cast<std::int64_t>(list.ranks.size()), c.layout.ranks());
    for (std::size_t rank = 0; rank < list.ranks.size(); ++rank) {
      const Sums expected = expected_sums(c, static_cast<std::int64_t>(rank));
      const Sums found = sums_of_list(list, rank);
      ASSERT_EQ(found.size(), expected.size()) << testing::flags_of(c);
      for (const auto& [key, sum] : expected) {
        ASSERT_TRUE(found.contains(key));
        EXPECT_EQ(found.at(key).first, sum.first)
            << to_name(key.first) << " " << key.second.size() << " " << testing::flags_of(c);
        EXPECT_NEAR(found.at(key).second / sum.second, 1, 1e-6);
      }
    }
  }
}

// A micro-batch crosses each border between chunks both ways: a send and a receive each.
TEST(LiveList, OfAPipelineSendsEveryMicroBatchBothWays) {
  for (const testing::Case& c : {case_of_list(2, 2, 4, 1, 1), case_of_list(2, 2, 4, 2, 1)}) {
    std::int64_t sends = 0, receives = 0;
    const LiveList list = live_list(c);
    for (const auto& items : list.ranks) {
      for (const LiveItem& item : items) {
        sends += item.kind == Kind::call && item.op == Operation::send ? 1 : 0;
        receives += item.kind == Kind::call && item.op == Operation::receive ? 1 : 0;
      }
    }
    EXPECT_EQ(sends, 2 * 8 * (c.layout.pp * c.layout.vpp - 1) * c.layout.dp * c.layout.tp);
    EXPECT_EQ(receives, sends);
  }
}

// What the ranks compute is what the simulation has them compute: the busiest of them as long as
// the step but for what it waits for.
TEST(LiveList, ComputesAsLongAsTheSimulation) {
  for (const testing::Case& c : cases_of_lists()) {
    const SimulatedStep step = simulate_step(c, c.calibration);
    const Workload workload = workload_of(step);
    const LiveList list = list_of_step(workload, c, "test");
    for (std::size_t rank = 0; rank < list.ranks.size(); ++rank) {
      Seconds listed(0), kernels(0);
      for (const LiveItem& item : list.ranks[rank]) {
        if (item.kind == Kind::compute) listed += item.time;
      }
      const auto stage = stage_of(c.layout, static_cast<std::int64_t>(rank));
      for (const WorkloadNode& node : workload.stages[static_cast<std::size_t>(stage)]) {
        if (node.kind == WorkloadNode::Kind::compute) kernels += node.time;
      }
      EXPECT_GE(listed, kernels * (1 - 1e-9));
      EXPECT_LE(listed, step.step_time);
    }
  }
}

// [LIVE-2] Whatever the run: nobody waits for what does not come, and the file is read back as it
// was.
TEST(LiveList, OfRandomRunsRunsToItsEndAndIsReadBack) {
  rc::check("random runs", [] {
    const testing::Case c = testing::random_case(
        [](testing::Case& made) { made.layout.dp = std::min<std::int64_t>(made.layout.dp, 4); });
    if (!simulation_problems(c).empty()) return;
    const Workload workload = workload_of(simulate_step(c, c.calibration));
    if (count_nodes(workload, c.layout) > 5'000) return;
    const LiveList list = list_of_step(workload, c, "random");
    const Problems problems = list_problems(list);
    if (!problems.empty()) RC_LOG() << testing::flags_of(c) << "\n" << problems.front().message;
    RC_ASSERT(problems.empty());
    RC_ASSERT(list_problems(single_calls(list, true)).empty());
    auto again = read_list(list_text(list), "list.jsonl");
    RC_ASSERT(again.ok());
    for (std::size_t r = 0; r < list.ranks.size(); ++r) {
      RC_ASSERT(again->ranks[r].size() == list.ranks[r].size());
      for (std::size_t i = 0; i < list.ranks[r].size(); ++i) {
        LiveItem& read = again->ranks[r][i];
        const LiveItem& written = list.ranks[r][i];
        RC_ASSERT(std::abs((read.time - written.time).value()) <= 1e-8 * written.time.value());
        read.time = written.time;
        RC_ASSERT(read == written);
      }
    }
  });
}

// Bytes of all collectives of random runs, as the step has them.
TEST(LiveList, OfRandomRunsMovesTheBytesOfTheStep) {
  rc::check("random runs", [] {
    const testing::Case c = testing::random_case(
        [](testing::Case& made) { made.layout.dp = std::min<std::int64_t>(made.layout.dp, 4); });
    if (!simulation_problems(c).empty()) return;
    const Workload workload = workload_of(simulate_step(c, c.calibration));
    if (count_nodes(workload, c.layout) > 5'000) return;
    const LiveList list = list_of_step(workload, c, "random");
    for (const std::size_t rank : {std::size_t{0}, list.ranks.size() - 1}) {
      const Sums expected = expected_sums(c, static_cast<std::int64_t>(rank));
      const Sums found = sums_of_list(list, rank);
      for (const auto& [key, sum] : expected) {
        const auto at = found.find(key);
        const double bytes = at == found.end() ? 0 : at->second.second;
        // Each call's bytes are whole.
        const double calls = at == found.end() ? 0 : at->second.first;
        if (std::abs(bytes - sum.second) > 0.01 * sum.second + calls) {
          RC_LOG() << testing::flags_of(c) << "\n"
                   << to_name(key.first) << " of " << key.second.size() << " ranks: " << bytes
                   << " B, not " << sum.second << "\n";
        }
        RC_ASSERT(std::abs(bytes - sum.second) <= 0.01 * sum.second + calls);
      }
    }
  });
}

std::string two_ranks(const std::string& first, const std::string& second) {
  return "{\"headway_list\": 1, \"ranks\": 2, \"groups\": [{\"name\": \"tp\", \"ranks\": [0, "
         "1]}]}\n"
         "{\"rank\": 0}\n" +
         first + "{\"rank\": 1}\n" + second;
}
std::string call_line(const std::string& op, int bytes, const std::string& more = "\"stream\": 0") {
  return "{\"call\": \"" + op + "\", \"group\": 0, \"bytes\": " + std::to_string(bytes) + ", " +
         more + "}\n";
}
std::string first_problem(const std::string& text) {
  const auto list = read_list(text, "list.jsonl");
  return list.ok() ? "" : list.problems().front().message;
}

TEST(LiveList, ThatWouldNeverEndIsRefused) {
  const std::string wait = "{\"wait\": 0}\n";
  // Another order on each rank, other sizes, a rank that does not come, crossed sends that nobody
  // keeps.
  EXPECT_NE(first_problem(two_ranks(call_line("all_reduce", 8) + call_line("all_gather", 16),
                                    call_line("all_gather", 16) + call_line("all_reduce", 8))),
            "");
  EXPECT_NE(first_problem(two_ranks(call_line("all_reduce", 8), call_line("all_reduce", 16))), "");
  EXPECT_NE(first_problem(two_ranks(call_line("all_reduce", 8), "")), "");
  const std::string beside = "\"stream\": \"beside\", \"peer\": ";
  const auto crossed = [&](const char* peer) {
    return call_line("send", 8, beside + peer) + wait + call_line("receive", 8, beside + peer);
  };
  EXPECT_NE(first_problem(two_ranks(crossed("1"), crossed("0"))), "");
  // Without the wait between they meet.
  const auto together = [&](const char* peer) {
    return call_line("send", 8, beside + peer) + call_line("receive", 8, beside + peer) + wait;
  };
  EXPECT_EQ(first_problem(two_ranks(together("1"), together("0"))), "");
  // One stream after another, on other streams at once.
  const auto two_streams = [&](int a, int b) {
    return call_line("all_reduce", 8, "\"stream\": " + std::to_string(a)) +
           call_line("all_gather", 16, "\"stream\": " + std::to_string(b));
  };
  EXPECT_EQ(first_problem(two_ranks(two_streams(1, 2), two_streams(1, 2))), "");
  EXPECT_EQ(first_problem(two_ranks(call_line("all_reduce", 8, "\"stream\": 1") +
                                        call_line("all_gather", 16, "\"stream\": 2"),
                                    call_line("all_gather", 16, "\"stream\": 2") +
                                        call_line("all_reduce", 8, "\"stream\": 1"))),
            "");
}

TEST(LiveList, FilesSayWhatIsWrongWithThemAndWhere) {
  EXPECT_NE(first_problem(""), "");
  EXPECT_NE(first_problem("{\"headway_list\": 2, \"ranks\": 1}\n"), "");
  EXPECT_NE(first_problem(two_ranks(call_line("scan", 8), "")), "");
  EXPECT_NE(first_problem(two_ranks("{\"wait\": 0}\n", "")), "");
  EXPECT_NE(first_problem(two_ranks("{\"compute\": -1}\n", "")), "");
  EXPECT_NE(first_problem(two_ranks("{\"compute\": 1, \"product\": [1, 2, 3]}\n", "")), "");
  EXPECT_NE(first_problem(two_ranks(call_line("all_reduce", 8, "\"stream\": 0, \"after\": [0]"),
                                    call_line("all_reduce", 8))),
            "");
  const auto list = read_list(two_ranks("{\"compute\": 1}\n", "{\"compute\": 1, \"x\": 2}\n"), "l");
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.problems().front().place.line, 5);
}

// [LIVE-4]
TEST(LiveList, OfSingleCallsHasEachOnceInOneOrder) {
  const LiveList list = live_list(case_of_list(2, 2, 2, 1, 1));
  const LiveList single = single_calls(list, false);
  EXPECT_TRUE(list_problems(single).empty());
  using Key = std::tuple<Operation, std::uint32_t, std::int64_t, ElementType, std::int64_t>;
  for (std::size_t r = 0; r < list.ranks.size(); ++r) {
    std::map<Key, int> often, once;
    for (const LiveItem& item : list.ranks[r]) {
      if (item.kind == Kind::call) ++often[{item.op, item.group, item.bytes, item.type, item.peer}];
    }
    for (const LiveItem& item : single.ranks[r]) {
      if (item.kind == Kind::call) ++once[{item.op, item.group, item.bytes, item.type, item.peer}];
    }
    EXPECT_EQ(once.size(), often.size());
    for (const auto& [key, count] : once) {
      EXPECT_EQ(count, 1);
      EXPECT_TRUE(often.contains(key));
    }
  }
}

// Of messages of stages in the midst as well, which have other groups there.
TEST(LiveList, OfSingleCallsHasThoseOfItsStepAndOfNoOther) {
  LiveList list = live_list(case_of_list(1, 2, 4, 1, 1));
  const LiveList single = single_calls(list, false);
  EXPECT_TRUE(has_single_calls(single, list));
  EXPECT_TRUE(has_single_calls(list, single));
  EXPECT_TRUE(has_single_calls(single_calls(list, true), list));
  for (auto& items : list.ranks) {
    for (LiveItem& item : items) item.bytes += is_between_two(item.op) ? 2 : 0;
  }
  EXPECT_FALSE(has_single_calls(single, list));
}

// Each call behind a meeting of its group, as a transport runs single calls.
LiveList with_meetings(LiveList list) {
  for (auto& items : list.ranks) {
    std::vector<LiveItem> out;
    std::uint32_t calls = 0;
    for (LiveItem& item : items) {
      if (item.kind == Kind::call) {
        LiveItem meeting{.kind = Kind::call};
        meeting.op = Operation::barrier;
        meeting.group = item.group;
        meeting.stream = 1;
        out.push_back(std::move(meeting));
        out.push_back({.kind = Kind::wait, .awaited = 2 * calls++});
      }
      if (item.kind == Kind::wait) item.awaited = 2 * item.awaited + 1;
      out.push_back(std::move(item));
    }
    items = std::move(out);
  }
  return list;
}

// [LIVE-4] Messages of stages in the midst too, whose group holds ranks that have no part in them.
TEST(LiveList, OfSingleCallsEndsWithTheMeetingsBeforeThem) {
  for (const testing::Case& c :
       {case_of_list(2, 2, 2, 1, 1), case_of_list(1, 2, 4, 1, 1), case_of_list(1, 1, 4, 2, 0)}) {
    const LiveList list = live_list(c);
    const LiveList single = single_calls(list, true);
    const Problems problems = list_problems(with_meetings(single));
    EXPECT_TRUE(problems.empty()) << problems.front().message;
    for (std::size_t r = 0; r < single.ranks.size(); ++r) {
      std::set<std::pair<std::int64_t, Operation>> ends, expected;  // ranks of the other end
      for (const LiveItem& item : single.ranks[r]) {
        if (item.kind != Kind::call || !is_between_two(item.op)) continue;
        const auto& ranks = single.groups[item.group].ranks;
        EXPECT_EQ(ranks.size(), 2U);
        ends.insert({ranks[static_cast<std::size_t>(item.peer)], item.op});
      }
      for (const LiveItem& item : list.ranks[r]) {
        if (item.kind != Kind::call || !is_between_two(item.op)) continue;
        const auto& ranks = list.groups[item.group].ranks;
        expected.insert({ranks[static_cast<std::size_t>(item.peer)], item.op});
      }
      EXPECT_EQ(ends, expected);
    }
  }
}

// Two ranks: an all-reduce of 10 us that blocks, 30 us of work, another.
Recording recorded_twice(bool blocks) {
  Recording out;
  out.format = "test";
  out.groups.push_back({"g", "", 2, {0, 1}});
  for (std::int64_t r = 0; r < 2; ++r) {
    out.ranks.push_back({r, "rank " + std::to_string(r), 2});
    for (int i = 0; i < 2; ++i) {
      RecordedCall call;
      call.op = Operation::all_reduce;
      call.rank = static_cast<std::uint32_t>(r);
      call.group = 0;
      call.bytes = Bytes(4096);
      call.start_ns = 1000 + i * 40'000;
      call.duration = Seconds(10e-6);
      call.time = TimeKind::host;
      call.blocks = blocks;
      out.calls.push_back(call);
    }
  }
  return out;
}
Seconds computed(const LiveList& list, std::size_t rank) {
  Seconds out(0);
  for (const LiveItem& item : list.ranks[rank]) out += item.time;
  return out;
}

// [LIVE-3]
TEST(LiveList, OfARecordingComputesBetweenItsCalls) {
  const auto list = list_of_recording(recorded_twice(true));
  ASSERT_TRUE(list.ok()) << list.problems().front().message;
  EXPECT_NEAR(computed(*list, 0).value(), 30e-6, 1e-12);
  EXPECT_EQ(sums_of_list(*list, 1).begin()->second, (std::pair<double, double>(2, 8192)));
  // A call that does not block leaves the rank to compute.
  const auto beside = list_of_recording(recorded_twice(false));
  ASSERT_TRUE(beside.ok());
  EXPECT_NEAR(computed(*beside, 0).value(), 50e-6, 1e-12);
}

TEST(LiveList, OfARecordingThatSaysTooLittleIsRefused) {
  Recording no_order = recorded_twice(true);
  for (RecordedCall& call : no_order.calls) call.start_ns.reset();
  EXPECT_FALSE(list_of_recording(no_order).ok());
  Recording no_size = recorded_twice(true);
  no_size.calls.front().bytes.reset();
  EXPECT_FALSE(list_of_recording(no_size).ok());
  Recording one_rank = recorded_twice(true);
  std::erase_if(one_rank.calls, [](const RecordedCall& call) { return call.rank == 1; });
  one_rank.ranks.pop_back();
  EXPECT_FALSE(list_of_recording(one_rank).ok());
  Recording one_more = recorded_twice(true);
  one_more.calls.pop_back();
  EXPECT_FALSE(list_of_recording(one_more).ok());
}

// Rank 1 sends to all, or nobody knows who: no rank is taken for the root that is not.
TEST(LiveList, OfARecordingHasTheRootsThatWereRecordedOrIsRefused) {
  Recording recording = recorded_twice(true);
  for (RecordedCall& call : recording.calls) {
    call.op = Operation::broadcast;
    call.peer = 1;
  }
  const auto list = list_of_recording(recording);
  ASSERT_TRUE(list.ok());
  for (const auto& items : list->ranks) {
    for (const LiveItem& item : items) {
      if (item.kind != Kind::call) continue;
      EXPECT_EQ(item.peer, 1);
    }
  }
  for (const std::optional<std::int64_t> unknown : {std::optional<std::int64_t>(), {7}}) {
    for (RecordedCall& call : recording.calls) call.peer = unknown;
    const auto refused = list_of_recording(recording);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.problems().front().message.find("no known root"), std::string::npos);
  }
}

}  // namespace
}  // namespace headway
