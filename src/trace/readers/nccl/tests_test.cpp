// The tables of nccl-tests, as text and as JSON.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "trace/analysis/call_table.hpp"
#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

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

}  // namespace
}  // namespace headway
