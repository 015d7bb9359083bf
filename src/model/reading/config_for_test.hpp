// Configurations as tests read them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "model/reading/load.hpp"
#include "model/says_for_test.hpp"

namespace headway::testing::config {

inline Result<Model> read(const std::string& text) {
  const Result<Document> document = parse_json(text, "config.json");
  if (!document) return document.problems();
  return model_from_config(*document, "test");
}

inline Model valid(const std::string& text) {
  Result<Model> model = read(text);
  if (!model) {
    for (const Problem& problem : model.problems()) {
      ADD_FAILURE() << where_text(problem) << ": " << problem.message;
    }
    return {};
  }
  return *model;
}

inline std::string eight_layers(const std::string& architecture, const std::string& more) {
  return R"({"architectures": [")" + architecture + R"("], "hidden_size": 64,
    "intermediate_size": 128, "num_attention_heads": 4, "num_hidden_layers": 8,
    "vocab_size": 100)" +
         more + "}";
}

}  // namespace headway::testing::config
