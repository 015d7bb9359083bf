// Lines of NCCL_DEBUG.
#include <gtest/gtest.h>

#include <string>

#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

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

}  // namespace
}  // namespace headway
