// headway comms TRACE... as a whole: small traces.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "api/comms_for_test.hpp"
#include "base/document/csv.hpp"
#include "base/source_dir_for_test.hpp"
#include "platform/files.hpp"
#include "platform/temporary_folder_for_test.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;
using JsonTree = nlohmann::json;
using testing::comms::json_of;
using testing::comms::text_of;
using testing::comms::widest_line;

class Outputs : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.of(name); }
  std::string file(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  static std::string read(const std::string& path) { return read_file(path).value(); }
  testing::TemporaryFolder folder_;
};

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
  const JsonTree document =
      JsonTree::parse(json_of({file("rank0.json", kineto(0)), file("rank1.json", kineto(1))}));
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

// Rank 0 waits 20 us of its 30 for rank 1, whose call, with the gemm before it, is the way to the
// end.
TEST_F(Outputs, TheTimelineHasEverythingInItsPlace) {
  CommsRequest request;
  request.files = {file("rank0.json", kineto(0)), file("rank1.json", kineto(1))};
  request.timeline = request.json = true;
  const CommandOutput output = run_comms(request);
  ASSERT_TRUE(output.problems.empty());
  const JsonTree timeline = JsonTree::parse(output.text)["timeline"];
  EXPECT_NEAR(timeline["time_s"].get<double>(), 40e-6, 1e-12);
  ASSERT_EQ(timeline["ranks"].size(), 2u);
  const JsonTree& first = timeline["ranks"][0];
  const JsonTree& second = timeline["ranks"][1];
  EXPECT_EQ(first["label"], "rank 0");
  EXPECT_EQ(first["begin_s"], (JsonTree{0.0, 10e-6}));
  EXPECT_EQ(first["end_s"], (JsonTree{20e-6, 40e-6}));
  EXPECT_EQ(first["waiting_s"], (JsonTree{0.0, 20e-6}));
  EXPECT_EQ(first["waits_for_rank"], (JsonTree{-1, 1}));
  EXPECT_EQ(first["waits_for"], (JsonTree{-1, 1}));
  EXPECT_EQ(second["waits_for_rank"], (JsonTree{-1, -1}));
  EXPECT_EQ(second["critical"], (JsonTree{1, 1}));
  EXPECT_EQ(timeline["critical_path"], true);
  EXPECT_EQ(timeline["left_out"], 0);
  const auto named = [&](const char* table, const char* column, int at) {
    return timeline[table][first[column][at].get<std::size_t>()];
  };
  EXPECT_EQ(named("names", "name", 0), "gemm");
  EXPECT_EQ(named("names", "name", 1), "all_reduce default_pg");
  EXPECT_EQ(named("parts", "part", 1), "all_reduce");
  EXPECT_EQ(named("streams", "stream", 1), "stream 20");
}

TEST_F(Outputs, TheTimelineIsOfTracesAloneAndPartOfTheJson) {
  CommsRequest request;
  request.files = {file("rank0.json", kineto(0))};
  request.timeline = true;
  const CommandOutput text = run_comms(request);
  ASSERT_EQ(text.problems.size(), 1u);
  EXPECT_EQ(text.problems[0].message, "is part of the JSON; give --json");
  request.json = true;
  request.fields = {{"model", "llama-2-7b"}};
  const CommandOutput beside = run_comms(request);
  ASSERT_EQ(beside.problems.size(), 1u);
  EXPECT_NE(beside.problems[0].message.find("traces on their own"), std::string::npos);
}

// One gemm of 20 us on each rank; without marks and repetition there is no step to write.
TEST_F(Outputs, KernelsAreATableAndStepsThatAreNotThereAreRefused) {
  CommsRequest request;
  request.files = {file("rank0.json", kineto(0)), file("rank1.json", kineto(1))};
  request.csv_kernels = path("kernels.csv");
  EXPECT_TRUE(run_comms(request).problems.empty());
  EXPECT_NE(read(request.csv_kernels).find("\nkernel,gemm,2,4e-05,2e-05,2e-05,,,,,,,,,,\n"),
            std::string::npos)
      << read(request.csv_kernels);
  request.csv_steps = path("steps.csv");
  const CommandOutput output = run_comms(request);
  ASSERT_EQ(output.problems.size(), 1u);
  EXPECT_EQ(output.problems.front().fields.front().name, "csv-steps");
}

TEST_F(Outputs, AFolderIsTheRanksInIt) {
  file("rank1.json", kineto(1));
  file("rank0.json", kineto(0));
  const JsonTree folder = JsonTree::parse(json_of({folder_.path().string()}));
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

// Alone, beside a run, before and after.
TEST_F(Outputs, ATraceIsReplacedThroughNoDoor) {
  const std::string trace = file("rank0.json", kineto(0));
  CommsRequest alone, compared, change;
  alone.files = {trace};
  compared.files = {source_dir() + "/examples/small-llama-ddp.toml"};
  compared.traces = {trace};
  change.compare = {trace, file("rank1.json", kineto(1))};
  for (CommsRequest* request : {&alone, &compared, &change}) {
    request->csv = path("./rank0.json");
    const CommandOutput output = run_comms(*request);
    ASSERT_EQ(output.problems.size(), 1u);
    EXPECT_NE(output.problems.front().message.find("is one of the traces"), std::string::npos);
    EXPECT_EQ(read(trace), kineto(0));
  }
}

TEST_F(Outputs, OneFileTakesOneTable) {
  CommsRequest request;
  request.files = {path("nowhere.json")};
  request.csv = path("table.csv");
  request.csv_kernels = path("./table.csv");
  request.save = path("run.sqlite");
  const CommandOutput output = run_comms(request);  // before anything is read
  ASSERT_EQ(output.problems.size(), 1u);
  EXPECT_EQ(output.problems.front().fields.front().name, "csv-kernels");
  EXPECT_NE(output.problems.front().message.find("is named twice"), std::string::npos);
  request.files = {file("rank0.json", kineto(0))};
  EXPECT_EQ(run_comms(request).problems.size(), 1u);
  EXPECT_FALSE(fs::exists(path("table.csv")));
  request.csv_kernels = path("kernels.csv");
  EXPECT_TRUE(run_comms(request).problems.empty());
}

TEST_F(Outputs, StepsAreSaidWhereTracesAreSetBesideSomething) {
  CommsRequest expected, clusters, study, alone;
  expected.files = clusters.files = {source_dir() + "/examples/small-llama-ddp.toml"};
  clusters.clusters = {"dgx-h100"};
  study.study = true;
  alone.files = {file("rank0.json", kineto(0))};
  for (CommsRequest* request : {&expected, &clusters, &study, &alone}) {
    request->trace_steps = 2;
    const CommandOutput output = run_comms(*request);
    ASSERT_EQ(output.problems.size(), 1u);
    EXPECT_EQ(output.problems.front().fields.front().name, "trace-steps");
    EXPECT_EQ(output.problems.front().message, "is asked beside a run or with --compare");
  }
}

// A batch of large products of a measured type, whose line has every column.
TEST_F(Outputs, ProductsStandBesideTheRooflineInEightyColumns) {
  CommsRequest request;
  request.files = {file("t.json", R"({"schemaVersion": 1, "traceEvents": [
    {"ph": "X", "cat": "cpu_op", "name": "aten::bmm", "pid": 1, "tid": 1, "ts": 1, "dur": 2,
     "args": {"External id": 71, "Input Dims": [[1024, 16384, 4096], [1024, 4096, 16384]],
              "Input type": ["c10::BFloat16", "c10::BFloat16"]}},
    {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10, "dur": 5000000,
     "args": {"External id": 71, "correlation": 900, "stream": 7}}]})")};
  request.fields = {{"cluster", "dgx-h100"}};
  request.json = true;
  const CommandOutput json = run_comms(request);
  ASSERT_TRUE(json.problems.empty()) << problems_text(json.problems);
  const JsonTree product = JsonTree::parse(json.text)["products"][0];
  EXPECT_GT(product["peak_share"].get<double>(), 0);
  EXPECT_NEAR(product["peak_share"].get<double>(), product["roofline_share"].get<double>(), 1e-9);
  request.json = false;
  const CommandOutput text = run_comms(request);
  EXPECT_LE(widest_line(text.text), 80u) << text.text;
  EXPECT_NE(text.text.find("roof"), std::string::npos) << text.text;
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
