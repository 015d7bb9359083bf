#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "api/commands.hpp"
#include "base/document/csv.hpp"
#include "base/source_dir_for_test.hpp"
#include "cost/calibration/calibration.hpp"
#include "forecast/random_run_for_test.hpp"
#include "platform/files.hpp"
#include "platform/paths.hpp"
#include "platform/temporary_folder_for_test.hpp"
#include "study/reconcile/synthetic_recording_for_test.hpp"
#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

using JsonTree = nlohmann::json;

const std::string kRunFile = source_dir() + "/examples/small-llama-ddp.toml";
const std::string kTraces = source_dir() + "/examples/traces/small-llama-ddp";

// The run of the example as a case that recordings can be made of.
testing::Case example_case() {
  const auto fields = read_run_file(kRunFile);
  EXPECT_TRUE(fields.ok());
  const auto run = make_run(*fields);
  EXPECT_TRUE(run.ok());
  return {*run, calibration_for(run->cluster).value()};
}

// A recording as the PyTorch profiler writes it, of one rank; kernels behind a product each.
std::string kineto_text(const Recording& recording, std::uint32_t rank) {
  static constexpr const char* kKineto[] = {"allreduce",  "_allgather_base", "_reduce_scatter_base",
                                            "all_to_all", "broadcast",       "send"};
  std::ostringstream events;
  events.precision(17);
  events << R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1,
    "ts": 0, "dur": 400000})";
  for (const RecordedCall& call : recording.calls) {
    if (call.rank != rank) continue;
    const RecordedGroup& group = recording.groups[*call.group];
    const double elements = call.bytes->value() / 4;
    const double ranks = static_cast<double>(*group.size);
    const double in = call.op == Operation::all_gather ? elements / ranks : elements;
    const double out = call.op == Operation::reduce_scatter ? elements / ranks : elements;
    const double start = static_cast<double>(*call.start_ns) / 1e3;
    std::string members;
    for (const std::int64_t member : group.ranks) {
      members += (members.empty() ? "[" : ", ") + std::to_string(member);
    }
    events << R"(, {"ph": "X", "cat": "kernel", "name": "sm80_xmma_gemm_bf16", "pid": 0, "tid": 7,
      "ts": )"
           << start - 1500 << R"(, "dur": 1600, "args": {"stream": 7, "device": 0}})"
           << R"js(, {"ph": "X", "cat": "kernel", "pid": 0, "tid": 20, "name":
      "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ts": )js"
           << start << R"(, "dur": )" << call.duration->value() * 1e6
           << R"(, "args": {"stream": 20, "device": 0, "dtype": "Float", "Collective name": ")"
           << kKineto[static_cast<std::size_t>(call.op)] << R"(", "In msg nelems": )"
           << std::llround(in) << R"(, "Out msg nelems": )" << std::llround(out)
           << R"(, "Group size": )" << *group.size
           << R"(, "Process Group Name": "0", "Process Group Description": "default_pg",
      "Process Group Ranks": ")"
           << members << R"(]", "Seq": )" << *call.sequence << "}}";
  }
  std::ostringstream document;
  document << R"({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": )"
           << *recording.ranks[rank].number << R"(, "world_size": )"
           << *recording.ranks[rank].world_size << R"(}, "traceEvents": [)" << events.str()
           << "]}\n";
  return document.str();
}

class CommsCompared : public ::testing::Test {
 protected:
  std::vector<std::string> write(const Recording& recording) {
    std::vector<std::string> paths;
    for (std::uint32_t rank = 0; rank < recording.ranks.size(); ++rank) {
      paths.push_back(
          folder_.write("rank" + std::to_string(rank) + ".json", kineto_text(recording, rank)));
    }
    return paths;
  }

  static CommandOutput compared(const std::vector<std::string>& traces, bool json = true,
                                const std::string& csv = {}) {
    CommsRequest request;
    request.files = {kRunFile};
    request.traces = traces;
    request.json = json;
    request.csv = csv;
    return run_comms(request);
  }

  testing::TemporaryFolder folder_;
};

// One step of four ranks, each call 1.5 ms behind a product of 1.6 ms that hides its start.
Recording example_recording() {
  Recording recording =
      testing::recording_of(example_case(), {0, 1, 2, 3}, 1, testing::GroupsTold::by_ranks);
  std::vector<std::int64_t> calls(4, 0);
  for (RecordedCall& call : recording.calls) {
    call.start_ns = 2'000'000 + 4'000'000 * calls[call.rank]++;
  }
  return recording;
}

TEST_F(CommsCompared, AKinetoTraceOfAStepThatDoesAsExpectedIsFoundSo) {
  const CommandOutput output = compared(write(example_recording()));
  ASSERT_TRUE(output.problems.empty()) << problems_text(output.problems);
  EXPECT_EQ(output.exit_code, 0);
  const JsonTree document = JsonTree::parse(output.text);
  EXPECT_EQ(document["as_expected"], true) << document["verdict"];
  EXPECT_EQ(document["steps_by"], "marked by the profiler");
  EXPECT_EQ(document["recorded_ranks"], 4);
  EXPECT_NEAR(document["expected_s"].get<double>(), document["transfer_s"].get<double>(),
              0.01 * document["expected_s"].get<double>());
  // A product hides 0.1 ms of each call; what is left is exposed.
  EXPECT_GT(document["exposed_s"].get<double>(), 0);
  EXPECT_LT(document["exposed_s"].get<double>(), document["measured_s"].get<double>());
}

TEST_F(CommsCompared, ALinkAtATenthOfItsSpeedIsTheFirstFindingWithItsSeconds) {
  Recording recording = example_recording();
  double lost = 0;
  for (RecordedCall& call : recording.calls) {
    if (*call.bytes <= kSmallCall) continue;
    lost += 9 * call.duration->value() / 4;  // of one rank
    *call.duration *= 10;
    call.start_ns = *call.start_ns * 10;
  }
  const JsonTree document = JsonTree::parse(compared(write(recording)).text);
  ASSERT_EQ(document["findings"].size(), 1u) << document["verdict"];
  EXPECT_EQ(document["findings"][0]["kind"], "slow link");
  EXPECT_NEAR(document["findings"][0]["lost_s"].get<double>(), lost, 0.01 * lost);
  EXPECT_NE(document["verdict"].get<std::string>().find("takes 10x the model"), std::string::npos);
}

TEST_F(CommsCompared, TheExampleShowsARankThatComesLate) {
  std::vector<std::string> traces;
  for (int rank = 0; rank < 4; ++rank) {
    traces.push_back(kTraces + "/rank" + std::to_string(rank) + ".json");
    ASSERT_TRUE(exists(traces.back()));
  }
  const JsonTree document = JsonTree::parse(compared(traces).text);
  const auto& findings = document["findings"];
  const auto late = std::find_if(findings.begin(), findings.end(),
                                 [](const auto& found) { return found["kind"] == "waiting"; });
  ASSERT_NE(late, findings.end());
  EXPECT_EQ((*late)["ranks"], JsonTree({2}));
}

TEST_F(CommsCompared, TextFits80ColumnsAndTheTableOfAllRowsIsCsv) {
  Recording recording = example_recording();
  for (RecordedCall& call : recording.calls) {
    if (call.rank != 1) *call.duration += Seconds(0.123);
    if (*call.bytes > kSmallCall) *call.bytes *= 1.5;
  }
  const std::string csv = folder_.of("rows.csv");
  const CommandOutput output = compared(write(recording), false, csv);
  ASSERT_TRUE(output.problems.empty()) << problems_text(output.problems);
  std::size_t begin = 0;
  while (begin < output.text.size()) {
    const std::size_t end = output.text.find('\n', begin);
    EXPECT_LE(end - begin, 80u) << output.text.substr(begin, end - begin);
    begin = end + 1;
  }
  const auto text = read_file(csv);
  ASSERT_TRUE(text.ok());
  const auto table = parse_csv(*text, csv);
  ASSERT_TRUE(table.ok());
  EXPECT_GE(table->rows.size(), 2u);
  EXPECT_EQ(table->rows.front().cells[*table->column("match")], "resized");
}

TEST_F(CommsCompared, AllThatIsWrongIsSaidAtOnceAndNothingWritten) {
  const std::string csv = folder_.of("rows.csv");
  CommsRequest request;
  request.files = {kRunFile};
  request.traces = {folder_.of("none.json")};
  request.fields = {{"tp", "three", "--tp"}};
  request.save = "x.sqlite";
  request.csv = csv;
  const CommandOutput output = run_comms(request);
  EXPECT_GE(output.problems.size(), 2u);
  EXPECT_TRUE(output.text.empty());
  EXPECT_FALSE(exists(csv));
}

}  // namespace
}  // namespace headway
