#include "manual.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace headway {
namespace {

void expect_all(const CommandRow& row, const std::string& page) {
  const Command command = row.make();
  for (const CommandRow& below : command.commands) expect_all(below, page);
  for (const Option& option : command.options) {
    if (!is_flag(option)) continue;
    std::string flag = "\\fB\\-\\-";
    for (const char c : option.name) flag += c == '-' ? std::string("\\-") : std::string(1, c);
    EXPECT_NE(page.find(flag + "\\fR"), std::string::npos) << command.name << " " << option.name;
  }
}

TEST(Manual, HoldsEveryFlagOfEveryCommand) {
  const std::string page = manual(command_rows(), "1.2");
  EXPECT_TRUE(page.starts_with(".TH HEADWAY 1 \"\" \"headway 1.2\""));
  for (const CommandRow& row : command_rows()) expect_all(row, page);
}

// Whatever a help says, no line of it is a request but ours.
TEST(Manual, TextIsNoRequest) {
  const CommandRow row = {"tea", [] {
                            return Command{.name = "tea",
                                           .help = ".so /etc/passwd",
                                           .examples = {"headway tea \\\n  --sugar"}};
                          }};
  const std::string page = manual({&row, 1}, "1");
  EXPECT_NE(page.find("\n\\&.so /etc/passwd\n"), std::string::npos);
  EXPECT_NE(page.find("headway tea \\e\n  \\-\\-sugar\n"), std::string::npos);
}

}  // namespace
}  // namespace headway
