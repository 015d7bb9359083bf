// A row more in each list is found at every door: nothing but the row says that it is there. The
// other files of this folder are the tables, which the linker takes instead of the library's.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "../../apps/server/site.hpp"
#include "api/answer.hpp"
#include "api/command.hpp"
#include "command_line.hpp"
#include "platform/files.hpp"
#include "platform/temporary_folder_for_test.hpp"
#include "report/fields.hpp"
#include "run/run.hpp"
#include "trace/formats.hpp"

namespace headway {
namespace {

using Json = nlohmann::json;

constexpr const char* kRun = R"("model":"llama-2-7b","cluster":"dgx-h100","gpus":8,"seq":4096,
                                "global-batch":16)";
const std::vector<std::string> kFlags = {"predict",  "--model",        "llama-2-7b", "--cluster",
                                         "dgx-h100", "--gpus",         "8",          "--seq",
                                         "4096",     "--global-batch", "16"};

std::string request(const std::string& more) {
  return "{" + std::string(kRun) + (more.empty() ? "" : ", " + more) + "}";
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Said predicted(const std::vector<std::string>& more) {
  std::vector<std::string> words = kFlags;
  words.insert(words.end(), more.begin(), more.end());
  return on_the_command_line(words);
}

Json request_schema(const char* command) {
  return Json::parse(*schema_json(command))["request"]["properties"];
}

std::string completed() {
  Command command = completion({command_rows().begin(), command_rows().end()});
  *std::get<std::string*>(command.options.front().target) = "bash";
  return command.run({}).text;
}

// What the HTTP server replies.
HttpReply asked_of_the_server(const std::string& method, const std::string& path,
                              const std::string& body) {
  Site site({});
  const HttpQuestion question{.method = method,
                              .path = path,
                              .host = "127.0.0.1",
                              .origin = {},
                              .fetch_site = {},
                              .accept = {},
                              .accept_encoding = {},
                              .content_type = "application/json",
                              .if_none_match = {}};
  if (auto refused = site.before_body(question)) return *refused;
  return site.post(question, body);
}
HttpReply posted(const std::string& path, const std::string& body) {
  return asked_of_the_server("POST", path, body);
}

// ---- a field of a run ----

TEST(AFieldMore, IsAFlagWithHelpUnderItsHeadingAndACompletion) {
  const Said said = predicted({"--mood", "brisk", "--json"});
  ASSERT_TRUE(said.output.problems.empty()) << said.err;
  EXPECT_EQ(Json::parse(said.output.text)["layout"]["mood"], "brisk");
  const std::string help = on_the_command_line({"predict", "--help"}).out;
  const std::size_t degrees = help.find("Degrees:"), memory = help.find("Memory and schedule:");
  const std::size_t row = help.find("--mood NAME");
  EXPECT_TRUE(degrees < row && row < memory) << help;
  EXPECT_TRUE(holds(help, "how tokens feel on their way: calm (default), brisk")) << help;
  EXPECT_TRUE(holds(completed(), "--mood"));
}

TEST(AFieldMore, StandsInRunFilesAndIsSavedToThem) {
  const testing::TemporaryFolder folder;
  const std::string given = folder.write("run.toml",
                                         "model = 'llama-2-7b'\ncluster = 'dgx-h100'\ngpus = 8\n"
                                         "seq = 4096\nglobal-batch = 16\nmood = 'brisk'\n");
  const std::string saved = folder.of("saved.toml");
  PredictRequest asked;
  asked.run_file = given;
  asked.save = saved;
  asked.json = true;
  const CommandOutput first = run_predict(asked);
  ASSERT_TRUE(first.problems.empty()) << problems_text(first.problems);
  EXPECT_EQ(Json::parse(first.text)["layout"]["mood"], "brisk");
  EXPECT_TRUE(holds(read_file(saved).value(), "mood = \"brisk\"\n"));
  PredictRequest again;
  again.run_file = saved;
  again.json = true;
  EXPECT_EQ(run_predict(again).text, first.text);
}

TEST(AFieldMore, IsAMemberOfRequestsOfDocumentsAndOfTheirSchemas) {
  const CommandOutput output = answer("predict", request(R"("mood":"brisk")"));
  ASSERT_TRUE(output.problems.empty()) << problems_text(output.problems);
  EXPECT_EQ(Json::parse(output.text)["layout"]["mood"], "brisk");
  EXPECT_EQ(posted("/api/predict", request(R"("mood":"brisk")")).body, output.text);
  EXPECT_EQ(Json::parse(answer("predict", request("")).text)["layout"]["mood"], "calm");
  for (const char* command : {"predict", "plan", "comms"}) {
    EXPECT_EQ(request_schema(command)["mood"]["enum"], Json::parse(R"(["calm", "brisk"])"));
    const Json schema = Json::parse(*schema_json(command));
    EXPECT_TRUE(schema["response"]["$defs"]["layout"]["properties"].contains("mood")) << command;
  }
}

TEST(AFieldMore, StandsInMessagesInTheListAndInWhatIsMadeOfTheTable) {
  const Problems wrong = answer("predict", request(R"("mood":"glad")")).problems;
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_EQ(where_text(wrong[0]), "mood");
  EXPECT_TRUE(holds(wrong[0].message, "legal: calm, brisk")) << wrong[0].message;
  const Problems near = answer("predict", request(R"("moot":"calm")")).problems;
  ASSERT_EQ(near.size(), 1U);
  EXPECT_TRUE(holds(near[0].message, "did you mean 'mood'?")) << near[0].message;
  EXPECT_TRUE(holds(predicted({"--moot", "calm"}).err, "did you mean '--mood'?"));
  EXPECT_TRUE(holds(answer("list", R"({"what":"fields"})").text, "\"mood\""));
  EXPECT_TRUE(holds(fields_markdown(), "| `mood` | `calm` `brisk` | calm |  | how tokens feel"));
  EXPECT_TRUE(
      holds(fields_typescript(),
            R"({ name: "mood", group: "Degrees", kind: "choice", choices: ["calm", "brisk"] })"));
}

// ---- an option of serving ----

TEST(AnOptionOfServingMore, IsFoundAtEveryDoor) {
  const Said said =
      on_the_command_line({"infer", "--model", "llama-2-7b", "--cluster", "dgx-h100", "--input-len",
                           "100", "--output-len", "9", "--batch", "2", "--talk", "20", "--json"});
  ASSERT_TRUE(said.output.problems.empty()) << problems_text(said.output.problems);
  EXPECT_EQ(Json::parse(said.output.text)["output_len"], 20);
  const std::string help = on_the_command_line({"infer", "--help"}).out;
  const std::size_t load = help.find("Load:"), row = help.find("--talk N"),
                    split = help.find("Split:");
  EXPECT_TRUE(load < row && row < split) << help;
  EXPECT_TRUE(holds(completed(), "--talk"));

  const testing::TemporaryFolder folder;
  InferRequest of_file;
  of_file.run_file = folder.write("serving.toml",
                                  "model = 'llama-2-7b'\ncluster = 'dgx-h100'\ninput-len = 100\n"
                                  "output-len = 9\nbatch = 2\ntalk = 20\n");
  of_file.json = true;
  EXPECT_EQ(run_infer(of_file).text, said.output.text);

  const std::string body = R"({"model":"llama-2-7b","cluster":"dgx-h100","input-len":100,
                               "output-len":9,"batch":2,"talk":20})";
  EXPECT_EQ(posted("/api/infer", body).body, said.output.text);
  EXPECT_EQ(request_schema("infer")["talk"]["maximum"], 10'000'000);
  EXPECT_TRUE(holds(answer("infer", R"({"tolk": 3})").problems.at(0).message, "'talk'"));
  EXPECT_TRUE(holds(serving_fields_markdown(), "| `talk` | 1 to 10000000 |  | how long it goes"));
  EXPECT_TRUE(
      holds(serving_fields_typescript(), R"({ name: "talk", group: "Load", kind: "count" })"));
}

// ---- a command ----

TEST(ACommandMore, IsAskedOnTheCommandLineWithHelpAndCompletion) {
  EXPECT_EQ(on_the_command_line({"tea", "--cups", "3", "--leaf", "green"}).output.text,
            "3 cups of green\n");
  EXPECT_TRUE(holds(on_the_command_line({"--help"}).out, "makes tea"));
  const std::string help = on_the_command_line({"tea", "--help"}).out;
  for (const char* part : {"--cups N", "for how many", "which: black (default), green",
                           "headway tea --cups 2", "--json"}) {
    EXPECT_TRUE(holds(help, part)) << part << "\n" << help;
  }
  const std::string lines = completed();
  EXPECT_TRUE(holds(lines, "'tea '*) words='--cups --help --json --leaf --quiet --threads'"))
      << lines;
}

TEST(ACommandMore, IsARouteAndHasASchema) {
  EXPECT_EQ(answer("tea", R"({"cups": 2})").text, R"({"leaf": "black", "cups": 2})");
  EXPECT_EQ(posted("/api/tea", R"({"cups": 2})").body, R"({"leaf": "black", "cups": 2})");
  EXPECT_EQ(posted("/api/tee", "{}").status, 404);
  EXPECT_EQ(asked_of_the_server("GET", "/api/tea", {}).status,
            405);  // what is there must be posted
  EXPECT_EQ(request_schema("tea")["leaf"]["enum"], Json::parse(R"(["black", "green"])"));
  EXPECT_EQ(request_schema("tea")["cups"]["maximum"], 12);
  EXPECT_TRUE(Json::parse(schemas_json())["commands"].contains("tea"));
}

TEST(ACommandMore, StandsInMessages) {
  EXPECT_EQ(answer("tea", R"({"cups": 13})").problems.size(), 1U);
  EXPECT_TRUE(holds(answer("tee", "{}").problems.at(0).message, ", tea"));
  EXPECT_TRUE(holds(on_the_command_line({"tee"}).err, "did you mean 'tea'?"));
  EXPECT_TRUE(holds(on_the_command_line({"tea", "--cubs", "2"}).err, "did you mean '--cups'?"));
}

// ---- a framework ----

TEST(AFrameworkMore, StartsRunsByItsOwnHabitsAtEveryDoor) {
  const Said said = predicted({"--framework", "homespun", "--json"});
  ASSERT_TRUE(said.output.problems.empty()) << problems_text(said.output.problems);
  const Json document = Json::parse(said.output.text);
  EXPECT_EQ(document["job"]["framework"], "homespun");
  EXPECT_EQ(document["layout"]["zero"], 3);
  EXPECT_EQ(answer("predict", request(R"("framework":"homespun")")).text, said.output.text);
}

TEST(AFrameworkMore, IsPlannedFor) {
  const CommandOutput output =
      answer("plan", request(R"("framework":"homespun","fix":{"tp":8},"top":1)"));
  EXPECT_TRUE(output.problems.empty()) << problems_text(output.problems);
}

TEST(AFrameworkMore, StandsInHelpSchemasMessagesAndPages) {
  EXPECT_TRUE(holds(on_the_command_line({"plan", "--help"}).out, ", homespun"));
  const Json names = request_schema("predict")["framework"]["enum"];
  EXPECT_EQ(names.back(), "homespun");
  const Problems wrong = answer("predict", request(R"("framework":"lost")")).problems;
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_TRUE(holds(wrong[0].message, ", homespun;")) << wrong[0].message;
  EXPECT_TRUE(holds(fields_markdown(), "`homespun` |"));
  EXPECT_TRUE(holds(fields_typescript(), "\"homespun\"]"));
}

// ---- a format of traces ----

TEST(ATraceFormatMore, IsRecognisedReadAndNamed) {
  const testing::TemporaryFolder folder;
  const std::string log = folder.write("calls.log", "hello\ntally 4096\ntally 1024\n");
  const Said said = on_the_command_line({"comms", log, "--json"});
  ASSERT_TRUE(said.output.problems.empty()) << problems_text(said.output.problems);
  EXPECT_TRUE(holds(said.output.text, "Tally of calls")) << said.output.text;
  const std::string letter = folder.write("letter.txt", "Dear reader,\n");
  const Said other = on_the_command_line({"comms", letter});
  ASSERT_FALSE(other.output.problems.empty());
  EXPECT_TRUE(holds(problems_text(other.output.problems), "Tally of calls"));
}

}  // namespace
}  // namespace headway
