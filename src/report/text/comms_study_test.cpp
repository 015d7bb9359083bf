#include "report/text/comms_study.hpp"

#include <gtest/gtest.h>

#include "base/draw/table.hpp"

namespace headway {
namespace {

const CommunicationStudy& study() {
  static const CommunicationStudy made = communication_study().value();
  return made;
}

TEST(StudyTables, EveryRowHasTheColumnsOfItsHeadAndFitsATerminal) {
  for (const StudyTable& table : study_tables(study())) {
    ASSERT_GT(table.rows.size(), 4u) << table.name;
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.rows.front().size());
    const std::string text = aligned(table.rows, table.left);
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n', begin)) {
      EXPECT_LE(end - begin, 80u) << text.substr(begin, end - begin);
      begin = end + 1;
    }
  }
}

TEST(StudyTables, TheTableOfModelsSaysWhatArithmeticSays) {
  const std::vector<StudyTable> tables = study_tables(study());
  const std::vector<std::string> largest = {"13b", "13100.7 M", "26.201 GB", "45.852 GB"};
  std::vector<std::string> found = tables[0].rows.back();
  found.pop_back();  // calls: as many as the framework's buckets
  EXPECT_EQ(found, largest);
  const std::vector<std::string> messages = {"13b", "80.0 MiB", "160",
                                             "165", "12.5 GiB", "160 MiB"};
  EXPECT_EQ(tables[1].rows.back(), messages);
}

}  // namespace
}  // namespace headway
