#include "study/plan/plan.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "api/commands.hpp"
#include "launch/read_back_for_test.hpp"
#include "report/plan.hpp"
#include "study/plan/case_for_test.hpp"

namespace headway {
namespace {

using testing::plan_case;
using testing::PlanCase;

RunRequest small_request(const std::string& gpus = "16") {
  RunRequest out;
  for (const auto& [name, text] :
       {std::pair("model", "llama-2-7b"), std::pair("cluster", "dgx-h100"),
        std::pair("gpus", gpus.c_str()), std::pair("seq", "4096"),
        std::pair("global-batch", "32")}) {
    out.push_back({std::string(name), std::string(text)});
  }
  return out;
}

Plan small_plan(const PlanRequest& request) {
  auto plan = make_plan(request);
  EXPECT_TRUE(plan.ok()) << testing::messages(plan ? Problems{} : plan.problems());
  return std::move(plan).value();
}

PlanRequest small() {
  PlanRequest out;
  out.fields = small_request();
  return out;
}

// Every layout that is offered can be started: what a framework's files cannot say is not offered.
RC_GTEST_PROP(PlanLaunch, every_layout_of_the_space_is_written_and_read_back_as_the_same, ()) {
  const auto launcher = static_cast<Launcher>(*rc::gen::inRange(0, 4));
  const Framework framework = framework_from(row_of(launcher).framework).value();
  // torchtitan knows models by name, and only Megatron-LM's mixture of experts can be written.
  const char* const model =
      launcher == Launcher::megatron
          ? *rc::gen::element<const char*>("llama-2-7b", "llama-3-70b", "mixtral-8x7b")
      : launcher == Launcher::torchtitan
          ? *rc::gen::element<const char*>("llama-3-8b", "llama-3-70b")
          : "llama-2-7b";
  const PlanCase c =
      plan_case(model, "dgx-h100", *rc::gen::element<std::int64_t>(8, 16), framework, 16);
  RC_PRE(c.space.ok());
  Run run = c.run;
  run.layout = c.space->layout_at(*rc::gen::inRange<std::uint64_t>(0, c.space->size()));
  run.job.attention = usual_attention(run.job, run.cluster.accelerator);
  RC_PRE(is_legal(run));
  const auto files = launch_files(run, launcher);
  if (!files) {
    RC_FAIL(testing::messages(files.problems()) + testing::text_of(run.layout));
  }
  // What a configuration does not carry stands beside it.
  RunRequest more = {{"seq", std::to_string(run.job.sequence), ""}, {"model", model, ""}};
  for (const GivenField& field : layout_fields(run.model, run.job, run.layout)) {
    const bool carried = launcher != Launcher::deepspeed || field.name == "zero" ||
                         field.name == "offload" || field.name == "micro-batch";
    if (!carried) more.push_back(field);
  }
  if (launcher == Launcher::deepspeed) more.push_back({"gpus", std::to_string(c.ranks), ""});
  const auto again = testing::read_back(run, *files, launcher, more);
  if (!again) RC_FAIL(testing::messages(again.problems()) + files->front().text);
  if (!(testing::canonical(run) == testing::canonical(*again))) {
    RC_FAIL(testing::text_of(testing::canonical(run)) + "\n" +
            testing::text_of(testing::canonical(*again)) + "\n" + files->front().text);
  }
}

TEST(Plan, its_best_layouts_are_of_different_kind_and_in_order) {
  const Plan plan = small_plan(small());
  ASSERT_EQ(plan.best.size(), 5U);
  for (std::size_t i = 1; i < plan.best.size(); ++i) {
    EXPECT_LE(plan.best[i - 1].forecast.step_time, plan.best[i].forecast.step_time);
    for (std::size_t j = 0; j < i; ++j) {
      const Layout &a = plan.best[i].run.layout, &b = plan.best[j].run.layout;
      EXPECT_TRUE(a.tp != b.tp || a.cp != b.cp || a.pp != b.pp || a.dp != b.dp);
    }
  }
}

TEST(Plan, without_a_feature_it_is_never_faster) {
  const Plan plan = small_plan(small());
  EXPECT_FALSE(plan.without.empty());
  for (const PlanWithout& without : plan.without) {
    if (!without.best) continue;
    EXPECT_GE(without.best->time, plan.best.front().forecast.step_time) << without.feature;
  }
}

TEST(Plan, a_worse_machine_is_never_faster_and_its_best_is_no_slower_than_the_old_winner) {
  const Plan plan = small_plan(small());
  ASSERT_GE(plan.sensitivity.size(), 4U);
  for (const PlanSensitivity& at : plan.sensitivity) {
    if (!at.winner) continue;
    EXPECT_GE(at.winner->time.value(), plan.best.front().forecast.step_time.value() * (1 - 1e-12))
        << at.what;
    ASSERT_TRUE(at.best.has_value());
    EXPECT_LE(at.best->time.value(), at.winner->time.value() * (1 + 1e-12)) << at.what;
  }
}

TEST(Plan, the_bounds_of_the_best_are_shares_of_its_step) {
  const Plan plan = small_plan(small());
  double sum = 0;
  for (const PlanBound& bound : plan.bounds) sum += bound.share;
  EXPECT_GT(sum, 0.8);
  EXPECT_LE(sum, 1 + 1e-9);
}

TEST(Plan, headroom_and_filters_hold_for_every_layout_of_the_answer) {
  PlanRequest request = small();
  request.headroom = "50 %";
  request.fixed = {"tp=2"};
  request.most = {{"pp", "1", FieldName("max-pp")}};
  const Plan plan = small_plan(request);
  ASSERT_FALSE(plan.best.empty());
  for (const PlannedLayout& at : plan.best) {
    EXPECT_EQ(at.run.layout.tp, 2);
    EXPECT_EQ(at.run.layout.pp, 1);
    EXPECT_LE(at.forecast.memory.total() - at.forecast.gaps, 0.5 * at.forecast.capacity);
  }
  for (const PlannedPoint& at : plan.front) EXPECT_EQ(at.layout.tp, 2);
}

TEST(Plan, the_least_memory_and_the_least_energy_are_those_of_the_front_and_of_no_other) {
  PlanRequest request = small();
  const Plan fastest = small_plan(request);
  request.objective = "memory";
  const Plan smallest = small_plan(request);
  const Forecast& f = smallest.best.front().forecast;
  EXPECT_EQ((f.memory.total() - f.gaps).value(), fastest.front.back().point.memory.value());
  request.objective = "energy";
  const Plan frugal = small_plan(request);
  EXPECT_LE(frugal.best.front().forecast.energy, fastest.best.front().forecast.energy);
}

TEST(Plan, says_the_same_on_any_number_of_threads) {
  PlanRequest request = small();
  request.threads = 1;
  const std::string one = plan_json(small_plan(request));
  request.threads = 2;
  EXPECT_EQ(plan_json(small_plan(request)), one);
}

TEST(Plan, keeps_the_fields_of_a_layout_that_are_given) {
  PlanRequest given = small(), fixed = small();
  given.fields.push_back({"tp", "4"});
  given.fields.push_back({"no-sp", "true"});
  fixed.fixed = {"tp=4", "sp=off"};
  const Plan plan = small_plan(given);
  EXPECT_EQ(plan_json(plan), plan_json(small_plan(fixed)));
  EXPECT_EQ(plan.best.front().run.layout.tp, 4);
  EXPECT_FALSE(plan.best.front().run.layout.sequence_parallel);

  given.fields.push_back({"schedule", "sideways"});
  const auto none = make_plan(given);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.problems().size(), 1U);
}

TEST(Plan, of_a_run_file_says_that_its_layout_is_searched_anew) {
  PlanRequest request = small();
  request.run_file = ::testing::TempDir() + "headway-plan-layout.toml";
  std::ofstream(request.run_file) << "tp = 8\npp = 2\n";
  request.fields.push_back({"pp", "1"});
  const Plan plan = small_plan(request);
  EXPECT_EQ(plan.best.front().run.layout.pp, 1);
  ASSERT_EQ(plan.notes.size(), 1U);
  EXPECT_NE(plan.notes.front().find(": tp; --fix"), std::string::npos);
}

TEST(Plan, of_a_config_with_a_vision_tower_says_that_it_is_left_out) {
  const std::string path = ::testing::TempDir() + "headway-plan-tower.json";
  std::ofstream(path) << R"({"architectures": ["Qwen3VLForConditionalGeneration"],
    "text_config": {"hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 8,
    "num_key_value_heads": 8, "num_hidden_layers": 8, "vocab_size": 32000}, "vision_config": {}})";
  PlanRequest request = small();
  for (GivenField& field : request.fields) {
    if (field.name == "model") field.text = path;
  }
  const Plan plan = small_plan(request);
  ASSERT_EQ(plan.notes.size(), 1U);
  EXPECT_NE(plan.notes.front().find("vision tower"), std::string::npos);
  EXPECT_EQ(plan.best.front().forecast.notes.front(), plan.notes.front());
}

TEST(Plan, stopped_shows_the_best_so_far_and_that_it_is_not_proven) {
  PlanRequest request = small();
  request.threads = 1;
  request.progress = [](std::size_t done, std::size_t) { return done < 40; };
  const Plan plan = small_plan(request);
  EXPECT_FALSE(plan.proven);
  EXPECT_NE(plan_text(plan).find("NOT PROVEN"), std::string::npos);
  EXPECT_TRUE(plan.sensitivity.empty());
}

TEST(Plan, shows_its_best_layouts_before_what_follows_from_them) {
  PlanRequest request = small();
  const std::string whole = run_plan(request).text;
  std::string shown;
  request.begun = [&](const std::string& text) { shown += text; };
  const std::string rest = run_plan(request).text;
  EXPECT_EQ(shown + rest, whole);
  EXPECT_NE(shown.find("\n1  "), std::string::npos) << shown;
  EXPECT_EQ(shown.find("What binds"), std::string::npos) << shown;
}

TEST(Plan, tells_a_first_document_of_its_best_layouts) {
  PlanRequest request = small();
  request.json = true;
  std::string first;
  request.begun = [&](const std::string& text) { first += text; };
  const auto whole = nlohmann::json::parse(run_plan(request).text);
  const auto begun = nlohmann::json::parse(first);
  EXPECT_EQ(begun["best"], whole["best"]);
  EXPECT_FALSE(begun["best"].empty());
  EXPECT_TRUE(begun["sensitivity"].empty());
  EXPECT_FALSE(whole["sensitivity"].empty());
}

// A search of more than twenty million layouts tells of a part of them first.
TEST(Plan, of_a_long_search_tells_of_the_best_of_a_part_that_is_not_proven) {
  PlanRequest request = small();
  request.json = true;
  request.fields = small_request("256");
  request.fields[0].text = "deepseek-v2";
  request.fields[4].text = "128";
  std::vector<Plan> told;
  request.progress = [&](std::size_t, std::size_t) { return told.empty(); };
  const auto plan = make_plan(request, [&](const Plan& found) { told.push_back(found); });
  ASSERT_TRUE(plan.ok());
  EXPECT_FALSE(plan->proven);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_FALSE(told.front().proven);
  ASSERT_FALSE(told.front().best.empty());
  EXPECT_TRUE(told.front().best.front().forecast.fits);
}

TEST(Plan, shows_nothing_before_files) {
  PlanRequest request = small();
  request.begun = [](const std::string& text) { ADD_FAILURE() << text; };
  request.emit = "megatron";
  EXPECT_TRUE(run_plan(request).problems.empty());
}

TEST(Plan, where_nothing_fits_names_the_change_that_helps) {
  PlanRequest request = small();
  request.fields = small_request("2");
  request.headroom = "95%";
  const auto output = run_plan(request);
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_NE(output.text.find("without headroom"), std::string::npos) << output.text;
}

}  // namespace
}  // namespace headway
