// Libraries that are not as expected, programs that end otherwise than by their last line, and
// files that cannot be written: what was recorded is read, what was lost is counted, and the
// program ends as it does alone.
#include <gtest/gtest.h>

#include "programs_for_test.hpp"

namespace headway {
namespace {

TEST_P(NcclRecorder, OfAStreamThatDoesNotSayWhetherItIsCapturedCallsHaveTheTimeOfLaunchingThem) {
  const Recording recording = recorded("unanswered", "", 1);
  ASSERT_EQ(recording.calls.size(), 2u);
  for (const RecordedCall& call : recording.calls) {
    const bool alone = call.op == Operation::all_reduce;  // of those of a group nobody knows it
    EXPECT_EQ(call.time, alone ? TimeKind::enqueue : TimeKind::none) << to_name(call.op);
  }
  EXPECT_EQ(times_said(recording, "how often they run"), 0);
}

TEST_P(NcclRecorder, OfAVersionThatIsNotKnownThatIsSaidOnceAndNoEventIsMade) {
  const Recording recording = recorded("collectives", "", 1, "STUB_VERSION=23400");
  for (const RecordedCall& call : recording.calls) EXPECT_EQ(call.time, TimeKind::enqueue);
  const std::string& err = ended_.err[0];
  const std::size_t said = err.find(" 2.34.0 is a version whose interface is not known");
  EXPECT_NE(said, std::string::npos) << err;
  EXPECT_EQ(err.find(" 2.34.0", said + 1), std::string::npos) << err;
}

TEST_P(NcclRecorder, OfAVersionThatIsNotKnownTheDeviceIsNotAskedAboutStreams) {
  const Recording recording = recorded("captured", "", 1, "STUB_VERSION=23400");
  ASSERT_EQ(recording.calls.size(), 4u);
  for (const RecordedCall& call : recording.calls) {
    const bool alone = call.op == Operation::all_reduce;
    EXPECT_EQ(call.time, alone ? TimeKind::enqueue : TimeKind::none) << to_name(call.op);
  }
  EXPECT_EQ(times_said(recording, "how often they run"), 0);
}

TEST_P(NcclRecorder, CallsOnACommunicatorThatSaysNoSizeAreCounted) {
  const Recording recording = recorded("unready", "", 1);
  EXPECT_EQ(tally(recording, 0), (Tally{{{Operation::all_reduce, 40}, 1}}));
  EXPECT_EQ(lost(recording), 1);
}

TEST_P(NcclRecorder, CallsOnMoreCommunicatorsThanAreKeptAreCounted) {
  const Recording recording = recorded("crowded", "--device-times off", 1);
  EXPECT_EQ(tally(recording, 0), (Tally{{{Operation::all_reduce, 40}, 1}}));
  EXPECT_EQ(lost(recording), 2);
}

TEST_P(NcclRecorder, OfAKilledProgramTheCallsBeforeItsLastMomentsAreRead) {
  record("killed");
  const RunRecording run = read_run_traces({recording()});
  ASSERT_TRUE(run.unread.empty());
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ((tally(run.recording, rank)[{Operation::all_reduce, 8}]), 50);
  }
  EXPECT_GT(times_said(run.recording, "were not ended"), 0);
}

TEST_P(NcclRecorder, ChildrenOfTheProgramWriteNothing) {
  const Recording recording = recorded("forked", "", 2);
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(tally(recording, rank), (Tally{{{Operation::all_reduce, 8}, 20}}));
  }
}

TEST_P(NcclRecorder, AProgramThatLeavesWhileTheDeviceIsBusyIsNotKeptWaiting) {
  const Recording recording = recorded("left", "", 1);
  EXPECT_EQ(ended_.codes, std::vector<int>{6});
  Tally expected = {{{Operation::all_reduce, 8}, 10}, {{Operation::all_reduce, 4e9}, 1}};
  EXPECT_EQ(tally(recording, 0), expected);
  for (const RecordedCall& call : recording.calls) {  // it ends 4 s later
    if (call.bytes == Bytes(4e9)) {
      EXPECT_EQ(call.time, TimeKind::enqueue);
    }
  }
}

TEST_P(NcclRecorder, WhereAFileMayNotGrowTheRestIsCountedAndTheProgramGoesOn) {
  const Recording recording = recorded("limited", "--device-times off", 1);
  const int kept = tally(recording, 0)[{Operation::all_reduce, 8}];
  EXPECT_GT(kept, 5000);
  EXPECT_LT(kept, 512 * 1024 / 48);
  EXPECT_EQ(kept + lost(recording), 60'000);
}

// No name of a function that waits for a device stands in the libraries, and they need the C
// library alone.
TEST(NcclRecorderParts, NothingThatWaitsForADeviceIsCalled) {
  for (const char* library : {HEADWAY_NCCL_LIBRARY, HEADWAY_NCCL_PLUGIN}) {
    const std::string bytes = read(library);
    ASSERT_FALSE(bytes.empty());
    for (const char* word : {"Synchronize", "cuStreamWait", "cudaDevice"}) {
      EXPECT_EQ(bytes.find(word), std::string::npos) << library << ": " << word;
    }
  }
}

}  // namespace
}  // namespace headway
