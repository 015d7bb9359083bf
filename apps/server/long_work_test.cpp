// Long work: its progress, how it is packed, and what ends it.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "api/answer.hpp"
#include "base/document/document.hpp"
#include "platform/gzip.hpp"
#include "serve_for_test.hpp"

namespace headway {
namespace {

using testing::HttpAnswer;
using testing::kPredict;
using testing::Serve;
using testing::TestClient;

// A search that takes minutes.
const std::string kLongPlan =
    R"({"model":"deepseek-v3","cluster":"dgx-h100","gpus":4096,"seq":4096,"global-batch":8192,)"
    R"("exhaustive":true})";
const std::string kLines = "Accept: application/x-ndjson\r\n";

// The lines of long work, of which each but the last says how far it is, in these things.
void expect_told(const HttpAnswer& got, const std::string& things, const CommandOutput& said) {
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.headers.at("Content-Type"), "application/x-ndjson");
  std::vector<Node> lines;
  for (std::size_t at = 0; at < got.body.size();) {
    const std::size_t end = got.body.find('\n', at);
    ASSERT_NE(end, std::string::npos);
    const auto line = parse_json(got.body.substr(at, end - at), "line");
    ASSERT_TRUE(line.ok()) << got.body.substr(at, end - at);
    lines.push_back(line->root);
    at = end + 1;
  }
  ASSERT_GE(lines.size(), 2U);
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    if (lines[i].find("first") != nullptr) continue;
    const Node* progress = lines[i].find("progress");
    ASSERT_NE(progress, nullptr);
    EXPECT_EQ(std::get<std::string>(progress->find("what")->value), things);
  }
  const auto document = parse_json(said.text, "document");
  const Node* result = lines.back().find("result");
  ASSERT_NE(result, nullptr);
  EXPECT_EQ(result->table()->size(), document->root.table()->size());
  EXPECT_EQ(std::get<std::int64_t>(lines.back().find("exit")->value), 0);
}

TEST_F(Serve, LongWorkTellsItsProgressAndThenItsResult) {
  const std::string plan =
      R"({"model":"llama-2-7b","cluster":"dgx-h100","gpus":16,"seq":4096,"global-batch":64,"top":1})";
  expect_told(post("/api/plan", plan, kLines), "layouts", answer("plan", plan));
  const std::string lines = post("/api/plan", plan, kLines).body;
  EXPECT_LT(lines.find("{\"first\":{\"model\": \"llama-2-7b\""), lines.find("{\"result\":"))
      << lines;
  const std::string best = R"({"model":"llama-2-7b","cluster":"dgx-h100","gpus":8,"best":true,
                               "input-len":500,"output-len":100})";
  expect_told(post("/api/infer", best, kLines), "parts", answer("infer", best));
  // What is wrong comes as a line, too.
  EXPECT_NE(post("/api/plan", "{}", kLines).body.find("{\"problems\": ["), std::string::npos);
}

TEST_F(Serve, AnswersAreSentPackedToWhoTakesThem) {
  const auto encoding = [](const HttpAnswer& got) {
    const auto found = got.headers.find("Content-Encoding");
    return found == got.headers.end() ? std::string() : found->second;
  };
  const std::string document = answer("predict", kPredict).text;
  for (const char* taken : {"gzip", "br, GZIP;q=0.5", "*", "x-gzip", "*;q=0, gzip;q=0.001"}) {
    const HttpAnswer got =
        post("/api/predict", kPredict, "Accept-Encoding: " + std::string(taken) + "\r\n");
    EXPECT_EQ(encoding(got), "gzip") << taken;
    EXPECT_EQ(unpacked_gzip(got.body), document) << taken;
    EXPECT_EQ(got.headers.at("Vary"), "Accept-Encoding");
  }
  for (const char* taken : {"", "br", "gzip;q=0", "*;q=0.0", "gzip;q=0, *", "gzipped"}) {
    const HttpAnswer got =
        post("/api/predict", kPredict, "Accept-Encoding: " + std::string(taken) + "\r\n");
    EXPECT_EQ(encoding(got), "") << taken;
    EXPECT_EQ(got.body, document) << taken;
  }
  // What is short stays as it is; what comes in lines is packed line by line.
  EXPECT_EQ(encoding(post("/api/predict", "{", "Accept-Encoding: gzip\r\n")), "");
  const std::string plan =
      R"({"model":"llama-2-7b","cluster":"dgx-h100","gpus":16,"seq":4096,"global-batch":64,"top":1})";
  HttpAnswer lines = post("/api/plan", plan, kLines + "Accept-Encoding: gzip\r\n");
  EXPECT_EQ(encoding(lines), "gzip");
  lines.body = unpacked_gzip(lines.body).value_or("");
  expect_told(lines, "layouts", answer("plan", plan));
}

TEST_F(Serve, HangingUpStopsTheWork) {
  // As many as can run at a time, so that another has to wait until they are stopped.
  for (const std::string& how : {kLines, std::string()}) {
    std::vector<std::unique_ptr<TestClient>> clients;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
      clients.push_back(std::make_unique<TestClient>(port()));
      clients.back()->send("POST /api/plan HTTP/1.1\r\nHost: " + clients.back()->host() +
                           "\r\nContent-Type: application/json\r\nContent-Length: " +
                           std::to_string(kLongPlan.size()) + "\r\n" + how + "\r\n" + kLongPlan);
    }
    if (!how.empty()) {
      while (clients.front()->held().find("progress") == std::string::npos) {
        ASSERT_TRUE(clients.front()->fill());
      }
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    clients.clear();
    EXPECT_EQ(post("/api/limits", R"({"gpu":"h100-sxm"})").status, 200);
  }
}

TEST_F(Serve, WorkBeyondItsTimeIsStopped) {
  SiteOptions hasty;
  hasty.longest_work_s = 0.2;
  const HttpServer server(hasty, 0);
  const HttpAnswer got =
      TestClient(server.port()).post("/api/limits", R"({"real":true,"gpu":"h100-sxm"})");
  EXPECT_EQ(got.status, 503);
  EXPECT_NE(got.body.find("ask for less"), std::string::npos) << got.body;
}

TEST_F(Serve, TheEndOfTheServerStopsItsWork) {
  const auto begin = std::chrono::steady_clock::now();
  {
    const HttpServer server(SiteOptions(), 0);
    TestClient client(server.port());
    client.send("POST /api/plan HTTP/1.1\r\nHost: " + client.host() + "\r\n" + kLines +
                "Content-Type: application/json\r\nContent-Length: " +
                std::to_string(kLongPlan.size()) + "\r\n\r\n" + kLongPlan);
    ASSERT_TRUE(client.fill());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

}  // namespace
}  // namespace headway
