// What `comms` answers, as tests ask for it. Tests only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "api/commands.hpp"

namespace headway::testing::comms {

inline std::string json_of(const std::vector<std::string>& files) {
  CommsRequest request;
  request.files = files;
  request.json = true;
  const CommandOutput output = run_comms(request);
  EXPECT_TRUE(output.problems.empty()) << problems_text(output.problems);
  EXPECT_EQ(output.exit_code, 0);
  return output.text;
}

inline std::string text_of(const std::vector<std::string>& files) {
  CommsRequest request;
  request.files = files;
  const CommandOutput output = run_comms(request);
  EXPECT_TRUE(output.problems.empty()) << problems_text(output.problems);
  return output.text;
}

inline std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  return widest;
}

}  // namespace headway::testing::comms
