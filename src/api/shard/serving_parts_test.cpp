// Serving in parts says what it says undivided.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "api/commands.hpp"

namespace headway {
namespace {

template <class Request>
void expect_whole_of_parts(Request request, CommandOutput (*run)(const Request&),
                           std::uint64_t count) {
  const CommandOutput whole = run(request);
  ASSERT_TRUE(whole.problems.empty()) << problems_text(whole.problems);
  std::vector<PartLines> parts(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    request.division = {.only = Shard{i, count}, .into = &parts[i]};
    const CommandOutput part = run(request);
    EXPECT_TRUE(part.problems.empty() && part.text.empty());
  }
  request.division = {.parts = &parts};
  const CommandOutput merged = run(request);
  EXPECT_TRUE(merged.problems.empty()) << problems_text(merged.problems);
  EXPECT_EQ(merged.text, whole.text) << count;
  EXPECT_EQ(merged.exit_code, whole.exit_code);
  // What is none of it is refused.
  for (PartLines& part : parts) {
    for (auto& [name, lines] : part) {
      for (std::string& line : lines) {
        line.resize(std::min(line.size(), line.find(' ')));
        line += " x y";
      }
    }
  }
  EXPECT_FALSE(run(request).problems.empty());
}

InferRequest best_of_two() {
  InferRequest out;
  out.fields = {{"model", "llama-3-8b"}, {"cluster", "dgx-h100"}, {"gpus", "2"},
                {"input-len", "512"},    {"output-len", "16"},    {"step-tokens", "2048"},
                {"best", "true"}};
  out.threads = 1;
  out.json = true;
  return out;
}

TEST(ServingParts, OfTheBestAreTheSearch) {
  expect_whole_of_parts(best_of_two(), run_infer, 3);
}

TEST(ServingParts, OfTheBestApartAreTheSearch) {
  InferRequest request = best_of_two();
  request.fields.push_back({"disaggregate", "true"});
  expect_whole_of_parts(request, run_infer, 2);
}

TEST(ServingParts, OfMeasuredRowsAreAllOfThem) {
  const auto file = std::filesystem::temp_directory_path() / "headway_serving_parts_test.csv";
  std::ofstream(file)
      << "id,source_key,source,model,model_params_b,accelerator,n_accel,tp,pp,ep,dp,"
         "precision_weights,precision_kv,engine,engine_version,batch,input_len,output_len,"
         "request_rate,ttft_s,tpot_s,latency_s,throughput_output_tok_s,throughput_total_tok_s,"
         "memory_gb,oom,notes\n"
         "a,s,x,llama-2-7b,7,H100,1,1,,,,,,vllm,0.6,8,500,100,,,,9,,,16,0,\n"
         "b,s,x,llama-2-7b,7,H100,1,1,,,,,,vllm,0.6,4,500,20,,0.1,0.01,,,,,0,\n"
         "c,s,x,llama-9-7b,7,H100,1,1,,,,,,vllm,0.6,8,500,100,,,,9,,,,0,\n"
         "d,s,x,llama-2-7b,7,H100,1,1,,,,,,vllm,0.6,,500,20,1000,0.1,0.01,,,,,0,\n";
  ValidateRequest request;
  request.corpora = {file.string()};
  request.threads = 1;
  request.json = request.rows_in_document = true;
  expect_whole_of_parts(request, run_validate, 3);
  std::filesystem::remove(file);
}

TEST(ServingParts, AreRefusedWhereThereIsNothingToDivide) {
  PartLines into;
  InferRequest one = best_of_two();
  one.fields.pop_back();
  one.fields.push_back({"batch", "1"});
  one.division = {.only = Shard{0, 2}, .into = &into};
  EXPECT_EQ(run_infer(one).problems.size(), 1U);
  ValidateRequest runs;
  runs.runs = true;
  runs.division = one.division;
  EXPECT_EQ(run_validate(runs).problems.size(), 1U);
}

}  // namespace
}  // namespace headway
