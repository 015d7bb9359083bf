// headway comms TRACE... as a whole: what the public traces are known to hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "api/comms_for_test.hpp"
#include "base/document/csv.hpp"
#include "platform/files.hpp"
#include "platform/temporary_folder_for_test.hpp"
#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;
using JsonTree = nlohmann::json;
using testing::comms::json_of;
using testing::comms::text_of;
using testing::comms::widest_line;

std::string shared(const std::string& name) {
  return trace_folder() + "/" + name;
}

// The sum of a field over the rows of an operation.
double sum_of(const JsonTree& document, const std::string& op, const std::string& field) {
  double sum = 0;
  for (const JsonTree& row : document["calls_by_group"]) {
    if (row["op"] == op && !row[field].is_null()) sum += row[field].get<double>();
  }
  return sum;
}

std::vector<std::string> dlrm(const std::string& kind) {
  std::vector<std::string> files;
  for (int rank = 0; rank < 8; ++rank) {
    files.push_back(shared(kind + "/dlrm_v100x8_rank" + std::to_string(rank) + ".json.gz"));
  }
  return files;
}

TEST(CommsPublic, A100DdpHas15AllReducesAnd6BroadcastsWithSizesOfAGroupOfTwo) {
  HEADWAY_NEEDS_TRACE("kineto/a100x2_ddp_rank0.json.gz");
  const JsonTree document = JsonTree::parse(json_of({shared("kineto/a100x2_ddp_rank0.json.gz")}));
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
    const JsonTree document = JsonTree::parse(json_of({file}));
    EXPECT_EQ(sum_of(document, "all_to_all", "count"), 5) << file;
    EXPECT_EQ(sum_of(document, "all_reduce", "count"), 3) << file;
  }
}

TEST(CommsPublic, TheDlrmAllToAllOf7635MicrosecondsIs10OfTransferAndWaitingForRank7) {
  HEADWAY_NEEDS_TRACE("kineto/dlrm_v100x8_rank7.json.gz");
  const JsonTree document = JsonTree::parse(json_of(dlrm("kineto")));
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

// The network that the recorded sizes say: 24 tables of 16 columns table-wise, two of 3 and 4 rows
// on every rank, a bottom MLP of 13, 256, 128, 16, a top one of 512, 512, 256, 1; 16 clicks a rank.
// What is expected of it are the recorded calls and no other: three all-reduces (226,960 numbers of
// the bottom and of the top's first layer, 112 of the two tables, 394,241 of the rest) and five
// all-to-alls, of which indices have 32 bits in the recording and 64 here.
TEST(CommsPublic, AnExpectedDlrmStepMakesTheCallsOfItsRecording) {
  HEADWAY_NEEDS_TRACE("kineto/dlrm_v100x8_rank7.json.gz");
  const testing::TemporaryFolder folder;
  const std::string model = (folder.path() / "clicks.toml").string();
  std::string rows = "1000", pooling = "9";
  for (int i = 1; i < 26; ++i) {
    rows += i == 5 ? ", 3" : i == 16 ? ", 4" : ", 1000";
    pooling += ", 9";
  }
  std::ofstream(model)
      << "sample = \"click\"\ninput = [13]\n[[block]]\nname = \"bottom\"\nmodules = "
         "[{ linear = 256, activation = \"relu\" }, { linear = 128, activation = "
         "\"relu\" }, { linear = 16, activation = \"relu\" }, { tables = ["
      << rows << "], width = 16, pooling = [" << pooling
      << "] }]\n[[block]]\nname = \"join\"\nmodules = [{ interaction = 16 }]\n"
         "[[block]]\nname = \"top\"\nmodules = [{ linear = 512 }, { linear = 512 "
         "}, { linear = 256 }, { linear = 1 }]\n";
  CommsRequest request;
  request.fields = {{"model", model, "test"},
                    {"cluster", "dgx-v100", "test"},
                    {"gpus", "8", "test"},
                    {"global-batch", "128", "test"},
                    {"framework", "torchrec", "test"},
                    {"precision", "fp32", "test"},
                    {"tables", "table-wise", "test"},
                    {"copy-below", "5", "test"}};
  request.traces = dlrm("kineto");
  request.json = true;
  const CommandOutput output = run_comms(request);
  ASSERT_TRUE(output.problems.empty()) << problems_text(output.problems);
  const JsonTree document = JsonTree::parse(output.text);
  double expected = 0, measured = 0, small = 0;
  std::vector<double> reduced;
  for (const JsonTree& row : document["rows"]) {
    expected += row["expected_count"].get<double>();
    measured += row["measured_count"].get<double>();
    // The two shorter lists of indices, 24 numbers and 384, and the tables' all-reduce.
    if (row["match"] == "small") small += row["expected_bytes"].get<double>();
    if (row["expected_op"] != "all_reduce") continue;
    reduced.push_back(row["expected_bytes"].get<double>());
    EXPECT_EQ(row["expected_bytes"], row["measured_bytes"]);
  }
  EXPECT_EQ(expected, 8);
  EXPECT_EQ(measured, 8);
  EXPECT_EQ(small, 24.0 * 8 + 384.0 * 8 + 112.0 * 4);
  std::sort(reduced.begin(), reduced.end());
  EXPECT_EQ(reduced, (std::vector<double>{226'960.0 * 4, 394'241.0 * 4}));
}

TEST(CommsPublic, ExecutionTracesOfTheSameRunHaveItsCallsAndNoTimes) {
  HEADWAY_NEEDS_TRACE("execution_trace/dlrm_v100x8_rank7.json.gz");
  const JsonTree graph = JsonTree::parse(json_of(dlrm("execution_trace")));
  const JsonTree trace = JsonTree::parse(json_of(dlrm("kineto")));
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
  const JsonTree document =
      JsonTree::parse(json_of({shared("execution_trace/resnet_2gpu_1.1.0.json.gz")}));
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
  const JsonTree document = JsonTree::parse(json_of({shared("chakra/chakra.0.et")}));
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
  const JsonTree document = JsonTree::parse(json_of(files));
  EXPECT_EQ(sum_of(document, "all_reduce", "count"), 8);
  EXPECT_EQ(sum_of(document, "all_reduce", "largest_bytes"), 1048576);
  EXPECT_EQ(document["ranks"].size(), 8u);
}

TEST(CommsPublic, TheNcclProfilersCollEventIsNotTakenForTransferTime) {
  HEADWAY_NEEDS_TRACE("nccl_profiler/events_v5.jsonl");
  const JsonTree document = JsonTree::parse(json_of({shared("nccl_profiler/events_v5.jsonl")}));
  ASSERT_EQ(document["calls_by_group"].size(), 1u);
  const JsonTree& row = document["calls_by_group"][0];
  EXPECT_EQ(row["time_kind"], "kernel");
  EXPECT_EQ(row["recorded_ranks"], 4);
  // Enqueue took 20 to 34 us; the fastest kernel, which did two calls, more than a millisecond.
  EXPECT_GT(row["shortest_s"].get<double>(), 0.5e-3);
}

TEST(CommsPublic, NcclDebugLinesOfThreeDialectsHaveTheSizesOfTheirCounts) {
  HEADWAY_NEEDS_TRACE("nccl_debug_lines.txt");
  const JsonTree document = JsonTree::parse(json_of({shared("nccl_debug_lines.txt")}));
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

}  // namespace
}  // namespace headway
