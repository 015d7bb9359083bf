#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/commands.hpp"
#include "report/problems.hpp"

namespace headway {
namespace {

using Json = nlohmann::json;

LimitsRequest few_machines() {
  LimitsRequest out;
  out.gpus = {"h100-sxm"};
  out.threads = 1;
  out.machine.width = 12288;
  out.machine.domains = {"8", "64"};
  out.machine.fabrics = {"25 GB/s", "50 GB/s"};
  return out;
}

TEST(LimitsBudget, the_best_machine_is_the_least_of_all_that_are_shown_and_its_bill_adds_up) {
  LimitsRequest request = few_machines();
  request.json = true;
  const CommandOutput output = run_limits(request);
  ASSERT_EQ(output.exit_code, 0) << problems_text(output.problems);
  const Json setting = Json::parse(output.text)["settings"][0];
  ASSERT_EQ(setting["choices"].size(), 4U);
  const auto middle = [](const Json& choice) {
    const Json& ends = choice["bill"]["total"]["dollars"];
    return ends[0].get<double>() + ends[1].get<double>();
  };
  const Json& best = setting["choices"][setting["best"].get<std::size_t>()];
  for (const Json& choice : setting["choices"]) {
    ASSERT_TRUE(choice.contains("bill"));
    EXPECT_GE(middle(choice), middle(best));
    EXPECT_LE(choice["run_time_s"], setting["duration_s"]);
    const Json& bill = choice["bill"];
    for (const char* what : {"dollars", "power_w"}) {
      for (const int end : {0, 1}) {
        double sum = 0;
        for (const char* part : {"servers", "inner", "fabric"}) {
          sum += bill[part][what][end].get<double>();
        }
        EXPECT_NEAR(sum, bill["total"][what][end].get<double>(), 1e-9 * sum);
      }
    }
  }
}

TEST(LimitsBudget, its_text_says_the_machine_what_it_costs_and_what_binds) {
  LimitsRequest request = few_machines();
  request.machine.width = 0;
  request.machine.budget = 2e8;
  const std::string text = run_limits(request).text;
  for (const char* said : {"within $200 M", "accelerators in domains of", "servers",
                           "What binds is", "has no machine in time within it", "Prices:"}) {
    EXPECT_NE(text.find(said), std::string::npos) << said << " in\n" << text;
  }
}

TEST(LimitsBudget, without_a_machine_it_is_of_the_studys_first) {
  LimitsRequest request = few_machines();
  request.json = true;
  const std::string named = run_limits(request).text;
  request.gpus.clear();
  EXPECT_EQ(run_limits(request).text, named);
}

TEST(LimitsBudget, less_than_any_machine_costs_has_no_answer) {
  LimitsRequest request = few_machines();
  request.machine.budget = 10;
  const CommandOutput output = run_limits(request);
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_NE(output.text.find("no machine that was tried ends in time within it"),
            std::string::npos);
}

TEST(LimitsBudget, what_means_nothing_beside_it_is_refused_with_what_else_is_wrong) {
  LimitsRequest request = few_machines();
  request.real = request.explain = true;
  request.rows = "rows.csv";
  request.months = -1;
  const std::string text = problems_text(run_limits(request).problems);
  for (const char* flag : {"--real", "--explain", "--rows", "--months"}) {
    EXPECT_NE(text.find(flag), std::string::npos) << flag << " in\n" << text;
  }
  LimitsRequest unpriced = few_machines();
  unpriced.gpus = {"tpu-v5p"};
  EXPECT_NE(problems_text(run_limits(unpriced).problems).find("no price of 'tpu-v5p' is known"),
            std::string::npos);
}

TEST(LimitsBudget, a_machine_of_which_nothing_is_known_is_refused_with_a_sentence) {
  for (const char* name : {"spiking", "photonic"}) {
    LimitsRequest request;
    request.gpus = {name};
    const Problems problems = run_limits(request).problems;
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems.front().kind, Trouble::unsupported);
    EXPECT_NE(problems.front().message.find("published"), std::string::npos);
  }
}

}  // namespace
}  // namespace headway
