#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/commands.hpp"

namespace headway {
namespace {

DesignRequest design_of(RunRequest fields, std::vector<std::string> vary) {
  DesignRequest out;
  out.fields = std::move(fields);
  out.vary = std::move(vary);
  return out;
}

const RunRequest kServedBatch = {
    {"model", "llama-3-70b"}, {"cluster", "dgx-h100"}, {"tp", "8"},
    {"input-len", "1000"},    {"output-len", "500"},   {"batch", "16"}};

std::string all_of(const Problems& problems) {
  std::string out;
  for (const Problem& problem : problems) {
    for (const FieldName& field : problem.fields) out += field.name + " ";
    out += problem.message + "\n";
  }
  return out;
}

TEST(DesignCommand, OfWhatIsServedHasTheTimesOfInfer) {
  DesignRequest request = design_of(kServedBatch, {"memory=hbm3,hbm4"});
  request.json = true;
  const CommandOutput out = run_design(request);
  ASSERT_TRUE(out.problems.empty()) << all_of(out.problems);
  InferRequest infer;
  infer.fields = kServedBatch;
  infer.json = true;
  const auto served = nlohmann::json::parse(run_infer(infer).text);
  const auto design = nlohmann::json::parse(out.text);
  EXPECT_EQ(design["base"]["times"]["each_token"]["time_s"], served["tpot_s"]);
  EXPECT_EQ(design["base"]["times"]["answer"]["time_s"], served["latency_s"]);
  EXPECT_EQ(design["base"]["tokens_per_s"], served["throughput_output_tok_s"]);
  // The generation that its data sheet has is the machine as it is.
  EXPECT_NEAR(design["points"][0]["tokens_per_s"].get<double>() /
                  design["base"]["tokens_per_s"].get<double>(),
              1, 0.001);
  EXPECT_GT(design["points"][1]["tokens_per_s"], design["base"]["tokens_per_s"]);
}

// One row of the table for each machine, with as many cells as its head.
TEST(DesignCommand, SaysInTextWhatDoesNotFit) {
  const CommandOutput out =
      run_design(design_of(kServedBatch, {"memory=hbm3,hbm4", "units=1,5,30"}));
  ASSERT_TRUE(out.problems.empty()) << all_of(out.problems);
  EXPECT_EQ(out.exit_code, 0);
  EXPECT_NE(out.text.find("does not fit"), std::string::npos);
  EXPECT_NE(out.text.find("wires to memory"), std::string::npos);
  const CommandOutput none = run_design(design_of(kServedBatch, {"memory=hbm2", "units=1"}));
  EXPECT_EQ(none.exit_code, 1);
}

// In the words of infer, which is asked the same.
TEST(DesignCommand, SaysWhatWouldMakeWhatIsServedFit) {
  RunRequest fields = kServedBatch;
  fields.push_back({"tp", "1"});
  DesignRequest request = design_of(fields, {"capacity=80GiB,160GiB"});
  request.json = true;
  const auto design = nlohmann::json::parse(run_design(request).text);
  EXPECT_EQ(design["base"]["fits"], false);
  EXPECT_EQ(design["points"][1]["fits"], true);
  InferRequest infer;
  infer.fields = fields;
  infer.json = true;
  const auto served = nlohmann::json::parse(run_infer(infer).text);
  ASSERT_FALSE(served["would_fit"].empty());
  EXPECT_EQ(design["would_fit"], served["would_fit"]);
  request.json = false;
  const std::string text = run_design(request).text;
  EXPECT_NE(text.find("as it is: it would with --"), std::string::npos) << text;
}

// In the words of predict.
TEST(DesignCommand, SaysWhatWouldMakeAStepFit) {
  const RunRequest fields = {{"model", "llama-3-8b"},
                             {"cluster", "dgx-h100"},
                             {"gpus", "8"},
                             {"seq", "4096"},
                             {"global-batch", "64"}};
  DesignRequest request = design_of(fields, {"capacity=80GiB,640GiB"});
  request.json = true;
  const auto design = nlohmann::json::parse(run_design(request).text);
  EXPECT_EQ(design["base"]["fits"], false);
  EXPECT_FALSE(design.contains("would_fit"));
  PredictRequest predict;
  predict.fields = fields;
  predict.json = true;
  const auto notes = nlohmann::json::parse(run_predict(predict).text)["notes"];
  EXPECT_NE(std::find(notes.begin(), notes.end(), design["notes"][0]), notes.end());
  request.json = false;
  const std::string text = run_design(request).text;
  EXPECT_NE(text.find("as it is: would fit with --"), std::string::npos) << text;
}

TEST(DesignCommand, OfWhatFitsSaysNothingOfChanges) {
  DesignRequest request = design_of(kServedBatch, {"memory=hbm3"});
  request.json = true;
  const auto design = nlohmann::json::parse(run_design(request).text);
  EXPECT_FALSE(design.contains("would_fit"));
  EXPECT_FALSE(design.contains("notes"));
}

TEST(DesignCommand, RefusesFieldsOfTrainingForWhatIsServed) {
  RunRequest fields = kServedBatch;
  fields.push_back({"seq", "4096"});
  fields.push_back({"zero", "3"});
  fields.push_back({"rate", "3"});
  fields.push_back({"batch", "many"});
  const CommandOutput out =
      run_design(design_of(fields, {"memory=hbm9", "link=nvlink4", "link=pcie5"}));
  const std::string said = all_of(out.problems);
  EXPECT_NE(said.find("seq is of training"), std::string::npos) << said;
  EXPECT_NE(said.find("zero is of training"), std::string::npos) << said;
  EXPECT_NE(said.find("rate is not of what design looks at"), std::string::npos) << said;
  EXPECT_NE(said.find("many"), std::string::npos) << said;
  EXPECT_NE(said.find("hbm4e"), std::string::npos) << said;
  EXPECT_NE(said.find("link stands twice"), std::string::npos) << said;
  EXPECT_TRUE(out.text.empty());
}

}  // namespace
}  // namespace headway
