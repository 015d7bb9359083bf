#include <gtest/gtest.h>

#include <filesystem>

#include "api/commands.hpp"
#include "base/source_dir_for_test.hpp"
#include "platform/files.hpp"
#include "platform/temporary_folder_for_test.hpp"
#include "report/limits.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;

TEST(LimitsReport, the_page_and_its_drawings_are_what_the_command_writes) {
  // Stale pages fail here: `headway limits --report docs` renews them.
  const fs::path docs = fs::path(source_dir()) / "docs";
  const testing::TemporaryFolder folder;
  fs::copy(docs / "limits.md", folder.path());
  LimitsRequest request;
  request.report = folder.path().string();
  const CommandOutput output = run_limits(request);
  ASSERT_TRUE(output.problems.empty()) << problems_text(output.problems);
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    if (!entry.is_regular_file()) continue;
    ++files;
    const fs::path name = fs::relative(entry.path(), folder.path());
    const auto now = read_file(entry.path().string());
    const auto there = read_file((docs / name).string());
    ASSERT_TRUE(there) << name << " is missing";
    EXPECT_TRUE(*there == *now) << name << " is stale";
    EXPECT_EQ(now->find("nan"), std::string::npos) << name;
    EXPECT_NE(output.text.find(name.string()), std::string::npos) << name;
  }
  EXPECT_GE(files, 8U);  // the page and seven drawings
  // Nothing but what is written lies beside the page.
  std::size_t drawings = 0;
  for (const auto& entry : fs::directory_iterator(docs / "limits")) {
    drawings += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(drawings + 1, files);
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
  request.report = testing::TemporaryFolder().of("none");
  EXPECT_FALSE(run_limits(request).problems.empty());
  request.real = true;
  request.json = true;
  request.sites = "2";
  const std::string text = problems_text(run_limits(request).problems);
  for (const char* flag : {"--real", "--json", "--sites"}) {
    EXPECT_NE(text.find(flag), std::string::npos) << flag;
  }
  EXPECT_FALSE(fs::exists(request.report));
}

}  // namespace
}  // namespace headway
