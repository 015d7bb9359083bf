// Requests of serving, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/commands.hpp"

namespace headway::testing {

/// Llama 3 70B on a node under a load, with more said or nothing said of a field.
inline InferRequest served_70b(GivenField load, RunRequest more,
                               const std::vector<std::string>& without) {
  InferRequest out;
  out.fields = {{"model", "llama-3-70b"}, {"cluster", "dgx-h100"}, {"tp", "8"},
                {"input-len", "1000"},    {"output-len", "500"},   std::move(load)};
  std::erase_if(out.fields, [&](const GivenField& field) {
    return std::find(without.begin(), without.end(), field.name) != without.end();
  });
  out.fields.insert(out.fields.end(), more.begin(), more.end());
  out.threads = 1;
  out.json = true;
  return out;
}

inline nlohmann::json served_answer(const InferRequest& request) {
  const CommandOutput out = run_infer(request);
  EXPECT_TRUE(out.problems.empty()) << problems_text(out.problems);
  return out.text.empty() ? nlohmann::json() : nlohmann::json::parse(out.text);
}

}  // namespace headway::testing
