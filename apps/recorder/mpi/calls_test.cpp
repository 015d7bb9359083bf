// What is in the files is what the source of the programs says (program_for_test.cpp), and they
// give the same results with and without.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>

#include "programs_for_test.hpp"
#include "trace/recording/record_file.hpp"

namespace headway {
namespace {

class RecordedMpiCalls : public MpiProgram {};

TEST_P(RecordedMpiCalls, ARingOfMessages) {
  const Recording recording = recorded("ring");
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(tally(recording, rank),
              (Tally{{{Operation::send, 8}, 10}, {{Operation::receive, 8}, 10}}));
  }
  for (const RecordedCall& call : recording.calls) {
    const std::int64_t rank = *recording.ranks[call.rank].number;
    // A receive from any source says who it was, and its tag.
    EXPECT_EQ(call.peer, call.op == Operation::send ? (rank + 1) % 4 : (rank + 3) % 4);
    EXPECT_EQ(call.tag, 7);
    EXPECT_EQ(call.type, ElementType::int64);
    EXPECT_EQ(call.time, TimeKind::host);
    EXPECT_GT(call.duration->value(), 0);
    ASSERT_TRUE(call.group);
    EXPECT_EQ(recording.groups[*call.group].ranks, (std::vector<std::int64_t>{0, 1, 2, 3}));
  }
  EXPECT_EQ(recording.groups.size(), 1u);
  EXPECT_EQ(lost(recording), 0);
}

TEST_P(RecordedMpiCalls, AStencilWithPersistentCallsHasOneOfEachForEveryStart) {
  const Recording recording = recorded("stencil");
  // 100 doubles up and down; at the edges one of the two goes nowhere.
  const Tally inner = {{{Operation::send, 800}, 40},
                       {{Operation::receive, 800}, 40},
                       {{Operation::all_reduce, 8}, 20}};
  const Tally edge = {{{Operation::send, 800}, 20},
                      {{Operation::send, 0}, 20},
                      {{Operation::receive, 800}, 20},
                      {{Operation::receive, 0}, 20},
                      {{Operation::all_reduce, 8}, 20}};
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(tally(recording, rank), rank == 0 || rank == 3 ? edge : inner) << rank;
  }
  EXPECT_EQ(recording.marked_steps, 20);
  for (const RecordedRank& rank : recording.ranks) {
    EXPECT_EQ(rank.waits, 20);
    EXPECT_GT(rank.waited.value(), 0);
  }
}

TEST_P(RecordedMpiCalls, EveryCollectiveHasTheBytesOfTheWholeTensor) {
  const Recording recording = recorded("collectives");
  // Parts of 10 floats, or 10, 20, 30, 40 of the four ranks: 400 bytes together.
  for (int rank = 0; rank < 4; ++rank) {
    const double own = 40 * (rank + 1);
    Tally expected = {
        {{Operation::barrier, -1}, 3 * 2},
        {{Operation::broadcast, 40}, 3 * 2},
        {{Operation::gather, 160}, 3},
        {{Operation::scatter, 160}, 3},
        {{Operation::all_gather, 160}, 3},
        {{Operation::all_gather, 400}, 3},
        {{Operation::all_to_all, 160}, 3},
        {{Operation::all_to_all, 400}, 3 * 2},
        {{Operation::reduce, 40}, 3},
        {{Operation::all_reduce, 40}, 3 * 2},
        {{Operation::reduce_scatter, 400}, 3},
        {{Operation::reduce_scatter, 160}, 3},
        {{Operation::other, 40}, 3 * 2},
        // What all give together knows the root alone.
        {{Operation::gather, rank == 0 ? 400 : -1}, 3},
        {{Operation::scatter, rank == 0 ? 400 : -1}, 3},
    };
    EXPECT_EQ(tally(recording, rank), expected) << rank;
    for (const RecordedCall& call : recording.calls) {
      if (recording.ranks[call.rank].number != rank || call.bytes) continue;
      if (call.op == Operation::barrier) continue;
      EXPECT_EQ(call.counted_bytes, Bytes(own));
    }
  }
  // Calls of all ranks with one number are one collective.
  std::map<std::int64_t, std::map<Operation, int>> together;
  for (const RecordedCall& call : recording.calls) ++together[call.sequence.value()][call.op];
  EXPECT_EQ(together.size(), 60u);
  for (const auto& [number, ops] : together) {
    EXPECT_EQ(ops.size(), 1u) << number;
    EXPECT_EQ(ops.begin()->second, 4) << number;
  }
}

TEST_P(RecordedMpiCalls, ADataParallelTrainerHasItsGroups) {
  const Recording recording = recorded("trainer");
  const Tally step = {{{Operation::all_gather, 800}, 6},
                      {{Operation::all_reduce, 4000}, 6},
                      {{Operation::all_reduce, 96}, 6}};
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(tally(recording, rank), step);
  std::multiset<std::vector<std::int64_t>> groups;
  for (const RecordedGroup& group : recording.groups) groups.insert(group.ranks);
  // Two rows, and two columns twice: a duplicate is another group of the same ranks.
  EXPECT_EQ(groups, (std::multiset<std::vector<std::int64_t>>{
                        {0, 1}, {2, 3}, {0, 2}, {0, 2}, {1, 3}, {1, 3}, {0, 1, 2, 3}}));
  for (const RecordedCall& call : recording.calls) {
    const std::vector<std::int64_t>& ranks = recording.groups[*call.group].ranks;
    const std::int64_t rank = *recording.ranks[call.rank].number;
    EXPECT_EQ(ranks, call.op == Operation::all_gather
                         ? (std::vector<std::int64_t>{rank / 2 * 2, rank / 2 * 2 + 1})
                         : (std::vector<std::int64_t>{rank % 2, rank % 2 + 2}));
  }
  EXPECT_EQ(recording.marked_steps, 6);
}

TEST_P(RecordedMpiCalls, MessagesAreClosedWhereTheProgramSeesThemDone) {
  const Recording recording = recorded("messages");
  const Tally expected = {{{Operation::receive, 16}, 4},      {{Operation::send, 16}, 4},
                          {{Operation::send, 0}, 4},          {{Operation::send, 5}, 1},
                          {{Operation::send_receive, 32}, 4}, {{Operation::receive, 5}, 1},
                          {{Operation::receive, 0}, 1},       {{Operation::barrier, -1}, 1}};
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(tally(recording, rank), expected);
    EXPECT_GE(recording.ranks[static_cast<std::size_t>(rank)].waits, 4 + 4 + 2);
  }
  for (const RecordedCall& call : recording.calls) {
    // The one that was let go of: when it was done nobody knows.
    const bool unseen = call.op == Operation::send && call.bytes == Bytes(5);
    EXPECT_EQ(call.time, unseen ? TimeKind::none : TimeKind::host);
  }
}

TEST_P(RecordedMpiCalls, OneSidedCallsAndThoseAmongNeighbours) {
  const Recording recording = recorded("others");
  // 10 integers to each of two neighbours.
  const Tally expected = {{{Operation::send, 40}, 1},
                          {{Operation::receive, 80}, 1},
                          {{Operation::send_receive, 4}, 1},
                          {{Operation::send_receive, 80}, 5}};
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(tally(recording, rank), expected);
  // Three fences, a lock and its end, and that all free the window.
  for (const RecordedRank& rank : recording.ranks) EXPECT_EQ(rank.waits, 6);
}

// By hand: the groups of the world that the ranks name alike are the world, its first duplicate
// (one message) and its second (one message, an all-reduce of all), whoever used which first.
TEST_P(RecordedMpiCalls, DuplicatesThatComeLaterAreNumberedAsTheyWereAskedFor) {
  const Recording recording = recorded("duplicates");
  std::map<std::string, std::multiset<Operation>> calls;
  for (const RecordedCall& call : recording.calls) {
    ASSERT_TRUE(call.group);
    calls[recording.groups[*call.group].description].insert(call.op);
  }
  using enum Operation;
  EXPECT_EQ(calls["world #2"], (std::multiset<Operation>{send, receive}));
  EXPECT_EQ(calls["world #3"], (std::multiset<Operation>{send, receive, all_reduce, all_reduce,
                                                         all_reduce, all_reduce}));
  EXPECT_EQ(calls["by 2 #2"],
            (std::multiset<Operation>{all_reduce, all_reduce, all_reduce, all_reduce}));
  EXPECT_EQ(calls.size(), 3u);
}

TEST_P(RecordedMpiCalls, APostedWindowThatIsFoundDoneIsAWait) {
  const Recording recording = recorded("exposed");
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(tally(recording, rank), rank == 0 ? Tally{} : (Tally{{{Operation::send, 4}, 1}}));
    // Test or start and complete, and that all free the window.
    EXPECT_EQ(recording.ranks[static_cast<std::size_t>(rank)].waits, rank == 0 ? 2 : 3);
  }
}

// The ranks of the other program are of another world: of the group the size is known.
TEST_P(RecordedMpiCalls, ProgramsThatAreSpawnedAreTheSecondRun) {
  if (const auto bare = launch("spawning", ""); bare.code != 0) {
    GTEST_SKIP() << "this MPI starts no programs (Debian's MPICH 4.0.2): " << bare.err;
  }
  const Recording recording = recorded("spawning");
  for (const auto& [more, ranks] : {std::pair{"", 4}, {"/run2", 2}}) {
    const Recording one = read_run_traces({this->recording() + more}).recording;
    ASSERT_EQ(one.calls.size(), static_cast<std::size_t>(ranks)) << more;
    for (const RecordedCall& call : one.calls) {
      EXPECT_EQ(call.op, Operation::broadcast);
      // Of the side that sends one rank does.
      const bool moves = ranks == 2 || one.ranks[call.rank].number == 0;
      EXPECT_EQ(call.bytes, Bytes(moves ? 40 : 0));
      ASSERT_TRUE(call.group);
      EXPECT_EQ(one.groups[*call.group].size, 6);
    }
    EXPECT_EQ(lost(one), 0);
  }
}

TEST_P(RecordedMpiCalls, CallsOfTheProfilingInterfaceAreRecordedOnceAsFortranMakesThem) {
  const Recording recording = recorded("profiled");
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(tally(recording, rank), (Tally{{{Operation::all_reduce, 8}, 5}}));
  }
}

TEST_P(RecordedMpiCalls, WideCountsPersistentCollectivesAndPartitionsOfMpi4) {
  if (std::string(GetParam()) == "openmpi") GTEST_SKIP() << "OpenMPI 4 and 5 have MPI 3.1";
  const Recording recording = recorded("version4");
  for (int rank = 0; rank < 4; ++rank) {
    const Operation message = rank % 2 == 0 ? Operation::send : Operation::receive;
    Tally expected = {{{Operation::all_reduce, 320}, 3},
                      {{Operation::broadcast, 160}, 1},
                      {{Operation::all_gather, 160}, 1},
                      {{Operation::send_receive, 80}, 1},
                      {{Operation::send, 320}, 2},
                      {{Operation::receive, 320}, 2},
                      {{message, 240}, 1},
                      {{message, 56}, 2},
                      {{Operation::send, 16}, 1}};
    EXPECT_EQ(tally(recording, rank), expected) << rank;
  }
  for (const RecordedCall& call : recording.calls) {
    // Of a message that was found before no communicator is said.
    EXPECT_EQ(call.group.has_value(), call.op != Operation::receive || call.bytes != Bytes(56));
  }
}

TEST_P(RecordedMpiCalls, FilesAreRecordedAndAreNoCommunication) {
  const Recording recording = recorded("files");
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(tally(recording, rank), (Tally{{{Operation::all_reduce, 8}, 1}}));
  }
  EXPECT_EQ(times_said(recording, "reads and writes of files"), 4 * 3);
  // By the bytes of the records: 800 were written, 800 and 400 were read, by function.
  for (int rank = 0; rank < 4; ++rank) {
    const std::string bytes = read(this->recording() + "/rank" + std::to_string(rank) + ".hwr");
    std::multiset<std::uint64_t> sizes;
    const std::size_t begin = bytes.find('\n') + 1;
    for (std::size_t at = begin; at + 48 <= bytes.size();) {
      record_file::Record record;
      std::memcpy(&record, bytes.data() + at, sizeof record);
      at += 48;
      if (record.asked == record_file::kText) at += 48 * record_file::slots(record.bytes);
      if (record.asked != record_file::kFile) continue;
      sizes.insert(record.bytes);
      EXPECT_GT(record.duration_ns, 0u);
      EXPECT_EQ(record.type, 11);  // 1 + fp64
    }
    EXPECT_EQ(sizes, (std::multiset<std::uint64_t>{400, 800, 800}));
  }
}

TEST_P(RecordedMpiCalls, AProgramOfSessionsAloneIsRecorded) {
  const LaunchedOutput bare = launch("sessions", "");
  if (bare.code == 77) GTEST_SKIP() << "OpenMPI has sessions since 5";
  const Recording recording = recorded("sessions");
  EXPECT_EQ(bare.code, 5);
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(tally(recording, rank),
              (Tally{{{Operation::all_reduce, 80}, 3}, {{Operation::broadcast, 40}, 3}}));
  }
  std::set<std::vector<std::int64_t>> groups;
  for (const RecordedGroup& group : recording.groups) groups.insert(group.ranks);
  EXPECT_EQ(groups, (std::set<std::vector<std::int64_t>>{{0, 1, 2, 3}, {0, 1}, {2, 3}}));
  EXPECT_EQ(recording.marked_steps, 3);
  EXPECT_EQ(lost(recording), 0);
  EXPECT_TRUE(recording.omissions.empty());
}

FOR_EACH_MPI(RecordedMpiCalls);

}  // namespace
}  // namespace headway
