// Pickles of plain data, and the flight recorder's dumps in them. The seeds were written by Python.
#include "trace/io/pickle.hpp"

#include <gtest/gtest.h>

#include "base/source_dir_for_test.hpp"
#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

std::string json_of(std::string_view bytes) {
  const auto source = source_of(bytes);
  const auto json = json_of_pickle(*source);
  return json ? *json : "problem: " + json.problems().front().message;
}

// By hand from the descriptions of the instructions in pickletools.
TEST(Pickle, PlainDataBecomeJson) {
  using namespace std::string_literals;
  EXPECT_EQ(json_of("\x80\x02N."s), "null");
  EXPECT_EQ(json_of("\x80\x02]q\x00(K\x01M\x00\x01J\xff\xff\xff\xff\x88\x89"
                    "e."s),
            "[1,256,-1,true,false]");
  EXPECT_EQ(json_of("\x80\x02}(X\x01\x00\x00\x00"
                    "aG\x3f\xf8\x00\x00\x00\x00\x00\x00"
                    "X\x01\x00\x00\x00"
                    "b\x8a\x05\x00\x00\x00\x00\x01u."s),
            R"({"a":1.5,"b":4294967296})");
  EXPECT_EQ(json_of("\x80\x02K\x01K\x02\x86."s), "[1,2]");
  EXPECT_EQ(json_of("\x80\x02]X\x01\x00\x00\x00"
                    "aq\x07"
                    "ah\x07"
                    "a."s),
            R"(["a","a"])");
  EXPECT_EQ(json_of("\x80\x04\x8c\x03\x22\\\n."s), R"("\"\\\u000a")");
  EXPECT_EQ(json_of("\x80\x02\x8a\x01\xfe."s), "-2");
  EXPECT_EQ(json_of("\x80\x02\x8a\x00."s), "0");
}

TEST(Pickle, WhatWouldRunSomethingIsRefused) {
  using namespace std::string_literals;
  // cos\nsystem\n(X..echotR. : the classical attack
  EXPECT_NE(json_of("\x80\x02"
                    "cos\nsystem\n(X\x04\x00\x00\x00"
                    "echotR."s)
                .find("never run"),
            std::string::npos);
  EXPECT_NE(json_of("\x80\x02"
                    "Pid."s)
                .find("never run"),
            std::string::npos);
}

TEST(Pickle, DamageIsAProblemNotACrash) {
  using namespace std::string_literals;
  for (const std::string& bytes : {""s, "\x80"s, "\x80\x02"s, "\x80\x02."s,
                                   "\x80\x02"
                                   "e."s,
                                   "\x80\x02K\x01"
                                   "a."s,
                                   "\x80\x02h\x05."s,
                                   "\x80\x02X\xff\xff\xff\x7f"
                                   "ab"s,
                                   "\x80\x02}(K\x01u."s, "\x80\x09N."s,
                                   "\x80\x02\x8a\x09"
                                   "123456789."s,
                                   "\x80\x02\x87."s}) {
    EXPECT_TRUE(json_of(bytes).starts_with("problem: ")) << bytes;
  }
}

// A list that holds itself, and one whose inner lists double thirty times: 2^30 values.
TEST(Pickle, WhatGrowsWithoutEndIsCutOff) {
  using namespace std::string_literals;
  const std::string itself = json_of(
      "\x80\x02]q\x00h\x00"
      "a."s);
  EXPECT_LT(itself.size(), 200u);
  EXPECT_NE(itself.find("null"), std::string::npos);
  std::string doubling = "\x80\x02]q\x00"s;
  for (char i = 0; i < 30; ++i) {
    doubling += "](h"s + i + "h"s + i + "eq"s + static_cast<char>(i + 1);
  }
  EXPECT_TRUE(json_of(doubling + ".").starts_with("problem: ")) << "too large";
}

TEST(FlightRecorderPickle, SaysTheSameInEveryProtocolAndNamesItsRank) {
  for (const int protocol : {2, 4}) {
    const auto read = read_trace(source_dir() +
                                 "/tests/fuzz/seeds/trace/flight_recorder_pickle/nccl_trace_rank_" +
                                 std::to_string(protocol));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->format, "PyTorch flight recorder");
    EXPECT_EQ(read->ranks.at(0).number, protocol);  // from the name of the file
    EXPECT_EQ(read->ranks[0].world_size, 2);
    ASSERT_EQ(read->calls.size(), 2u);
    EXPECT_EQ(read->calls[0].op, Operation::all_gather);
    EXPECT_EQ(read->calls[0].bytes, Bytes(2 * 24));
    EXPECT_DOUBLE_EQ(read->calls[0].duration->value(), 2.5e-3);
    EXPECT_EQ(read->calls[0].sequence, 6);
    EXPECT_EQ(read->calls[1].op, Operation::all_reduce);
    EXPECT_EQ(read->calls[1].bytes, Bytes(280'000));
    EXPECT_EQ(read->calls[1].start_ns, 1700000000000900123);
    EXPECT_FALSE(read->calls[1].duration);
    EXPECT_EQ(omitted(*read, "calls that were not completed"), 1);
  }
}

TEST(FlightRecorderPickle, ACutOneIsAProblemThatSaysSo) {
  using namespace std::string_literals;
  const auto read = read_trace_bytes("\x80\x02}X\x09\x00\x00\x00pg_config"s, "dump");
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.problems()[0].message.find("ends in the middle"), std::string::npos);
}

}  // namespace
}  // namespace headway
