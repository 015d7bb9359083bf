#include "method/methods.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "platform/embedded.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

Method of(const std::string& text) {
  return method_from(text, FieldName("method")).value();
}
std::string problem_of(const std::string& text) {
  const auto method = method_from(text, FieldName("method"));
  return method ? std::string() : method.problems().front().message;
}

TEST(Methods, EveryFileOfDataIsReadWithoutAProblem) {
  std::size_t files = 0;
  for (const std::string& path : embedded_files("methods")) {
    const auto document = embedded_document(path);
    ASSERT_TRUE(document.ok()) << path;
    const auto row = read_method(*document, path);
    for (const Problem& problem : row ? Problems{} : row.problems()) {
      ADD_FAILURE() << path << ": " << problem.message;
    }
    ++files;
  }
  EXPECT_EQ(methods().size(), files);
  EXPECT_GE(files, 20u);
}

TEST(Methods, TheFieldsOfAMethodAreThoseOfTheTable) {
  for (const MethodRow& row : methods()) {
    for (const std::string& name : row.fields) EXPECT_NE(method_field(name), nullptr) << row.name;
    EXPECT_FALSE(row.source.empty()) << row.name;
    EXPECT_FALSE(row.penalty.empty()) << row.name;
  }
}

TEST(Methods, WhatIsStatedStandsOverWhatIsUsual) {
  const Method method = of("diloco:every=30,replicas=4,compressor=8-bit,kept=12");
  EXPECT_EQ(method.meeting, Meeting::seldom);
  EXPECT_EQ(method.every, 30);
  EXPECT_EQ(method.replicas, 4);
  EXPECT_EQ(method.compression.by, Compressor::bits_8);
  EXPECT_EQ(method.kept, 12);
  EXPECT_EQ(of("diloco").every, 500);
  EXPECT_TRUE(of("synchronous").is_synchronous());
}

TEST(Methods, BandwidthsAndLatenciesCarryTheirUnits) {
  const Method method = of("local-sgd:replicas=2,bandwidth=10 Gb/s,latency=10 ms");
  EXPECT_DOUBLE_EQ(method.bandwidth.value(), 1.25e9);
  EXPECT_DOUBLE_EQ(method.latency.value(), 0.01);
  EXPECT_NE(problem_of("local-sgd:replicas=2,bandwidth=10").find("a rate with its unit"),
            std::string::npos);
}

TEST(Methods, AllThatIsWrongIsSaidAtOnce) {
  const auto method = method_from("diloco:every=0,replica=4,kept=many", FieldName("method"));
  ASSERT_FALSE(method.ok());
  ASSERT_EQ(method.problems().size(), 3u);
  EXPECT_NE(method.problems()[0].message.find("every '0'"), std::string::npos);
  EXPECT_NE(method.problems()[1].message.find("'replica' is not to be stated"), std::string::npos);
  EXPECT_NE(method.problems()[2].message.find("kept 'many'"), std::string::npos);
}

TEST(Methods, WhatWouldChangeNothingOrCannotBeIsRefused) {
  EXPECT_NE(problem_of("dilocco").find("did you mean 'diloco'"), std::string::npos);
  EXPECT_NE(problem_of("diloco:"), "");
  EXPECT_NE(problem_of("qsgd:share=0.5"), "");                  // it sends all
  EXPECT_NE(problem_of("diloco:share=0.5"), "");                // nothing is left out
  EXPECT_NE(problem_of("diloco:compressor=top-k,rank=8"), "");  // there are no factors
  EXPECT_EQ(problem_of("diloco:compressor=top-k,share=0.5"), "");
  EXPECT_EQ(problem_of("top-k:share=1%"), "");
  EXPECT_NE(problem_of("top-k:share=101%"), "");
  EXPECT_NE(problem_of("top-k:share=%"), "");
  EXPECT_EQ(method_from("top-k:share=1%", FieldName("method"))->compression.share, 0.01);
  EXPECT_NE(problem_of("streaming-diloco:every=4,fragments=8"), "");
  EXPECT_NE(problem_of("streaming-diloco:every=8,delay=9"), "");
  EXPECT_NE(problem_of("diloco:bandwidth=1 GB/s"), "");  // between how many?
  EXPECT_NE(problem_of("diloco:replicas=2,latency=1 ms"), "");
  EXPECT_NE(problem_of("diloco:every=1e3"), "");
  EXPECT_NE(problem_of("diloco:every=nan,replicas=inf"), "");
}

TEST(Methods, HostileTextIsQuotedHarmlessly) {
  for (const std::string& text :
       {std::string("\x1b[2J:every=\x07"), std::string(100'000, ','), std::string("diloco:\xff=1"),
        "diloco:every=" + std::string(900, '9'), "diloco:" + std::string(900, ',')}) {
    const auto method = method_from(text, FieldName("method"));
    ASSERT_FALSE(method.ok());
    for (const Problem& problem : method.problems()) {
      EXPECT_LT(problem.message.size(), 2000u);
      EXPECT_TRUE(std::all_of(problem.message.begin(), problem.message.end(),
                              [](unsigned char c) { return c >= 0x20 && c < 0x7f; }));
    }
  }
}

// What is written is read back: any number of any field that may be stated.
RC_GTEST_PROP(Methods, writtenAndReadTheyAreTheSame, ()) {
  const auto at = *rc::gen::inRange<std::size_t>(0, methods().size());
  const MethodRow& row = methods()[at];
  Method method = row.usual;
  method.row = &row;
  for (const std::string& name : row.fields) {
    const MethodField& field = *method_field(name);
    if (*rc::gen::arbitrary<bool>()) continue;
    const double least = field.least, most = std::min(field.most, least + 1000);
    double number = least + (most - least) * *rc::gen::inRange(0, 9) / 8.0;
    if (field.form != MethodField::Form::number) number = std::floor(number);
    if (field.form == MethodField::Form::latency) number = 0.125;
    field.set(method, number);
  }
  const auto read = method_from(text_of(method), FieldName("method"));
  if (!read) RC_DISCARD("its fields clash");
  for (const MethodField& field : method_fields()) {
    RC_ASSERT(field.get(*read) == field.get(method));
  }
}

}  // namespace
}  // namespace headway
