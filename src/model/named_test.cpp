#include "model/named.hpp"

#include <gtest/gtest.h>

#include "model/reading/load.hpp"

namespace headway {
namespace {

TEST(PublishedNames, AreOfTheBuiltInModelWhoseNameTheyHave) {
  const std::vector<std::string> names = model_names();
  for (const auto& [published, name] : {
           std::pair("meta-llama/Llama-2-7b-chat-hf", "llama-2-7b"),
           {"llama2_7b", "llama-2-7b"},
           {"Meta Llama 3.1 405B Instruct FP8", "llama-3.1-405b"},
           {"google/gemma2-9b-it", "gemma-2-9b"},
           {"Qwen/Qwen2.5-72B-Instruct-AWQ", "qwen2.5-72b"},
           {"Qwen 2.5 72B", "qwen2.5-72b"},
           {"mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b"},
           {"deepseek-ai/DeepSeek-V3.2-Exp", "deepseek-v3.2"},
           {"openai/gpt-oss-120b", "gpt-oss-120b"},
           {"GPT-3 175B", "gpt3-175b"},
           {"codellama/CodeLlama-7b-hf", "codellama-7b"},
           {"microsoft/Phi-4-mini-instruct", "phi-4-mini"},
       }) {
    EXPECT_EQ(built_in_of(published, names), name) << published;
  }
}

// A part of a word or of a number is another model.
TEST(PublishedNames, OfOtherModelsAreOfNone) {
  const std::vector<std::string> names = model_names();
  for (const char* published : {"", "Llama-3.2-90B-Vision", "xopt-13b", "Llama-2-70", "llama-2-7bb",
                                "glm-5.2", "qwen3-8b.5", "Llama", "7b", "snowflake-arctic-embed-l",
                                "Phi-4-multimodal-instruct", "grok-2-mini", "EAGLE-llama-3-8b"}) {
    EXPECT_EQ(built_in_of(published, names), "") << published;
  }
}

TEST(PublishedNames, OfEachBuiltInModelAreItself) {
  const std::vector<std::string> names = model_names();
  for (const std::string& name : names) EXPECT_EQ(built_in_of(name, names), name);
}

}  // namespace
}  // namespace headway
