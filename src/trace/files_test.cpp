// Files and folders of one run; names of ranks; what is said of files that are no traces.
#include "trace/files.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "trace/recording/rank_names.hpp"
#include "trace/trace_files_for_test.hpp"
#include "trace/unknown.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;

// A trace of one rank with one all-reduce.
std::string kineto(int rank, int world = 16) {
  return R"({"schemaVersion": 1, "distributedInfo": {"rank": )" + std::to_string(rank) +
         R"(, "world_size": )" + std::to_string(world) +
         R"(}, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "ncclKernel_AllReduce", "ts": 1,
         "dur": 5, "args": {"stream": 3}}]})";
}

class Folder : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / (std::string("headway_files_") + test->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  fs::path folder_;
};

TEST_F(Folder, AllTracesInItAreReadInTheOrderOfTheirNumbers) {
  for (const int rank : {10, 9, 2, 0}) file("rank" + std::to_string(rank) + ".json", kineto(rank));
  const RunRecording run = read_run_traces({folder_.string()});
  ASSERT_EQ(run.files.size(), 4u);
  std::vector<std::int64_t> numbers;
  for (const RecordedRank& rank : run.recording.ranks) numbers.push_back(*rank.number);
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{0, 2, 9, 10}));
  EXPECT_TRUE(run.unread.empty() && run.doubts.empty() && run.not_traces.empty());
}

TEST_F(Folder, ProgressIsToldOfTheBytesOfAllFilesAndStopsTheReading) {
  std::size_t bytes = 0;
  for (int rank = 0; rank < 3; ++rank) {
    bytes += fs::file_size(file("rank" + std::to_string(rank) + ".json", kineto(rank)));
  }
  std::size_t last = 0;
  const RunRecording whole =
      read_run_traces({folder_.string()}, [&](std::size_t done, std::size_t of) {
        EXPECT_GE(done, last);
        EXPECT_EQ(of, bytes);
        last = done;
        return true;
      });
  EXPECT_EQ(last, bytes);
  EXPECT_EQ(whole.files.size(), 3u);
  EXPECT_FALSE(whole.stopped);
  const RunRecording part = read_run_traces(
      {folder_.string()}, [&](std::size_t done, std::size_t) { return done < bytes / 2; });
  EXPECT_TRUE(part.stopped);
  EXPECT_LT(part.files.size(), 3u);
}

TEST_F(Folder, WhatIsNoTraceIsPassedOverAndSaid) {
  file("rank0.json", kineto(0));
  file("README.md", "# A run\n");
  file("model.bin", std::string(100, '\0'));
  file("config.json", R"({"hidden_size": 12})");
  file(".hidden.json", kineto(1));
  fs::create_directories(folder_ / "checkpoints");
  const RunRecording run = read_run_traces({folder_.string()});
  EXPECT_EQ(run.files.size(), 1u);
  EXPECT_EQ(run.not_traces.size(), 3u);
  EXPECT_TRUE(run.unread.empty());
}

TEST_F(Folder, ALogWhoseFirstCallComesLateIsATrace) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "epoch " + std::to_string(i) + "\n";
  file("out.log", text +
                      "h:1:2 [0] NCCL INFO AllReduce: opCount 1 sendbuff 0x1 recvbuff 0x1 count "
                      "8 datatype 7 op 0 root 0 comm 0x5 [nranks=2] stream 0x1\n");
  EXPECT_EQ(read_run_traces({folder_.string()}).recording.calls.size(), 1u);
}

TEST_F(Folder, WithoutAnyTraceItIsAProblemThatSaysWhatIsKnown) {
  file("README.md", "# A run\n");
  const RunRecording run = read_run_traces({folder_.string()});
  EXPECT_TRUE(run.files.empty());
  ASSERT_EQ(run.unread.size(), 1u);
  EXPECT_NE(run.unread[0].message.find("Kineto"), std::string::npos);
}

TEST_F(Folder, AFileThatCannotBeReadDoesNotStopTheOthers) {
  const std::string good = file("a.json", kineto(0));
  const std::string bad = file("b.json", "");
  const RunRecording run = read_run_traces({bad, "/nowhere/c.json", good});
  EXPECT_EQ(run.files, (std::vector<std::string>{good}));
  EXPECT_EQ(run.unread.size(), 2u);
}

TEST_F(Folder, FilesOfSeveralRunsAreDoubted) {
  const std::string one = file("a.json", kineto(0, 8)), two = file("b.json", kineto(0, 16));
  const RunRecording run = read_run_traces({one, two});
  ASSERT_EQ(run.doubts.size(), 2u);
  EXPECT_NE(run.doubts[0].find("8, 16 ranks"), std::string::npos);
  EXPECT_NE(run.doubts[1].find("rank 0: recorded in several files"), std::string::npos);
}

TEST_F(Folder, OfSeveralRecordingsOfOneRankOneIsCounted) {
  for (const char* cycle : {"a", "b", "c"}) {
    for (const int rank : {0, 1}) {
      file("rank" + std::to_string(rank) + "." + cycle + ".json", kineto(rank));
    }
  }
  const RunRecording run = read_run_traces({folder_.string()});
  EXPECT_EQ(run.recording.calls.size(), 2u);
  ASSERT_EQ(run.files.size(), 2u);
  EXPECT_TRUE(run.files[0].ends_with("rank0.a.json"));
  EXPECT_TRUE(run.files[1].ends_with("rank1.a.json"));
  ASSERT_EQ(run.doubts.size(), 1u);
  EXPECT_NE(run.doubts[0].find("rank 0 and 1 more: recorded in several files, of which one is "
                               "counted (rank0.a.json)"),
            std::string::npos);
}

// What an nccl-tests program prints of one size on two accelerators.
const std::string kBenchmark =
    "./build/all_reduce_perf\n# nThread 1 nGpus 2\n#  Rank  0 Pid 1 on h device  0 [0x00] A\n"
    "#  Rank  1 Pid 1 on h device  1 [0x00] A\n# size count type redop root time algbw busbw "
    "#wrong time algbw busbw #wrong\n1024 256 float sum -1 20.0 0.05 0.05 0 21.0 0.05 0.05 0\n";

TEST_F(Folder, OfLogsBenchmarksStandEachForItselfAndOneRecordingOfEachRankOfTheRun) {
  file("a.log", kBenchmark);
  file("b.log", kBenchmark);
  for (const int rank : {0, 1}) {
    for (const char* cycle : {"a", "b"}) {
      file("rank" + std::to_string(rank) + "." + cycle + ".json", kineto(rank));
    }
  }
  file("README.md", "# Logs\n");
  const MeasuredLogs logs = read_measured_logs({folder_.string()});
  ASSERT_EQ(logs.recordings.size(), 3u);
  EXPECT_EQ(logs.recordings[0].calls.size(), 2u);  // out of and in place
  EXPECT_EQ(logs.recordings[1].calls.size(), 2u);
  EXPECT_EQ(logs.recordings[2].calls.size(), 2u);  // of rank 0 and of rank 1
  EXPECT_EQ(logs.files.size(), 4u);
  ASSERT_EQ(logs.doubts.size(), 1u);
  EXPECT_NE(logs.doubts[0].find("rank 0 and 1 more: recorded in several files, of which one is "
                                "counted (rank0.a.json)"),
            std::string::npos);
  ASSERT_EQ(logs.unread.size(), 1u);
  EXPECT_TRUE(where_text(logs.unread[0]).ends_with("README.md"));
}

TEST_F(Folder, TwoFoldersAreTwoRuns) {
  for (const char* run : {"one", "two"}) {
    fs::create_directories(folder_ / run);
    for (const int rank : {0, 1}) {
      file(std::string(run) + "/rank" + std::to_string(rank) + ".json", kineto(rank));
    }
  }
  const MeasuredLogs logs =
      read_measured_logs({(folder_ / "one").string(), (folder_ / "two").string()});
  ASSERT_EQ(logs.recordings.size(), 2u);
  for (const Recording& run : logs.recordings) EXPECT_EQ(run.calls.size(), 2u);
  EXPECT_TRUE(logs.doubts.empty());
}

TEST_F(Folder, OfTheGraphAndTheTimelineOfOneRankTheTimelineIsCounted) {
  file("a_rank0.json", R"j({"schema": "1.0.1", "nodes": [
      {"name": "record_param_comms", "id": 3, "inputs": [[[7, 5, 0, 10, 2, "cuda:0"]], 148, 9, 0,
      "allreduce", [], []], "input_types": ["GenericList[Tensor(c10::Half)]"], "outputs": []}]})j");
  file("b_rank0.json", kineto(0));
  const RunRecording run = read_run_traces({folder_.string()});
  ASSERT_EQ(run.recording.calls.size(), 1u);
  EXPECT_EQ(run.recording.calls[0].time, TimeKind::kernel);
}

TEST_F(Folder, LogsOfOneRankInPiecesAreOne) {
  const std::string line =
      "h:1:2 [0] NCCL INFO AllReduce: opCount 1 sendbuff 0x1 recvbuff 0x1 count 8 datatype 7 op 0 "
      "root 0 comm 0x5 [nranks=2] stream 0x1 task 0 globalrank 3\n";
  file("a.log", line);
  file("b.log", line);
  EXPECT_EQ(read_run_traces({folder_.string()}).recording.calls.size(), 2u);
}

TEST_F(Folder, OneCallInTwoFormatsIsDoubted) {
  const std::string trace = file("a.json", kineto(0));
  const std::string log =
      file("b.log",
           "h:1:2 [0] NCCL INFO AllReduce: opCount 1 sendbuff 0x1 recvbuff 0x1 count 8 datatype 7 "
           "op 0 root 0 comm 0x5 [nranks=2] stream 0x1\n");
  const RunRecording run = read_run_traces({trace, log});
  ASSERT_EQ(run.doubts.size(), 1u);
  EXPECT_NE(run.doubts[0].find("several formats"), std::string::npos);
}

TEST(RankNames, NumbersWhereTheyAreKnownElseTheShortLabel) {
  Recording recording;
  recording.ranks = {{3, "rank 3", 8}, {std::nullopt, "runs/a/node7.json.gz", std::nullopt}};
  EXPECT_EQ(rank_names(recording), (std::vector<std::string>{"rank 3", "node7"}));
  recording.ranks.push_back({3, "other/rank3.json", 8});
  EXPECT_EQ(rank_names(recording)[0], "rank 3");
  EXPECT_EQ(rank_names(recording)[2], "rank3");
}

TEST(RankOrder, IsByNumberAndThenByLabel) {
  Recording recording;
  recording.ranks = {{std::nullopt, "b10", std::nullopt},
                     {7, "x", std::nullopt},
                     {std::nullopt, "b9", std::nullopt},
                     {2, "y", std::nullopt}};
  EXPECT_EQ(rank_order(recording), (std::vector<std::uint32_t>{3, 1, 2, 0}));
}

TEST(Unknown, AFileOfNoKnownFormIsDescribedForItsUser) {
  EXPECT_EQ(looks_like(R"({"hidden_size": 4096, "nested": {"inner": 1}, "model_type": "llama"})",
                       "config.json"),
            "JSON with 'hidden_size', 'nested', 'model_type'");
  EXPECT_EQ(looks_like("{}", "a"), "JSON without members");
  EXPECT_EQ(looks_like(" [1, 2]", "a"), "a JSON array");
  EXPECT_EQ(looks_like("Dear \x1breader\nmore", "a"), "a text that begins with 'Dear \\x1breader'");
  EXPECT_EQ(looks_like("PK\x03\x04 and more", "a"), "a zip archive; unpack it first");
  EXPECT_EQ(looks_like(std::string("\x01\x00\x02", 3), "a"), "binary; begins with 01 00 02");
  EXPECT_EQ(looks_like("\n \n", "a"), "white space only");
  EXPECT_NE(looks_like("anything", "report.nsys-rep").find("nsys export"), std::string::npos);
  EXPECT_NE(looks_like("@ mpiP\n@ Command : ./a.out\n", "a.mpiP").find("a report of mpiP"),
            std::string::npos);
  EXPECT_NE(looks_like(std::string("\0\1", 2), "scorep/traces.otf2").find("OTF2 (Score-P)"),
            std::string::npos);
  EXPECT_EQ(looks_like("{\"cut off", "a"), "JSON without members");
}

// The header of POSIX: 100 B of a name first, "ustar" at 257.
TEST(Unknown, AnArchiveIsRefusedAlsoWhereAFileInItWouldBeALog) {
  std::string tar = "rank0.log";
  tar.resize(257);
  tar += "ustar";
  tar.resize(512);
  tar +=
      "h:1:2 [0] NCCL INFO AllReduce: opCount 1 sendbuff 0x1 recvbuff 0x1 count 8 datatype 7 op 0 "
      "root 0 comm 0x5 [nranks=2] stream 0x1\n";
  const auto read = read_trace_bytes(tar, "logs.tar");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.problems()[0].message, "is a tar archive; unpack it first and give the folder");
}

TEST(Unknown, TheProblemNamesTheKnownFormats) {
  const auto read = read_trace_bytes(R"({"hidden_size": 4096})", "config.json");
  ASSERT_FALSE(read.ok());
  const Problem& problem = read.problems().front();
  EXPECT_EQ(problem.kind, Trouble::unknown);
  for (const char* part : {"'hidden_size'", "Kineto", "nccl-tests", "Nsight"}) {
    EXPECT_NE(problem.message.find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace headway
