// Chakra, flight recorder, DeepSpeed, OSU, Nsight Systems; recognition.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "base/source_dir_for_test.hpp"
#include "trace/formats.hpp"
#include "trace/io/line_reader.hpp"
#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

// ---- Chakra ----

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  return out += static_cast<char>(value);
}
std::string field(int number, const std::string& bytes) {
  return varint(static_cast<std::uint64_t>(number) * 8 + 2) + varint(bytes.size()) + bytes;
}
std::string field(int number, std::uint64_t value) {
  return varint(static_cast<std::uint64_t>(number) * 8) + varint(value);
}
std::string attribute(const std::string& name, int number, std::uint64_t value) {
  return field(10, field(1, name) + field(number, value));
}
std::string message(const std::string& bytes) {
  return varint(bytes.size()) + bytes;
}

std::string chakra() {
  const std::string metadata = field(1, "0.0.4");
  const std::string reduce = field(1, 5) + field(2, "ncclKernel") + field(3, 7) + field(7, 120) +
                             attribute("is_cpu_op", 27, 0) + attribute("comm_type", 9, 0) +
                             attribute("comm_size", 9, 1048576);
  const std::string on_cpu = field(1, 4) + field(2, "c10d::allreduce_") + field(3, 7) +
                             attribute("is_cpu_op", 27, 1) + attribute("comm_size", 9, 1048576);
  const std::string gather =
      field(1, 6) + field(3, 7) + attribute("comm_type", 9, 2) + attribute("comm_size", 9, 100);
  return message(metadata) + message(on_cpu) + message(reduce) + message(gather);
}

TEST(Chakra, TheGpusNodesAreTheCalls) {
  const Recording recording = read_text(chakra());
  EXPECT_EQ(recording.format, "Chakra");
  EXPECT_EQ(recording.records_read, 3);
  ASSERT_EQ(recording.calls.size(), 2u);
  EXPECT_EQ(recording.calls[0].op, Operation::all_reduce);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(1048576));
  EXPECT_DOUBLE_EQ(recording.calls[0].duration->value(), 120e-6);
  // Of an all-gather the number may be of one rank or of all: it is kept as it stands.
  EXPECT_FALSE(recording.calls[1].bytes);
  EXPECT_EQ(recording.calls[1].counted_bytes, Bytes(100));
}

TEST(Chakra, ACutFileGivesTheNodesBeforeTheCut) {
  const std::string whole = chakra();
  const Recording recording = read_text(std::string_view(whole).substr(0, whole.size() - 3));
  EXPECT_EQ(recording.calls.size(), 1u);
  EXPECT_EQ(omitted(recording, "the file ends in the middle"), 1);
}

TEST(ChakraPublic, The3664NodesHold7SizedCollectives) {
  HEADWAY_NEEDS_TRACE("chakra/chakra.0.et");
  const Recording recording = read_public("chakra/chakra.0.et");
  EXPECT_EQ(recording.records_read, 3664);
  ASSERT_EQ(recording.calls.size(), 7u);  // of 21 nodes: the CPU's 14 are the same calls
  for (const RecordedCall& call : recording.calls) EXPECT_TRUE(call.bytes && call.duration);
  EXPECT_EQ(count_of(recording, Operation::broadcast), 2);
  EXPECT_EQ(recording.calls[2].bytes, Bytes(2049000 * 4));
  const Recording json = read_public("chakra/chakra.0.json.gz");
  EXPECT_EQ(json.records_read, 3664);
  EXPECT_EQ(json.calls.size(), 7u);
  EXPECT_EQ(omitted(json, "calls without a size"), 7);  // the JSON leaves the attributes out
}

TEST(ChakraPublic, MicroBenchmarksOfOneMebibyte) {
  for (const std::string rank : {"0", "1", "2", "3", "4", "5", "6", "7"}) {
    HEADWAY_NEEDS_TRACE("chakra/8npus_1MB_all_reduce." + rank + ".et");
    const Recording reduce = read_public("chakra/8npus_1MB_all_reduce." + rank + ".et");
    ASSERT_EQ(reduce.calls.size(), 1u);
    EXPECT_EQ(reduce.calls[0].bytes, Bytes(1048576));
    const Recording gather = read_public("chakra/8npus_1MB_all_gather." + rank + ".et");
    EXPECT_EQ(gather.calls.at(0).counted_bytes, Bytes(1048576));
  }
  for (const char* name : {"16npus_1MB_all_gather.8.et", "16npus_1MB_all_reduce.8.et"}) {
    EXPECT_EQ(read_public(std::string("chakra/") + name).calls.size(), 1u);
  }
}

TEST(ChakraPublic, ARingAllReduceIs14StepsOfAnEighthEachWay) {
  for (const std::string rank : {"0", "1", "2", "3", "6", "7"}) {
    const std::string name =
        "chakra/custom_ring_allreduce_8npus_1MB_custom_allreduce." + rank + ".et";
    HEADWAY_NEEDS_TRACE(name);
    const Recording recording = read_public(name);
    EXPECT_EQ(count_of(recording, Operation::send), 14);
    EXPECT_EQ(count_of(recording, Operation::receive), 14);
    for (const RecordedCall& call : recording.calls) EXPECT_EQ(call.bytes, Bytes(131072));
    const std::int64_t number = std::stoll(rank);
    EXPECT_EQ(recording.calls[0].peer, (number + 1) % 8);
    EXPECT_EQ(recording.calls[1].peer, (number + 7) % 8);
  }
}

// ---- flight recorder ----

std::string flight(const std::string& entry) {
  return R"({"version": "2.10", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks":
      "[0, 1]"}}, "pg_status": {}, "entries": [{"pg_id": 0, "process_group": ["0", "default_pg"],
      "collective_seq_id": 6, "input_sizes": [[3, 4], [5]], "input_dtypes": ["BFloat16", "BFloat16"],
      "output_sizes": [[6, 4], [10]], "output_dtypes": ["BFloat16", "BFloat16"], "is_p2p": false,
      "time_created_ns": 1000, )" +
         entry + "}]}";
}

TEST(FlightRecorder, AnEntryWithGpuTiming) {
  const Recording recording = read_text(flight(
      R"("profiling_name": "nccl:_all_gather_base", "state": "completed", "duration_ms": 2.5)"));
  ASSERT_EQ(recording.calls.size(), 1u);
  EXPECT_EQ(recording.calls[0].op, Operation::all_gather);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(2 * (24 + 10)));
  EXPECT_EQ(recording.calls[0].time, TimeKind::kernel);
  EXPECT_DOUBLE_EQ(recording.calls[0].duration->value(), 2.5e-3);
  EXPECT_EQ(recording.calls[0].sequence, 6);
  EXPECT_EQ(group_size(recording, recording.calls[0]), 2);
}

TEST(FlightRecorder, DiscoveryTimesAreTheHostsAndUnfinishedCallsHaveNone) {
  const Recording host =
      read_text(flight(R"("profiling_name": "nccl:all_reduce", "state": "completed",
             "time_discovered_started_ns": 2000, "time_discovered_completed_ns": 5000)"));
  EXPECT_EQ(host.calls.at(0).time, TimeKind::host);
  EXPECT_NEAR(host.calls[0].duration->value(), 3e-6, 1e-15);
  const Recording hung =
      read_text(flight(R"("profiling_name": "nccl:all_reduce", "state": "scheduled")"));
  EXPECT_FALSE(hung.calls.at(0).duration);
  EXPECT_EQ(omitted(hung, "calls that were not completed"), 1);
}

// As gloo writes it: names and states of NCCL's watchdog are missing.
TEST(FlightRecorder, WhatABackendOfTheHostLetGoOfWasDone) {
  const std::string entry =
      R"({"pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": 1,
          "profiling_name": "gloo:all_gather", "input_sizes": [[1]], "input_dtypes": ["Long"],
          "output_sizes": [[4, 1]], "output_dtypes": ["Long"], "state": "scheduled",
          "time_created_ns": 1000, "time_discovered_started_ns": 0,
          "time_discovered_completed_ns": 0, "is_p2p": false, "retired": )";
  const std::string configured = R"("pg_config": {"": {"desc": "", "name": "", "ranks":
                                     "[0, 1, 2, 3]"}}, "version": "2.10"})";
  const Recording done = read_text(R"({"entries": [)" + entry + "true}], " + configured);
  ASSERT_EQ(done.calls.size(), 1u);
  EXPECT_EQ(done.calls[0].bytes, Bytes(32));
  EXPECT_FALSE(done.calls[0].duration);  // discovered at no time is not done in no time
  EXPECT_EQ(done.calls[0].start_ns, 1000);
  EXPECT_EQ(omitted(done, "calls that were not completed"), 0);
  ASSERT_EQ(done.groups.size(), 1u);
  EXPECT_EQ(done.groups[0].description, "default_pg");
  EXPECT_EQ(done.groups[0].ranks, (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(done.ranks[0].world_size, 4);
  const Recording hung = read_text(R"({"entries": [)" + entry + "false}], " + configured);
  EXPECT_EQ(omitted(hung, "calls that were not completed"), 1);
}

TEST(FlightRecorder, AGroupIsFoundByItsDescriptionWhereNamesDiffer) {
  const auto entry = [](const std::string& name, const std::string& description) {
    return R"({"process_group": [")" + name + R"(", ")" + description +
           R"("], "profiling_name": "nccl:all_reduce", "state": "completed", "input_sizes": [[8]],
             "input_dtypes": ["Float"], "output_sizes": [[8]], "output_dtypes": ["Float"]})";
  };
  const Recording recording = read_text(
      R"({"version": "2.10", "pg_config": {"11": {"name": "11", "desc": "tp", "ranks": "[0, 1]"},
          "12": {"name": "12", "desc": "dp", "ranks": "[0, 2, 4]"}}, "entries": [)" +
      entry("5", "dp") + ", " + entry("6", "tp") + "]}");
  ASSERT_EQ(recording.groups.size(), 2u);
  EXPECT_EQ(group_size(recording, recording.calls[0]), 3);
  EXPECT_EQ(group_size(recording, recording.calls[1]), 2);
}

// Four ranks of gloo, the whole run: the calls of the log of its dispatcher as gloo did them.
TEST(FlightRecorderPublic, GlooRunsHoldWhatTheirBackendDid) {
  HEADWAY_NEEDS_TRACE("torch/fsdp2/fr_rank0.json");
  for (int rank = 0; rank < 4; ++rank) {
    const Recording recording = read_public("torch/fsdp2/fr_rank" + std::to_string(rank) + ".json");
    std::map<std::pair<Operation, double>, int> found;
    for (const RecordedCall& call : recording.calls) {
      if (call.op != Operation::barrier) ++found[{call.op, call.bytes.value().value()}];
      EXPECT_EQ(group_size(recording, call), 4);
    }
    const std::map<std::pair<Operation, double>, int> expected = {
        {{Operation::all_gather, 7097856}, 5 * 8},
        {{Operation::all_gather, 3075072}, 5},
        {{Operation::all_reduce, 7097856}, 5 * 4},
        {{Operation::all_reduce, 3075072}, 5},
        {{Operation::all_reduce, 272}, 5}};
    EXPECT_EQ(found, expected);
    EXPECT_EQ(recording.ranks.at(0).number, rank);
    EXPECT_EQ(omitted(recording, "calls that were not completed"), 0);
  }
}

// ---- DeepSpeed ----

std::string deepspeed_line(const std::string& op, double ms) {
  return "[2022-06-26 01:39:55,722] [INFO] [logging.py:69:log_dist] [Rank 0] rank=0 | comm op: " +
         op + " | time (ms): " + std::to_string(ms) +
         " | msg size: 2.0 MB | algbw (Gbps): 1204.52  | busbw (Gbps): 1129.23\n";
}

TEST(DeepSpeed, LinesGiveTimesOfTheHostAndRoundedSizes) {
  const Recording recording =
      read_text("starting\n" + deepspeed_line("reduce_scatter_tensor", 9.5) +
                deepspeed_line("all_gather_into_tensor", 3));
  ASSERT_EQ(recording.calls.size(), 2u);
  EXPECT_EQ(recording.calls[0].op, Operation::reduce_scatter);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(2097152));
  EXPECT_EQ(recording.calls[0].time, TimeKind::host);
  EXPECT_EQ(recording.calls[1].counted_bytes, Bytes(2097152));  // one rank's part
  EXPECT_EQ(omitted(recording, "sizes are rounded to two decimals"), 1);
}

TEST(DeepSpeed, TheTableGivesCountsAndTheMeanOfAll) {
  const Recording recording = read_text(
      "Comm. Op            Message Size        Count               Total Latency(ms)   Avg "
      "Latency(ms)     tput_avg (Gbps)     busbw_avg (Gbps)\n"
      "broadcast\n"
      "                    2.0 KB              146                 11.12               0.08        "
      "  "
      "      0.43                0.41\n"
      "reduce_scatter_tensor\n"
      "                    678.86 MB           40                  602.29              9.69        "
      "  "
      "      1468.06             1376.31\n");
  ASSERT_EQ(recording.calls.size(), 2u);
  EXPECT_EQ(recording.calls[0].count, 146);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(2048));
  EXPECT_NEAR(recording.calls[1].duration->value(), 602.29e-3 / 40, 1e-12);  // not the trimmed 9.69
}

TEST(DeepSpeed, RowsOfTheTableWhoseOperationHasNoLinesAreKept) {
  const Recording recording = read_text(
      deepspeed_line("all_reduce", 3) +
      "Comm. Op            Message Size        Count               Total Latency(ms)   Avg "
      "Latency(ms)     tput_avg (Gbps)     busbw_avg (Gbps)\n"
      "all_reduce\n"
      "                    2.0 MB              1                   3.00                3.00       "
      "0.43                0.41\n"
      "broadcast\n"
      "                    2.0 KB              146                 14.60               0.08       "
      "0.43                0.41\n");
  ASSERT_EQ(recording.calls.size(), 2u);
  EXPECT_EQ(recording.calls[0].op, Operation::all_reduce);
  EXPECT_EQ(recording.calls[1].op, Operation::broadcast);
  EXPECT_EQ(recording.calls[1].count, 146);
  EXPECT_NEAR(recording.calls[1].duration->value(), 0.1e-3, 1e-12);
  EXPECT_EQ(omitted(recording, "rows of the summary, which repeats the lines"), 1);
}

TEST(DeepSpeed, TimesThatOnlyGrowAreNotBelieved) {
  std::string text;
  for (const double ms : {10.14, 20.27, 30.36, 40.5, 50.62}) {
    text += deepspeed_line("all_reduce", ms);
  }
  const Recording recording = read_text(text);
  ASSERT_EQ(recording.calls.size(), 5u);
  for (const RecordedCall& call : recording.calls) EXPECT_FALSE(call.duration);
}

// ---- OSU ----

TEST(Osu, LatencyOfACollectiveAndBandwidthOfAPair) {
  const Recording reduce = read_text(
      "# OSU MPI Allreduce Latency Test v7.3\n# Size       Avg Latency(us)\n4    1.50\n8 1.60\n");
  ASSERT_EQ(reduce.calls.size(), 2u);
  EXPECT_EQ(reduce.calls[0].op, Operation::all_reduce);
  EXPECT_EQ(reduce.calls[0].bytes, Bytes(4));
  EXPECT_DOUBLE_EQ(reduce.calls[0].duration->value(), 1.5e-6);
  EXPECT_FALSE(group_size(reduce, reduce.calls[0]));
  const Recording pair = read_text(
      "# OSU MPI-CUDA Bandwidth Test v5.3.2\n# Size      Bandwidth (MB/s)\n1000000   20000.0\n");
  EXPECT_EQ(pair.calls.at(0).op, Operation::send);
  EXPECT_DOUBLE_EQ(pair.calls[0].duration->value(), 50e-6);
  const Recording gather =
      read_text("# OSU MPI Allgather Latency Test v7.3\n# Size       Avg Latency(us)\n4    1.50\n");
  EXPECT_EQ(gather.calls.at(0).counted_bytes, Bytes(4));
}

// ---- Nsight Systems ----

TEST(Nsight, KernelsOfAnExportedDatabase) {
  const auto recording = read_trace(source_dir() + "/tests/fuzz/seeds/trace/nsight/small.sqlite");
  ASSERT_TRUE(recording.ok());
  ASSERT_EQ(recording->calls.size(), 2u);  // on two devices
  EXPECT_EQ(recording->calls[0].op, Operation::all_reduce);
  EXPECT_EQ(recording->calls[0].start_ns, 1700000000000002500);
  EXPECT_DOUBLE_EQ(recording->calls[0].duration->value(), 2e-6);
  EXPECT_EQ(recording->calls[0].stream, 9);
  EXPECT_FALSE(recording->calls[0].bytes);
  EXPECT_EQ(recording->ranks.size(), 2u);
  ASSERT_EQ(recording->compute.size(), 1u);
  EXPECT_EQ(recording->compute[0].duration_ns, 2000);
}

// ---- gzip ----

TEST(Gzip, APackedLogIsReadAndACutOneAsFarAsItGoes) {
  const std::string path = source_dir() + "/tests/fuzz/seeds/trace/open/lines.log.gz";
  std::ifstream file(path, std::ios::binary);
  const std::string packed((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
  EXPECT_EQ(read_text(packed).calls.size(), 4u);
  const Recording cut = read_text(std::string_view(packed).substr(0, packed.size() - 40));
  EXPECT_GE(cut.calls.size(), 1u);
  EXPECT_EQ(omitted(cut, "the compressed data end too early"), 1);
  EXPECT_EQ(read_text(packed + packed).calls.size(), 8u);  // two members
}

// ---- recognition ----

std::string_view recognised(std::string_view beginning) {
  const TraceFormat* format = format_of(beginning);
  return format == nullptr ? "none" : format->name;
}

TEST(Recognition, IsByContentNotByName) {
  EXPECT_EQ(recognised(R"({"schemaVersion": 1, "deviceProperties": [)"), "kineto");
  EXPECT_EQ(recognised(R"([{"ph": "X", "ts": 1}])"), "kineto");
  EXPECT_EQ(recognised(R"({"schema": "1.0.1", "nodes": [)"), "execution_trace");
  EXPECT_EQ(recognised(chakra()), "chakra");
  EXPECT_EQ(recognised(R"({"workload_graph": [)"), "chakra_json");
  EXPECT_EQ(recognised("SQLite format 3" + std::string(10, '\0')), "nsight");
  EXPECT_EQ(recognised(flight(R"("profiling_name": "nccl:send 1->2")")), "flight_recorder");
  EXPECT_EQ(recognised("Dear reader,\n"), "none");
  EXPECT_EQ(recognised("{\"a\": 1}"), "none");
  EXPECT_FALSE(read_trace_bytes("Dear reader,\n", "letter").ok());
  EXPECT_FALSE(read_trace("/nonexistent/file").ok());
}

// A row is all that a reader needs to be asked: a format of the test's own, a log whose lines say
// which rank called, and before them who ran it.
TEST(TraceFormats, ARowMoreIsRecognisedReadAndNamed) {
  std::vector<TraceFormat> formats(trace_formats().begin(), trace_formats().end());
  formats.push_back({"tally", "Tally of calls", TraceForm::log,
                     [](std::string_view line) { return line.starts_with("tally "); },
                     [](ByteSource& source, Recording& recording) {
                       LineReader lines(source);
                       std::string_view line;
                       while (lines.next(line)) {
                         ++recording.records_read;
                         recording.ranks.push_back({std::nullopt, std::string(line), std::nullopt});
                       }
                     },
                     [](std::string_view line) { return line.starts_with("by "); }});
  const std::string text = "hello\nby us\nand then\ntally 3\n";
  const auto read = read_trace_bytes(text, "calls", formats);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->format, "Tally of calls");
  ASSERT_EQ(read->ranks.size(), 2u);
  EXPECT_EQ(read->ranks[0].label, "by us");
  EXPECT_EQ(read->ranks[1].label, "tally 3");
  const auto unknown = read_trace_bytes("Dear reader,\n", "letter", formats);
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.problems()[0].message.find("NCCL_DEBUG log, Chakra, Tally of calls"),
            std::string::npos);
  EXPECT_FALSE(read_trace_bytes(text, "calls").ok());  // it is in no other table
}

TEST(Recognition, ALogMayBeginWithAnythingOfAnyLength) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "step " + std::to_string(i) + " loss 2.0\n";
  const Recording recording = read_text(text + deepspeed_line("all_reduce", 3));
  EXPECT_EQ(recording.calls.size(), 1u);
}

TEST(OperationNames, OfEveryDialect) {
  EXPECT_EQ(operation_from("allreduce_coalesced"), Operation::all_reduce);
  EXPECT_EQ(operation_from("_reduce_scatter_base"), Operation::reduce_scatter);
  EXPECT_EQ(operation_from("nccl:recv 3<-0"), Operation::receive);
  EXPECT_EQ(operation_from("ALL_TO_ALL"), Operation::all_to_all);
  EXPECT_FALSE(operation_from("wait"));
}

}  // namespace
}  // namespace headway
