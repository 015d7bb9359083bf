// Events of profiler plugins.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "trace/analysis/align.hpp"
#include "trace/analysis/call_table.hpp"
#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

constexpr const char* kCollective =
    R"({"recordType":"event","type":"ncclProfileColl","gpuUuid":"a","commId":12464174370433239723,
"rank":1,"start":{"ts":100.0},"stop":{"ts":130.5},"duration":30.5,"eventAddr":"0x1","details":
{"func":"AllGather","seq":4,"count":1000,"dtype":"ncclFloat32"}})";
constexpr const char* kInit =
    R"({"type":"ProfilerLifecycle","func":"ProfilerInit","gpuUuid":"a","commId":12464174370433239723,
"rank":1,"details":{"nranks":4}})";

TEST(NcclProfiler, WithoutKernelChannelsThereIsOnlyTheEnqueueTime) {
  const Recording recording = read_text(std::string(kInit) + "\n" + kCollective + "\n");
  ASSERT_EQ(recording.calls.size(), 1u);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(16000));  // 1000 x 4 B x 4 ranks
  EXPECT_EQ(recording.calls[0].time, TimeKind::enqueue);
  EXPECT_NEAR(recording.calls[0].duration->value(), 30.5e-6, 1e-12);
  EXPECT_FALSE(bus_bandwidth(recording, recording.calls[0]));
  EXPECT_EQ(recording.groups.at(0).id, "12464174370433239723");  // beyond 2^63
}

TEST(NcclProfiler, KernelChannelsGiveTheDurationAndTheGpuClockABetterOne) {
  const std::string channel =
      R"({"recordType":"event","type":"ncclProfileKernelCh","gpuUuid":"a","start":{"ts":200.0},
"stop":{"ts":900.0},"parentObj":"0x1","eventAddr":"0x2","details":{"channel":4,"pTimer":5000000}})";
  const std::string text = std::string(kInit) + "\n" + kCollective + "\n";
  const Recording host = read_text(text + channel + "\n");
  EXPECT_EQ(host.calls.at(0).time, TimeKind::kernel);
  EXPECT_NEAR(host.calls[0].duration->value(), 700e-6, 1e-12);
  const Recording gpu = read_text(
      text + R"({"recordType":"state","eventAddr":"0x2","name":"KernelChStop","pTimer":5800000})" +
      "\n" + channel + "\n");
  EXPECT_NEAR(gpu.calls.at(0).duration->value(), 800e-6, 1e-12);
  EXPECT_EQ(gpu.calls[0].start_ns, 900000 - 800000);
}

TEST(NcclProfilerPublic, EnqueueTimeIsNotTakenForTransferTime) {
  HEADWAY_NEEDS_TRACE("nccl_profiler/events_v5.jsonl");
  const Recording recording = read_public("nccl_profiler/events_v5.jsonl");
  ASSERT_EQ(recording.calls.size(), 8u);  // two all-reduces on four ranks
  double longest = 0;
  std::map<std::uint32_t, double> of_rank;
  for (const RecordedCall& call : recording.calls) {
    of_rank[call.rank] += call.duration->value();
    EXPECT_EQ(call.op, Operation::all_reduce);
    EXPECT_EQ(call.bytes, Bytes(33554432.0 * 4));
    EXPECT_EQ(call.time, TimeKind::kernel);
    EXPECT_EQ(group_size(recording, call), 4);
    EXPECT_GT(call.duration->value(), 0.5e-3);  // enqueueing took 20 to 34 us
    longest = std::max(longest, call.duration->value());
  }
  // CUPTI has the kernel of device 3, which did both, at 15,139.75 us; the channels' host times say
  // 8,756.
  EXPECT_NEAR(longest, 15139.75e-6 / 2, 10e-6);
  double busiest = 0;
  for (const auto& [rank, seconds] : of_rank) busiest = std::max(busiest, seconds);
  EXPECT_NEAR(busiest, 15139.75e-6, 10e-6);
  const Alignment alignment = align(recording);
  ASSERT_EQ(alignment.matched.size(), 2u);
  EXPECT_TRUE(alignment.matched[0].complete);
  EXPECT_NEAR(alignment.matched[0].transfer.value(), 1209e-6 / 2, 1e-6);
  EXPECT_EQ(recording.ranks[alignment.matched[0].last_rank].number, 0);
}

// [TRACE-9] Two calls that one kernel did in 400 us, of 3000 and 1000 elements: 300 and 100 us.
TEST(NcclProfiler, CallsOfOneGroupShareTheTimeOfTheirKernelByTheirBytes) {
  const auto call = [](const char* address, int count, const char* group) {
    return std::string(R"({"type":"ncclProfileColl","gpuUuid":"a","commId":7,"rank":1,
"start":{"ts":100.0},"stop":{"ts":130.0},"eventAddr":")") +
           address + R"(","details":{"func":"AllReduce","seq":4,"count":)" + std::to_string(count) +
           R"(,"dtype":"ncclFloat32","parentGroup":")" + group + "\"}}\n";
  };
  const auto channel = [](const char* parent, double start, double stop) {
    return R"({"type":"ncclProfileKernelCh","gpuUuid":"a","start":{"ts":)" + std::to_string(start) +
           R"(},"stop":{"ts":)" + std::to_string(stop) + R"(},"parentObj":")" + parent +
           R"(","eventAddr":"0x9","details":{"channel":4}})" + "\n";
  };
  const Recording recording =
      read_text(call("0x1", 3000, "0x50") + call("0x2", 1000, "0x50") + call("0x3", 1000, "0x50") +
                call("0x4", 1000, "0x60") + channel("0x1", 200, 600) + channel("0x2", 200, 600) +
                channel("0x3", 700, 800) + channel("0x4", 210, 590));
  ASSERT_EQ(recording.calls.size(), 4u);
  EXPECT_NEAR(recording.calls[0].duration->value(), 300e-6, 1e-12);
  EXPECT_EQ(recording.calls[0].start_ns, 200'000);
  EXPECT_NEAR(recording.calls[1].duration->value(), 100e-6, 1e-12);
  EXPECT_EQ(recording.calls[1].start_ns, 500'000);
  // Later, under the name of that group again, and of another group at the same time.
  EXPECT_NEAR(recording.calls[2].duration->value(), 100e-6, 1e-12);
  EXPECT_NEAR(recording.calls[3].duration->value(), 380e-6, 1e-12);
}

TEST(NcclProfiler, TheExamplePluginsGroupsEncloseTheirCalls) {
  const auto call = [](int number) {
    const std::string id = R"(, "pid": 9, "tid": 1, "id": )" + std::to_string(number);
    return R"({"name": "AllReduce", "cat": "COLL", "ph": "b", "ts": 100.0, "args": {"SeqNum": 7,
"CommHash": 5, "Rank": 3, "Count": 1000, "Datatype": "ncclFloat32"})" +
           id + "},\n" +
           R"({"name": "KernelCh", "cat": "GPU", "ph": "b", "ts": 110.0, "args": {"Channel": 0})" +
           id + "},\n" + R"({"name": "KernelCh", "cat": "GPU", "ph": "e", "ts": 150.0)" + id +
           "},\n" + R"({"name": "AllReduce", "cat": "COLL", "ph": "e", "ts": 105.0)" + id + "},\n";
  };
  const Recording recording = read_text(
      R"([{"name": "Group", "cat": "GROUP", "ph": "b", "ts": 99.0, "id": 1},)" + call(0) + call(1) +
      R"({"name": "Group", "cat": "GROUP", "ph": "e", "ts": 160.0, "id": 1},)" + call(2) + "{}]");
  ASSERT_EQ(recording.calls.size(), 3u);
  EXPECT_NEAR(recording.calls[0].duration->value(), 20e-6, 1e-12);
  EXPECT_NEAR(recording.calls[1].duration->value(), 20e-6, 1e-12);
  EXPECT_NEAR(recording.calls[2].duration->value(), 40e-6, 1e-12);
}

TEST(NcclProfiler, TheExamplePluginsEventsEncloseTheirChannels) {
  const Recording recording = read_text(
      R"j([
{"name": "AllReduce", "cat": "COLL", "ph": "b", "id": 0, "pid": 9, "tid": 1, "ts": 100.0, "args":
 {"SeqNum": 7, "CommHash": 12715772615376301750, "Rank": 3, "Count": 1000, "Datatype":
 "ncclFloat32", "nChannels": 2}},
{"name": "KernelCh", "cat": "GPU", "ph": "b", "id": 0, "pid": 9, "tid": 1, "ts": 110.0, "args":
 {"Channel": 0, "StartGpuClk": 1765223116927674080, "StopGpuClk": 0}},
{"name": "KernelCh", "cat": "GPU", "ph": "e", "id": 0, "pid": 9, "tid": 1, "ts": 150.0},
{"name": "KernelCh", "cat": "GPU", "ph": "b", "id": 1, "pid": 9, "tid": 1, "ts": 112.0, "args":
 {"Channel": 1, "StartGpuClk": 1765223116927674080, "StopGpuClk": 0}},
{"name": "KernelCh", "cat": "GPU", "ph": "e", "id": 1, "pid": 9, "tid": 1, "ts": 155.0},
{"name": "AllReduce", "cat": "COLL", "ph": "e", "id": 0, "pid": 9, "tid": 1, "ts": 105.0},
{"name": "Send", "cat": "P2P_API", "ph": "b", "id": 0, "ts": 1.0, "args": {"datatype": ncclFloat32}},
{"name": "Send", "cat": "P2P", "ph": "b", "id": 0, "pid": 9, "tid": 1, "ts": 200.0, "args":
 {"CommHash": 1, "Rank": 3, "Peer": 1, "Count": 10, "Datatype": "ncclFloat32"}},
{"name": "Send", "cat": "P2P", "ph": "e", "id": 0, "pid": 9, "tid": 1, "ts": 204.0},
{}])j");
  ASSERT_EQ(recording.calls.size(), 2u);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(4000));
  EXPECT_EQ(recording.calls[0].time, TimeKind::kernel);
  EXPECT_NEAR(recording.calls[0].duration->value(), 45e-6, 1e-12);  // 110 to 155, both channels
  EXPECT_EQ(recording.calls[0].start_ns, 110000);
  EXPECT_EQ(recording.calls[1].op, Operation::send);
  EXPECT_EQ(recording.calls[1].peer, 1);
  EXPECT_EQ(recording.calls[1].time, TimeKind::enqueue);
  EXPECT_EQ(recording.groups[0].id, "12715772615376301750");
  EXPECT_EQ(omitted(recording, "damaged records"), 1);
}

}  // namespace
}  // namespace headway
