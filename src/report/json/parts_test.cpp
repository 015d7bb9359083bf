// Parts of a step, groups and collectives: the page knows the same ones, in the same order.
#include <gtest/gtest.h>

#include <string>

#include "base/source_dir_for_test.hpp"
#include "platform/files.hpp"
#include "report/json/run.hpp"

namespace headway {
namespace {

std::string page(const std::string& file) {
  return read_file(source_dir() + "/web/src/" + file).value();
}

// "["a", "b"]" of names in quotes.
template <class Rows>
std::string listed(const Rows& rows) {
  std::string out;
  for (const auto& row : rows) out += (out.empty() ? "\"" : ", \"") + std::string(row.name) + "\"";
  return "[" + out + "]";
}

TEST(Parts, StandInDocumentsUnderTheirNamesAndSumToTheStep) {
  Parts parts;
  double next = 1;
  for (const PartRow& row : kParts) parts[row.part] = Seconds(next *= 2);
  const Json json = parts_json(parts);
  ASSERT_EQ(json.size(), kParts.size());
  double sum = 0;
  auto row = kParts.begin();
  for (const auto& [name, seconds] : json.items()) {
    EXPECT_EQ(name, (row++)->name);
    sum += seconds.get<double>();
  }
  EXPECT_DOUBLE_EQ(sum, parts.total().value());
  EXPECT_EQ(json["bubble"], parts.bubble.value());
  EXPECT_DOUBLE_EQ(parts.exposed().value(),
                   (parts.tp + parts.cp + parts.ep + parts.pp + parts.dp).value());
}

TEST(Parts, OfEveryGroupAreCommunication) {
  for (const GroupRow& row : kGroups) EXPECT_TRUE(row_of(row.part).is_communication) << row.name;
}

TEST(Parts, AreThoseThatThePageShows) {
  EXPECT_NE(page("lib/parts.ts").find("kParts = " + listed(kParts) + " as const"),
            std::string::npos)
      << listed(kParts);
}

TEST(Collectives, AreThoseThatThePageShows) {
  EXPECT_NE(page("views/comms/volume.ts").find("kOps = " + listed(kCollectives) + ";"),
            std::string::npos)
      << listed(kCollectives);
}

}  // namespace
}  // namespace headway
