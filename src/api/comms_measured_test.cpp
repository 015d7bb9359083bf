// headway comms TRACE... as a whole: what the public traces are known to hold, and small ones.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "api/commands.hpp"
#include "base/document/csv.hpp"
#include "platform/files.hpp"
#include "platform/temporary_folder_for_test.hpp"
#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;
using JsonTree = nlohmann::json;

std::string shared(const std::string& name) {
  return trace_folder() + "/" + name;
}

JsonTree json_of(const std::vector<std::string>& files) {
  CommsRequest request;
  request.files = files;
  request.json = true;
  const CommandOutput output = run_comms(request);
  EXPECT_TRUE(output.problems.empty()) << problems_text(output.problems);
  EXPECT_EQ(output.exit_code, 0);
  return JsonTree::parse(output.text, nullptr, false);
}

std::string text_of(const std::vector<std::string>& files) {
  CommsRequest request;
  request.files = files;
  const CommandOutput output = run_comms(request);
  EXPECT_TRUE(output.problems.empty()) << problems_text(output.problems);
  return output.text;
}

// The sum of a field over the rows of an operation.
double sum_of(const JsonTree& document, const std::string& op, const std::string& field) {
  double sum = 0;
  for (const JsonTree& row : document["calls_by_group"]) {
    if (row["op"] == op && !row[field].is_null()) sum += row[field].get<double>();
  }
  return sum;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  return widest;
}

std::vector<std::string> dlrm(const std::string& kind) {
  std::vector<std::string> files;
  for (int rank = 0; rank < 8; ++rank) {
    files.push_back(shared(kind + "/dlrm_v100x8_rank" + std::to_string(rank) + ".json.gz"));
  }
  return files;
}

class Outputs : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.of(name); }
  std::string file(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  static std::string read(const std::string& path) { return read_file(path).value(); }
  testing::TemporaryFolder folder_;
};

// ---- the public traces ----

TEST(CommsPublic, A100DdpHas15AllReducesAnd6BroadcastsWithSizesOfAGroupOfTwo) {
  HEADWAY_NEEDS_TRACE("kineto/a100x2_ddp_rank0.json.gz");
  const JsonTree document = json_of({shared("kineto/a100x2_ddp_rank0.json.gz")});
  EXPECT_EQ(document["format"], "PyTorch Kineto trace");
  EXPECT_EQ(sum_of(document, "all_reduce", "count"), 15);
  EXPECT_EQ(sum_of(document, "all_reduce", "sized"), 15);
  EXPECT_EQ(sum_of(document, "broadcast", "count"), 6);
  EXPECT_EQ(sum_of(document, "broadcast", "sized"), 6);
  for (const JsonTree& row : document["calls_by_group"]) {
    EXPECT_EQ(row["ranks"], 2);
    EXPECT_EQ(row["time_kind"], "kernel");
    EXPECT_EQ(row["bytes"], row["wire_bytes"]);  // of two ranks, 2 (n-1)/n is 1
  }
  EXPECT_TRUE(document["ranks_waiting"].is_null());  // one rank
  EXPECT_NEAR(document["overlap"][0]["hidden_s"].get<double>(), 7317.0e-6, 3e-6);
}

TEST(CommsPublic, EachDlrmRankHas5AllToAllsAnd3AllReduces) {
  HEADWAY_NEEDS_TRACE("kineto/dlrm_v100x8_rank7.json.gz");
  for (const std::string& file : dlrm("kineto")) {
    const JsonTree document = json_of({file});
    EXPECT_EQ(sum_of(document, "all_to_all", "count"), 5) << file;
    EXPECT_EQ(sum_of(document, "all_reduce", "count"), 3) << file;
  }
}

TEST(CommsPublic, TheDlrmAllToAllOf7635MicrosecondsIs10OfTransferAndWaitingForRank7) {
  HEADWAY_NEEDS_TRACE("kineto/dlrm_v100x8_rank7.json.gz");
  const JsonTree document = json_of(dlrm("kineto"));
  const double microseconds[] = {2146, 7635, 518, 6132, 4882, 4679, 514, 10};
  int found = 0;
  for (const JsonTree& matched : document["matched"]) {
    if (std::abs(matched["seconds"][1].get<double>() - 7635e-6) > 1e-9) continue;
    ++found;
    EXPECT_EQ(matched["op"], "all_to_all");
    EXPECT_EQ(matched["complete"], true);
    EXPECT_EQ(matched["last_rank"], 7);
    EXPECT_NEAR(matched["transfer_s"].get<double>(), 10e-6, 1e-12);
    for (std::size_t rank = 0; rank < 8; ++rank) {
      EXPECT_NEAR(matched["seconds"][rank].get<double>(), microseconds[rank] * 1e-6, 1e-12);
      EXPECT_NEAR(matched["waiting_s"][rank].get<double>(), (microseconds[rank] - 10) * 1e-6,
                  1e-12);
    }
  }
  EXPECT_EQ(found, 1);
  EXPECT_EQ(document["matched"].size(), 8u);
  EXPECT_EQ(sum_of(document, "all_to_all", "ranks"), 8);  // found by matching
  for (const JsonTree& rank : document["overlap"]) {
    EXPECT_NEAR(rank["compute_s"].get<double>() + rank["exposed_s"].get<double>() +
                    rank["idle_s"].get<double>(),
                rank["span_s"].get<double>(), 1e-9);
  }
  const std::string text = text_of(dlrm("kineto"));
  EXPECT_NE(text.find("rank 1 waited 7.63 ms for rank 7 in one all_to_all"), std::string::npos);
}

TEST(CommsPublic, ExecutionTracesOfTheSameRunHaveItsCallsAndNoTimes) {
  HEADWAY_NEEDS_TRACE("execution_trace/dlrm_v100x8_rank7.json.gz");
  const JsonTree graph = json_of(dlrm("execution_trace")), trace = json_of(dlrm("kineto"));
  for (const char* op : {"all_to_all", "all_reduce"}) {
    EXPECT_EQ(sum_of(graph, op, "count"), sum_of(trace, op, "count"));
    EXPECT_EQ(sum_of(graph, op, "bytes"), sum_of(trace, op, "bytes"));
  }
  EXPECT_TRUE(graph["calls_by_group"][0]["seconds"].is_null());
  EXPECT_TRUE(graph["overlap"].is_null());
  EXPECT_EQ(graph["histogram"], trace["histogram"]);
}

TEST(CommsPublic, Resnets27NodesAre21Calls) {
  HEADWAY_NEEDS_TRACE("execution_trace/resnet_2gpu_1.1.0.json.gz");
  const JsonTree document = json_of({shared("execution_trace/resnet_2gpu_1.1.0.json.gz")});
  EXPECT_EQ(sum_of(document, "all_reduce", "sized"), 15);
  EXPECT_EQ(sum_of(document, "broadcast", "sized"), 6);
}

TEST(CommsPublic, OldFormatsAreReadAndSayWhatIsMissing) {
  HEADWAY_NEEDS_TRACE("kineto/mi250_rocm.json.gz");
  for (const auto& [name, said] : {std::pair{"mi250_rocm", "no communication in the trace"},
                                   {"cpu_only_rank34", "no GPU kernel in the trace"},
                                   {"rank0_of_128", "calls without a group: 8"},
                                   {"rank1_of_128", "calls without a group: 8"}}) {
    const std::string text = text_of({shared("kineto/" + std::string(name) + ".json.gz")});
    EXPECT_NE(text.find(said), std::string::npos) << text;
  }
}

TEST(CommsPublic, ChakrasNodesHold7SizedCollectives) {
  HEADWAY_NEEDS_TRACE("chakra/chakra.0.et");
  const JsonTree document = json_of({shared("chakra/chakra.0.et")});
  EXPECT_EQ(sum_of(document, "all_reduce", "sized") + sum_of(document, "broadcast", "sized"), 7);
  const std::string packed = text_of({shared("chakra/chakra.0.json.gz")});
  EXPECT_NE(packed.find("no sizes in this trace"), std::string::npos);
  EXPECT_EQ(packed.find("message sizes"), std::string::npos);
}

TEST(CommsPublic, ChakraMicroBenchmarksMoveOneMebibyteARank) {
  HEADWAY_NEEDS_TRACE("chakra/8npus_1MB_all_reduce.0.et");
  std::vector<std::string> files;
  for (int rank = 0; rank < 8; ++rank) {
    files.push_back(shared("chakra/8npus_1MB_all_reduce." + std::to_string(rank) + ".et"));
  }
  const JsonTree document = json_of(files);
  EXPECT_EQ(sum_of(document, "all_reduce", "count"), 8);
  EXPECT_EQ(sum_of(document, "all_reduce", "largest_bytes"), 1048576);
  EXPECT_EQ(document["ranks"].size(), 8u);
}

TEST(CommsPublic, TheNcclProfilersCollEventIsNotTakenForTransferTime) {
  HEADWAY_NEEDS_TRACE("nccl_profiler/events_v5.jsonl");
  const JsonTree document = json_of({shared("nccl_profiler/events_v5.jsonl")});
  ASSERT_EQ(document["calls_by_group"].size(), 1u);
  const JsonTree& row = document["calls_by_group"][0];
  EXPECT_EQ(row["time_kind"], "kernel");
  EXPECT_EQ(row["recorded_ranks"], 4);
  // Enqueue took 20 to 34 us; the fastest kernel, which did two calls, more than a millisecond.
  EXPECT_GT(row["shortest_s"].get<double>(), 0.5e-3);
}

TEST(CommsPublic, NcclDebugLinesOfThreeDialectsHaveTheSizesOfTheirCounts) {
  HEADWAY_NEEDS_TRACE("nccl_debug_lines.txt");
  const JsonTree document = json_of({shared("nccl_debug_lines.txt")});
  // 2,097,152 fp32 of one rank, of two ranks; 268,435,456 fp16 of eight.
  EXPECT_EQ(sum_of(document, "all_gather", "bytes"), 2097152.0 * 4 * 2);
  EXPECT_EQ(sum_of(document, "all_reduce", "bytes"), 268435456.0 * 2);
  EXPECT_TRUE(document["calls_by_group"][0]["seconds"].is_null());
}

// busbw as nccl-tests printed it itself, for every row of the log.
TEST(CommsPublic, NcclTestsBusbwIsWhatTheLogPrints) {
  HEADWAY_NEEDS_TRACE("nccl_tests/nccl_allreduce.log");
  const testing::TemporaryFolder folder;
  for (const std::string name :
       {"allreduce", "allgather", "reducescatter", "alltoall", "broadcast", "reduce"}) {
    CommsRequest request;
    request.files = {shared("nccl_tests/nccl_" + name + ".log")};
    request.csv = folder.of("calls.csv");
    ASSERT_TRUE(run_comms(request).problems.empty());
    const auto table = parse_csv(read_file(request.csv).value(), "");
    ASSERT_TRUE(table.ok());
    // Rows of the log by size: the last columns are time algbw busbw N/A for both places.
    std::map<double, std::vector<double>> printed;
    std::ifstream log(request.files[0]);
    for (std::string line; std::getline(log, line);) {
      std::istringstream words(line);
      std::vector<std::string> row;
      for (std::string word; words >> word;) row.push_back(word);
      if (row.size() < 9 || row[0].find_first_not_of("0123456789") != std::string::npos) continue;
      const std::size_t end = row.size();
      printed[std::stod(row[0])] = {std::stod(row[end - 6]), std::stod(row[end - 2])};
    }
    ASSERT_GT(printed.size(), 20u) << name;
    int compared = 0;
    for (const CsvRow& row : table->rows) {
      const std::string& rate = row.cells[*table->column("busbw_bytes_per_s")];
      const double bytes = std::stod(row.cells[*table->column("bytes")]);
      if (rate.empty() || bytes == 0) continue;
      const bool in_place = row.cells[*table->column("in_place")] == "1";
      const double expected = printed.at(bytes)[in_place ? 1 : 0];
      EXPECT_NEAR(std::stod(rate) / 1e9, expected, 0.0051 + 0.002 * expected) << name << bytes;
      ++compared;
    }
    EXPECT_GT(compared, 50) << name;
  }
}

TEST(CommsPublic, NoLineIsWiderThanATerminal) {
  HEADWAY_NEEDS_TRACE("kineto/dlrm_v100x8_rank7.json.gz");
  int traces = 0;
  for (const auto& entry : fs::recursive_directory_iterator(trace_folder())) {
    const std::string path = entry.path().string();
    if (!entry.is_regular_file()) continue;
    // Licences, truths and descriptions lie among them.
    const auto trace = read_trace(path);
    if (!trace && trace.problems().front().kind == Trouble::unknown) continue;
    ++traces;
    std::string text = text_of({path});
    text.erase(0, text.find('\n') + 1);  // the first line names the file
    EXPECT_LE(widest_line(text), 80u) << text;
  }
  EXPECT_GE(traces, 40);
}

// ---- small traces ----

// One rank of two: an all-reduce of 1,024 floats ends at 40 us on both; rank 1 comes 20 us later.
std::string kineto(int rank) {
  const std::string start = rank == 0 ? "10" : "30", duration = rank == 0 ? "30" : "10";
  return R"({"schemaVersion": 1, "distributedInfo": {"rank": )" + std::to_string(rank) +
         R"(, "world_size": 2}, "traceEvents": [
  {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 0, "dur": 20, "args": {"stream": 7}},
  {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ts": )" +
         start + R"(, "dur": )" + duration +
         R"(, "args": {"stream": 20, "Collective name": "allreduce",
   "In msg nelems": 1024, "Out msg nelems": 1024, "Group size": 2, "dtype": "Float",
   "Process Group Name": "0", "Process Group Description": "default_pg",
   "Process Group Ranks": "[0, 1]"}}]})";
}

TEST_F(Outputs, TwoRanksByHand) {
  const JsonTree document = json_of({file("rank0.json", kineto(0)), file("rank1.json", kineto(1))});
  ASSERT_EQ(document["calls_by_group"].size(), 1u);
  const JsonTree& row = document["calls_by_group"][0];
  EXPECT_EQ(row["group"], "default_pg");
  EXPECT_EQ(row["count"], 2);
  EXPECT_EQ(row["bytes"], 2 * 4096);
  EXPECT_EQ(row["wire_bytes"], 2 * 4096);
  EXPECT_NEAR(row["seconds"].get<double>(), 40e-6, 1e-12);
  EXPECT_NEAR(row["busbw_bytes_per_s"].get<double>(), 8192 / 40e-6, 1);
  EXPECT_EQ(document["ranks_waiting"][0]["times_last"], 0);
  EXPECT_EQ(document["ranks_waiting"][1]["times_last"], 1);
  EXPECT_NEAR(document["ranks_waiting"][0]["waiting_s"].get<double>(), 20e-6, 1e-12);
  EXPECT_NEAR(document["waiting_by_group"][0]["transfer_busbw_bytes_per_s"].get<double>(),
              4096 / 10e-6, 1);
  // Rank 0: 0 to 20 computes, 10 to 40 communicates.
  EXPECT_NEAR(document["overlap"][0]["hidden_s"].get<double>(), 10e-6, 1e-12);
  EXPECT_NEAR(document["overlap"][0]["exposed_s"].get<double>(), 20e-6, 1e-12);
  EXPECT_NEAR(document["overlap"][1]["idle_s"].get<double>(), 10e-6, 1e-12);
  EXPECT_EQ(document["histogram"]["bins"].size(), 1u);
  EXPECT_EQ(document["histogram"]["bins"][0]["from_bytes"], 4096);
  EXPECT_TRUE(document["notes"].empty());
}

TEST_F(Outputs, AFolderIsTheRanksInIt) {
  file("rank1.json", kineto(1));
  file("rank0.json", kineto(0));
  const JsonTree folder = json_of({folder_.path().string()});
  EXPECT_EQ(folder["matched"].size(), 1u);
  EXPECT_EQ(folder["ranks"][0]["rank"], 0);
}

TEST_F(Outputs, WhatIsUnknownIsNullInJsonAndEmptyInCsv) {
  CommsRequest request;
  request.files = {file("t.json", R"({"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat":
      "kernel", "name": "ncclKernel_AllReduce", "ts": 1, "dur": 5, "args": {}}]})")};
  request.csv = path("calls.csv");
  request.json = true;
  const JsonTree document = JsonTree::parse(run_comms(request).text);
  for (const char* field : {"group", "ranks", "bytes", "wire_bytes", "smallest_bytes",
                            "largest_bytes", "busbw_bytes_per_s"}) {
    EXPECT_TRUE(document["calls_by_group"][0][field].is_null()) << field;
  }
  for (const char* field : {"ranks_waiting", "overlap", "histogram", "clock_error_s"}) {
    EXPECT_TRUE(document[field].is_null()) << field;
  }
  EXPECT_TRUE(document["ranks"][0]["rank"].is_null());
  const auto table = parse_csv(read(request.csv), "");
  ASSERT_EQ(table->rows.size(), 1u);
  for (const char* column : {"rank", "group_id", "bytes", "dtype", "transfer_s", "stream",
                             "busbw_bytes_per_s", "collective", "in_place"}) {
    EXPECT_EQ(table->rows[0].cells[*table->column(column)], "") << column;
  }
  EXPECT_EQ(table->rows[0].cells[*table->column("op")], "all_reduce");
}

TEST_F(Outputs, EverythingAskedForIsWrittenAndTheSameBytesAgain) {
  CommsRequest request;
  request.files = {file("rank0.json", kineto(0)), file("rank1.json", kineto(1))};
  request.csv = path("calls.csv");
  request.save = path("run.sqlite");
  request.plot = path("drawings");
  request.fields = {{"cluster", "dgx-a100-40gb"}};
  ASSERT_TRUE(run_comms(request).problems.empty());
  std::map<std::string, std::string> first;
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
    if (entry.is_regular_file()) first[entry.path().string()] = read(entry.path().string());
  }
  EXPECT_EQ(first.size(), 2u + 2u + 4u);
  for (const char* name : {"volume", "sizes", "timeline", "busbw"}) {
    EXPECT_TRUE(first[path("drawings/" + std::string(name) + ".svg")].starts_with("<svg ")) << name;
  }
  ASSERT_TRUE(run_comms(request).problems.empty());  // over what it wrote itself
  for (const auto& [name, bytes] : first) EXPECT_EQ(read(name), bytes) << name;
}

TEST_F(Outputs, TheCeilingOfBusbwIsThereOnlyWithACluster) {
  CommsRequest request;
  request.files = {file("rank0.json", kineto(0))};
  request.plot = path("plain");
  ASSERT_TRUE(run_comms(request).problems.empty());
  EXPECT_EQ(read(path("plain/busbw.svg")).find("dasharray"), std::string::npos);
  request.plot = path("expected");
  request.fields = {{"cluster", "dgx-a100-40gb"}};
  ASSERT_TRUE(run_comms(request).problems.empty());
  EXPECT_NE(read(path("expected/busbw.svg")).find("dasharray"), std::string::npos);
}

TEST_F(Outputs, NothingIsWrittenWhereOneThingIsWrong) {
  const std::string trace = file("rank0.json", kineto(0));
  const std::string thesis = file("thesis.txt", "years of work");
  CommsRequest request;
  request.files = {trace};
  request.csv = path("calls.csv");
  request.plot = path("drawings");
  request.save = thesis;
  EXPECT_FALSE(run_comms(request).problems.empty());
  EXPECT_EQ(read(thesis), "years of work");
  request.save = path("missing/run.sqlite");
  EXPECT_FALSE(run_comms(request).problems.empty());
  request.save = path("run.sqlite");
  request.csv = path("missing/calls.csv");
  EXPECT_FALSE(run_comms(request).problems.empty());
  request.csv = path("calls.csv");
  request.fields = {{"cluster", "dgx-z9"}};
  EXPECT_FALSE(run_comms(request).problems.empty());
  for (const char* name : {"calls.csv", "drawings", "run.sqlite", "run.sqlite.part"}) {
    EXPECT_FALSE(fs::exists(path(name))) << name;
  }
}

TEST_F(Outputs, ATraceIsNotReplacedByWhatIsSaidOfIt) {
  CommsRequest request;
  request.files = {file("rank0.json", kineto(0))};
  request.csv = path("./rank0.json");
  ASSERT_EQ(run_comms(request).problems.size(), 1u);
  EXPECT_EQ(read(path("rank0.json")), kineto(0));
}

TEST_F(Outputs, AFileThatCannotBeReadIsAWarningAndNoneThatCanBeAProblem) {
  CommsRequest request;
  request.files = {file("rank0.json", kineto(0)), path("absent.json")};
  const CommandOutput some = run_comms(request);
  EXPECT_TRUE(some.problems.empty());
  ASSERT_EQ(some.warnings.size(), 1u);
  EXPECT_NE(warnings_text(some.warnings).find("absent.json: cannot be opened"), std::string::npos);
  EXPECT_NE(some.text.find("default_pg"), std::string::npos);
  request.files = {file("config.json", R"({"hidden_size": 4096})"), path("absent.json")};
  const CommandOutput none = run_comms(request);
  ASSERT_EQ(none.problems.size(), 2u);
  EXPECT_NE(none.problems[0].message.find("'hidden_size'"), std::string::npos);
  EXPECT_EQ(none.text, "");
}

TEST_F(Outputs, DamageIsAWarningAndWhatIsMissingANote) {
  CommsRequest request;
  const std::string whole = kineto(0);
  request.files = {file("cut.json", whole.substr(0, whole.size() - 1))};
  const CommandOutput output = run_comms(request);
  EXPECT_EQ(output.exit_code, 0);
  ASSERT_EQ(output.warnings.size(), 1u);
  EXPECT_NE(output.warnings[0].message.find("ends in the middle"), std::string::npos);
  EXPECT_NE(output.text.find("note: one rank is recorded"), std::string::npos);
}

TEST_F(Outputs, HostileNamesReachNeitherTerminalNorDrawingRaw) {
  std::string trace = kineto(0);
  const std::string name = "default_pg";
  trace.replace(trace.find(name), name.size(), "\\u001b[31m<script>\\\"&,\\n");
  CommsRequest request;
  request.files = {file("t.json", trace)};
  request.csv = path("calls.csv");
  request.plot = path("drawings");
  const CommandOutput output = run_comms(request);
  ASSERT_TRUE(output.problems.empty());
  EXPECT_EQ(output.text.find('\x1b'), std::string::npos);
  EXPECT_EQ(read(path("drawings/volume.svg")).find("<script>"), std::string::npos);
  EXPECT_EQ(parse_csv(read(path("calls.csv")), "")->rows.size(), 1u);
}

// 40 ranks of one group whose name is long.
TEST_F(Outputs, ManyRanksAreTheirSpreadAndTheLatest) {
  std::vector<std::string> files;
  for (int rank = 0; rank < 40; ++rank) {
    std::string trace = kineto(rank == 33 ? 1 : 0);
    const auto replace = [&](const std::string& from, const std::string& to) {
      trace.replace(trace.find(from), from.size(), to);
    };
    replace(rank == 33 ? "\"rank\": 1" : "\"rank\": 0", "\"rank\": " + std::to_string(rank));
    replace("\"world_size\": 2", "\"world_size\": 40");
    replace("\"Group size\": 2", "\"Group size\": 40");
    replace("[0, 1]", "[0, ..., 39]");
    replace("default_pg", "A_GROUP_WHOSE_NAME_IS_LONGER_THAN_A_LINE_OF_A_TERMINAL_COULD_EVER_BE");
    files.push_back(file("rank" + std::to_string(rank) + ".json", trace));
  }
  const std::string text = text_of(files);
  EXPECT_LE(widest_line(text), 80u) << text;
  EXPECT_NE(text.find("40 ranks (0 to 39)"), std::string::npos) << text;
  EXPECT_NE(text.find("rank 33, 1x"), std::string::npos) << text;
  EXPECT_NE(text.find("median"), std::string::npos);
  EXPECT_EQ(text.find("\n  rank 20 "), std::string::npos);
}

}  // namespace
}  // namespace headway
