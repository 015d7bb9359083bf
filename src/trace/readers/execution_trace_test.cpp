// PyTorch Execution Trace.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

TEST(ExecutionTrace, OldInputsAreToldByTheirPlaceFromTheName) {
  const Recording recording = read_text(
      R"j({"schema": "1.0.1", "nodes": [
      {"name": "record_param_comms", "id": 1, "inputs": [[718, 715, 0, 6144, 4, "cuda:0"], 147,
       94594108284448, 3, "all_to_allv", [768], [768]], "input_types": ["Tensor(float)", "Int"],
       "outputs": [[723, 724, 0, 6000, 4, "cuda:0"]]},
      {"name": "record_param_comms", "id": 2, "inputs": [147, 0, 0, "wait", [], []]},
      {"name": "record_param_comms", "id": 3, "inputs": [[[7, 5, 0, 10, 2, "cuda:0"],
       [8, 5, 0, 20, 2, "cuda:0"]], 148, 94594108284448, 3, "allreduce", [], []],
       "input_types": ["GenericList[Tensor(c10::Half),Tensor(c10::Half)]"], "outputs": []}]})j");
  ASSERT_EQ(recording.calls.size(), 2u);
  EXPECT_EQ(recording.calls[0].op, Operation::all_to_all);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(24576));  // the input: what this rank sends
  EXPECT_EQ(recording.calls[0].sequence, 147);
  EXPECT_EQ(recording.calls[0].time, TimeKind::none);
  EXPECT_EQ(recording.calls[1].bytes, Bytes(60));
  EXPECT_EQ(recording.ranks.at(0).number, 3);
}

TEST(ExecutionTrace, ANodeOfToday) {
  const Recording recording = read_text(
      R"j({"schema": "1.1.1-chakra.0.0.4", "nodes": [{"id": 437, "name": "record_param_comms",
      "ctrl_deps": 436, "inputs": {"values": [[[4, 5, 0, 100, 2, "cuda:1"]], 33, ["7", "tp"], 5,
      "_allgather_base", [], [], 4, 2, 2], "types": ["GenericList[Tensor(c10::BFloat16)]"]},
      "outputs": {"values": [[[6, 7, 0, 200, 2, "cuda:1"]]]}, "attrs": [{"name": "dtype", "value":
      "BFloat16"}, {"name": "in_msg_nelems", "value": 100}, {"name": "out_msg_nelems", "value": 200},
      {"name": "pg_size", "value": 2}]}]})j");
  ASSERT_EQ(recording.calls.size(), 1u);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(400));
  EXPECT_EQ(recording.groups.at(0).description, "tp");
  EXPECT_EQ(recording.groups[0].ranks, (std::vector<std::int64_t>{4, 6}));
  EXPECT_EQ(recording.ranks.at(0).number, 5);
}

TEST(ExecutionTracePublic, EveryDlrmRankHasTheCallsOfItsKinetoTrace) {
  for (int rank = 0; rank < 8; ++rank) {
    const std::string name = "dlrm_v100x8_rank" + std::to_string(rank) + ".json.gz";
    HEADWAY_NEEDS_TRACE("execution_trace/" + name);
    const Recording graph = read_public("execution_trace/" + name);
    const Recording trace = read_public("kineto/" + name);
    EXPECT_EQ(graph.ranks.at(0).number, rank);
    ASSERT_EQ(graph.calls.size(), trace.calls.size());
    for (std::size_t i = 0; i < graph.calls.size(); ++i) {
      EXPECT_EQ(graph.calls[i].op, trace.calls[i].op);
      EXPECT_EQ(graph.calls[i].bytes, trace.calls[i].bytes);
    }
  }
}

TEST(ExecutionTracePublic, ResnetsSixteenWaitsAreNoCalls) {
  HEADWAY_NEEDS_TRACE("execution_trace/resnet_2gpu_1.1.0.json.gz");
  const Recording recording = read_public("execution_trace/resnet_2gpu_1.1.0.json.gz");
  EXPECT_EQ(count_of(recording, Operation::all_reduce), 15);
  EXPECT_EQ(count_of(recording, Operation::broadcast), 6);
  EXPECT_EQ(recording.groups.at(0).ranks, (std::vector<std::int64_t>{0, 1}));
}

// A node as PyTorch 2.15 writes it where gloo communicates: the arguments of the operation.
std::string node(int id, const std::string& name, const std::string& values,
                 const std::string& types, int parent = 2) {
  return R"({"id": )" + std::to_string(id) + R"(, "name": ")" + name + R"(", "ctrl_deps": )" +
         std::to_string(parent) + R"(, "inputs": {"values": [)" + values + R"(], "types": [)" +
         types + R"(]}, "outputs": {"values": [], "types": []}, "attrs": []},
)";
}
constexpr const char* kTensor = R"j("Tensor(float)")j";
constexpr const char* kList = R"j("GenericList[Tensor(float)]")j";
std::string tensor(int id, int elements, const std::string& device = "cpu") {
  return "[" + std::to_string(id) + ", 9, 0, " + std::to_string(elements) + ", 4, \"" + device +
         "\"]";
}
// {"pg_name": "0", "group_size": 4, ...} with no list of ranks: all of them.
std::string group(const std::string& name, int size, const std::string& ranks = "") {
  return R"({\"pg_name\": \")" + name + R"(\", \"pg_desc\": \"desc )" + name +
         R"(\", \"backend_config\": \"cpu:gloo,cuda:gloo\", \"ranks\": [)" + ranks +
         R"(], \"group_size\": )" + std::to_string(size) + R"(, \"group_count\": 1})";
}
std::string gloo_trace(const std::string& groups, const std::string& nodes) {
  std::string all =
      node(3, "## process_group:init ##", "\"[" + groups + "]\"", "\"String\"") + nodes;
  all.resize(all.size() - 2);  // the last comma
  return R"({"schema": "1.1.1-chakra.0.0.4", "pid": 7, "nodes": [)" + all + "]}";
}

TEST(ExecutionTrace, GloosCallsAreTheOperationsOfTheDispatcher) {
  const std::string four =
      tensor(30, 100) + ", " + tensor(31, 100) + ", " + tensor(32, 100) + ", " + tensor(33, 100);
  struct Expected {
    const char* name;
    std::string values;
    Operation op;
    double bytes;
    std::optional<std::int64_t> peer = std::nullopt;
  };
  // Sizes are of 4 ranks: the whole tensor, 4 B an element.
  const std::vector<Expected> all = {
      {"c10d::allreduce_",
       "[" + tensor(10, 384) + R"(], "<Object>", "<Object>", "<None>", true, -1)",
       Operation::all_reduce, 1536},
      {"c10d::allreduce_coalesced_", "[" + four + R"(], "<Object>", "<Object>", true, -1)",
       Operation::all_reduce, 1600},
      {"c10d::broadcast_", "[" + tensor(10, 50) + R"(], "<Object>", 2, 0, true, -1)",
       Operation::broadcast, 200, 2},
      {"c10d::reduce_", "[" + tensor(10, 50) + R"(], "<Object>", "<Object>", 3, 0, true, -1)",
       Operation::reduce, 200, 3},
      {"c10d::allgather_", "[[" + four + "]], [" + tensor(34, 100) + R"(], "<Object>", true, -1)",
       Operation::all_gather, 1600},
      {"c10d::_allgather_base_",
       tensor(35, 400) + ", " + tensor(34, 100) + R"(, "<Object>", false, -1)",
       Operation::all_gather, 1600},
      {"c10d::reduce_scatter_",
       "[" + tensor(34, 100) + "], [[" + four + R"(]], "<Object>", "<Object>", true, -1)",
       Operation::reduce_scatter, 1600},
      {"c10d::_reduce_scatter_base_",
       tensor(34, 100) + ", " + tensor(35, 400) + R"(, "<Object>", "<Object>", false, -1)",
       Operation::reduce_scatter, 1600},
      {"c10d::alltoall_base_",
       tensor(36, 80) + ", " + tensor(37, 120) +
           R"(, "<Object>", [20, 20, 20, 20], [30, 30, 30, 30], true, -1)",
       Operation::all_to_all, 480},
      {"c10d::alltoall_", "[" + four + "], [" + four + R"(], "<Object>", true, -1)",
       Operation::all_to_all, 1600},
      {"c10d::gather_", "[[" + four + "]], [" + tensor(34, 100) + R"(], "<Object>", 0, true, -1)",
       Operation::gather, 1600, 0},
      // The others of a gather and of a scatter see their part alone.
      {"c10d::gather_", "[[]], [" + tensor(34, 100) + R"(], "<Object>", 1, true, -1)",
       Operation::gather, 1600, 1},
      {"c10d::scatter_", "[" + tensor(34, 100) + "], [[" + four + R"(]], "<Object>", 0, true, -1)",
       Operation::scatter, 1600, 0},
      {"c10d::scatter_", "[" + tensor(34, 100) + R"(], [[]], "<Object>", 1, true, -1)",
       Operation::scatter, 1600, 1},
      {"c10d::send", "[" + tensor(38, 24576) + R"(], "<Object>", 2, 0)", Operation::send, 98304, 2},
      {"c10d::recv_", "[" + tensor(38, 24576) + R"(], "<Object>", 0, 0)", Operation::receive, 98304,
       0},
      {"c10d::recv_any_source_", "[" + tensor(38, 64) + R"(], "<Object>", 7)", Operation::receive,
       256},
      {"c10d::barrier", tensor(39, 0) + R"(, "<Object>", [], true, -1)", Operation::barrier, -1},
      {"c10d::monitored_barrier_", tensor(39, 0) + R"(, "<Object>", [], -1, false)",
       Operation::barrier, -1}};
  for (const Expected& expected : all) {
    // What the backend did is the same call once more, on another thread, and no other one.
    const Recording recording = read_text(
        gloo_trace(group("0", 4), node(7, expected.name, expected.values, kList) +
                                      node(9, "gloo:all_reduce", tensor(10, 384), kTensor, 5)));
    ASSERT_EQ(recording.calls.size(), 1u) << expected.name;
    const RecordedCall& call = recording.calls[0];
    EXPECT_EQ(call.op, expected.op) << expected.name;
    EXPECT_EQ(call.bytes, expected.bytes < 0 ? std::nullopt : std::optional(Bytes(expected.bytes)))
        << expected.name;
    EXPECT_EQ(call.peer, expected.peer) << expected.name;
    const bool sized = expected.bytes >= 0;
    EXPECT_EQ(call.type, sized ? std::optional(ElementType::fp32) : std::nullopt) << expected.name;
    EXPECT_EQ(call.time, TimeKind::none);
    EXPECT_EQ(group_size(recording, call), 4) << expected.name;
    EXPECT_EQ(recording.groups[*call.group].description, "desc 0");
    EXPECT_EQ(recording.groups[*call.group].ranks, (std::vector<std::int64_t>{0, 1, 2, 3}));
    EXPECT_EQ(recording.ranks.at(0).world_size, 4);
    EXPECT_EQ(omitted(recording, "calls without a size"), 0) << expected.name;
  }
}

TEST(ExecutionTrace, FunctionalCollectivesAndTheirWaitsAreNoSecondCalls) {
  const Recording recording = read_text(gloo_trace(
      group("0", 4),
      node(7, "_c10d_functional::all_reduce", tensor(10, 68) + R"(, "sum", "0")", kTensor) +
          node(8, "c10d::allreduce_", "[" + tensor(11, 68) + R"(], "<Object>", "<Object>")", kList,
               7) +
          node(9, "_c10d_functional::wait_tensor", tensor(11, 68), kTensor) +
          node(10, "FSDP::all_gather", "", "")));
  EXPECT_EQ(recording.calls.size(), 1u);
}

TEST(ExecutionTrace, WhereTheDispatcherIsNotRecordedTheBackendsOwnNodesAreTheCalls) {
  const Recording recording =
      read_text(gloo_trace(group("0", 4), node(7, "gloo:all_gather", tensor(10, 100), kTensor) +
                                              node(8, "gloo:send", tensor(10, 10), kTensor) +
                                              node(9, "gloo:recv", tensor(10, 20), kTensor)));
  ASSERT_EQ(recording.calls.size(), 3u);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(1600));  // one rank's part, of 4
  EXPECT_EQ(recording.calls[1].bytes, Bytes(40));
  EXPECT_EQ(recording.calls[2].bytes, Bytes(80));
}

TEST(ExecutionTrace, BesideNcclTheHostsCallsAreReadToo) {
  // The GPU's call is described below its operation, the host's is not.
  const Recording recording = read_text(gloo_trace(
      group("0", 2),
      node(7, "c10d::allreduce_", "[" + tensor(10, 8, "cuda:0") + R"(], "<Object>", "<Object>")",
           kList) +
          node(8, "record_param_comms",
               "[" + tensor(10, 8, "cuda:0") +
                   R"(], 5, ["0", "default_pg"], 1, "allreduce", [], [], 0, 1, 2)",
               kList, 7) +
          node(9, "nccl:all_reduce", tensor(10, 8, "cuda:0"), kTensor, 8) +
          node(11, "c10d::broadcast_", "[" + tensor(12, 6) + R"(], "<Object>", 0, 0)", kList)));
  ASSERT_EQ(recording.calls.size(), 2u);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(32));
  EXPECT_EQ(recording.calls[0].sequence, 5);
  EXPECT_EQ(recording.calls[1].op, Operation::broadcast);
  EXPECT_EQ(recording.calls[1].bytes, Bytes(24));
  EXPECT_EQ(recording.groups.size(), 1u);
}

TEST(ExecutionTrace, OfSeveralGroupsTheBuffersTellWhichOrNoneIsSaid) {
  const std::string nodes =
      node(7, "c10d::_allgather_base_",
           tensor(35, 200) + ", " + tensor(34, 100) + R"(, "<Object>", false, -1)", kTensor) +
      node(8, "c10d::_allgather_base_",
           tensor(35, 800) + ", " + tensor(34, 100) + R"(, "<Object>", false, -1)", kTensor) +
      node(9, "c10d::allreduce_", "[" + tensor(10, 8) + R"(], "<Object>", "<Object>")", kList) +
      node(10, "c10d::gather_", "[[]], [" + tensor(34, 100) + R"(], "<Object>", 1)",
           R"j("GenericList[GenericList[]]", "GenericList[Tensor(float)]")j");
  const Recording recording =
      read_text(gloo_trace(group("0", 4) + ", " + group("3", 2, "1, 3"), nodes));
  ASSERT_EQ(recording.calls.size(), 4u);
  EXPECT_EQ(recording.groups[*recording.calls[0].group].id, "3");
  EXPECT_EQ(recording.groups[*recording.calls[0].group].ranks, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(group_size(recording, recording.calls[1]), 8);  // a group made later
  EXPECT_FALSE(recording.groups[*recording.calls[1].group].named);
  EXPECT_FALSE(recording.calls[2].group);
  EXPECT_EQ(recording.calls[2].bytes, Bytes(32));
  EXPECT_FALSE(recording.calls[3].bytes);
  EXPECT_EQ(recording.calls[3].counted_bytes, Bytes(400));
  EXPECT_EQ(recording.calls[3].type, ElementType::fp32);
  EXPECT_EQ(omitted(recording, kCallsWithoutGroup), 2);
  EXPECT_EQ(recording.ranks.at(0).world_size, 4);
}

TEST(ExecutionTrace, TheOtherEndOfASendIsNamedByItsGlobalRank) {
  const Recording recording = read_text(
      gloo_trace(group("3", 2, "5, 9"),
                 node(7, "c10d::send", "[" + tensor(38, 4) + R"(], "<Object>", 1, 0)", kList)));
  EXPECT_EQ(recording.calls.at(0).peer, 9);
}

TEST(ExecutionTrace, ALieAboutTheSizeOfGroupsTakesNoMemory) {
  std::string groups;
  for (int i = 0; i < 1000; ++i) groups += group(std::to_string(i), 1'000'000) + ", ";
  const Recording recording = read_text(gloo_trace(
      groups + group("x", 2),
      node(7, "c10d::allreduce_", "[" + tensor(10, 8) + R"(], "<Object>", "<Object>")", kList)));
  std::size_t ranks = 0;
  for (const RecordedGroup& one : recording.groups) ranks += one.ranks.size();
  EXPECT_LE(ranks, 2'000'000u);
}

TEST(ExecutionTracePublic, GlooRunsHoldTheCallsThatTheirDispatcherSaw) {
  // The recorded steps 2, 3 and 4 of three runs of four ranks, by the log of their dispatcher and,
  // for the all-reduce of the gradient norm (272 B) that it misses, by their flight recorder.
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
    for (const std::int64_t other : {rank - 1, rank + 1}) {
      if (other < 0 || other > 3) continue;
      pipeline[{Operation::send, 98304, other}] = 3 * 8;
      pipeline[{Operation::receive, 98304, other}] = 3 * 8;
    }
    for (const auto& [run, expected] : {std::pair{"ddp", ddp}, {"fsdp2", fsdp}, {"pp", pipeline}}) {
      const std::string file =
          std::string("torch/") + run + "/et_rank" + std::to_string(rank) + ".json.gz";
      HEADWAY_NEEDS_TRACE(file);
      const Recording recording = read_public(file);
      Calls found;
      for (const RecordedCall& call : recording.calls) {
        ASSERT_TRUE(call.bytes);
        ++found[{call.op, call.bytes->value(), call.peer.value_or(-1)}];
        EXPECT_EQ(group_size(recording, call), 4);
        EXPECT_EQ(call.type, ElementType::fp32);
        const bool scatters = call.op == Operation::reduce_scatter;
        EXPECT_EQ(call.done_as, scatters ? std::optional(Operation::all_reduce) : std::nullopt);
      }
      EXPECT_EQ(found, expected) << file;
      EXPECT_EQ(recording.ranks.at(0).number, rank);
      EXPECT_EQ(recording.ranks[0].world_size, 4);
      EXPECT_TRUE(recording.omissions.empty()) << recording.omissions.front().what;
    }
  }
}

}  // namespace
}  // namespace headway
