// nccl-tests, NCCL_DEBUG lines, profiler events, Inspector.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "trace/analysis/align.hpp"
#include "trace/analysis/call_table.hpp"
#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

// ---- nccl-tests ----

constexpr const char* kHeader =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time "
    "  "
    "algbw   busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us) "
    " "
    "(GB/s)  (GB/s)       \n";

TEST(NcclTests, ATableOfTodayIsRead) {
  const Recording recording = read_text(
      std::string("# nccl-tests version 2.17.1\n"
                  "# Collective test starting: all_gather_perf\n"
                  "# nThread 1 nGpus 1 minBytes 8 maxBytes 8589934592 step: 2(factor)\n"
                  "#  Rank  0 Group  0 Pid   6899 on host-a device  0 [0000:04:00] NVIDIA H100\n"
                  "#  Rank  1 Group  0 Pid   6900 on host-b device  0 [0000:04:00] NVIDIA H100\n") +
      kHeader +
      "host-a:6899:6899 [0] NCCL INFO Launch mode Parallel\n"
      "     1048576        131072     float    none      -1    20.00   52.43   26.21      0    "
      "21.00   49.93   24.97      0\n"
      "# Out of bounds values : 0 OK\n");
  ASSERT_EQ(recording.calls.size(), 2u);
  EXPECT_EQ(recording.calls[0].op, Operation::all_gather);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(1048576));
  EXPECT_EQ(recording.calls[0].time, TimeKind::benchmark);
  EXPECT_DOUBLE_EQ(recording.calls[0].duration->value(), 20e-6);
  EXPECT_EQ(recording.calls[0].in_place, false);
  EXPECT_EQ(recording.calls[1].in_place, true);
  EXPECT_EQ(group_size(recording, recording.calls[0]), 2);
  EXPECT_NEAR(bus_bandwidth(recording, recording.calls[0])->value(), 26.21e9, 0.01e9);
}

TEST(NcclTests, RanksFollowFromBusbwWhereTheHeaderIsMissing) {
  // 2 (n-1)/n = 1.875 for 16 ranks.
  const Recording recording = read_text(std::string(kHeader) +
                                        "  1073741824     268435456     float     sum      -1    "
                                        "10737  100.00  187.50      0    10737 "
                                        " 100.00  187.50      0\n");
  EXPECT_EQ(recording.calls.at(0).op, Operation::all_reduce);
  EXPECT_EQ(group_size(recording, recording.calls[0]), 16);
}

TEST(NcclTests, AllToAllIsToldByItsResultsNotCheckedInPlace) {
  const Recording recording = read_text(
      std::string(kHeader) +
      "  1048576     131072     float    none      -1    20.00   52.43   26.21      0    21.00   "
      "49.93   24.97    N/A\n");
  EXPECT_EQ(recording.calls.at(0).op, Operation::all_to_all);
}

TEST(NcclTests, TwoTablesOfOneFileKeepTheirOperations) {
  const auto table = [](const std::string& program, const std::string& redop) {
    return "# Collective test starting: " + program + "\n# nThread 1 nGpus 2\n" + kHeader +
           "  1024  256  float  " + redop + "  -1  20.00  0.05  0.05  0  21.00  0.05  0.05  0\n";
  };
  const Recording recording =
      read_text(table("all_reduce_perf", "sum") + table("sendrecv_perf", "none"));
  ASSERT_EQ(recording.calls.size(), 4u);
  EXPECT_EQ(recording.calls[0].op, Operation::all_reduce);
  EXPECT_EQ(recording.calls[2].op, Operation::send_receive);
}

// The lines that list ranks, here of four hosts of eight; most were cut out of the log.
TEST(NcclTests, WhereRankLinesAreLeftOutTheHighestNumberTellsTheRanksAndNoHosts) {
  const Recording recording = read_text(
      std::string("# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 1\n"
                  "#  Rank  0 Group  0 Pid 1 on host0 device  0 [0x00] H100\n"
                  "#  Rank  1 Group  0 Pid 2 on host0 device  1 [0x00] H100\n"
                  "#  ...\n"
                  "#  Rank 31 Group  0 Pid 3 on host3 device  7 [0x00] H100\n") +
      kHeader + "  1024  256  float  sum  -1  20.00  0.05  0.10  0  21.00  0.05  0.10  0\n");
  EXPECT_EQ(group_size(recording, recording.calls.at(0)), 32);
  EXPECT_FALSE(recording.groups[0].nodes);
  EXPECT_EQ(omitted(recording,
                    "tables whose list of ranks has gaps: ranks by the highest number, hosts not "
                    "known"),
            1);
}

// Four processes that a launcher started, but that know nothing of each other: each has rank 0, and
// their tables run together.
TEST(NcclTests, ProcessesThatAreNotConnectedMeasureNothing) {
  constexpr const char* kNothing =
      "tables of processes that were not connected, each alone with rank 0 (was it built with "
      "MPI=1?): no measurement";
  const std::string start =
      "# nThread 1 nGpus 1\n#  Rank  0 Group  0 Pid 1 on host device  0 [0x00] H100\n";
  const std::string row =
      "  1024  256  float  sum  -1  20.00  0.05  0.00  0  21.00  0.05  0.00  0\n";
  const Recording apart = read_text("./build/all_reduce_perf -b 1K\n" + start + start + start +
                                    kHeader + kHeader + kHeader + row + row + row);
  EXPECT_TRUE(apart.calls.empty());
  EXPECT_EQ(omitted(apart, kNothing), 1);
  // The same where all print their ranks after all have printed what they were told.
  const std::string rank = "#  Rank  0 Group  0 Pid 1 on host device  0 [0x00] H100\n";
  const Recording among = read_text("./build/all_reduce_perf -b 1K\n# nThread 1 nGpus 1\n" + rank +
                                    rank + kHeader + row + row);
  EXPECT_TRUE(among.calls.empty());
  // A test that fails before its first row, and is started again, is connected.
  const Recording again =
      read_text("./build/all_reduce_perf -b 1K\n" + start + start + kHeader + row);
  EXPECT_EQ(again.calls.size(), 2u);
  // So is one that does its table over again.
  const Recording cycles =
      read_text("./build/all_reduce_perf -b 1K\n" + start + kHeader + row + row);
  EXPECT_EQ(cycles.calls.size(), 4u);
}

// What sendrecv_perf prints on eight GPUs: the column redop is filled as for an all-reduce, and
// busbw is algbw, where an all-reduce of eight has 1.75 of it.
std::string sendrecv_table() {
  return std::string("# nThread 1 nGpus 8 minBytes 1048576 maxBytes 1048576 step: 2(factor)\n") +
         kHeader +
         "  1048576  262144  float  sum  -1  20.00  52.43  52.43  0  21.00  49.93  49.93  N/A\n";
}
// The same row of an all-reduce.
std::string reduce_table(const char* busbw = "91.75") {
  return std::string("# nThread 1 nGpus 8 minBytes 1048576 maxBytes 1048576 step: 2(factor)\n") +
         kHeader + "  1048576  262144  float  sum  -1  20.00  52.43  " + busbw +
         "  0  21.00  49.93  87.38  0\n";
}
std::string eight_ranks() {
  std::string text;
  for (int rank = 0; rank < 8; ++rank) {
    text += "#  Rank  " + std::to_string(rank) + " Group  0 Pid   1 on host device  " +
            std::to_string(rank) + " [0000:04:00] NVIDIA H100\n";
  }
  return text;
}

TEST(NcclTests, TheOperationIsNamedBeforeTheFirstLineOfTheTable) {
  for (const std::string named :
       {"# nccl-tests version 2.17.6 nccl-headers=22807 nccl-library=22807\n"
        "# Collective test starting: sendrecv_perf\n",
        "#\n    # Collective test starting: sendrecv_perf_mpi\n",
        "[1,0]<stdout>:# Collective test starting: sendrecv_perf\n",
        "+ mpirun -np 8 -x NCCL_DEBUG=WARN ./build/sendrecv_perf -b 1M -e 1M -g 1\nWarning: ...\n",
        "$ srun --mpi=pmix /opt/nccl_perf/tests/sendrecv_perf -b 1M\n", "Running 'sendrecv_perf'\n",
        // Loaders complain in the name of a program before and after.
        "/opt/all_reduce_perf: /usr/lib/libnl-3.so: no version information available\n"
        "# Collective test starting: sendrecv_perf\n"
        "/opt/all_reduce_perf: /usr/lib/libnl-3.so: no version information available\n"}) {
    const Recording recording = read_text(named + sendrecv_table());
    ASSERT_EQ(recording.calls.size(), 2u) << named;
    EXPECT_EQ(recording.calls[0].op, Operation::send_receive) << named;
  }
}

TEST(NcclTests, ANameFarBeforeTheTableIsHeard) {
  std::string noise;
  while (noise.size() < 3'000'000) noise += "host-a: some other line of the job\n";
  const Recording recording = read_text("./build/sendrecv_perf -b 8\n" + noise + sendrecv_table());
  EXPECT_EQ(recording.calls.at(0).op, Operation::send_receive);
}

TEST(NcclTests, EveryProgramIsKnownByItsName) {
  for (const auto& [program, op] : {std::pair{"all_reduce_perf", Operation::all_reduce},
                                    {"all_gather_perf", Operation::all_gather},
                                    {"reduce_scatter_perf", Operation::reduce_scatter},
                                    {"alltoall_perf", Operation::all_to_all},
                                    {"alltoallv_perf", Operation::all_to_all},
                                    {"broadcast_perf", Operation::broadcast},
                                    {"reduce_perf", Operation::reduce},
                                    {"gather_perf", Operation::gather},
                                    {"scatter_perf", Operation::scatter},
                                    {"sendrecv_perf", Operation::send_receive},
                                    {"hypercube_perf", Operation::other}}) {
    const Recording recording = read_text(std::string("# Collective test starting: ") + program +
                                          "\n" + eight_ranks() + reduce_table());
    EXPECT_EQ(recording.calls.at(0).op, op) << program;
  }
}

TEST(NcclTests, WhereNothingNamesTheOperationBusbwTellsSendReceiveFromAllReduce) {
  const auto read = [](const std::string& table) {  // the device lines follow the first one
    const std::size_t end = table.find('\n') + 1;
    return read_text(table.substr(0, end) + eight_ranks() + table.substr(end));
  };
  EXPECT_EQ(read(sendrecv_table()).calls.at(0).op, Operation::send_receive);
  EXPECT_EQ(read(reduce_table()).calls.at(0).op, Operation::all_reduce);
}

TEST(NcclTests, OfTwoRanksTheyPrintTheSameAndThatIsSaid) {
  const std::string ranks =
      "#  Rank  0 Group  0 Pid   1 on host device  0 [0000:04:00] H100\n"
      "#  Rank  1 Group  0 Pid   1 on host device  1 [0000:05:00] H100\n";
  const std::string table = "# nThread 1 nGpus 2\n" + ranks + kHeader +
                            "  1048576  262144  float  sum  -1  20.00  52.43  52.43  0  21.00  "
                            "49.93  49.93  0\n";
  const std::string_view doubt =
      "tables of two ranks, of an all-reduce or of send/receive: read as all-reduces";
  const Recording unnamed = read_text(table);
  EXPECT_EQ(unnamed.calls.at(0).op, Operation::all_reduce);
  EXPECT_EQ(omitted(unnamed, doubt), 1);
  const Recording named = read_text("# Collective test starting: all_reduce_perf\n" + table);
  EXPECT_EQ(omitted(named, doubt), 0);
}

TEST(NcclTests, ALineThatNamesSeveralProgramsOrAContradictedOneNamesNone) {
  const std::string header = "# nThread 1 nGpus 8\n" + eight_ranks() + kHeader;
  const std::string reduce =
      "  1048576  262144  float  sum  -1  20.00  52.43  91.75  0  21.00  49.93  87.38  0\n";
  for (const char* before : {"for t in sendrecv_perf all_reduce_perf; do ./$t; done\n",
                             "sendrecv_perf: finished\n", "/opt/sendrecv_perf_runs/today\n"}) {
    EXPECT_EQ(read_text(before + header + reduce).calls.at(0).op, Operation::all_reduce) << before;
  }
}

TEST(NcclTests, TestsOneAfterTheOtherKeepTheirNamesRanksAndHosts) {
  const auto table = [](const std::string& program, int ranks, const std::string& first_line) {
    std::string text = "# Collective test starting: " + program + "\n" + first_line;
    for (int rank = 0; rank < ranks; ++rank) {
      text += "#  Rank  " + std::to_string(rank) + " Group  0 Pid   1 on host" +
              std::to_string(rank / 4) + " device  0 [0000:04:00] H100\n";
    }
    return text + kHeader +
           "  1048576  262144  float  sum  -1  20.00  52.43  52.43  0  21.00  49.93  49.93  0\n"
           "# Avg bus bandwidth    : 52.43\n#\n# Collective test concluded: " +
           program + "\n#\n";
  };
  for (const std::string first_line : {"# nThread 1 nGpus 1\n", ""}) {
    const Recording recording =
        read_text(table("sendrecv_perf", 4, first_line) + table("all_reduce_perf", 8, first_line));
    ASSERT_EQ(recording.calls.size(), 4u);
    EXPECT_EQ(recording.calls[0].op, Operation::send_receive);
    EXPECT_EQ(group_size(recording, recording.calls[0]), 4);
    EXPECT_EQ(recording.groups[*recording.calls[0].group].nodes, 1);
    EXPECT_EQ(recording.calls[2].op, Operation::all_reduce);
    EXPECT_EQ(group_size(recording, recording.calls[2]), 8);
    EXPECT_EQ(recording.groups[*recording.calls[2].group].nodes, 2);
  }
}

TEST(NcclTests, TheNameBehindATableIsOfThatTable) {
  // The first lines are cut off; what concluded is the table above, not the next one.
  const std::string row =
      "  1048576  262144  float  sum  -1  20.00  52.43  52.43  0  21.00  49.93  49.93  0\n";
  const Recording recording =
      read_text(kHeader + row + "# Collective test concluded: sendrecv_perf\n" + reduce_table());
  ASSERT_EQ(recording.calls.size(), 4u);
  EXPECT_EQ(recording.calls[0].op, Operation::send_receive);
  EXPECT_EQ(recording.calls[2].op, Operation::all_reduce);
}

TEST(NcclTests, DamagedRowsAreCountedAndTheOthersRead) {
  const Recording recording =
      read_text(std::string(kHeader) +
                "  1024  256  float  sum  -1  20.00  0.05  0.05  0  21.00  0.05  0.05  0\n"
                "  2048  512  flo\n"
                "  4096  1024  float  sum  -1  20.00  0.05  0.05  0  21.00  0.05  0.05  0\n");
  EXPECT_EQ(recording.calls.size(), 4u);
  EXPECT_EQ(omitted(recording, "rows that could not be read"), 1);
}

TEST(NcclTests, JsonGivesTheSame) {
  const Recording recording = read_text(
      R"({"version": 1, "args": ["/opt/nccl-tests/build/reduce_scatter_perf", "-b", "8"],
          "config": {"nthreads": 1, "ngpus": 4, "devices": [{"rank": 0}, {"rank": 4}]},
          "results": [{"size": 1048576, "count": 32768, "type": "float", "redop": "sum",
                       "root": "    -1", "out_of_place": {"time": 50.5, "alg_bw": 20.76,
                       "bus_bw": 18.17, "nwrong": 0}, "in_place": null}]})");
  ASSERT_EQ(recording.calls.size(), 1u);
  EXPECT_EQ(recording.calls[0].op, Operation::reduce_scatter);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(1048576));
  EXPECT_EQ(group_size(recording, recording.calls[0]), 8);
  EXPECT_NEAR(bus_bandwidth(recording, recording.calls[0])->value(), 18.17e9, 0.01e9);
}

TEST(NcclTestsPublic, SixOperationsOnEightA100ComeWithTheBusbwThatIsPrinted) {
  struct Expected {
    const char* file;
    Operation op;
    double time_us, busbw;  // of 134,217,728 B, out of place, as printed
  };
  for (const Expected& expected :
       {Expected{"allgather", Operation::all_gather, 698.6, 168.12},
        Expected{"allreduce", Operation::all_reduce, 1162.2, 202.11},
        Expected{"alltoall", Operation::all_to_all, 633.6, 185.35},
        Expected{"broadcast", Operation::broadcast, 672.2, 199.67},
        Expected{"reduce", Operation::reduce, 661.0, 203.06},
        Expected{"reducescatter", Operation::reduce_scatter, 618.1, 190.01}}) {
    const std::string file = std::string("nccl_tests/nccl_") + expected.file + ".log";
    HEADWAY_NEEDS_TRACE(file);
    const Recording recording = read_public(file);
    EXPECT_EQ(recording.calls.size(), 68u);  // 34 rows, out of place and in place
    EXPECT_EQ(count_of(recording, expected.op), 68) << file;
    const auto call = std::find_if(recording.calls.begin(), recording.calls.end(), [](auto& one) {
      return one.bytes == Bytes(134217728) && one.in_place == false;
    });
    ASSERT_NE(call, recording.calls.end());
    EXPECT_EQ(group_size(recording, *call), 8);
    EXPECT_NEAR(call->duration->value(), expected.time_us * 1e-6, 1e-12);
    EXPECT_NEAR(bus_bandwidth(recording, *call)->value() / 1e9, expected.busbw, 0.02) << file;
  }
}

// ---- NCCL_DEBUG ----

TEST(NcclDebug, CountsAreOfOneRankAndBytesOfTheWhole) {
  const Recording recording = read_text(
      "some other line\n"
      "node:10:11 [1] NCCL INFO AllGather: opCount 1f sendbuff 0x1 recvbuff 0x2 count 1000 "
      "datatype "
      "9 op 0 root 0 comm 0x55 [nranks=4] stream 0x7\n"
      "node:10:11 [1] NCCL INFO AllReduce: opCount 20 sendbuff 0x1 recvbuff 0x2 count 1000 "
      "datatype "
      "7 op 0 root 0 comm 0x55 [nranks=4] stream 0x7\n"
      "node:10:11 [1] NCCL INFO Send: opCount 21 sendbuff 0x1 recvbuff (nil) count 8 datatype 7 op "
      "0 "
      "root 3 comm 0x55 [nranks=4] stream 0x7\n");
  ASSERT_EQ(recording.calls.size(), 3u);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(8000));  // 1000 x bf16 x 4 ranks
  EXPECT_EQ(recording.calls[0].sequence, 31);        // hexadecimal
  EXPECT_EQ(recording.calls[1].bytes, Bytes(4000));
  EXPECT_EQ(recording.calls[2].op, Operation::send);
  EXPECT_EQ(recording.calls[2].peer, 3);
  EXPECT_EQ(recording.calls[0].time, TimeKind::none);
  EXPECT_EQ(recording.ranks.at(0).label, "node:10 [1]");
}

TEST(NcclDebug, RcclsFieldsTimestampsAndLaunchersPrefixesAreUnderstood) {
  const Recording recording = read_text(
      "[1,0]<stdout>:[2026-05-05 06:16:47] node:86092:86620 [4] NCCL INFO ReduceScatter: opCount "
      "ce3 "
      "sendbuff 0x1 recvbuff 0x2 acc (nil) count 10 datatype 9 op 4 root 0 comm 0xae [nranks=8] "
      "stream 0xac task 0 globalrank 12\n"
      "(Worker pid=615) node:86092:86620 NCCL INFO [4] AllReduce: opCount ce4 sendbuff 0x1 "
      "recvbuff "
      "0x2 count 10 datatype 9 op 4 root 0 comm 0xae stream 0xac\n");
  ASSERT_EQ(recording.calls.size(), 2u);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(160));
  EXPECT_EQ(recording.calls[0].start_ns, 1777961807000000000);  // date -u -d '2026-05-05 06:16:47'
  ASSERT_EQ(recording.ranks.size(), 1u);
  EXPECT_EQ(recording.ranks[0].number, 12);
  EXPECT_EQ(recording.calls[1].group, recording.calls[0].group);
}

TEST(NcclDebug, WhateverALauncherPutsBeforeTheLineTheRankIsTheProcess) {
  for (const std::string prefix :
       {"", "[1,0]<stdout>:", "[1,12]<stderr>:", "0: ", " 12: ", "[default0]:", "[rank3]: ",
        "(RayTrainWorker pid=615, ip=10.0.0.7) ", "\x1b[36m(RayTrainWorker pid=615)\x1b[0m ",
        "worker-0 | ", "2026-05-05T06:16:47.123Z ", "[2026-05-05 06:16:47] "}) {
    const Recording recording = read_text(
        prefix +
        "node-7:52937:52940 [3] NCCL INFO AllReduce: opCount 3 sendbuff 0x1 recvbuff 0x2 count 256 "
        "datatype 7 op 0 root 0 comm 0xae [nranks=8] stream 0xac\n");
    ASSERT_EQ(recording.calls.size(), 1u) << prefix;
    EXPECT_EQ(recording.ranks.at(0).label, "node-7:52937 [3]") << prefix;
    EXPECT_EQ(recording.groups.at(0).id, "comm 0xae of node-7:52937") << prefix;
    EXPECT_EQ(recording.calls[0].bytes, Bytes(1024)) << prefix;
  }
}

TEST(NcclDebug, WithoutTheRanksOnlyOnePartOfAGatherIsKnown) {
  const Recording recording = read_text(
      "node:1:2 [4] NCCL INFO ReduceScatter: opCount ce3 sendbuff 0x1 recvbuff 0x2 count 10 "
      "datatype "
      "7 op 4 root 0 comm 0xae\n");
  EXPECT_FALSE(recording.calls.at(0).bytes);
  EXPECT_EQ(recording.calls[0].counted_bytes, Bytes(40));
}

TEST(NcclDebug, TheLinesOfInitGiveTheCommunicatorItsNameOnAllRanks) {
  const auto rank = [](int number) {
    const std::string prefix = "node:" + std::to_string(number + 10) + ":1 [0] NCCL INFO ";
    const std::string comm = "0x5" + std::to_string(number);
    return prefix + "ncclCommInitRank comm " + comm + " rank " + std::to_string(number) +
           " nranks 2 cudaDev 0 busId 5d000 commId 0xabc - Init COMPLETE\n" + prefix +
           "AllReduce: opCount 1 sendbuff 0x1 recvbuff 0x2 count 10 datatype 7 op 0 root 0 comm " +
           comm + " stream 0x7\n";
  };
  const Recording recording = read_text(rank(0) + rank(1));
  ASSERT_EQ(recording.groups.size(), 1u);
  EXPECT_EQ(recording.groups[0].id, "comm 0xabc");
  EXPECT_EQ(recording.groups[0].size, 2);
  EXPECT_EQ(recording.ranks.at(1).number, 1);
}

TEST(NcclDebugPublic, LinesOfNcclAndRcclAreRead) {
  HEADWAY_NEEDS_TRACE("nccl_debug_lines.txt");
  const Recording recording = read_public("nccl_debug_lines.txt");
  ASSERT_EQ(recording.calls.size(), 2u);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(2097152.0 * 4 * 2));  // fp32, 2 ranks
  EXPECT_EQ(recording.calls[1].bytes, Bytes(268435456.0 * 2));    // fp16, all-reduce
}

// ---- profiler plugin ----

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

// ---- Inspector ----

TEST(NcclInspector, BytesAreOfOneRankAndTheTimingSourceSaysWhatTheTimeIs) {
  const auto line = [](const char* op, const char* source) {
    return std::string(R"({"header":{"id":"0x9","comm_name":"tp","rank":2,"n_ranks":8,"nnodes":1},
"metadata":{"hostname":"node","pid":7},"coll_perf":{"coll":")") +
           op + R"(","coll_sn":3,"coll_msg_size_bytes":1000,"coll_exec_time_us":50,
"coll_timing_source":")" +
           source + "\"}}\n";
  };
  const Recording recording =
      read_text(line("ReduceScatter", "kernel_gpu") + line("AllReduce", "collective_cpu"));
  ASSERT_EQ(recording.calls.size(), 2u);
  EXPECT_EQ(recording.calls[0].bytes, Bytes(8000));
  EXPECT_EQ(recording.calls[0].time, TimeKind::kernel);
  EXPECT_EQ(recording.calls[1].bytes, Bytes(1000));
  EXPECT_EQ(recording.calls[1].time, TimeKind::enqueue);
  EXPECT_EQ(recording.groups.at(0).description, "tp");
}

}  // namespace
}  // namespace headway
