// The parts of a recorder by themselves, and `headway record` without any MPI.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "file/clock.hpp"
#include "file/group_number.hpp"
#include "file/ring.hpp"
#include "file/settings.hpp"
#include "files_for_test.hpp"
#include "trace/recording/operation.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;

TEST(Record, AProgramWithoutMpiRunsAsItDoesAndThatIsSaid) {
  const fs::path folder = fs::path(::testing::TempDir()) / "headway_record_plain";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string command = "cd '" + folder.string() +
                              "' && '" HEADWAY_PROGRAM
                              "' record -- "
                              "sh -c 'echo said; exit 7' >out 2>err";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(read(folder / "out"), "said\n");
  EXPECT_NE(read(folder / "err").find("nothing was recorded"), std::string::npos);
  fs::remove_all(folder);
}

TEST(Record, WhatIsWrongIsSaidAtOnceAndNothingIsRun) {
  const fs::path folder = fs::path(::testing::TempDir()) / "headway_record_wrong";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string command =
      "cd '" + folder.string() +
      "' && '" HEADWAY_PROGRAM
      "' record --steps 5..2 --min-bytes 7 --ops all_reduce,gossip --mpi 7 -- touch it >out 2>err";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 2);
  const std::string err = read(folder / "err");
  for (const char* said : {"--steps", "--min-bytes", "'gossip' is not known", "--mpi"}) {
    EXPECT_NE(err.find(said), std::string::npos) << err;
  }
  EXPECT_FALSE(fs::exists(folder / "it"));
  fs::remove_all(folder);
}

// A program that asks for a function of MPI 4 by its name shall find it only where the MPI has it.
TEST(Record, TheFrontShowsNoFunctionThatItsLevelLacks) {
  const fs::path folder = fs::path(HEADWAY_RECORDER).parent_path();
  const auto has = [&](const std::string& level, const std::string& function) {
    const std::string command = "nm -D '" + (folder / ("libheadway_mpi" + level + ".so")).string() +
                                "' | grep -q ' T " + function + "$'";
    return std::system(command.c_str()) == 0;
  };
  for (const char* level : {"3", "4", "4c"}) {
    const bool four = level[0] == '4', wide = four && level[1] == 'c';
    EXPECT_TRUE(has(level, "MPI_Send") && has(level, "PMPI_Ineighbor_alltoallw")) << level;
    EXPECT_EQ(has(level, "MPI_Allreduce_init"), four) << level;
    EXPECT_EQ(has(level, "MPI_Psend_init"), four) << level;
    EXPECT_EQ(has(level, "MPI_Isendrecv"), four) << level;
    EXPECT_EQ(has(level, "PMPI_Allreduce_c"), wide) << level;
    EXPECT_EQ(has(level, "MPI_Bcast_init_c"), wide) << level;
  }
}

TEST(Record, OperationsHaveTheNamesThatRecordingsHave) {
  for (std::size_t i = 0; i < std::size(recorder::kOperationNames); ++i) {
    EXPECT_EQ(recorder::kOperationNames[i], to_name(static_cast<Operation>(i)));
  }
  EXPECT_EQ(std::size(recorder::kOperationNames), kOperations.size());
}

// [REC-1] FNV-1a of 32 bits, by its published offset and prime: of the four bytes 0 0 0 0 of
// rank 0 and then those of ordinal 0 the state is the offset times the prime eight times.
TEST(Record, TheNumberOfAGroupIsTheHashOfItsRanks) {
  const int zero[] = {0};
  std::uint32_t expected = 0x811c9dc5;
  for (int i = 0; i < 8; ++i) expected *= 0x01000193;
  EXPECT_EQ(recorder::group_number(zero, 1, 0), expected);
  const int pair[] = {0, 1}, turned[] = {1, 0};
  EXPECT_NE(recorder::group_number(pair, 2, 0), recorder::group_number(turned, 2, 0));
  EXPECT_NE(recorder::group_number(pair, 2, 0), recorder::group_number(pair, 2, 1));
}

TEST(Record, WhatAFullBufferCannotTakeIsCountedAndTheRestComesInOrder) {
  recorder::Ring ring;
  ASSERT_TRUE(ring.make(3));
  record_file::Record record;
  for (record.start_ns = 0; record.start_ns < 11; ++record.start_ns) ring.put(record);
  EXPECT_EQ(ring.lost(), 3u);
  for (std::uint64_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(ring.take(record));
    EXPECT_EQ(record.start_ns, i);
  }
  EXPECT_FALSE(ring.take(record));
  record.start_ns = 99;
  EXPECT_NE(ring.put(record), recorder::Ring::kLost);
  ASSERT_TRUE(ring.take(record));
  EXPECT_EQ(record.start_ns, 99u);
}

TEST(Record, ManyThreadsLoseNothingThatIsNotCounted) {
  recorder::Ring ring;
  ASSERT_TRUE(ring.make(6));
  constexpr std::uint64_t kEach = 20'000;
  std::vector<std::thread> writers;
  std::atomic<int> writing{4};
  for (std::uint64_t writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      record_file::Record record;
      record.group = static_cast<std::uint32_t>(writer);
      for (record.start_ns = 0; record.start_ns < kEach; ++record.start_ns) ring.put(record);
      --writing;
    });
  }
  std::uint64_t taken = 0, next[4] = {};
  record_file::Record record;
  for (bool last = false; !last;) {
    last = writing == 0;
    while (ring.take(record)) {
      ++taken;
      EXPECT_GE(record.start_ns, next[record.group]);  // in the order of each thread
      next[record.group] = record.start_ns + 1;
    }
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(taken + ring.lost(), 4 * kEach);
}

// A counter of 2.5 ticks a nanosecond that was 1,000 at time 40: two moments far apart say it.
TEST(Record, TicksBecomeNanosecondsByTwoMoments) {
  const recorder::Ticks in_ticks({1000, 40}, {1000 + 2'500'000, 40 + 1'000'000});
  EXPECT_EQ(in_ticks.ns_at(1000), 40u);
  EXPECT_EQ(in_ticks.ns_at(1000 + 1'250'000), 40u + 500'000);
  EXPECT_EQ(in_ticks.ns_at(1000 + 5'000'000), 40u + 2'000'000);  // after both
  EXPECT_EQ(in_ticks.ns_of(250), 100u);
  EXPECT_EQ(in_ticks.ns_of(0), 0u);
  EXPECT_EQ(in_ticks.ns_of(1), 1u);
}

TEST(Record, TicksOfThisMachineAreThoseOfItsClock) {
  for (const bool counter : {false, true}) {
    recorder::choose_clock();
    if (counter && !recorder::counter_is_clock) continue;  // another kind of machine
    recorder::counter_is_clock = counter;
    const recorder::Moment first = recorder::this_moment();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const recorder::Ticks in_ticks(first, recorder::this_moment());
    std::uint64_t nearest = ~std::uint64_t{0};
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t before = recorder::now_ns();
      const std::uint64_t then = in_ticks.ns_at(recorder::ticks());
      const std::uint64_t after = recorder::now_ns();
      const std::uint64_t middle = before + (after - before) / 2;
      nearest = std::min(nearest, then > middle ? then - middle : middle - then);
    }
    EXPECT_LT(nearest, 1000u) << counter;  // ns
  }
}

TEST(Record, TheRecorderNeedsTheCLibraryAlone) {
  const fs::path found = fs::path(::testing::TempDir()) / "headway_record_needed";
  for (const auto& entry : fs::directory_iterator(fs::path(HEADWAY_RECORDER).parent_path())) {
    if (entry.path().extension() != ".so") continue;
    const std::string command =
        "readelf -d '" + entry.path().string() + "' | grep NEEDED >'" + found.string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::istringstream lines(read(found));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_NE(line.find("[libc.so.6]"), std::string::npos) << entry.path() << line;
    }
  }
  fs::remove(found);
}

}  // namespace
}  // namespace headway
