#include "trace/save.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/source_dir_for_test.hpp"
#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;

// Two ranks make one all-reduce of 1 GB together: 2 ms on the first, 5 ms on the second.
Recording two_ranks() {
  Recording recording;
  recording.ranks = {{0, "rank 0", 2}, {1, "rank 1", 2}};
  recording.groups = {{"0", "world", 2, {0, 1}, true}};
  RecordedCall call;
  call.op = Operation::all_reduce;
  call.group = 0;
  call.bytes = Bytes(1e9);
  call.start_ns = 4'000'000;
  call.duration = Seconds(2e-3);
  call.time = TimeKind::kernel;
  recording.calls = {call, call};
  recording.calls[1].rank = 1;
  recording.calls[1].start_ns = 1'000'000;
  recording.calls[1].duration = Seconds(5e-3);
  recording.compute = {{0, 7, 0, 3'000'000}};
  leave_unsaid(recording, "nothing more");
  return recording;
}

class Save : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = ::testing::TempDir() + "headway_save_" + test->name() + ".sqlite";
    fs::remove(path_);
  }
  void TearDown() override { fs::remove(path_); }

  // The first row of an answer, its columns between bars; NULL as "null".
  std::string ask(const std::string& sql) const {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open_v2(path_.c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr), SQLITE_OK) << sql;
    std::string out;
    if (sqlite3_step(statement) == SQLITE_ROW) {
      for (int i = 0; i < sqlite3_column_count(statement); ++i) {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
        out += (i > 0 ? "|" : "") + std::string(text == nullptr ? "null" : text);
      }
    }
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return out;
  }
  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void save(const Recording& recording) const {
    EXPECT_TRUE(save_recording(recording, align(recording), path_).empty());
  }

  std::string path_;
};

TEST_F(Save, TheTablesHoldTheRecordingAndWhatIsNotKnownIsNull) {
  save(two_ranks());
  EXPECT_EQ(ask("SELECT count(*), sum(bytes), min(sequence) FROM calls"), "2|2000000000.0|null");
  EXPECT_EQ(ask("SELECT number, label, world_size FROM ranks WHERE id = 1"), "1|rank 1|2");
  EXPECT_EQ(ask("SELECT name, size, ranks FROM groups"), "world|2|0,1");
  EXPECT_EQ(ask("SELECT rank_id, stream, start_ns, seconds FROM compute"), "0|7|0|0.003");
  EXPECT_EQ(ask("SELECT what, count, lost FROM omissions"), "nothing more|1|0");
  EXPECT_EQ(ask("SELECT counted_bytes, dtype, stream, peer, in_place FROM calls"),
            "null|null|null|null|null");
}

// Two ranks: a ring sends 2 * 1/2 of the buffer, so wire bytes are the bytes.
TEST_F(Save, TheViewsAnswerTheCommonQuestionsInOneLine) {
  save(two_ranks());
  EXPECT_EQ(ask("SELECT group_name, op, count, bytes, wire_bytes, seconds FROM calls_by_group"),
            "world|all_reduce|2.0|2000000000.0|2000000000.0|0.007");
  EXPECT_EQ(ask("SELECT round(busbw_bytes_per_s / 1e9, 3) FROM calls_by_group"), "285.714");
  EXPECT_EQ(ask("SELECT collectives, round(waiting_s, 9), round(longest_wait_s, 9) "
                "FROM waiting_by_group"),
            "1|0.003|0.003");
  EXPECT_EQ(ask("SELECT rank, times_last FROM waiting_by_rank ORDER BY times_last DESC"), "0|1");
  EXPECT_EQ(ask("SELECT count(DISTINCT aligned_start_ns + seconds * 1e9) FROM timeline"), "1");
}

TEST_F(Save, EnqueueTimesGiveNoBandwidth) {
  Recording recording = two_ranks();
  for (RecordedCall& call : recording.calls) call.time = TimeKind::enqueue;
  save(recording);
  EXPECT_EQ(ask("SELECT busbw_bytes_per_s FROM calls_by_group"), "null");
}

TEST_F(Save, TheSameRecordingGivesTheSameBytes) {
  save(two_ranks());
  const std::string once = bytes();
  fs::remove(path_);
  save(two_ranks());
  EXPECT_EQ(bytes(), once);
}

TEST_F(Save, OnlyADatabaseOfOursMayBeReplaced) {
  EXPECT_TRUE(may_save_to(path_).empty());
  save(two_ranks());
  EXPECT_TRUE(may_save_to(path_).empty());
  std::ofstream(path_, std::ios::binary) << "a thesis";
  EXPECT_FALSE(may_save_to(path_).empty());
  EXPECT_FALSE(may_save_to(::testing::TempDir()).empty());
  EXPECT_FALSE(may_save_to("/dev/null").empty());
  const std::string theirs = source_dir() + "/tests/fuzz/seeds/trace/nsight/small.sqlite";
  EXPECT_FALSE(may_save_to(theirs).empty());
}

TEST_F(Save, AFolderThatIsMissingIsAProblem) {
  const Recording recording = two_ranks();
  EXPECT_FALSE(save_recording(recording, align(recording), "/nowhere/a.sqlite").empty());
}

TEST_F(Save, PublicDlrmRanksAnswerWhoWasLate) {
  HEADWAY_NEEDS_TRACE("kineto/dlrm_v100x8_rank7.json.gz");
  Recording recording;
  for (int rank = 0; rank < 8; ++rank) {
    append(recording, read_public("kineto/dlrm_v100x8_rank" + std::to_string(rank) + ".json.gz"));
  }
  save(recording);
  EXPECT_EQ(ask("SELECT count(*) FROM calls WHERE op = 'all_to_all'"), "40");
  EXPECT_EQ(ask("SELECT group_concat(us) FROM (SELECT CAST(round(c.seconds * 1e6) AS INTEGER) us "
                "FROM matched m JOIN calls c ON c.id = m.call_id JOIN ranks r ON r.id = c.rank_id "
                "WHERE m.collective = (SELECT collective FROM matched ORDER BY waiting_s DESC "
                "LIMIT 1) ORDER BY r.number)"),
            "2146,7635,518,6132,4882,4679,514,10");
}

}  // namespace
}  // namespace headway
