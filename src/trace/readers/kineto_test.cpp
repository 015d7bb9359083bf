#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "trace/analysis/call_table.hpp"
#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

// A kernel event as PyTorch writes it since 2.3.
std::string kernel(const std::string& name, double ts, double dur, const std::string& args) {
  return R"({"ph": "X", "cat": "kernel", "name": ")" + name + R"(", "pid": 0, "tid": 7, "ts": )" +
         std::to_string(ts) + R"(, "dur": )" + std::to_string(dur) + R"(, "args": {"stream": 7)" +
         args + "}}";
}

std::string trace_of(const std::string& events, const std::string& members = "") {
  return R"({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8,
    "pg_config": [{"pg_name": "2", "pg_desc": "tp", "pg_size": 4, "ranks": [0, 1, 2, 3]}]},)" +
         members + R"("traceEvents": [)" + events + "]}";
}

constexpr const char* kGather =
    R"(, "External id": 5, "correlation": 9, "Collective name": "_allgather_base",
    "In msg nelems": 1000, "Out msg nelems": 4000, "Group size": 4, "dtype": "BFloat16",
    "Process Group Name": "2", "Process Group Ranks": "[0, 1, 2, 3]", "Seq": 17)";

TEST(Kineto, AKernelDescribesItselfAndBytesAreTheWholeTensor) {
  const Recording recording =
      read_text(trace_of(kernel("ncclDevKernel_AllGather_RING_LL(x)", 100.5, 20.25, kGather),
                         R"("baseTimeNanoseconds": 1700000000000000000, )"));
  ASSERT_EQ(recording.calls.size(), 1u);
  const RecordedCall& call = recording.calls[0];
  EXPECT_EQ(call.op, Operation::all_gather);
  EXPECT_EQ(call.bytes, Bytes(8000));  // 4000 gathered elements of 2 bytes, not 1000
  EXPECT_EQ(call.type, ElementType::bf16);
  EXPECT_EQ(call.start_ns, 1700000000000100500);
  EXPECT_DOUBLE_EQ(call.duration->value(), 20.25e-6);
  EXPECT_EQ(call.time, TimeKind::kernel);
  EXPECT_EQ(call.stream, 7);
  EXPECT_EQ(call.sequence, 17);
  EXPECT_EQ(recording.groups[*call.group].description, "tp");
  EXPECT_EQ(recording.groups[*call.group].ranks, (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(recording.ranks[0].number, 3);
  EXPECT_EQ(recording.ranks[0].world_size, 8);
  EXPECT_TRUE(recording.omissions.empty());
}

TEST(Kineto, ReduceScatterCountsItsInput) {
  const Recording recording = read_text(trace_of(kernel(
      "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)", 1, 2,
      R"(, "Collective name": "_reduce_scatter_base", "In msg nelems": 4000, "Out msg nelems": 1000,
      "Group size": 4, "dtype": "Float", "Process Group Name": "2")")));
  EXPECT_EQ(recording.calls.at(0).bytes, Bytes(16000));
}

// The host operation around the launch tells what an old kernel does not: a kernel "SendRecv" may
// be an all-reduce, and the sizes are in the shapes.
TEST(Kineto, AnOldKernelTakesOperationAndSizeFromTheHostAroundItsLaunch) {
  const Recording recording = read_text(trace_of(
      R"({"ph": "X", "cat": "Kernel", "name": "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t",
          "pid": 0, "tid": 84, "ts": 1000, "dur": 50, "args": {
  "correlation" : 7, "External id" : 7, "stream" : 84}},
         {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 910,
          "dur": 5, "args": {"correlation": 7, "External id": 7}},
         {"ph": "X", "cat": "cpu_op", "name": "c10d::allreduce_", "pid": 1, "tid": 2, "ts": 900,
          "dur": 40, "args": {"External id": 3, "Input Dims": [[], []], "Input type":
          ["TensorList", ""]}},
         {"ph": "X", "cat": "user_annotation", "name": "nccl:all_reduce", "pid": 1, "tid": 2,
          "ts": 905, "dur": 30, "args": {"External id": 4, "Input Dims": [[100, 3]],
          "Input type": ["float"]}},
         {"ph": "X", "cat": "user_annotation", "name": "nccl:broadcast", "pid": 1, "tid": 9,
          "ts": 905, "dur": 30, "args": {"Input Dims": [[5]], "Input type": ["float"]}})"));
  ASSERT_EQ(recording.calls.size(), 1u);
  EXPECT_EQ(recording.calls[0].op, Operation::all_reduce);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(1200));
  EXPECT_FALSE(recording.calls[0].group);
  EXPECT_EQ(omitted(recording, "calls without a group"), 1);
}

TEST(Kineto, AKernelWithoutAnyDescriptionHasNoSizeNotZero) {
  const Recording recording =
      read_text(trace_of(kernel("ncclDevKernel_Generic(ncclDevKernelArgs)", 1, 2, "")));
  EXPECT_EQ(recording.calls.at(0).op, Operation::other);
  EXPECT_FALSE(recording.calls[0].bytes);
  EXPECT_EQ(omitted(recording, "calls without a size"), 1);
}

// [TRACE-11] A program's own ranges are steps where the profiler marks none.
TEST(Kineto, RangesNamedStepAreStepsUnlessTheProfilerMarksThem) {
  const auto range = [](const std::string& name, int at) {
    return R"({"ph": "X", "cat": "user_annotation", "name": ")" + name +
           R"(", "pid": 1, "tid": 2, "ts": )" + std::to_string(at) + R"(, "dur": 90, "args": {}})";
  };
  const std::string own = range("## step 3 ##", 100) + "," + range("Step 4", 200) + "," +
                          range("stepping 5", 300) + "," + range("Optimizer.step#Adam.step", 310);
  const Recording named = read_text(trace_of(own));
  ASSERT_EQ(named.steps.size(), 2u);
  EXPECT_EQ(named.marked_steps, 2);
  EXPECT_EQ(named.steps[0].number, 3);
  EXPECT_EQ(named.steps[1].number, 4);
  const Recording marked = read_text(trace_of(own + "," + range("ProfilerStep#7", 100)));
  ASSERT_EQ(marked.steps.size(), 1u);
  EXPECT_EQ(marked.steps[0].number, 7);
}

TEST(Kineto, GlooRunsOnTheHostAndEnqueueTimeIsNoTransferTime) {
  const Recording recording = read_text(trace_of(
      R"({"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 2, "ts": 900,
          "dur": 40, "args": {"Collective name": "allreduce", "In msg nelems": 10, "Out msg nelems":
          10, "Group size": 8, "dtype": "Double"}},
         {"ph": "X", "cat": "user_annotation", "name": "gloo:all_reduce", "pid": 1, "tid": 5,
          "ts": 905, "dur": 300, "args": {"Input Dims": [[10]], "Input type": ["double"]}})"));
  ASSERT_EQ(recording.calls.size(), 2u);
  std::int64_t enqueued = 0, on_host = 0;
  for (const RecordedCall& call : recording.calls) {
    EXPECT_EQ(call.bytes, Bytes(80));
    enqueued += call.time == TimeKind::enqueue ? 1 : 0;
    on_host += call.time == TimeKind::host ? 1 : 0;
  }
  EXPECT_EQ(enqueued, 1);
  EXPECT_EQ(on_host, 1);
  EXPECT_EQ(omitted(recording, "no GPU kernel in the trace"), 1);
}

TEST(Kineto, HcclsAnnotationDescribesItsKernelAsNcclsDoes) {
  const Recording recording = read_text(trace_of(
      R"({"ph": "X", "cat": "kernel", "name": "hcom_allReduce__428_0_1", "pid": 0, "tid": 84,
          "ts": 1000, "dur": 50, "args": {"correlation": 7, "stream": 84}},
         {"ph": "X", "cat": "cuda_runtime", "name": "LaunchKernel", "pid": 1, "tid": 2, "ts": 910,
          "dur": 5, "args": {"correlation": 7}},
         {"ph": "X", "cat": "user_annotation", "name": "hccl:all_reduce", "pid": 1, "tid": 2,
          "ts": 905, "dur": 30, "args": {"Input Dims": [[100, 3]], "Input type": ["float"]}})"));
  ASSERT_EQ(recording.calls.size(), 1u);
  EXPECT_EQ(recording.calls[0].op, Operation::all_reduce);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(1200));
}

// ---- gloo ----

// What the program asked for, on its own thread, and what the backend did, on another.
std::string asked(const std::string& name, int number, const std::string& dims,
                  const std::string& types, const std::string& concrete = "") {
  return R"({"ph": "X", "cat": "cpu_op", "name": "c10d::)" + name +
         R"(", "pid": 1, "tid": 1, "ts": )" + std::to_string(100 * number) +
         R"(, "dur": 10, "args": {"Record function id": )" + std::to_string(number) +
         R"(, "Input Dims": [)" + dims + R"(], "Input type": [)" + types +
         R"(], "Concrete Inputs": [)" + concrete + "]}}";
}
std::string done(const std::string& name, int number, int elements, double at = -1) {
  return R"({"ph": "X", "cat": "user_annotation", "name": "gloo:)" + name +
         R"(", "pid": 1, "tid": 7, "ts": )" + std::to_string(at < 0 ? 100 * number + 5 : at) +
         R"(, "dur": 300, "args": {"Record function id": )" + std::to_string(number) +
         R"(, "Input Dims": [[)" + std::to_string(elements) + R"(]], "Input type": ["float"]}})";
}
constexpr const char* kTwo = R"("float", "float", "", "Scalar")";

TEST(Kineto, OfGlooTheOperationIsAsAskedAndTheWireAsDone) {
  const Recording recording = read_text(
      trace_of(asked("_reduce_scatter_base_", 1, "[100], [400], [], []", kTwo) + "," +
               done("all_reduce", 2, 400) + "," +
               asked("_allgather_base_", 3, "[400], [100], [], []", kTwo) + "," +
               done("all_gather", 4, 100) + "," +
               asked("allreduce_", 5, "[[400]], [], []", R"("TensorList", "", "Scalar")") + "," +
               done("all_reduce", 6, 400)));
  ASSERT_EQ(recording.calls.size(), 3u);
  const RecordedCall &scattered = recording.calls[0], &gathered = recording.calls[1];
  EXPECT_EQ(scattered.op, Operation::reduce_scatter);
  EXPECT_EQ(scattered.done_as, Operation::all_reduce);
  EXPECT_EQ(scattered.bytes, Bytes(1600));
  EXPECT_EQ(wire_bytes(recording, scattered), Bytes(2400));  // 2 (n-1)/n of 4 ranks, not (n-1)/n
  EXPECT_EQ(scattered.time, TimeKind::host);
  EXPECT_DOUBLE_EQ(scattered.duration->value(), 300e-6);
  EXPECT_EQ(gathered.op, Operation::all_gather);
  EXPECT_FALSE(gathered.done_as);
  EXPECT_EQ(gathered.bytes, Bytes(1600));
  EXPECT_EQ(recording.calls[2].op, Operation::all_reduce);
  EXPECT_FALSE(recording.calls[2].done_as);
  // The only group that the rank is in, by the trace's own list.
  for (const RecordedCall& call : recording.calls) EXPECT_EQ(group_size(recording, call), 4);
  EXPECT_EQ(omitted(recording, kCallsWithoutSize), 0);
  EXPECT_EQ(omitted(recording, kCallsWithoutGroup), 0);
}

TEST(Kineto, OfGlooTwoThreadsMayFinishInAnyOrder) {
  // The second of two calls of one operation begins to run first: sizes tell them apart.
  const Recording recording =
      read_text(trace_of(asked("_reduce_scatter_base_", 1, "[100], [400], [], []", kTwo) + "," +
                         asked("_reduce_scatter_base_", 3, "[10], [40], [], []", kTwo) + "," +
                         done("all_reduce", 4, 40, 350) + "," + done("all_reduce", 2, 400, 900)));
  ASSERT_EQ(recording.calls.size(), 2u);
  for (const RecordedCall& call : recording.calls) EXPECT_EQ(call.op, Operation::reduce_scatter);
}

TEST(Kineto, OfGlooReceivesHaveASizeAndTheOtherEndIsAGlobalRank) {
  std::string text =
      trace_of(asked("send", 1, "[[8]], [], [], []", R"("TensorList", "", "Scalar", "Scalar")",
                     R"("", "", "1", "0")") +
               "," + done("send", 2, 8) + "," +
               asked("recv_", 3, "[[8]], [], [], []", R"("TensorList", "", "Scalar", "Scalar")",
                     R"("", "", "3", "0")") +
               "," + done("recv", 4, 8));
  const std::string members = "[0, 1, 2, 3]";
  text.replace(text.find(members), members.size(), "[4, 5, 6, 7]");
  const Recording recording = read_text(text);
  ASSERT_EQ(recording.calls.size(), 2u);
  EXPECT_EQ(recording.calls[0].op, Operation::send);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(32));
  EXPECT_EQ(recording.calls[0].peer, 5);
  EXPECT_EQ(recording.calls[1].op, Operation::receive);
  EXPECT_EQ(recording.calls[1].bytes, Bytes(32));
  EXPECT_EQ(recording.calls[1].peer, 7);
}

TEST(Kineto, WhatGlooDidWithoutARecordOfWhatWasAskedIsTakenAsAsked) {
  const Recording recording =
      read_text(trace_of(done("all_gather", 2, 100) + "," + done("recv", 4, 8)));
  ASSERT_EQ(recording.calls.size(), 2u);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(1600));  // one rank's part, of 4
  EXPECT_EQ(recording.calls[1].bytes, Bytes(32));
}

TEST(Kineto, OtherKernelsAreComputation) {
  const Recording recording =
      read_text(trace_of(kernel("ampere_bf16_s16816gemm", 10, 5, "") + "," +
                         kernel("void deep_ep::internode::dispatch<1>", 20, 5, "")));
  ASSERT_EQ(recording.compute.size(), 1u);
  EXPECT_EQ(recording.compute[0].start_ns, 10000);
  EXPECT_EQ(recording.compute[0].duration_ns, 5000);
  EXPECT_EQ(recording.calls.at(0).op, Operation::all_to_all);
}

TEST(Kineto, KernelsOfExchangesThatAreNotNcclsAreNoComputation) {
  const Recording recording = read_text(
      trace_of(kernel("void dpsk::ep::internode::cached_notify<false>", 10, 5, "") + "," +
               kernel("void multimem_all_reduce_kernel<c10::BFloat16, 16>(int)", 20, 5, "") + "," +
               kernel("void mine::ring_allreduce_kernel(int)", 30, 5, "")));
  ASSERT_EQ(recording.calls.size(), 2u);
  EXPECT_EQ(recording.calls[0].op, Operation::barrier);
  EXPECT_EQ(recording.calls[1].op, Operation::all_reduce);
  EXPECT_EQ(recording.compute.size(), 1u);
  EXPECT_EQ(omitted(recording,
                    "kernel 'mine::ring_allreduce_kernel' looks like communication and is not "
                    "known: counted as computation"),
            1);
}

// aten::mm(a, b, out=c) has three tensors as aten::addmm(c, a, b) has: 4 x 8 times 8 x 2 in each.
TEST(Kineto, WhatAProductWritesToIsNoFactorOfIt) {
  const std::pair<const char*, const char*> rows[] = {{"aten::mm", "[4, 8], [8, 2]"},
                                                      {"aten::mm", "[4, 8], [8, 2], [4, 2]"},
                                                      {"aten::addmm", "[4, 2], [4, 8], [8, 2]"},
                                                      {"aten::addmm", "[2], [4, 8], [8, 2]"}};
  for (const auto& [name, dims] : rows) {
    const Recording recording = read_text(trace_of(
        kernel("gemm", 10, 5, R"(, "External id": 7)") +
        R"(, {"ph": "X", "cat": "cpu_op", "name": ")" + name +
        R"(", "pid": 1, "tid": 2, "ts": 9, "dur": 5, "args": {"External id": 7, "Input Dims": [)" +
        dims + R"(], "Input type": ["float", "float", "float"]}})"));
    ASSERT_EQ(recording.products.size(), 1u) << name << dims;
    EXPECT_EQ(recording.products[0],
              (RecordedProduct{.m = 4, .n = 2, .k = 8, .type = ElementType::fp32}));
  }
}

// ---- damage ----

std::string many_gathers(int count) {
  std::string events;
  for (int i = 0; i < count; ++i) {
    if (i > 0) events += ",\n  ";
    events += kernel("ncclDevKernel_AllGather_RING_LL(x)", i * 100, 20, kGather);
  }
  return events;
}

TEST(Kineto, EveryPrefixOfATraceGivesTheEventsThatAreWhole) {
  const std::string text = trace_of(many_gathers(20));
  std::size_t last = 0;
  for (std::size_t length = 1; length < text.size(); length += 13) {
    const auto recording = read_trace_bytes(std::string_view(text).substr(0, length), "cut");
    if (!recording) continue;
    EXPECT_GE(recording->calls.size(), last);
    last = recording->calls.size();
    EXPECT_EQ(omitted(*recording, "the file ends in the middle"), 1) << length;
  }
  EXPECT_GE(last, 19u);
}

TEST(Kineto, AMissingQuoteCostsOneEventAndIsCounted) {
  std::string text = trace_of(many_gathers(20));
  const std::size_t tenth = text.find("\"ts\": 900");
  text.erase(text.find("\"Collective name", tenth), 1);
  const Recording recording = read_text(text);
  EXPECT_EQ(recording.calls.size(), 19u);
  EXPECT_GE(omitted(recording, "damaged records"), 1);
}

TEST(Kineto, ATraceWithoutItsBeginningIsReadFromTheFirstWholeEvent) {
  const std::string text = trace_of(many_gathers(20));
  const Recording recording = read_text(text.substr(text.find("\"ts\": 400")));
  EXPECT_EQ(recording.calls.size(), 15u);  // those at 500 .. 1900
  EXPECT_GE(omitted(recording, "damaged records"), 1);
  EXPECT_EQ(omitted(recording, "the file ends in the middle"), 0);
}

TEST(Kineto, ANameThatOnlyBeginsLikeAnOperationOfTheHostIsNone) {
  const Recording recording = read_text(trace_of(
      R"({"ph": "X", "cat": "cpu_op", "name": "record_param_comms_of_mine", "pid": 1, "tid": 2,
          "ts": 900, "dur": 40, "args": {}})"));
  EXPECT_TRUE(recording.calls.empty());
}

TEST(Kineto, NothingReadableIsAProblem) {
  EXPECT_FALSE(read_trace_bytes(R"({"traceEvents": [)", "cut").ok());
  EXPECT_FALSE(read_trace_bytes("", "empty").ok());
}

// ---- public traces ----

TEST(KinetoPublic, TheA100TraceHas15AllReducesAnd6BroadcastsWithSizes) {
  HEADWAY_NEEDS_TRACE("kineto/a100x2_ddp_rank0.json.gz");
  const Recording recording = read_public("kineto/a100x2_ddp_rank0.json.gz");
  EXPECT_EQ(recording.calls.size(), 21u);
  EXPECT_EQ(count_of(recording, Operation::all_reduce), 15);
  EXPECT_EQ(count_of(recording, Operation::broadcast), 6);
  double elements = 0;
  for (const RecordedCall& call : recording.calls) {
    ASSERT_TRUE(call.bytes);
    EXPECT_EQ(group_size(recording, call), 2);
    EXPECT_EQ(call.time, TimeKind::kernel);
    if (call.op == Operation::all_reduce) elements += call.bytes->value() / 4;
  }
  // Three steps of the same five buckets.
  EXPECT_EQ(elements, 3.0 * (2049000 + 7875584 + 6563840 + 6637568 + 2431040));
  EXPECT_EQ(recording.compute.size(), 2700u - 21u);
  ASSERT_EQ(recording.groups.size(), 1u);
  EXPECT_EQ(recording.groups[0].description, "default_pg");
  EXPECT_EQ(recording.omissions.size(), 0u);
}

TEST(KinetoPublic, EveryDlrmRankHas5AllToAllsAnd3AllReducesWithSizesFromTheHost) {
  HEADWAY_NEEDS_TRACE("kineto/dlrm_v100x8_rank0.json.gz");
  for (int rank = 0; rank < 8; ++rank) {
    const Recording recording =
        read_public("kineto/dlrm_v100x8_rank" + std::to_string(rank) + ".json.gz");
    EXPECT_EQ(count_of(recording, Operation::all_to_all), 5);
    EXPECT_EQ(count_of(recording, Operation::all_reduce), 3);
    EXPECT_EQ(recording.ranks.at(0).number, rank);
    EXPECT_EQ(recording.calls.at(0).bytes, Bytes(6144 * 4));
    EXPECT_EQ(omitted(recording, "calls without a size"), 0);
    EXPECT_EQ(omitted(recording, "calls without a group"), 8);
  }
}

TEST(KinetoPublic, KernelsNamedSendRecvOf128RanksAreWhatTheHostCalled) {
  HEADWAY_NEEDS_TRACE("kineto/rank0_of_128.json.gz");
  const Recording recording = read_public("kineto/rank0_of_128.json.gz");
  EXPECT_EQ(count_of(recording, Operation::send_receive), 0);
  EXPECT_EQ(count_of(recording, Operation::all_reduce), 4);
  EXPECT_EQ(count_of(recording, Operation::all_to_all), 4);
  EXPECT_EQ(count_of(recording, Operation::all_gather), 2);
  for (const RecordedCall& call : recording.calls) {
    if (call.op != Operation::all_gather) continue;
    // 1 GiB gathered of 16 MiB each: the shapes give the 64 ranks that nothing else names.
    EXPECT_EQ(call.bytes, Bytes(1073741824));
    EXPECT_EQ(group_size(recording, call), 64);
  }
}

// Steps 2, 3 and 4 of four ranks of gloo. The counters of their sockets tell what went over the
// wire (steps_rank*.json); messages of the connection itself are 0.02 to 0.15 % more.
TEST(KinetoPublic, GlooRunsHoldTheCallsOfTheirDispatcherAndTheBytesOfTheirSockets) {
  using Calls = std::map<std::tuple<Operation, double, std::int64_t>, int>;  // bytes, peer or -1
  constexpr double kModel[] = {1536000, 26617344, 3313152};
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    Calls ddp, fsdp, pipeline;
    for (const double bytes : kModel) ddp[{Operation::all_reduce, bytes, -1}] = 3;
    fsdp[{Operation::all_gather, 7097856, -1}] = 3 * 8;
    fsdp[{Operation::all_gather, 3075072, -1}] = 3;
    fsdp[{Operation::reduce_scatter, 7097856, -1}] = 3 * 4;
    fsdp[{Operation::reduce_scatter, 3075072, -1}] = 3;
    fsdp[{Operation::all_reduce, 272, -1}] = 3;
    int neighbours = 0;
    for (const std::int64_t other : {rank - 1, rank + 1}) {
      if (other < 0 || other > 3) continue;
      ++neighbours;
      pipeline[{Operation::send, 98304, other}] = 3 * 8;
      pipeline[{Operation::receive, 98304, other}] = 3 * 8;
    }
    struct Run {
      const char* name;
      Calls calls;
      double sent;  // by the sockets in one step
    };
    for (const Run& run : {Run{"ddp", ddp, 47209256}, Run{"fsdp2", fsdp, 92111744},
                           Run{"pp", pipeline, 787584.0 * neighbours}}) {
      const std::string file =
          std::string("torch/") + run.name + "/kineto_rank" + std::to_string(rank) + ".json.gz";
      HEADWAY_NEEDS_TRACE(file);
      const Recording recording = read_public(file);
      Calls found;
      double sent = 0;
      for (const RecordedCall& call : recording.calls) {
        ASSERT_TRUE(call.bytes);
        ++found[{call.op, call.bytes->value(), call.peer.value_or(-1)}];
        EXPECT_EQ(group_size(recording, call), 4);
        EXPECT_EQ(call.time, TimeKind::host);
        const bool scatters = call.op == Operation::reduce_scatter;
        EXPECT_EQ(call.done_as, scatters ? std::optional(Operation::all_reduce) : std::nullopt);
        if (call.op != Operation::receive) sent += wire_bytes(recording, call).value().value();
      }
      EXPECT_EQ(found, run.calls) << file;
      EXPECT_NEAR(sent / 3 / run.sent, 1, 0.0016) << file;
    }
  }
}

TEST(KinetoPublic, TracesWithoutCommunicationSaySo) {
  HEADWAY_NEEDS_TRACE("kineto/mi250_rocm.json.gz");
  const Recording rocm = read_public("kineto/mi250_rocm.json.gz");
  EXPECT_EQ(rocm.compute.size(), 14u);
  EXPECT_EQ(omitted(rocm, "no communication in the trace"), 1);
  const Recording cpu = read_public("kineto/cpu_only_rank34.json.gz");
  EXPECT_EQ(cpu.ranks.at(0).number, 34);
  EXPECT_EQ(omitted(cpu, "no GPU kernel in the trace"), 1);
}

}  // namespace
}  // namespace headway
