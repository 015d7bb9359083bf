// Recordings run again: as they were exactly, on other networks by hand, deadlocks named.
#include "simulate/recorded/recording.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>

#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"
#include "cost/collective/collective.hpp"
#include "layout/placement.hpp"
#include "trace/files.hpp"
#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

OtherNetwork switch_of(std::uint32_t ranks, double bytes_per_second, double latency = 0) {
  OtherNetwork out;
  out.links = network::LinksQuestion{
      network::one_switch(ranks, {{BytesPerSecond(bytes_per_second)}, {Seconds(latency)}}),
      {.algorithm = "ring"}};
  return out;
}

// Builds a recording kernel by kernel; times in microseconds.
struct Maker {
  Recording recording;
  explicit Maker(std::int64_t ranks) {
    recording.format = "test";
    for (std::int64_t r = 0; r < ranks; ++r) {
      recording.ranks.push_back({r, "rank " + std::to_string(r), ranks});
    }
    RecordedGroup all{.id = "all", .description = "all", .size = ranks, .ranks = {}};
    for (std::int64_t r = 0; r < ranks; ++r) all.ranks.push_back(r);
    recording.groups.push_back(all);
  }
  void kernel(std::uint32_t rank, std::int64_t from, std::int64_t to) {
    recording.compute.push_back({rank, 7, from * 1000, (to - from) * 1000});
  }
  RecordedCall& call(std::uint32_t rank, std::int64_t from, std::int64_t to, double bytes,
                     Operation op = Operation::all_reduce) {
    RecordedCall made;
    made.op = op;
    made.rank = rank;
    made.group = 0;
    made.bytes = Bytes(bytes);
    made.start_ns = from * 1000;
    made.duration = Seconds(static_cast<double>(to - from) * 1e-6);
    made.time = TimeKind::kernel;
    made.stream = 20;
    recording.calls.push_back(made);
    return recording.calls.back();
  }
};

double microseconds(const std::optional<Seconds>& time) {
  EXPECT_TRUE(time.has_value());
  return time ? time->value() * 1e6 : -1;
}

// Rank 1 comes 4 us later; the transfer takes 5, what follows 3. On 1 GB/s an all-reduce of 8 kB
// between two takes 2 (n - 1)/n · 8 us = 8 us.
TEST(SimulatedRecording, ACallBeginsWhenItsLastRankIsThereAndTakesWhatTheNetworkSays) {
  Maker made(2);
  made.kernel(0, 0, 10);
  made.kernel(1, 0, 14);
  made.call(0, 10, 19, 8000);
  made.call(1, 14, 19, 8000);
  made.kernel(0, 19, 22);
  made.kernel(1, 19, 22);
  const auto simulated = simulate_recording(made.recording, switch_of(2, 1e9));
  ASSERT_TRUE(simulated.ok());
  EXPECT_DOUBLE_EQ(microseconds(simulated->measured), 22);
  EXPECT_DOUBLE_EQ(microseconds(simulated->own), 22);
  EXPECT_NEAR(microseconds(simulated->simulated), 25, 1e-9);
  ASSERT_EQ(simulated->groups.size(), 1U);
  const RecordedCalls& row = simulated->groups.front();
  EXPECT_EQ(row.calls, 1);
  EXPECT_DOUBLE_EQ(microseconds(row.measured), 5);
  EXPECT_NEAR(microseconds(row.simulated), 8, 1e-9);
  EXPECT_DOUBLE_EQ(microseconds(row.waited), 4);
  EXPECT_NEAR(microseconds(row.waits), 4, 1e-9);
}

// The call runs beside a kernel of 10 us; what comes behind waits for both. A faster network leaves
// the kernel, a slower one (16 us) the call.
TEST(SimulatedRecording, WhatRanBesideACallStillDoes) {
  Maker made(2);
  for (const std::uint32_t rank : {0U, 1U}) {
    made.kernel(rank, 0, 10);
    made.kernel(rank, 10, 20);
    made.call(rank, 10, 22, 8000);
    made.kernel(rank, 23, 30);
  }
  const auto fast = simulate_recording(made.recording, switch_of(2, 8e9));
  const auto slow = simulate_recording(made.recording, switch_of(2, 0.5e9));
  ASSERT_TRUE(fast.ok() && slow.ok());
  EXPECT_DOUBLE_EQ(microseconds(fast->own), 30);
  EXPECT_NEAR(microseconds(fast->simulated), 20 + 7, 1e-9);
  EXPECT_NEAR(microseconds(slow->simulated), 10 + 16 + 1 + 7, 1e-9);
}

// Clocks that are 1 s apart: only where calls end together tells.
TEST(SimulatedRecording, ClocksOfRanksNeedNotAgree) {
  Maker made(2);
  const std::int64_t apart = 1'000'000;
  made.kernel(0, 0, 10);
  made.kernel(1, apart, apart + 14);
  made.call(0, 10, 19, 8000);
  made.call(1, apart + 14, apart + 19, 8000);
  const auto simulated = simulate_recording(made.recording, switch_of(2, 1e9));
  ASSERT_TRUE(simulated.ok());
  EXPECT_DOUBLE_EQ(microseconds(simulated->own), 19);
  EXPECT_NEAR(microseconds(simulated->simulated), 22, 1e-9);
}

// [SIM-42] [SIM-43] Kernels and calls at random, on streams and clocks of their own: run again with
// the transfers as measured they take what was measured, to the nanosecond.
RC_GTEST_PROP(SimulatedRecording, RunAgainAsItWasItTakesWhatWasMeasured, ()) {
  const auto ranks = *rc::gen::inRange<std::uint32_t>(1, 5);
  Maker made(ranks);
  std::vector<std::int64_t> free(ranks, 0), comm(ranks, 0);
  const int items = *rc::gen::inRange(1, 30);
  const auto any = [](std::int64_t most) { return *rc::gen::inRange<std::int64_t>(0, most); };
  for (int i = 0; i < items; ++i) {
    for (std::uint32_t r = 0; r < ranks; ++r) {
      const std::int64_t from = free[r] + any(3);
      free[r] = from + any(9);
      made.kernel(r, from, free[r]);
    }
    if (any(2) == 0) continue;
    std::vector<std::int64_t> starts(ranks);
    std::int64_t last = 0;
    for (std::uint32_t r = 0; r < ranks; ++r) {
      starts[r] = std::max(free[r], comm[r]) + any(3);
      last = std::max(last, starts[r]);
    }
    const std::int64_t end = last + 1 + any(9);
    for (std::uint32_t r = 0; r < ranks; ++r) {
      made.call(r, starts[r], end, 1000);
      comm[r] = end;
      if (any(3) == 0) free[r] = std::max(free[r], end);
    }
  }
  if (made.recording.calls.empty()) return;
  const auto simulated = simulate_recording(made.recording, std::nullopt);
  RC_ASSERT(simulated.ok());
  RC_ASSERT(simulated->own->value() == simulated->measured->value());
  if (ranks == 1) return;
  // A network without limits leaves kernels and waiting.
  const auto fast = simulate_recording(made.recording, switch_of(ranks, 1e18));
  RC_ASSERT(fast.ok());
  RC_ASSERT(fast->simulated->value() <= simulated->own->value());
}

// [SIM-44] The price on a cluster is that of the closed forms.
TEST(SimulatedRecording, OnAClusterCallsTakeWhatItsClosedFormsSay) {
  Maker made(16);
  for (std::uint32_t r = 0; r < 16; ++r) made.call(r, 0, 5, 1 << 28);
  OtherNetwork other;
  other.cluster = load_cluster("dgx-h100").value();
  const auto simulated = simulate_recording(made.recording, other);
  ASSERT_TRUE(simulated.ok());
  const Seconds expected =
      collective_time(CollectiveOp::all_reduce, Bytes(1 << 28), span_of(16, 1, 16, *other.cluster),
                      *other.cluster, calibration_for(*other.cluster)->levels);
  EXPECT_NEAR(*simulated->simulated / expected, 1, 1e-6);
  EXPECT_EQ(simulated->network, "dgx-h100");
}

// A send waits for its receive and passes over one port: 1 us + 8 kB / 1 GB/s.
TEST(SimulatedRecording, SendsAndReceivesMeet) {
  Maker made(2);
  made.kernel(0, 0, 10);
  made.kernel(1, 0, 2);
  made.call(0, 10, 13, 8000, Operation::send).peer = 1;
  made.call(1, 2, 13, 8000, Operation::receive).peer = 0;
  const auto simulated = simulate_recording(made.recording, switch_of(2, 1e9, 1e-6));
  ASSERT_TRUE(simulated.ok());
  EXPECT_EQ(simulated->groups.size(), 1U);
  EXPECT_DOUBLE_EQ(microseconds(simulated->own), 13);
  EXPECT_NEAR(microseconds(simulated->simulated), 10 + 1 + 8, 1e-9);
}

// Two ranks that call two groups in opposite orders.
Recording crossed() {
  Maker made(2);
  made.recording.groups.push_back(made.recording.groups.front());
  made.recording.groups[0].description = "first";
  made.recording.groups[1].id = made.recording.groups[1].description = "second";
  for (const std::uint32_t rank : {0U, 1U}) {
    for (const std::uint32_t turn : {0U, 1U}) {
      made.call(rank, 0, 1, 8).group = turn == rank ? 0 : 1;
      RecordedNode node{.rank = rank, .call = made.recording.calls.size() - 1, .start_ns = 0};
      if (turn == 1) node.needs = {made.recording.graph.size() - 1};
      made.recording.graph.push_back(node);
    }
  }
  return made.recording;
}
TEST(SimulatedRecording, ADeadlockIsNamedWithTheCallsThatWait) {
  const auto simulated = simulate_recording(crossed(), std::nullopt);
  ASSERT_FALSE(simulated.ok());
  ASSERT_EQ(simulated.problems().size(), 2U);
  EXPECT_EQ(simulated.problems()[0].message,
            "waits for ever: rank 0 in all_reduce of group first for rank 1 that waits in "
            "all_reduce of group second");
}

TEST(SimulatedRecording, WhatCannotBeRunAgainIsSaid) {
  const auto first = [](const Recording& recording, const std::optional<OtherNetwork>& other = {}) {
    const auto simulated = simulate_recording(recording, other);
    EXPECT_FALSE(simulated.ok());
    return simulated.ok() ? std::string() : simulated.problems().front().message;
  };
  EXPECT_EQ(first(Maker(2).recording), "holds no communication");
  Maker untimed(2);
  untimed.call(0, 0, 1, 8).duration.reset();
  untimed.recording.calls.front().time = TimeKind::none;
  EXPECT_NE(first(untimed.recording).find("cannot be placed in time"), std::string::npos);
  Maker cut(2);
  cut.call(0, 0, 1, 8);
  omit(cut.recording, "the file ends in the middle");
  EXPECT_NE(first(cut.recording).find("what is lost"), std::string::npos);
  Maker unsized(2);
  unsized.call(0, 0, 1, 8).bytes.reset();
  EXPECT_NE(first(unsized.recording, switch_of(2, 1e9)).find("its size is not known (1 call)"),
            std::string::npos);
  Maker large(4);
  large.call(0, 0, 1, 8);
  EXPECT_NE(first(large.recording, switch_of(2, 1e9)).find("is of a run of 4"), std::string::npos);
  Recording circle = crossed();
  circle.calls.resize(1);
  circle.graph = {{.rank = 0, .call = 0},
                  {.rank = 0, .duration = Seconds(1), .needs = {2}},
                  {.rank = 0, .duration = Seconds(1), .needs = {1}}};
  EXPECT_NE(first(circle).find("in a circle"), std::string::npos);
}

// Eight files that hold a call of 1 MiB and no times.
TEST(SimulatedRecordingPublic, AMicroBenchmarkTakesWhatTheCollectiveTakes) {
  Recording recording;
  for (int rank = 0; rank < 8; ++rank) {
    const std::string name = "chakra/8npus_1MB_all_gather." + std::to_string(rank) + ".et";
    HEADWAY_NEEDS_TRACE(name);
    append(recording, read_public(name));
  }
  EXPECT_FALSE(simulate_recording(recording, std::nullopt).ok());
  const auto simulated = simulate_recording(recording, switch_of(8, 50e9, 1e-6));
  ASSERT_TRUE(simulated.ok()) << simulated.problems().front().message;
  EXPECT_FALSE(simulated->own.has_value());
  // A ring of 7 steps of what each rank puts in.
  EXPECT_NEAR(microseconds(simulated->simulated), 7 * (1 + (1 << 20) / 50e3), 1e-3);
}

// Real runs, as they were: PyTorch on V100 and on hosts, one rank of two A100.
TEST(SimulatedRecordingPublic, RealRunsTakeWhatWasMeasured) {
  for (const char* folder : {"torch/ddp", "torch/fsdp2", "torch/pp", "kineto"}) {
    std::vector<std::string> files;
    const std::string start = std::string(folder) == "kineto" ? "dlrm_v100x8_rank" : "kineto_rank";
    HEADWAY_NEEDS_TRACE(folder);
    for (int rank = 0; rank < (start[0] == 'd' ? 8 : 4); ++rank) {
      files.push_back(trace_folder() + "/" + folder + "/" + start + std::to_string(rank) +
                      ".json.gz");
    }
    const RunRecording run = read_run_traces(files);
    const auto simulated = simulate_recording(run.recording, std::nullopt);
    ASSERT_TRUE(simulated.ok()) << folder << ": " << simulated.problems().front().message;
    EXPECT_EQ(simulated->own->value(), simulated->measured->value()) << folder;
    EXPECT_GT(simulated->own->value(), 0);
  }
}

}  // namespace
}  // namespace headway
