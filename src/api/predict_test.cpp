#include "forecast/predict/predict.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "api/commands.hpp"
#include "base/quantity_text.hpp"
#include "report/predict.hpp"

namespace headway {
namespace {

using JsonTree = nlohmann::json;

RunRequest request(std::initializer_list<std::pair<const char*, const char*>> fields) {
  RunRequest out = {
      {"model", "llama-2-7b"}, {"cluster", "dgx-h100"}, {"seq", "4096"}, {"global-batch", "64"}};
  for (const auto& [name, text] : fields) {
    out.push_back({std::string(name), std::string(text)});
  }
  return out;
}

// Eight nodes of 700 W boards at 3.35 TB/s and 50 GB/s each, by FSDP: what is set lower makes the
// step longer, a board of less power by no more than the law of its rates [FORECAST-12].
TEST(Predict, WhatIsKnownOfTheMachineChangesTheAnswer) {
  const auto with = [](const char* field, const char* text) {
    RunRequest fields = request({{"gpus", "64"}, {"framework", "fsdp"}});
    if (field != nullptr) fields.push_back({field, text});
    return predict(make_run(fields).value()).value();
  };
  const Forecast plain = with(nullptr, "");
  const Forecast capped = with("board-power", "500 W");
  EXPECT_GT(capped.step_time / plain.step_time, 1.02);
  EXPECT_LT(capped.step_time / plain.step_time, std::cbrt(7.0 / 5) * 1.05);
  EXPECT_LT(capped.energy / capped.step_time, 64 * Watts(500) * 1.0001);
  EXPECT_GT(with("memory-bandwidth", "2 TB/s").step_time / plain.step_time, 1.02);
  EXPECT_GT(with("network-bandwidth", "8 x 100 Gb/s").parts.dp / plain.parts.dp, 2);
  EXPECT_GT(with("network", "tcpx").step_time / plain.step_time, 1.001);
}

// The interval's runs are those of the machine that fewer of them had.
TEST(Predict, OnTwoMachinesIsNoNearerToMeasuredRunsThanOnEither) {
  const auto near = [](const char* cluster, const char* far) {
    RunRequest fields = request({{"gpus", "32"}, {"tp", "2"}, {"pp", "4"}});
    fields.emplace_back("cluster", cluster);
    if (far != nullptr) {
      fields.emplace_back("far-cluster", far);
      fields.emplace_back("far-stages", "1");
    }
    const RequestedRun run = make_run(fields, Types::two).value();
    return JsonTree::parse(predict_json(run, predict(run).value()))["interval_from"];
  };
  const JsonTree hopper = near("dgx-h100", nullptr), ampere = near("dgx-a100-80gb", nullptr);
  ASSERT_LT(hopper["on_accelerator"], ampere["on_accelerator"]);
  ASSERT_LT(hopper["of_setup"], ampere["of_setup"]);
  EXPECT_EQ(near("dgx-a100-80gb", "dgx-h100"), hopper);
  EXPECT_EQ(near("dgx-h100", "dgx-a100-80gb"), hopper);
}

// Random legal and illegal fields: those that make a legal run are written and read back.
RC_GTEST_PROP(Run, ASavedRunIsReadBackAsTheSameRun, ()) {
  const auto degree = [] { return std::to_string(1 << *rc::gen::inRange(0, 4)); };
  RunRequest fields = request({});
  for (const char* name : {"tp", "pp", "vpp", "dp", "micro-batch", "cp"}) {
    if (*rc::gen::arbitrary<bool>()) fields.push_back({name, degree(), name});
  }
  const auto one_of = [&](const char* name, std::vector<std::string> texts) {
    if (*rc::gen::arbitrary<bool>()) {
      fields.push_back({name, *rc::gen::elementOf(texts), name});
    }
  };
  one_of("recompute", {"none", "selective", "full", "every-second-product"});
  one_of("framework", {"megatron", "fsdp", "deepspeed", "nanotron", "jax"});
  one_of("precision", {"bf16", "fp8", "fp32"});
  one_of("zero", {"0", "1", "2", "3"});
  one_of("no-sp", {"true", "false"});
  one_of("dropout", {"0.1", "0"});
  one_of("unfused", {"true", "false"});
  one_of("fused-loss", {"on", "off"});
  one_of("loss-metrics", {"0", "2"});
  one_of("padding-mask", {"true", "false"});
  one_of("recompute-early-stop", {"on", "off"});
  one_of("attention", {"flash1", "triton"});
  const auto run = make_run(fields);
  RC_PRE(run.ok());
  const auto document = parse_toml(run_file_text(*run), "saved.toml");
  RC_ASSERT(document.ok());
  const auto again = make_run(*run_request_from(document->root, "saved.toml"));
  RC_ASSERT(again.ok());
  RC_ASSERT(again->layout == run->layout);
  RC_ASSERT(predict_json(*again, *predict(*again)) == predict_json(*run, *predict(*run)));
}

RC_GTEST_PROP(Run, AnyTextInAnyFieldIsAnsweredWithARunOrProblems, ()) {
  RunRequest fields = request({});
  const auto names = run_fields();
  const int changes = *rc::gen::inRange(1, 6);
  for (int i = 0; i < changes; ++i) {
    const auto index = *rc::gen::inRange<std::size_t>(0, names.size());
    const auto text = *rc::gen::oneOf(
        rc::gen::arbitrary<std::string>(),
        rc::gen::elementOf(std::vector<std::string>{"0", "-1", "1", "7", "1000000", "1e30", "nan",
                                                    "999999999999", "99999999999999999999", ""}));
    fields.push_back({std::string(names[index].name), text, "field"});
  }
  const auto run = make_run(fields);
  if (!run) {
    RC_ASSERT(!run.problems().empty());
    return;
  }
  const auto forecast = predict(*run);
  RC_ASSERT(forecast.ok());
  RC_ASSERT(forecast->step_time > Seconds(0));
}

TEST(PredictText, FitsATerminalAndSaysWhatBinds) {
  const auto run = make_run(request({{"gpus", "64"}, {"tp", "8"}, {"pp", "2"}, {"vpp", "4"}}));
  ASSERT_TRUE(run.ok());
  const std::string text = predict_text(*run, *predict(*run));
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 100u) << text.substr(begin, end - begin);
    begin = end + 1;
  }
  for (const char* word : {"step time", "compute", "bubble", "activations", "fits", "all_gather"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word;
  }
}

// [FORECAST-18] Every schedule's slots are in the JSON: two or three of each chunk and micro-batch,
// half of them in each of two copies of the model; and what the step counts for its micro-batches,
// their transfers and the bubble is how long they take.
// [FORECAST-15] Meta's layout on 16,384: live tensors fit, with the gaps between them they do not.
TEST(PredictText, WhatFitsButForItsGapsSaysHowLargeTheyAre) {
  const auto run = make_run({{"model", "llama-3.1-405b"},
                             {"cluster", "dgx-h100"},
                             {"gpus", "16384"},
                             {"seq", "8192"},
                             {"global-batch", "2048"},
                             {"tp", "8"},
                             {"pp", "16"},
                             {"vpp", "7"},
                             {"zero", "2"}});
  ASSERT_TRUE(run.ok());
  const Forecast f = *predict(*run);
  ASSERT_TRUE(f.fits);
  ASSERT_GT(f.memory.total(), f.capacity);
  EXPECT_LE(f.memory.total() - f.gaps, f.capacity);
  EXPECT_NE(predict_text(*run, f).find(to_text(f.gaps) + " of it are gaps"), std::string::npos);
}

TEST(PredictTimeline, HasEverySlotOfEverySchedule) {
  for (const std::string_view schedule : kScheduleNames) {
    const auto run = make_run(request({{"gpus", "8"}, {"pp", "4"}, {"schedule", schedule.data()}}));
    ASSERT_TRUE(run.ok()) << schedule;
    const Forecast made = *predict(*run);
    const JsonTree pipeline = JsonTree::parse(predict_json(*run, made, true))["pipeline"];
    const JsonTree timeline = pipeline["timeline"];
    const Pipeline shape = pipeline_of(run->layout, micro_batches(run->job, run->layout));
    ASSERT_EQ(timeline["ranks"].size(), 4U) << schedule;
    for (const JsonTree& rank : timeline["ranks"]) {
      std::map<std::string, std::int64_t> count;
      for (const JsonTree& work : rank["work"]) {
        ++count[timeline["works"][work.get<std::size_t>()].get<std::string>()];
      }
      const std::int64_t all = shape.chunks() * shape.micro_batches_of_copy();
      EXPECT_EQ(count["forward"], all) << schedule;
      EXPECT_EQ(count["backward"] + count["input-gradient"], all) << schedule;
      EXPECT_EQ(count["input-gradient"], count["weight-gradient"]) << schedule;
      for (const char* column : {"chunk", "micro_batch", "begin_s", "end_s", "free_s"}) {
        EXPECT_EQ(rank[column].size(), rank["work"].size()) << schedule << " " << column;
      }
    }
    const StageTime& pace = made.pipeline.stages[made.pipeline.pace];
    const double counted =
        static_cast<double>(shape.micro_batches) * (pace.total() + pace.transfers).value() +
        made.parts.bubble.value();
    EXPECT_NEAR(timeline["time_s"].get<double>() / counted, 1, 0.01) << schedule;
  }
}

TEST(PredictTimeline, IsRefusedWhereNothingWouldShowIt) {
  PredictRequest asked;
  asked.fields = request({{"gpus", "8"}, {"pp", "4"}});
  asked.timeline = true;
  const CommandOutput said = run_predict(asked);
  ASSERT_EQ(said.problems.size(), 1U);
  EXPECT_EQ(where_text(said.problems.front()), "--timeline");
  asked.json = true;
  EXPECT_TRUE(run_predict(asked).problems.empty());
  asked.emit = "megatron";
  EXPECT_EQ(run_predict(asked).problems.size(), 1U);
}

// Each pod does what the one did, for its half of the batch; what is new is that the two copies add
// up their gradients, 1/3,072 of them on each chip, over the network between the pods.
TEST(Run, TwoPodsOfPalmStepAsOneWithHalfTheBatchDoes) {
  const auto step = [](const char* gpus, const char* batch) {
    const auto run = make_run({{"model", "palm-540b", ""},
                               {"cluster", "tpu-v4", ""},
                               {"gpus", gpus, ""},
                               {"seq", "2048", ""},
                               {"global-batch", batch, ""},
                               {"framework", "jax", ""},
                               {"tp", "12", ""},
                               {"zero", "3", ""},
                               {"shard", "256", ""},
                               {"recompute", "full", ""},
                               {"micro-batch", "2", ""},
                               {"no-sp", "true", ""}});
    EXPECT_TRUE(run.ok());
    return run.ok() ? predict(*run)->step_time : Seconds(0);
  };
  const Seconds one = step("3072", "1024"), both = step("6144", "2048");
  EXPECT_GT(both, one);
  EXPECT_LT(both / one, 1.02);
}

}  // namespace
}  // namespace headway
