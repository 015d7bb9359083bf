#include "study/infer/question/question.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/formatted.hpp"
#include "platform/files.hpp"
#include "platform/temporary_folder_for_test.hpp"
#include "run/words.hpp"
#include "study/infer/question/options.hpp"

namespace headway {
namespace {

RunRequest request_of_8b(RunRequest more = {}) {
  RunRequest out = {{"model", "llama-3-8b"},
                    {"cluster", "dgx-h100"},
                    {"input-len", "1000"},
                    {"output-len", "100"},
                    {"batch", "4"}};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

TEST(ServingOptions, AreNamedOnceEachUnderAHeadingWithHelpAndAWayToBeRead) {
  std::set<std::string_view> names;
  for (const ServingOption& row : serving_options()) {
    const RunField& field = row.field;
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_FALSE(field.help.empty()) << field.name;
    EXPECT_NE(std::find(kServingGroups.begin(), kServingGroups.end(), field.group),
              kServingGroups.end())
        << field.name;
    const bool loaded = field.name == "model" || field.name == "cluster";
    EXPECT_EQ(row.read == nullptr, loaded) << field.name;
  }
}

// data/words.toml: what engines and load generators call them is none of ours, and told with ours.
TEST(ServingOptions, AreToldToWhoeverCallsThemAsOthersDo) {
  const auto document = embedded_document("words.toml");
  ASSERT_TRUE(document.ok());
  Problems problems;
  Fields fields(*document, problems);
  std::vector<std::string> names;
  for (const RunField& field : serving_fields()) names.emplace_back(field.name);
  const auto known = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  int told = 0;
  for (Fields& word : fields.tables("word")) {
    if (word.text_or("of", "") != "serving") continue;
    EXPECT_TRUE(known(word.text("means"))) << word.text("means");
    for (const std::string& said : word.texts_or_empty("said")) {
      EXPECT_FALSE(known(said)) << said;
      EXPECT_TRUE(hint("--" + said, names, "--")
                      .starts_with("; here it is '--" + word.text("means") + "'"));
      ++told;
    }
  }
  EXPECT_GT(told, 30);
}

// A row whose member is another's would read what its neighbour says.
TEST(ServingOptions, EachThatIsRefusedByItselfSaysSoOfItself) {
  for (const RunField& field : serving_fields()) {
    const auto question =
        read_serving(request_of_8b({{std::string(field.name), "-?"}}), Asker::whoever_runs_it);
    ASSERT_FALSE(question.ok()) << field.name;
    const bool told = std::any_of(
        question.problems().begin(), question.problems().end(), [&](const Problem& problem) {
          return problem.fields.empty() ||  // a model or cluster: the file that is not there
                 problem.fields.front().name == field.name;
        });
    EXPECT_TRUE(told) << field.name;
  }
}

// [INFER-3] Routers are uneven as those that were measured, unless the question says how; models
// without experts have none.
TEST(ReadServing, TakesRoutersAsUnevenAsThoseThatWereMeasured) {
  const auto routing = [](const char* model, const RunRequest& more) {
    RunRequest request = {{"model", model},     {"cluster", "dgx-h200"}, {"tp", "8"},
                          {"input-len", "100"}, {"output-len", "10"},    {"batch", "4"}};
    request.insert(request.end(), more.begin(), more.end());
    const auto question = read_serving(request, Asker::whoever_runs_it);
    EXPECT_TRUE(question.ok());
    return question ? question->serving.routing : Routing{-1, -1};
  };
  EXPECT_GT(usual_imbalance(), 0);
  for (const RunField& field : serving_fields()) {  // what the help and the page say of it
    if (field.name != "imbalance") continue;
    EXPECT_TRUE(std::string(field.otherwise).starts_with(formatted("%.1f,", usual_imbalance())));
  }
  EXPECT_EQ(routing("deepseek-v3", {}).power, usual_imbalance());
  EXPECT_EQ(routing("deepseek-v3", {{"imbalance", "0"}}).power, 0);
  EXPECT_EQ(routing("deepseek-v3", {{"imbalance", "1.2"}}).power, 1.2);
  EXPECT_EQ(routing("deepseek-v3", {{"redundant-experts", "32"}, {"ep", "8"}}).redundant, 32);
  EXPECT_EQ(routing("llama-3-70b", {}).power, 0);
}

// Copies even out ranks of experts: of several ways of serving those that have such ranks have
// them.
TEST(ReadServing, TakesRedundantExpertsWhereExpertsHaveRanks) {
  const auto taken = [](const RunRequest& more) {
    RunRequest request = {{"model", "deepseek-v3"}, {"cluster", "gb200-nvl72"},
                          {"weights", "fp8-block"}, {"input-len", "100"},
                          {"output-len", "10"},     {"redundant-experts", "32"}};
    request.insert(request.end(), more.begin(), more.end());
    return read_serving(request, Asker::whoever_runs_it).ok();
  };
  EXPECT_TRUE(taken({{"best", "true"}, {"gpus", "8"}}));
  EXPECT_TRUE(taken({{"prefill", "tp=4"}, {"decode", "tp=1,dp=32,ep=32"}, {"concurrency", "64"}}));
  EXPECT_TRUE(taken({{"tp", "8"}, {"ep", "8"}, {"batch", "4"}}));
  EXPECT_FALSE(taken({{"tp", "8"}, {"batch", "4"}}));
  EXPECT_FALSE(taken({{"prefill", "tp=4"}, {"decode", "tp=4"}, {"concurrency", "64"}}));
}

// Ranks have places for experts and copies alike: 256 and 32 on 144 ranks, as DeepSeek serves.
TEST(ReadServing, HasEpDivideExpertsAndTheirCopies) {
  const auto taken = [](const char* ranks, const char* copies) {
    const RunRequest request = {{"model", "deepseek-v3"},
                                {"cluster", "h800-8"},
                                {"dp", ranks},
                                {"ep", ranks},
                                {"batch", "4"},
                                {"input-len", "100"},
                                {"output-len", "10"},
                                {"weights", "fp8-block"},
                                {"redundant-experts", copies}};
    return read_serving(request, Asker::whoever_runs_it).ok();
  };
  EXPECT_TRUE(taken("144", "32"));
  EXPECT_TRUE(taken("288", "32"));
  EXPECT_FALSE(taken("144", "16"));
  EXPECT_FALSE(taken("64", "32"));
}

// A checkpoint is served as its config keeps it, in formats that there are; or as --weights says.
TEST(ReadServing, TakesWeightsAsTheConfigKeepsThem) {
  const testing::TemporaryFolder folder;
  const auto served = [&](const std::string& format, const RunRequest& more) {
    const std::string file =
        folder.write("config.json", R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 4096,
      "intermediate_size": 14336, "num_attention_heads": 32, "num_hidden_layers": 2,
      "vocab_size": 100, "quantization_config": )" +
                                        format + "}");
    RunRequest request = {{"model", file},
                          {"cluster", "dgx-h100"},
                          {"input-len", "100"},
                          {"output-len", "10"},
                          {"batch", "1"}};
    request.insert(request.end(), more.begin(), more.end());
    const auto question = read_serving(request, Asker::whoever_runs_it);
    return question ? std::string(weights_name(question->serving)) : std::string();
  };
  for (const std::string format : {"awq", "mxfp4", "fp8"}) {
    const std::string config = R"({"quant_method": ")" + format + "\"}";
    const std::string kept = format == "awq" ? "int4" : format;
    EXPECT_EQ(served(config, {}), kept);
    EXPECT_EQ(served(config, {{"weights", "int8"}}), "int8");
  }
  EXPECT_EQ(served(R"({"quant_method": "aqlm"})", {}), "bf16");
}

// Halves in turn hide what tokens take to experts of other ranks: without such there is nothing.
TEST(ReadServing, TakesHalvesInTurnWhereTokensTravelToExperts) {
  const auto told = [](const RunRequest& more) {
    RunRequest request = {{"cluster", "dgx-h100"},
                          {"input-len", "100"},
                          {"output-len", "10"},
                          {"two-batches", "true"}};
    request.insert(request.end(), more.begin(), more.end());
    const auto question = read_serving(request, Asker::whoever_runs_it);
    if (question) return question->serving.two_batches ? std::string("taken") : "dropped";
    return question.problems().front().message;
  };
  const RunRequest one = {{"model", "mixtral-8x7b"}, {"batch", "8"}};
  const auto with = [&](RunRequest more) {
    more.insert(more.end(), one.begin(), one.end());
    return told(more);
  };
  EXPECT_EQ(with({{"dp", "8"}, {"ep", "8"}}), "taken");
  EXPECT_NE(with({{"tp", "2"}, {"ep", "2"}}), "taken");
  EXPECT_EQ(told({{"model", "mixtral-8x7b"}, {"best", "true"}, {"gpus", "8"}}), "taken");
  const RunRequest dense = {{"model", "llama-3.1-8b"}, {"best", "true"}, {"gpus", "8"}};
  EXPECT_EQ(told(dense), "is of experts, which the model has none of");
}

// An engine of whole batches has no clients; one that splits by layers no tensor parallelism.
TEST(ReadServing, RefusesWhatTheEngineCannotDo) {
  const auto told = [](const char* engine, const RunRequest& more) {
    RunRequest request = {{"model", "llama-2-7b"},
                          {"cluster", "dgx-a100-80gb"},
                          {"input-len", "100"},
                          {"output-len", "10"},
                          {"engine", engine}};
    request.insert(request.end(), more.begin(), more.end());
    const auto question = read_serving(request, Asker::whoever_runs_it);
    return question ? std::string() : question.problems().front().fields.front().name;
  };
  EXPECT_EQ(told("fastertransformer", {{"batch", "4"}}), "");
  EXPECT_EQ(told("fastertransformer", {{"concurrency", "4"}}), "engine");
  EXPECT_EQ(told("fastertransformer", {{"rate", "1"}}), "engine");
  EXPECT_EQ(told("fastertransformer", {{"best", "true"}, {"gpus", "4"}}), "engine");
  EXPECT_EQ(told("fastertransformer", {{"batch", "4"}, {"weights", "int8"}}), "weights");
  EXPECT_EQ(told("llama-cpp", {{"batch", "1"}, {"pp", "2"}}), "");
  EXPECT_EQ(told("llama-cpp", {{"batch", "1"}, {"tp", "2"}}), "tp");
  EXPECT_EQ(told("llama-cpp", {{"batch", "1"}, {"weights", "int4"}}), "weights");
}

TEST(ReadServing, FillsEveryMemberThatIsGiven) {
  const auto question = read_serving({{"model", "mixtral-8x7b"},
                                      {"cluster", "dgx-h200"},
                                      {"gpus", "8"},
                                      {"tp", "2"},
                                      {"ep", "4"},
                                      {"dp", "4"},
                                      {"weights", "fp8"},
                                      {"cache", "fp8"},
                                      {"engine", "sglang"},
                                      {"input-len", "700"},
                                      {"output-len", "30"},
                                      {"rate", "8"},
                                      {"ttft", "0.5 s"},
                                      {"tpot", "20 ms"}},
                                     Asker::whoever_runs_it);
  ASSERT_TRUE(question.ok()) << question.problems().front().message;
  const Serving& serving = question->serving;
  EXPECT_EQ(serving.tp, 2);
  EXPECT_EQ(serving.ep, 4);
  EXPECT_EQ(serving.dp, 4);
  EXPECT_EQ(serving.weights->name, "fp8");
  EXPECT_EQ(serving.cache->name, "fp8");
  EXPECT_EQ(serving.engine.name, "sglang");
  EXPECT_EQ(question->load.input, 700);
  EXPECT_EQ(question->load.output, 30);
  EXPECT_EQ(question->load.arrivals, Arrivals::random);
  EXPECT_DOUBLE_EQ(question->load.rate, 2);  // of each copy
  EXPECT_EQ(question->load.first_limit, Seconds(0.5));
  EXPECT_EQ(question->load.each_limit, Seconds(0.02));
}

TEST(ReadServing, MakesCopiesOfWhatAcceleratorsAreLeft) {
  const auto question =
      read_serving(request_of_8b({{"tp", "2"}, {"gpus", "8"}}), Asker::whoever_runs_it);
  ASSERT_TRUE(question.ok());
  EXPECT_EQ(question->serving.dp, 4);
}

TEST(ReadServing, SaysWhereInAFileAFieldStandsThatARuleIsAbout) {
  RunRequest request = request_of_8b();
  request.emplace_back("pp", "99", Where("serving.toml", 7, FieldName("pp")));
  const auto question = read_serving(request, Asker::whoever_runs_it);
  ASSERT_FALSE(question.ok());
  const bool placed = std::any_of(question.problems().begin(), question.problems().end(),
                                  [](const Problem& problem) { return problem.place.line == 7; });
  EXPECT_TRUE(placed);
}

TEST(ReadServing, SaysOfEveryRuleThatIsBrokenAtOnce) {
  const auto question = read_serving(
      request_of_8b({{"engine", "vim"}, {"tp", "3"}, {"input-len", "9000"}, {"pp", "99"}}),
      Asker::whoever_runs_it);
  ASSERT_FALSE(question.ok());
  std::set<std::string> said;
  for (const Problem& problem : question.problems()) said.insert(problem.fields.front().name);
  EXPECT_EQ(said, (std::set<std::string>{"engine", "tp", "output-len", "pp"}));
}

TEST(ReadServing, TakesOneLoadUnlessTheQuestionIsAboutLoads) {
  const auto problems_of = [](const RunRequest& more) {
    const auto question = read_serving(request_of_8b(more), Asker::whoever_runs_it);
    return question ? std::size_t{0} : question.problems().size();
  };
  EXPECT_EQ(problems_of({}), 0U);
  EXPECT_EQ(problems_of({{"rate", "3"}}), 1U);
  EXPECT_EQ(problems_of({{"curve", "rate"}}), 1U);
  EXPECT_EQ(problems_of({{"best", "true"}, {"gpus", "4"}}), 1U);
  EXPECT_EQ(problems_of({{"ttft", "1 s"}}), 1U);  // of a batch
}

TEST(ReadServing, TakesFormatsThatTheBestAreChosenAmong) {
  const auto of = [](const char* cluster, RunRequest more) {
    RunRequest request = {{"model", "llama-3-8b"}, {"cluster", cluster}, {"gpus", "2"},
                          {"input-len", "100"},    {"output-len", "10"}, {"best", "true"}};
    request.insert(request.end(), more.begin(), more.end());
    return read_serving(request, Asker::whoever_runs_it);
  };
  const auto names = [&](const char* cluster, RunRequest more) {
    std::set<std::string> out;
    const auto question = of(cluster, std::move(more));
    if (!question) return out;
    Serving serving = question->serving;
    for (const ServingFormats& each : question->space.formats) {
      set_formats(serving, each);
      out.insert(std::string(weights_name(serving)) + "/" + serving.cache->name);
    }
    return out;
  };
  EXPECT_EQ(names("dgx-h100", {{"formats", "fp8/fp8,int4"}}),
            (std::set<std::string>{"fp8/fp8", "int4/bf16"}));
  // A100 multiplies in 16 bits and 8-bit integers, and unpacks what it has not.
  const auto ampere = names("dgx-a100-80gb", {{"formats", "any"}});
  EXPECT_TRUE(ampere.contains("int4/bf16"));
  EXPECT_TRUE(ampere.contains("int8-full/fp8"));
  EXPECT_FALSE(ampere.contains("fp8/bf16"));
  EXPECT_FALSE(ampere.contains("fp32/bf16"));
  EXPECT_TRUE(names("dgx-h100", {{"formats", "any"}}).contains("fp8/bf16"));
  EXPECT_EQ(names("dgx-h100", {{"formats", "any"}, {"cache", "fp8"}}).count("bf16/bf16"), 0U);
  const auto refused = [&](const char* cluster, RunRequest more) {
    return !of(cluster, std::move(more)).ok();
  };
  EXPECT_TRUE(refused("dgx-a100-80gb", {{"formats", "fp8"}}));
  EXPECT_TRUE(refused("dgx-h100", {{"formats", "fp9"}}));
  EXPECT_TRUE(refused("dgx-h100", {{"formats", "fp8/fp9"}}));
  EXPECT_TRUE(refused("dgx-h100", {{"formats", "fp8/int4"}}));  // vLLM has no such cache
  EXPECT_TRUE(refused("dgx-h100", {{"formats", ""}}));
  EXPECT_TRUE(refused("dgx-h100", {{"formats", "fp8,"}}));
  EXPECT_TRUE(refused("dgx-h100", {{"formats", "fp8"}, {"weights", "bf16"}}));
  EXPECT_FALSE(read_serving(request_of_8b({{"formats", "fp8"}}), Asker::whoever_runs_it).ok());
  // V100 has no bf16, which nobody asked for; where all formats are refused, nothing else is told.
  const auto turing = of("t4-8", {});
  ASSERT_TRUE(turing.ok());
  EXPECT_EQ(weights_name(turing->serving), "fp16");
  const auto volta = of("dgx-v100", {{"formats", "fp16,int4"}});
  ASSERT_TRUE(volta.ok()) << volta.problems().front().message;
  EXPECT_EQ(weights_name(volta->serving), "fp16");
  const auto none = of("dgx-v100", {{"formats", "fp8"}});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.problems().size(), 1U);
  // A cache is of those formats that name none.
  EXPECT_TRUE(refused("dgx-h100", {{"formats", "fp8/fp8,int4/bf16"}, {"cache", "fp8"}}));
  EXPECT_EQ(names("dgx-h100", {{"formats", "fp8/bf16,int4"}, {"cache", "fp8"}}),
            (std::set<std::string>{"fp8/bf16", "int4/fp8"}));
}

TEST(ReadServing, TakesStepsOfEitherPart) {
  RunRequest request = {{"model", "llama-3-8b"}, {"cluster", "dgx-h100"},
                        {"input-len", "100"},    {"output-len", "10"},
                        {"concurrency", "4"},    {"prefill", "cp=2,step-tokens=2048"},
                        {"decode", "tp=2"}};
  const auto question = read_serving(request, Asker::whoever_runs_it);
  ASSERT_TRUE(question.ok());
  EXPECT_EQ(question->apart->prefill.engine.policy.most_tokens, 2048);
  EXPECT_EQ(question->apart->prefill.cp, 2);
  EXPECT_EQ(question->apart->decode.engine.policy.most_tokens, 8192);
  // Beside them steps are of the part that says none; where both do, of neither.
  request.emplace_back("step-tokens", "512");
  const auto beside = read_serving(request, Asker::whoever_runs_it);
  ASSERT_TRUE(beside.ok());
  EXPECT_EQ(beside->apart->prefill.engine.policy.most_tokens, 2048);
  EXPECT_EQ(beside->apart->decode.engine.policy.most_tokens, 512);
  for (GivenField& field : request) {
    if (field.name == "decode") field.text = "tp=2,step-tokens=1024";
  }
  const auto neither = read_serving(request, Asker::whoever_runs_it);
  ASSERT_FALSE(neither.ok());
  EXPECT_EQ(neither.problems().front().fields.front().name, "step-tokens");
}

// [INFER-7] Ten requests of each client, of which memory holds some at a time: with room for all
// ten answers one after another, with room for one of them each waits for all before it.
TEST(MostSteps, AreTenAnswersOfEachClientAndMoreWhereSomeWaitOutside) {
  const auto steps_of = [](const RunRequest& more) {
    RunRequest request = request_of_8b(more);
    std::erase_if(request, [](const GivenField& field) { return field.name == "batch"; });
    return most_steps(*read_serving(request, Asker::whoever_runs_it));
  };
  EXPECT_EQ(steps_of({{"concurrency", "4"}}), 10 * 100);
  const auto held = read_serving(request_of_8b(), Asker::whoever_runs_it);
  const double at_a_time = memory_of(held->serving, 1100).cached_tokens / 1100;
  ASSERT_LT(at_a_time, 9000);
  EXPECT_EQ(steps_of({{"concurrency", "9000"}}), 10 * 100 * std::ceil(9000 / at_a_time));
  EXPECT_EQ(steps_of({{"rate", "1"}}), 2010 * 100);
}

// Whatever is asked, an answer or all that is wrong, each told of a field; and what another may ask
// is asked by whoever runs it as well.
RC_GTEST_PROP(ReadServing, AnswersOrTellsWhatIsWrong, ()) {
  RunRequest request = {{"model", "llama-3-8b"}, {"cluster", "dgx-h100"}};
  for (const RunField& field : serving_fields()) {
    if (field.name == "model" || field.name == "cluster" || !*rc::gen::arbitrary<bool>()) continue;
    const FieldForm& form = field.form;
    std::string text = *rc::gen::element<std::string>("1", "2", "8", "16", "2 s", "x", "0");
    if (form.kind == FieldForm::Kind::flag) text = "true";
    if (form.kind == FieldForm::Kind::name) {
      text = form.names[*rc::gen::inRange<std::size_t>(0, form.names.size())];
    }
    request.emplace_back(std::string(field.name), text);
  }
  const auto of_another = read_serving(request, Asker::another);
  const auto question = read_serving(request, Asker::whoever_runs_it);
  RC_ASSERT(!of_another.ok() || question.ok());
  if (!question.ok()) {
    for (const Problem& problem : question.problems()) {
      RC_ASSERT(!problem.message.empty());
      RC_ASSERT(!problem.fields.empty());
    }
    return;
  }
  RC_ASSERT(check(question->serving).empty());
  RC_ASSERT(question->load.input >= 1 && question->load.output >= 1);
}

}  // namespace
}  // namespace headway
