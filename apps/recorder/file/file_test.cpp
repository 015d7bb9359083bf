// The parts of recorders that know of no MPI: groups' numbers, the queue, clocks, the writer of the
// file. Also under sanitizers, which the libraries themselves are not.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "../recordings_for_test.hpp"
#include "clock.hpp"
#include "group_number.hpp"
#include "hash.hpp"
#include "ring.hpp"
#include "settings.hpp"
#include "trace/files.hpp"
#include "writer.hpp"

namespace headway {
namespace {

// [RECORD-1] FNV-1a of 32 bits, by its published offset and prime: of the four bytes 0 0 0 0 of
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

// [RECORD-4] In 32 and 64 bits, by the published offsets and primes; of the text "a" the published
// results.
TEST(Record, NumbersOfWhatAllWereGivenAreHashes) {
  const std::uint32_t none = 0x811c9dc5;
  EXPECT_EQ(recorder::hash(none, "\0", 1), none * 0x01000193u);
  EXPECT_EQ(recorder::hash(recorder::kHashOfNothing<std::uint32_t>, "a", 1), 0xe40c292cu);
  EXPECT_EQ(recorder::hash(recorder::kHashOfNothing<std::uint64_t>, "a", 1), 0xaf63dc4c8601ec8cu);
}

TEST(Record, WhatAFullBufferCannotTakeIsCountedAndTheRestComesInOrder) {
  static recorder::Ring ring;  // as in a program: never freed
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

// A program of MPI's sessions may begin a second file.
TEST(Record, ABufferThatIsThereGoesOnWhereItWas) {
  static recorder::Ring ring;  // as in a program: never freed
  ASSERT_TRUE(ring.make(3));
  record_file::Record record;
  for (int i = 0; i < 20; ++i) {
    ring.put(record);
    ASSERT_TRUE(ring.take(record));
  }
  ASSERT_TRUE(ring.make(3));
  for (record.start_ns = 0; record.start_ns < 8; ++record.start_ns) ring.put(record);
  EXPECT_EQ(ring.lost(), 0u);
  for (std::uint64_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(ring.take(record));
    EXPECT_EQ(record.start_ns, i);
  }
}

TEST(Record, ManyThreadsLoseNothingThatIsNotCounted) {
  static recorder::Ring ring;  // as in a program: never freed
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
  for (const std::uint64_t ns : {40u, 500'040u, 2'000'040u}) {  // and back
    EXPECT_EQ(in_ticks.ns_at(in_ticks.ticks_at(ns)), ns);
  }
  EXPECT_EQ(in_ticks.ticks_of(100), 250u);
  EXPECT_EQ(in_ticks.ticks_of(0.1), 1u);
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

bool keeps_pages(const std::filesystem::path& folder) {
  struct statfs system {};
  return ::statfs(folder.c_str(), &system) == 0 &&
         (system.f_type == 0xef53 || system.f_type == 0x58465342 || system.f_type == 0x01021994);
}

// [RECORD-7] A program that is killed within the 20 ms in which its thread had not come; it may
// have begun several files, and have had more calls than its buffer takes. Before any test that
// marks a step, which would be one record more.
TEST(Record, WhatWasOnItsWayWhenTheProgramWasKilledIsCounted) {
  for (const auto& [many, rotate] : {std::pair{100, 0}, {5000, 4800}, {70'000, 0}}) {
    const testing::TemporaryFolder temporary;
    if (!keeps_pages(temporary.path())) GTEST_SKIP() << "of this file system nothing is mapped";
    const pid_t child = ::fork();
    if (child == 0) {
      recorder::Settings settings;
      settings.rotate_bytes = static_cast<std::uint64_t>(rotate);
      const char* why = "";
      if (!recorder::begin_file(settings, (temporary.path() / "rank0").c_str(), {}, why))
        ::_exit(1);
      record_file::Record record;
      record.asked = record.done = record_file::kAllReduce;
      record.time = record_file::kHost;
      for (int i = 0; i < many; ++i) {
        record.start_ns = recorder::ticks();
        recorder::put(record);
        if (rotate > 0 && i == many / 2) recorder::write_now();
      }
      ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const auto counted = [&] {
      const Recording recording = read_run_traces({temporary.path().string()}).recording;
      const std::int64_t files = times_said(recording, "were not ended");
      EXPECT_GE(files, 1);
      EXPECT_LE(files, rotate > 0 ? 2 : 1);  // where one follows another
      return static_cast<std::int64_t>(recording.calls.size()) + lost(recording);
    };
    EXPECT_EQ(counted(), many);
    // The end may come in the middle of a record, which was on its way, too.
    for (const auto& entry : std::filesystem::directory_iterator(temporary.path())) {
      if (rotate == 0 && many > 100 && entry.file_size() > 1'000'000) {
        std::filesystem::resize_file(entry, entry.file_size() - 10);
      }
    }
    EXPECT_EQ(counted(), many);
  }
}

// Four threads and one that says what the records mean; the file is read as any other is.
TEST(Record, WhatManyThreadsPutIsInTheFileOrCounted) {
  const testing::TemporaryFolder temporary;
  const std::string folder = temporary.path().string();
  recorder::Settings settings;
  settings.rotate_bytes = 1'000'000;
  const char* why = "";
  ASSERT_TRUE(recorder::begin_file(settings, (folder + "/rank0").c_str(),
                                   {.rank = 0, .world = 1, .host = "here \"quoted\""}, why))
      << why;
  // Before the first rotation: in a later file they would be read a second time.
  constexpr int kNotKept = 3;
  for (int i = 0; i < kNotKept; ++i) recorder::lose(record_file::kAllReduce);
  constexpr int kEach = 20'000;
  std::vector<std::thread> writers;
  for (std::uint32_t writer = 0; writer < 4; ++writer) {
    writers.emplace_back([writer] {
      record_file::Record record;
      record.asked = record.done = record_file::kAllReduce;
      record.bytes = 8;
      record.time = record_file::kHost;
      record.group = writer + 1;
      for (int i = 0; i < kEach; ++i) {
        record.start_ns = recorder::ticks();
        record.duration_ns = 5;
        recorder::put(record);
      }
    });
  }
  for (int group = 1; group <= 4; ++group) {
    const std::string text = "{\"group\":" + std::to_string(group) + ",\"ranks\":[0]}";
    recorder::put_text(text.data(), text.size());
    recorder::write_now();
  }
  for (std::thread& writer : writers) writer.join();
  recorder::write_now();  // the mark needs room in the buffer
  recorder::begin_step();
  recorder::end_file();
  recorder::end_file();  // no more happens

  const RunRecording run = read_run_traces({folder});
  EXPECT_TRUE(run.unread.empty());
  EXPECT_GT(run.files.size(), 2u);
  std::int64_t lost = 0;
  for (const Omission& omission : run.recording.omissions) {
    EXPECT_TRUE(omission.lost) << omission.what;
    lost += omission.count;
  }
  EXPECT_EQ(static_cast<std::int64_t>(run.recording.calls.size()) + lost, 4 * kEach + kNotKept);
  EXPECT_EQ(run.recording.groups.size(), 4u);
  EXPECT_EQ(run.recording.marked_steps, 1);
}

TEST(Record, CallsOfWhichOnlyPartsAreKnownAreNotLeftOutAsSmall) {
  const testing::TemporaryFolder temporary;
  recorder::Settings settings;
  settings.min_bytes = 100;
  const char* why = "";
  ASSERT_TRUE(recorder::begin_file(settings, (temporary.path() / "rank0").c_str(), {}, why)) << why;
  record_file::Record record;
  record.asked = record.done = record_file::kGather;
  record.bytes = 99;
  EXPECT_FALSE(recorder::is_kept(record));
  for (const std::uint32_t part : {record_file::kPart, record_file::kEachPart}) {
    record.flags = part;
    EXPECT_TRUE(recorder::is_kept(record)) << part;
  }
  recorder::end_file();
}

// A program of MPI's sessions begins a file after another one, here after two: it is the first of
// its own, and says what was lost since.
TEST(Record, AFileBegunAfterAnotherOneKnowsNothingOfIt) {
  const testing::TemporaryFolder temporary;
  for (const int not_kept : {3, 2}) {
    const std::string folder = (temporary.path() / std::to_string(not_kept)).string();
    ASSERT_TRUE(std::filesystem::create_directory(folder));
    recorder::Settings settings;
    settings.rotate_bytes = 1;
    const char* why = "";
    ASSERT_TRUE(recorder::begin_file(settings, (folder + "/rank0").c_str(), {}, why)) << why;
    for (int i = 0; i < not_kept; ++i) recorder::lose(record_file::kAllReduce);
    record_file::Record record;
    record.asked = record.done = record_file::kAllReduce;
    record.start_ns = recorder::ticks();
    recorder::put(record);
    recorder::end_file();

    EXPECT_TRUE(std::filesystem::exists(folder + "/rank0.hwr"));
    EXPECT_TRUE(std::filesystem::exists(folder + "/rank0.1.hwr"));
    const RunRecording run = read_run_traces({folder});
    EXPECT_TRUE(run.unread.empty());
    EXPECT_EQ(run.recording.calls.size(), 1u);
    EXPECT_EQ(lost(run.recording), not_kept);
  }
}

// No room for a header, as on a full disk; then there is.
TEST(Record, AFileThatCouldNotBeBegunIsNotThereAndCanBeBegunLater) {
  const testing::TemporaryFolder temporary;
  const std::string path = (temporary.path() / "rank0").string();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  const char* why = "";
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  const bool begun = recorder::begin_file({}, path.c_str(), {}, why);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(begun);
  EXPECT_STREQ(why, ::strerror(EFBIG));
  EXPECT_TRUE(std::filesystem::is_empty(temporary.path()));
  EXPECT_TRUE(recorder::begin_file({}, path.c_str(), {}, why)) << why;
  recorder::end_file();
}

}  // namespace
}  // namespace headway
