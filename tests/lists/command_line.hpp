// The command line with the tables of this folder.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../../apps/cli/arguments/arguments.hpp"
#include "api/command.hpp"

namespace headway {

// What the command line answers, and what it prints where it asks for nothing.
struct Said {
  CommandOutput output;
  std::string out, err;
};
inline Said on_the_command_line(const std::vector<std::string>& words) {
  std::vector<const char*> argv = {"headway"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const Arguments asked =
      read_arguments(command_rows(), "1", static_cast<int>(argv.size()), argv.data());
  Said said;
  said.out = ::testing::internal::GetCapturedStdout();
  said.err = ::testing::internal::GetCapturedStderr();
  if (asked.command) said.output = asked.command->run(asked.circumstances);
  return said;
}

}  // namespace headway
