#include "api/answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/document/document.hpp"
#include "base/source_dir_for_test.hpp"
#include "platform/files.hpp"
#include "platform/temporary_folder_for_test.hpp"
#include "report/json/document.hpp"

namespace headway {
namespace {

const std::string kRun =
    R"("model":"llama-2-7b","cluster":"dgx-h100","gpus":16,"seq":4096,"global-batch":64)";

std::string ask(std::string_view command, const std::string& members) {
  const CommandOutput output = answer(command, "{" + members + "}");
  EXPECT_TRUE(output.problems.empty()) << problems_text(output.problems);
  return output.text;
}

Problems refused(std::string_view command, const std::string& members) {
  const CommandOutput output = answer(command, "{" + members + "}");
  EXPECT_EQ(output.text, "");
  EXPECT_FALSE(output.problems.empty()) << members;
  return output.problems;
}

bool stands(const Problems& problems, const std::string& where, const std::string& said) {
  return std::any_of(problems.begin(), problems.end(), [&](const Problem& problem) {
    return where_text(problem) == where && problem.message.find(said) != std::string::npos;
  });
}

RunRequest flags(const std::vector<std::pair<std::string, std::string>>& given) {
  RunRequest out;
  for (const auto& [name, text] : given) out.push_back({std::string(name), std::string(text)});
  return out;
}

const std::vector<std::pair<std::string, std::string>> kFlags = {{"model", "llama-2-7b"},
                                                                 {"cluster", "dgx-h100"},
                                                                 {"gpus", "16"},
                                                                 {"seq", "4096"},
                                                                 {"global-batch", "64"}};

TEST(Answer, IsTheDocumentOfTheCommandLine) {
  PredictRequest predict;
  predict.fields = flags(kFlags);
  predict.json = true;
  EXPECT_EQ(ask("predict", kRun), run_predict(predict).text);
  predict.emit = "megatron";
  EXPECT_EQ(ask("predict", kRun + R"(,"emit":"megatron")"), run_predict(predict).text);

  PlanRequest plan;
  plan.fields = flags(kFlags);
  plan.fixed = {"tp=4"};
  plan.most = {{"pp", "2", FieldName("max-pp")}};
  plan.objective = "memory";
  plan.headroom = "10%";
  plan.top = 2;
  plan.json = true;
  EXPECT_EQ(ask("plan", kRun + R"(,"fix":{"tp":4},"max-pp":2,"objective":"memory",)"
                               R"("headroom":"10%","top":2)"),
            run_plan(plan).text);

  ScaleSweepRequest sweep;
  sweep.axis = SweepAxis::strong;
  sweep.fields = flags(kFlags);
  sweep.fields.push_back({"at", "8,16"});
  sweep.json = true;
  EXPECT_EQ(ask("scale", R"("sweep":"strong",)" + kRun + R"(,"at":[8,16])"),
            run_scale_sweep(sweep).text);

  CommsRequest comms;
  comms.fields = flags(kFlags);
  comms.json = true;
  EXPECT_EQ(ask("comms", kRun), run_comms(comms).text);

  LimitsRequest limits;
  limits.gpus = {"h100-sxm"};
  limits.sparse = true;
  limits.json = true;
  EXPECT_EQ(ask("limits", R"("gpu":["h100-sxm"],"sparse":true)"), run_limits(limits).text);
  EXPECT_EQ(ask("list", R"("what":"models")"), run_list("models", true).text);
}

TEST(Answer, AWholeRunTakesAsManyTokensAsANumberOrAText) {
  ScaleRunRequest request;
  request.fields = flags(kFlags);
  request.fields.push_back({"tokens", "2T"});
  request.json = true;
  const std::string document = run_scale_run(request).text;
  EXPECT_NE(document, "");
  EXPECT_EQ(ask("scale", R"("sweep":"run",)" + kRun + R"(,"tokens":"2T")"), document);
  EXPECT_EQ(ask("scale", R"("sweep":"run",)" + kRun + R"(,"tokens":2e12)").size() > 1000, true);
}

TEST(Answer, NamesEveryProblemAtItsMember) {
  const Problems problems =
      refused("predict", R"("model":"lama-2-7b","cluster":{"base":"../x.toml"},)"
                         R"("gpus":true,"tp":"x","sequence":1,"emit":"mega")");
  EXPECT_TRUE(stands(problems, "model", "llama-2-7b")) << problems_text(problems);
  EXPECT_TRUE(stands(problems, "cluster.base", "is no built-in cluster"));
  EXPECT_TRUE(stands(problems, "tp", "not a whole number"));
  EXPECT_TRUE(stands(problems, "gpus", "not a whole number"));
  EXPECT_TRUE(stands(problems, "sequence", "not a known field"));
  EXPECT_TRUE(stands(problems, "emit", "megatron"));
  EXPECT_TRUE(stands(problems, "seq", "is missing"));
  EXPECT_TRUE(stands(problems, "global-batch", "is missing"));
}

// What another program calls a field is told with the word here, as the command line tells it.
TEST(Answer, WordsOfOtherProgramsAreToldWithTheWordHere) {
  const Problems problems =
      refused("predict", R"("model":"llama-2-7b","cluster":"dgx-h100","gpus":16,"seq_length":4096,)"
                         R"("micro_batch_size":1,"tensor_model_parallel_size":2,"global_batch":64,)"
                         R"("nodes":2)");
  const auto told = [&](const std::string& member, const std::string& word) {
    EXPECT_TRUE(stands(problems, member, "is not a known field; " + word)) << member;
  };
  told("seq_length", "here it is 'seq'");
  told("micro_batch_size", "here it is 'micro-batch'");
  told("tensor_model_parallel_size", "here it is 'tp'");
  told("nodes", "here it is 'gpus' (of all nodes together)");
  told("global_batch", "did you mean 'global-batch'?");
}

TEST(Answer, RulesBetweenFieldsNameTheMember) {
  const Problems problems = refused("predict", kRun + R"(,"tp":3)");
  EXPECT_TRUE(stands(problems, "gpus", "multiple")) << problems_text(problems);
  for (const Problem& problem : problems)
    EXPECT_EQ(where_text(problem).find("--"), std::string::npos);
}

TEST(Answer, AMemberKeepsTheDashesOfItsName) {
  const Problems problems =
      refused("predict", R"("model":"llama-2-7b","gpus":16,"seq":4096,"global-batch":64,)"
                         R"("--tp":3,"cluster":{"base":"dgx-h100","a --b":1})");
  EXPECT_TRUE(stands(problems, "--tp", "not a known field")) << problems_text(problems);
  EXPECT_TRUE(stands(problems, "cluster.a --b", "has no source")) << problems_text(problems);
}

TEST(Answer, ACommandThatIsRefusedDoesNoWork) {
  // Both what JSON says wrongly and what the search would refuse, and no word of being stopped.
  const Problems problems = refused("plan", kRun + R"(,"top":"five","fix":{"tx":8})");
  EXPECT_TRUE(stands(problems, "top", "whole number"));
  EXPECT_TRUE(std::any_of(problems.begin(), problems.end(), [](const Problem& problem) {
    return problem.message.find("tx") != std::string::npos ||
           where_text(problem).find("tx") != std::string::npos;
  })) << problems_text(problems);
  EXPECT_FALSE(stands(refused("limits", R"("seq":"x")"), "limits", "stopped"));
}

TEST(Answer, ProgressThatSaysStopStopsLongWork) {
  for (const auto& [command, members] : std::vector<std::pair<std::string, std::string>>{
           {"limits", R"("preset":"grand_dense")"}, {"scale", R"("sweep":"strong",)" + kRun}}) {
    AnswerOptions options;
    int asked = 0;
    options.progress = [&](std::size_t, std::size_t) { return ++asked < 2; };
    const CommandOutput output = answer(command, "{" + members + "}", options);
    EXPECT_TRUE(stands(output.problems, command, "stopped")) << command;
    EXPECT_GE(asked, 2) << command;
  }
}

TEST(Answer, ProgressThatSaysStopStopsTheReadingOfTraces) {
  AnswerOptions options;
  options.traces = {source_dir() + "/tests/fuzz/seeds/trace/nsight/small.sqlite"};
  options.progress = [](std::size_t, std::size_t) { return false; };
  for (const std::string& run : {std::string(), kRun}) {
    const CommandOutput output = answer("comms", "{" + run + "}", options);
    EXPECT_TRUE(stands(output.problems, "comms", "stopped")) << problems_text(output.problems);
  }
  options.progress = [](std::size_t, std::size_t) { return true; };
  EXPECT_TRUE(answer("comms", "{}", options).problems.empty());
}

TEST(Answer, WhatIsNoObjectOfJsonIsRefused) {
  for (const char* body : {"", "{", "[]", "null", "7", "\"x\"", "{\"model\":}", "{} {}",
                           "{\"tp\":1,\"tp\":2}", "\xff\xfe"}) {
    const CommandOutput output = answer("predict", body);
    ASSERT_EQ(output.problems.size(), 1U) << body;
    EXPECT_EQ(where_text(output.problems[0]).rfind("request", 0), 0U)
        << where_text(output.problems[0]);
  }
  const std::string deep(100'000, '[');
  EXPECT_EQ(answer("predict", "{\"model\":" + deep).problems.size(), 1U);
  const std::string large = "{\"model\":\"" + std::string(2 << 20, 'x') + "\"}";
  EXPECT_TRUE(stands(answer("predict", large).problems, "request", "1 MiB"));
  EXPECT_TRUE(stands(answer("remove", "{}").problems, "command", "predict"));
}

TEST(Answer, AModelMayBeDescribedInPlace) {
  // As its own form and as a Hugging Face config.json: the built-in one with all of its numbers.
  const std::string job = R"(,"cluster":"dgx-h100","gpus":16,"seq":4096,"global-batch":64)";
  const auto config = read_file(source_dir() + "/data/models/llama-2-7b.json");
  ASSERT_TRUE(config.ok());
  std::string by_config = ask("predict", R"("model":)" + *config + job);
  const std::string built_in = ask("predict", R"("model":"llama-2-7b")" + job);
  const auto after_name = [](const std::string& text) {
    return text.substr(text.find("\"cluster\""));
  };
  EXPECT_EQ(after_name(by_config), after_name(built_in));

  const Problems problems = refused("predict", R"("model":{"name":"mine","hiden":4096})" + job);
  EXPECT_TRUE(stands(problems, "model.hidden", "is missing")) << problems_text(problems);
  EXPECT_TRUE(stands(problems, "model.hiden", "hidden"));
}

TEST(Answer, AClusterMayBeDescribedInPlace) {
  const std::string job = R"("model":"llama-2-7b","gpus":16,"seq":4096,"global-batch":64)";
  const auto step_time = [&](const std::string& cluster) {
    const std::string text = ask("predict", job + ",\"cluster\":" + cluster);
    const std::size_t at = text.find("\"step_time_s\": ") + 15;
    return std::stod(text.substr(at));
  };
  const double base = step_time("\"dgx-h100\"");
  EXPECT_EQ(step_time(R"({"base":"dgx-h100"})"), base);
  // Two nodes that are joined forty times as slowly: what they send takes longer.
  EXPECT_GT(step_time(R"({"base":"dgx-h100","levels":{"fabric":{"nic_bandwidth":"10 Gb/s"}}})"),
            base);
}

TEST(Answer, NoMemberMakesItReadAFile) {
  // A file that is there and would be read by name.
  const testing::TemporaryFolder folder;
  for (const char* name : {"secret.toml", "secret.json", "secret"}) {
    folder.write(name, "unheard_of_word = 1\n");
  }
  std::vector<RunField> fields(run_fields().begin(), run_fields().end());
  for (const RunField& field : scale_run_fields()) fields.push_back(field);
  for (const RunField& field : scale_sweep_fields(SweepAxis::model)) fields.push_back(field);
  for (const char* name : {"secret.toml", "secret.json", "secret"}) {
    const std::string path = "\"" + folder.of(name) + "\"";
    for (const RunField& field : fields) {
      for (const char* form : {R"("sweep":"model",)", R"("sweep":"hardware",)"}) {
        const CommandOutput output =
            answer("scale", "{" + (form + ("\"" + std::string(field.name) + "\":" + path)) + "}");
        EXPECT_FALSE(output.problems.empty()) << field.name;
        EXPECT_EQ(problems_text(output.problems).find("unheard_of_word"), std::string::npos)
            << field.name;
      }
    }
    for (const std::string& members :
         {"\"gpu\":" + path, "\"settings\":[{\"machine\":" + path + "}]", "\"cluster\":" + path,
          "\"preset\":" + path, "\"relax\":" + path,
          "\"settings\":[{\"machine\":{\"cluster\":" + path + "}}]",
          "\"settings\":[{\"machine\":{\"base\":" + path + "}}]"}) {
      const CommandOutput output = answer("limits", "{" + members + "}");
      EXPECT_FALSE(output.problems.empty()) << members;
      EXPECT_EQ(problems_text(output.problems).find("unheard_of_word"), std::string::npos)
          << members;
    }
    for (const std::string& cluster :
         {"{\"base\":" + path + "}", "{\"base\":\"dgx-h100\",\"accelerator\":" + path + "}",
          "{\"base\":\"dgx-h100\",\"accelerator\":{\"base\":" + path + "}}"}) {
      const CommandOutput output = answer("predict", "{\"cluster\":" + cluster + "}");
      EXPECT_EQ(problems_text(output.problems).find("unheard_of_word"), std::string::npos)
          << cluster;
      EXPECT_NE(problems_text(output.problems).find("is no built-in"), std::string::npos);
    }
  }
  // Of the fields that not all runs have, each that names what a file may describe.
  const std::string path = "\"" + folder.of("secret.toml") + "\"";
  const std::string run =
      R"("model":"llama-2-7b","cluster":"dgx-h100","gpus":16,"pp":2,"seq":4096,"global-batch":64,)";
  const std::string served =
      R"("model":"llama-3-8b","cluster":"dgx-h100","gpus":1,"input-len":500,)"
      R"("output-len":100,"batch":1,"guesses":2,)";
  for (const CommandOutput& output :
       {answer("predict", "{" + run + "\"far-stages\":1,\"far-cluster\":" + path + "}"),
        answer("infer", "{" + served + "\"draft\":" + path + "}")}) {
    ASSERT_FALSE(output.problems.empty());
    EXPECT_EQ(problems_text(output.problems).find("unheard_of_word"), std::string::npos);
    EXPECT_NE(problems_text(output.problems).find("a request reads none"), std::string::npos);
  }
  for (const char* gone : {"save", "csv", "plot", "report", "run_file", "data", "corpus", "file"}) {
    for (const std::string& command : answered_names()) {
      const std::string sweep = command == "scale"      ? "\"sweep\":\"weak\","
                                : command == "simulate" ? "\"simulate\":\"pipeline\","
                                                        : "";
      EXPECT_TRUE(stands(refused(command, sweep + "\"" + gone + "\":\"x\""), gone, "not a known"))
          << command << " " << gone;
    }
  }
}

TEST(Answer, RowsOfValidationStandInTheDocumentWhereAskedFor) {
  const AnswerOptions options;
  const CommandOutput without = answer("validate", R"({"by":"framework"})", options);
  const CommandOutput with = answer("validate", R"({"by":"framework","rows":true})", options);
  ASSERT_TRUE(with.problems.empty()) << problems_text(with.problems);
  EXPECT_EQ(without.text.find("\"rows\": ["), std::string::npos);
  const auto document = parse_json(with.text, "answer");
  ASSERT_TRUE(document.ok());
  const Node* rows = document->root.find("rows");
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(rows->array()->size(), 5846U);  // as tests of the corpus count them
  EXPECT_TRUE(std::holds_alternative<std::string>(rows->array()->front().find("id")->value));
}

TEST(Answer, AForecastIsLaidOutAsOtherDocumentsAre) {
  const std::string text =
      answer("predict",
             R"({"model":"mixtral-8x7b","cluster":"dgx-h100","gpus":64,"seq":4096,"ep":8,)"
             R"("global-batch":64,"tp":2,"pp":2,"offload":"optimizer"})")
          .text;
  ASSERT_GT(text.size(), 1000U);
  EXPECT_EQ(document_text(Json::parse(text)), text);
}

}  // namespace
}  // namespace headway
