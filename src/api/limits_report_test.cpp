#include "api/limits_report.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "api/limits.hpp"
#include "base/document/document.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;

TEST(LimitsReport, the_page_and_its_drawings_are_what_the_command_writes) {
  // Stale pages fail here: `headway limits --report docs` renews them.
  const std::string docs = std::string(HEADWAY_SOURCE_DIR) + "/docs";
  const auto files = limits_report_files(docs, 0, {});
  ASSERT_TRUE(files) << problems_text(files.problems());
  EXPECT_GE(files->size(), 8U);  // the page and seven drawings
  for (const OutputFile& file : *files) {
    const auto there = read_file(file.path);
    ASSERT_TRUE(there) << file.path << " is missing";
    EXPECT_TRUE(*there == file.text) << file.path << " is stale";
    EXPECT_EQ(file.text.find("nan"), std::string::npos) << file.path;
  }
  // Nothing but what is written lies beside the page.
  std::size_t drawings = 0;
  for (const auto& entry : fs::directory_iterator(docs + "/limits")) {
    drawings += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(drawings + 1, files->size());
}

TEST(LimitsReport, every_weak_point_is_in_what_explain_prints) {
  const std::string text = limits_explanation({});
  EXPECT_GE(limits_weak_points().size(), 11U);
  for (const std::string_view point : limits_weak_points()) {
    EXPECT_NE(text.find(point), std::string::npos) << point;
  }
}

TEST(LimitsReport, flags_beside_it_and_folders_without_the_page_are_refused) {
  LimitsRequest request;
  request.report = (fs::temp_directory_path() / "headway-no-such-folder").string();
  EXPECT_FALSE(run_limits(request).problems.empty());
  request.real = true;
  request.json = true;
  request.sites = 2;
  const std::string text = problems_text(run_limits(request).problems);
  for (const char* flag : {"--real", "--json", "--sites"}) {
    EXPECT_NE(text.find(flag), std::string::npos) << flag;
  }
  EXPECT_FALSE(fs::exists(request.report));
}

}  // namespace
}  // namespace headway
