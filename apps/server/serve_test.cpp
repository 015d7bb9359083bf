// What is answered: documents as the command line prints them.
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/answer.hpp"
#include "base/document/document.hpp"
#include "serve_for_test.hpp"

namespace headway {
namespace {

using testing::HttpAnswer;
using testing::kPredict;
using testing::Serve;
using testing::TestClient;

TEST_F(Serve, ValidateHasItsRowsInAnyFolder) {
  namespace fs = std::filesystem;
  const fs::path before = fs::current_path();
  const fs::path empty = fs::path(::testing::TempDir()) / "headway_serve_empty";
  fs::create_directories(empty);
  fs::current_path(empty);
  const HttpAnswer got = post("/api/validate", R"({"by":"source","rows":true})");
  fs::current_path(before);
  fs::remove_all(empty);
  EXPECT_EQ(got.status, 200) << got.body.substr(0, 500);
  const auto document = parse_json(got.body, "answer");
  ASSERT_TRUE(document.ok());
  const Node* rows = document->root.find("rows");
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(rows->array()->size(), 5846U);  // as tests of the corpus count them
}

TEST_F(Serve, TheDocumentIsThatOfTheLibraryToTheByte) {
  for (const auto& [command, body] : std::vector<std::pair<std::string, std::string>>{
           {"predict", kPredict},
           {"list", R"({"what":"clusters"})"},
           {"limits", R"({"gpu":"h100-sxm"})"},
           {"comms", kPredict},
           {"scale", R"({"sweep":"strong","at":"8,16",)" + kPredict.substr(1)}}) {
    const HttpAnswer got = post("/api/" + command, body);
    EXPECT_EQ(got.status, 200) << command;
    EXPECT_EQ(got.headers.at("Content-Type"), "application/json");
    EXPECT_EQ(got.body, answer(command, body).text) << command;
  }
}

TEST_F(Serve, NoFeasibleAnswerIsADocumentWithTheExitCodeOfTheCommandLine) {
  const HttpAnswer got = post(
      "/api/predict",
      R"({"model":"llama-3.1-405b","cluster":"dgx-h100","gpus":8,"seq":4096,"global-batch":8})");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.headers.at("Headway-Exit"), "1");
  EXPECT_NE(got.body.find("\"fits\": false"), std::string::npos);
}

TEST_F(Serve, ABadRequestGetsEveryProblemWithItsField) {
  const HttpAnswer got = post("/api/predict", R"({"model":"llama","tp":"x","foo":1})");
  EXPECT_EQ(got.status, 400);
  for (const char* field : {"\"model\"", "\"tp\"", "\"foo\"", "\"cluster\"", "\"seq\""}) {
    EXPECT_NE(got.body.find(std::string("\"where\": ") + field), std::string::npos) << got.body;
  }
  EXPECT_EQ(post("/api/predict", "{").status, 400);
}

TEST_F(Serve, OneConnectionServesManyRequests) {
  TestClient client(port());
  const std::string document = answer("predict", kPredict).text;
  for (int i = 0; i < 50; ++i) EXPECT_EQ(client.post("/api/predict", kPredict).body, document);
  EXPECT_EQ(client.get("/api/schema/plan").body, *schema_json("plan"));
  // Two at once, the second before the first is answered.
  const std::string request = "GET /api/schema HTTP/1.1\r\nHost: " + client.host() + "\r\n\r\n";
  client.send(request + request);
  EXPECT_EQ(client.receive().body, schemas_json());
  EXPECT_EQ(client.receive().body, schemas_json());
}

TEST_F(Serve, ManyAtOnceGetTheSameBytes) {
  const std::string document = answer("predict", kPredict).text;
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&] {
      TestClient client(port());
      for (int i = 0; i < 20; ++i) {
        if (client.post("/api/predict", kPredict).body != document) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Serve, ABodyMayComeInChunks) {
  TestClient client(port());
  char size[16];
  std::snprintf(size, sizeof size, "%zx\r\n", kPredict.size());
  client.send("POST /api/predict HTTP/1.1\r\nHost: " + client.host() +
              "\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + size +
              kPredict + "\r\n0\r\n\r\n");
  EXPECT_EQ(client.receive().body, answer("predict", kPredict).text);
}

TEST_F(Serve, APortIsTakenOnce) {
  EXPECT_EQ(HttpServer(SiteOptions(), port()).port(), 0);
  expect_well();
}

}  // namespace
}  // namespace headway
