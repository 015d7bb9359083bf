#include "api/forecasts/forecasts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "api/answer.hpp"
#include "base/document/document.hpp"
#include "base/source_dir_for_test.hpp"
#include "report/problems.hpp"

namespace headway {
namespace {

const std::string kRun =
    R"({"model":"llama-2-7b","cluster":"dgx-h100","gpus":16,"seq":4096,"global-batch":64})";

RunRequest fields_of_run() {
  auto fields = run_fields_of(kRun);
  EXPECT_TRUE(fields.ok());
  return *fields;
}

// By nothing that another run left.
Result<std::unique_ptr<PredictedRun>> predicted_alone(const RunRequest& fields) {
  KeptCalibration kept;
  return predicted_run(fields, kept);
}

// A number of a document by the name of a column: "parts_s.compute", "interval_step_time_s.low".
double number_in(const Document& document, const std::string& name) {
  const std::size_t dot = name.find('.');
  const Node* node = document.root.find(name.substr(0, dot));
  EXPECT_NE(node, nullptr) << name;
  if (dot != std::string::npos && node->array() != nullptr) {
    node = &(*node->array())[name.substr(dot + 1) == "low" ? 0 : 1];
  } else if (dot != std::string::npos) {
    node = node->find(name.substr(dot + 1));
  }
  if (const auto* flag = std::get_if<bool>(&node->value)) return *flag ? 1 : 0;
  if (const auto* whole = std::get_if<std::int64_t>(&node->value)) {
    return static_cast<double>(*whole);
  }
  return std::get<double>(node->value);
}

TEST(Forecasts, AForecastBecomesTheDocumentOfTheCommand) {
  const std::string another =
      R"({"model":"llama-2-70b","cluster":"dgx-h100","gpus":8,"seq":4096,"global-batch":64})";
  for (const std::string& request : {kRun, another}) {  // the other one does not fit
    const auto fields = run_fields_of(request);
    ASSERT_TRUE(fields.ok());
    const auto predicted = predicted_alone(*fields);
    ASSERT_TRUE(predicted.ok());
    EXPECT_EQ(json_of(**predicted), answer("predict", request).text);
  }
}

TEST(Forecasts, ColumnsAreTheNumbersOfTheDocument) {
  const auto predicted = predicted_alone(fields_of_run());
  ASSERT_TRUE(predicted.ok());
  const auto document = parse_json(json_of(**predicted), "predict");
  ASSERT_TRUE(document.ok());
  for (const ForecastColumn& column : forecast_columns()) {
    EXPECT_DOUBLE_EQ(column.of((*predicted)->forecast), number_in(*document, column.name))
        << column.name;
  }
}

TEST(Forecasts, EachRowIsItsOwnForecastOrSaysWhyThereIsNone) {
  const std::vector<SweptField> swept = {{"tp", {"1", "2", "3"}, {0, 1, 2, 1, 2}},
                                         {"gpus", {"16", "32"}, {0, 1, 0, 0, 0}}};
  const auto table = forecast_rows(fields_of_run(), swept, 2, {});
  ASSERT_TRUE(table.ok());
  for (std::size_t row = 0; row < 5; ++row) {
    RunRequest fields = fields_of_run();
    std::erase_if(fields, [](const GivenField& field) { return field.name == "gpus"; });
    for (const SweptField& field : swept) {
      fields.push_back({field.name, field.texts[field.of_row[row]], member(field.name)});
    }
    const auto predicted = predicted_alone(fields);
    for (std::size_t i = 0; i < forecast_columns().size(); ++i) {
      const double found = table->columns[i][row];
      if (predicted) {
        EXPECT_EQ(found, forecast_columns()[i].of((*predicted)->forecast));
      } else {
        EXPECT_TRUE(std::isnan(found));
      }
    }
    EXPECT_EQ(table->problem[row] == 0, predicted.ok());
  }
  EXPECT_EQ(table->problem[2], table->problem[4]);  // one sentence, once
  EXPECT_EQ(table->problems.size(), 2U);
}

TEST(Forecasts, ARowHasTheConstantsOfItsOwnMachineSoftwareAndSlices) {
  const std::vector<SweptField> swept[] = {{{"cluster", {"dgx-h100", "dgx-a100-80gb"}, {0, 1, 0}}},
                                           {{"software", {"2022-10", "2025-06"}, {0, 1, 0}}},
                                           {{"board-power", {"350 W", "700 W"}, {0, 1, 0}}},
                                           {{"gpus", {"16", "32"}, {0, 1, 0}}}};
  for (const auto& fields_swept : swept) {
    const auto table = forecast_rows(fields_of_run(), fields_swept, 1, {});
    ASSERT_TRUE(table.ok());
    for (std::size_t row = 0; row < 3; ++row) {
      const SweptField& field = fields_swept[0];
      RunRequest fields = fields_of_run();
      std::erase_if(fields, [&](const GivenField& each) { return each.name == field.name; });
      fields.push_back({field.name, field.texts[field.of_row[row]], member(field.name)});
      const auto predicted = predicted_alone(fields);
      ASSERT_TRUE(predicted.ok()) << field.name;
      EXPECT_EQ(table->columns[0][row], (*predicted)->forecast.step_time.value()) << field.name;
    }
    EXPECT_NE(table->columns[0][0], table->columns[0][1]) << fields_swept[0].name;
  }
}

// Values drawn for each of the rows.
SweptField drawn(const char* name, std::vector<std::string> texts, std::size_t rows) {
  std::mt19937 draw(static_cast<unsigned>(texts.front().size() + 31 * texts.size()));
  SweptField out{name, std::move(texts), {}};
  for (std::size_t i = 0; i < rows; ++i) {
    out.of_row.push_back(static_cast<std::uint32_t>(draw() % out.texts.size()));
  }
  return out;
}

TEST(Forecasts, RowsOfManyModelsAndMachinesAreWhatPredictGivesToTheLastBit) {
  constexpr std::size_t kRows = 300;
  const std::vector<SweptField> swept = {
      drawn("model", {"llama-2-7b", "mixtral-8x7b", "gpt3-175b", "deepseek-v3"}, kRows),
      drawn("cluster", {"dgx-h100", "dgx-a100-80gb", "tpu-v4"}, kRows),
      drawn("gpus", {"64", "128"}, kRows),
      drawn("tp", {"1", "3", "8"}, kRows),
      drawn("pp", {"1", "2", "4"}, kRows),
      drawn("seq", {"2048", "4096", "8192"}, kRows),
      drawn("global-batch", {"256", "512"}, kRows),
      drawn("framework", {"megatron", "fsdp"}, kRows),
      drawn("software", {"2023-01", "2025-06"}, kRows)};
  const auto table = forecast_rows({}, swept, 2, {});
  ASSERT_TRUE(table.ok());
  std::size_t forecasts = 0;
  for (std::size_t row = 0; row < kRows; ++row) {
    RunRequest fields;
    for (const SweptField& field : swept) {
      fields.push_back({field.name, field.texts[field.of_row[row]], member(field.name)});
    }
    const auto run = make_run(fields, Types::two);
    const auto forecast = run ? predict(*run) : Result<Forecast>(run.problems());
    ASSERT_EQ(table->problem[row] == 0, forecast.ok()) << row;
    if (!forecast) continue;
    ++forecasts;
    for (std::size_t i = 0; i < forecast_columns().size(); ++i) {
      const double expected = forecast_columns()[i].of(*forecast), found = table->columns[i][row];
      EXPECT_TRUE(found == expected || (std::isnan(found) && std::isnan(expected)))
          << row << " " << forecast_columns()[i].name << ": " << found << ", not " << expected;
    }
  }
  EXPECT_GT(forecasts, 50U);
  EXPECT_LT(forecasts, kRows);  // some are no legal runs
}

TEST(Forecasts, NamesOfNoFieldAreProblems) {
  EXPECT_FALSE(
      forecast_rows(fields_of_run(), std::vector<SweptField>{{"sequence", {"1"}, {0}}}, 1, {})
          .ok());
  EXPECT_FALSE(run_fields_of(R"({"sequence":1})").ok());
  EXPECT_FALSE(run_fields_of("[1]").ok());
}

TEST(Forecasts, OneWhoRunsTheProgramMayNameFilesAndFlagsOfTheCommandLine) {
  const std::string file = source_dir() + "/examples/llama-3-70b-h100.toml";
  const AnswerOptions own{.own = true};
  PredictRequest request;
  request.run_file = file;
  request.json = true;
  EXPECT_EQ(answer("predict", R"({"files":")" + file + R"("})", own).text,
            run_predict(request).text);
  EXPECT_FALSE(answer("predict", R"({"files":")" + file + R"("})").problems.empty());
  const std::string model = source_dir() + "/examples/own-model.toml";
  const std::string body =
      R"({"model":")" + model + R"(","cluster":"dgx-h100","gpus":16,"seq":4096,"global-batch":64})";
  EXPECT_TRUE(answer("predict", body, own).problems.empty());
  EXPECT_FALSE(answer("predict", body).problems.empty());
  EXPECT_TRUE(answer("bench", R"({"signature":true})", own).problems.empty());
  EXPECT_FALSE(answer("bench", R"({"signature":true})").problems.empty());
  EXPECT_FALSE(answer("predict", R"({"nonsense":true})", own).problems.empty());
}

}  // namespace
}  // namespace headway
