#include "trace/recording/recording.hpp"

#include <gtest/gtest.h>

#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

// ---- [TRACE-8] the whole of a part ----

TEST(CompleteSizes, AGroupThatAnotherFileSizedMakesPartsWhole) {
  Recording one, other;
  one.ranks = {{0, "rank 0", std::nullopt}};
  one.groups = {{"comm 7", "", std::nullopt, {}, true}};
  RecordedCall gather;
  gather.op = Operation::all_gather;
  gather.group = 0;
  set_bytes_from_count(gather, 100, std::nullopt);
  EXPECT_FALSE(gather.bytes);
  one.calls = {gather};
  leave_unsaid(one, kCallsWithoutWhole);
  other.ranks = {{1, "rank 1", std::nullopt}};
  other.groups = {{"comm 7", "", 8, {}, true}};
  append(one, other);
  complete_sizes(one);
  EXPECT_EQ(one.calls[0].bytes, Bytes(800));
  EXPECT_FALSE(one.calls[0].counted_bytes);
  EXPECT_TRUE(one.omissions.empty());
}

TEST(CompleteSizes, ANumberThatMayBeAPartOrTheWholeStaysAsItIs) {
  Recording recording;
  recording.ranks = {{0, "rank 0", std::nullopt}};
  recording.groups = {{"0", "", 8, {}, true}};
  RecordedCall call;
  call.op = Operation::all_gather;
  call.group = 0;
  call.counted_bytes = Bytes(100);
  recording.calls = {call};
  complete_sizes(recording);
  EXPECT_FALSE(recording.calls[0].bytes);
  EXPECT_EQ(recording.calls[0].counted_bytes, Bytes(100));
}

TEST(CompleteSizes, OsuPartsAreWholeWhereTheLogSaysTheRanks) {
  const std::string table =
      "# OSU MPI Allgather Latency Test v7.3\n# Size       Avg Latency(us)\n4    1.50\n";
  for (const char* command : {"+ mpirun -np 16 --bind-to core ./osu_allgather -f\n",
                              "srun --ntasks=16 osu_allgather\n"}) {
    const Recording recording = read_text(command + table);
    EXPECT_EQ(recording.calls.at(0).bytes, Bytes(64)) << command;
    EXPECT_EQ(group_size(recording, recording.calls[0]), 16);
  }
  EXPECT_EQ(read_text("$ mpirun -np 16 ./osu_bw\n# OSU MPI Bandwidth Test v7.3\n"
                      "# Size      Bandwidth (MB/s)\n1000000   20000.0\n")
                .groups.at(0)
                .size,
            2);
}

}  // namespace
}  // namespace headway
