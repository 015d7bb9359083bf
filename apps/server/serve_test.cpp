#include "serve.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "api/answer.hpp"
#include "base/document/document.hpp"
#include "base/source_dir_for_test.hpp"
#include "client_for_test.hpp"
#include "page.hpp"
#include "platform/files.hpp"
#include "platform/gzip.hpp"

namespace headway {
namespace {

using testing::HttpAnswer;
using testing::TestClient;

const std::string kPredict =
    R"({"model":"llama-2-7b","cluster":"dgx-h100","gpus":16,"seq":4096,"global-batch":64})";
// A search that takes minutes.
const std::string kLongPlan =
    R"({"model":"deepseek-v3","cluster":"dgx-h100","gpus":4096,"seq":4096,"global-batch":8192,)"
    R"("exhaustive":true})";
const std::string kLines = "Accept: application/x-ndjson\r\n";

class Serve : public ::testing::Test {
 protected:
  int port() const { return server_.port(); }
  HttpAnswer post(const std::string& path, const std::string& body,
                  const std::string& more = {}) const {
    return TestClient(port()).post(path, body, "application/json", more);
  }
  // It still answers as it should.
  void expect_well() const {
    EXPECT_EQ(post("/api/predict", kPredict).body, answer("predict", kPredict).text);
  }

  HttpServer server_{SiteOptions(), 0};
};

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

TEST_F(Serve, OtherWebPagesMayNotAsk) {
  TestClient client(port());
  const std::string other = "GET /api/schema HTTP/1.1\r\nHost: evil.example\r\n\r\n";
  client.send(other);
  EXPECT_EQ(client.receive().status, 403);
  EXPECT_EQ(client.get("/api/schema", "Origin: http://evil.example\r\n").status, 403);
  EXPECT_EQ(client.get("/api/schema", "Origin: null\r\n").status, 403);
  EXPECT_EQ(client.get("/api/schema", "Sec-Fetch-Site: cross-site\r\n").status, 403);
  EXPECT_EQ(client.get("/api/schema", "Origin: http://" + client.host() + "\r\n").status, 200);
  EXPECT_EQ(post("/api/predict", kPredict, "Origin: http://evil.example\r\n").status, 403);
  // A form of another page comes without asking first; its types are no JSON.
  EXPECT_EQ(TestClient(port()).post("/api/predict", kPredict, "text/plain").status, 415);
  // The body of a refused request is not taken for a request of its own.
  TestClient smuggler(port());
  const std::string inner = "GET /api/schema HTTP/1.1\r\nHost: " + smuggler.host() + "\r\n\r\n";
  smuggler.send("GET / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: " +
                std::to_string(inner.size()) + "\r\n\r\n" + inner);
  EXPECT_EQ(smuggler.receive().status, 403);
  EXPECT_EQ(smuggler.receive().status, 0);
}

TEST_F(Serve, HeadersKeepBrowsersInside) {
  const HttpAnswer got = TestClient(port()).get("/");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.headers.at("Content-Security-Policy").rfind("default-src 'self'", 0), 0U);
  EXPECT_EQ(got.headers.at("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(got.headers.count("Access-Control-Allow-Origin"), 0U);
}

TEST_F(Serve, UnknownPathsAndMethodsAreSaidSo) {
  TestClient client(port());
  EXPECT_EQ(client.get("/api/predict").status, 405);
  EXPECT_EQ(client.get("/api/predikt").status, 404);
  EXPECT_EQ(client.get("/nothing.js").status, 404);
  EXPECT_EQ(client.get("/api/schema/nothing").status, 404);
  EXPECT_EQ(post("/api/predikt", kPredict).status, 404);
  EXPECT_EQ(post("/", kPredict).status, 405);
  client.send("DELETE /api/predict HTTP/1.1\r\nHost: " + client.host() + "\r\n\r\n");
  EXPECT_EQ(client.receive().status, 405);
}

TEST_F(Serve, WhatIsTooLargeIsRefused) {
  const std::string large = "{\"model\":\"" + std::string(2 << 20, 'x') + "\"}";
  EXPECT_EQ(post("/api/predict", large).status, 413);
  // Also where the size is not said in advance.
  TestClient chunked(port());
  chunked.send("POST /api/predict HTTP/1.1\r\nHost: " + chunked.host() +
               "\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string piece = "10000\r\n" + std::string(0x10000, ' ') + "\r\n";
  for (int i = 0; i < 40; ++i) chunked.send(piece);
  EXPECT_EQ(chunked.receive().status, 413);
  TestClient headers(port());
  headers.send("GET / HTTP/1.1\r\n");
  for (int i = 0; i < 2000; ++i)
    headers.send("X-" + std::to_string(i) + ": " + std::string(90, 'y') + "\r\n");
  EXPECT_EQ(headers.receive().status, 431);
  expect_well();
}

TEST_F(Serve, ALongLineIsRefusedWithADocument) {
  for (const std::size_t size : {9'000U, 40'000U}) {
    const std::string much(size, 'x');
    EXPECT_EQ(TestClient(port()).get("/" + much).status, 414) << size;
    const HttpAnswer got = TestClient(port()).get("/", "X-Much: " + much + "\r\n");
    EXPECT_EQ(got.status, 431) << size;
    EXPECT_NE(got.body.find("\"problems\""), std::string::npos) << got.body;
    EXPECT_EQ(got.headers.count("Content-Security-Policy"), 1U);
  }
}

TEST_F(Serve, ARequestWhoseEndIsDoubtfulIsRefusedAndTheConnectionClosed) {
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  for (const auto& [more, status] :
       std::vector<std::pair<std::string, int>>{{"Content-Length: 5\r\nContent-Length: 6\r\n", 400},
                                                {"Content-Length: 5, 5\r\n", 400},
                                                {"Content-Length: +5\r\n", 400},
                                                {"Content-Length: 5\r\n" + chunked, 400},
                                                {chunked + chunked, 501},
                                                {"Transfer-Encoding: gzip, chunked\r\n", 501},
                                                {"Host: 127.0.0.1\r\n", 400}}) {
    TestClient client(port());
    client.send("POST /api/predict HTTP/1.1\r\nHost: " + client.host() +
                "\r\nContent-Type: application/json\r\n" + more + "\r\n5\r\n{}   \r\n0\r\n\r\n");
    const HttpAnswer got = client.receive();
    EXPECT_EQ(got.status, status) << more;
    EXPECT_NE(got.body.find("\"problems\""), std::string::npos) << got.body;
    EXPECT_EQ(client.receive().status, 0) << "no second answer: " << more;
  }
  // The same number twice is one number.
  const std::string length = "Content-Length: " + std::to_string(kPredict.size()) + "\r\n";
  EXPECT_EQ(post("/api/predict", kPredict, length).status, 200);
}

TEST_F(Serve, APageThatAnotherSiteOpenedIsToldSo) {
  const HttpAnswer own = TestClient(port()).get("/", "Sec-Fetch-Site: none\r\n");
  EXPECT_EQ(own.headers.count("Server-Timing"), 0U);
  const HttpAnswer other = TestClient(port()).get(
      "/", "Sec-Fetch-Site: cross-site\r\nIf-None-Match: " + own.headers.at("ETag") + "\r\n");
  EXPECT_EQ(other.status, 200);
  EXPECT_EQ(other.headers.at("Server-Timing"), "opened-by-another-site");
}

TEST_F(Serve, WhoAsksComesBeforeWhoWaitsLongest) {
  std::vector<std::unique_ptr<TestClient>> idle;
  for (int i = 0; i < 300; ++i) {
    idle.push_back(std::make_unique<TestClient>(port()));
    EXPECT_EQ(idle.back()->get("/api/schema/list").status, 200) << i;
  }
  expect_well();
  EXPECT_EQ(idle.front()->get("/api/schema/list").status, 0) << "the oldest gave way";
  EXPECT_EQ(idle.back()->get("/api/schema/list").status, 200) << "the newest did not";
}

TEST_F(Serve, TooManyAtWorkAreToldSoWithADocument) {
  // Each has begun a request, so that none waits for one.
  std::vector<std::unique_ptr<TestClient>> busy;
  for (int i = 0; i < 256; ++i) {
    busy.push_back(std::make_unique<TestClient>(port()));
    busy.back()->send("GET /api/sch");
  }
  HttpAnswer got;
  for (int tries = 0; tries < 100 && got.status != 503; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // until all are taken
    got = TestClient(port()).get("/api/schema/list");
  }
  EXPECT_EQ(got.status, 503);
  EXPECT_NE(got.body.find("too many connections"), std::string::npos) << got.body;
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

std::string form(const std::vector<std::pair<std::string, std::string>>& parts) {
  std::string out;
  for (const auto& [disposition, content] : parts) {
    out += "--XX\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + content + "\r\n";
  }
  return out + "--XX--\r\n";
}

TEST_F(Serve, TracesComeAsFilesOfAForm) {
  const auto rank0 = read_file(source_dir() + "/examples/ddp-rank0.json");
  const auto rank1 = read_file(source_dir() + "/examples/ddp-rank1.json");
  const std::string type = "multipart/form-data; boundary=XX";
  const HttpAnswer got =
      TestClient(port()).post("/api/comms",
                              form({{"name=\"request\"", "{}"},
                                    {"name=\"trace\"; filename=\"ddp-rank0.json\"", *rank0},
                                    {"name=\"trace\"; filename=\"../../ddp-rank1.json\"", *rank1}}),
                              type);
  EXPECT_EQ(got.status, 200) << got.body;
  CommsRequest request;
  request.files = {source_dir() + "/examples/ddp-rank0.json",
                   source_dir() + "/examples/ddp-rank1.json"};
  request.json = true;
  std::string expected = run_comms(request).text;
  for (std::size_t at = 0;
       (at = expected.find(source_dir() + "/examples/")) != std::string::npos;) {
    expected.erase(at, std::string(source_dir() + "/examples/").size());
  }
  EXPECT_EQ(got.body, expected);
  // Two of one name are two.
  const HttpAnswer twice =
      TestClient(port()).post("/api/comms",
                              form({{"name=\"trace\"; filename=\"a/ddp.json\"", *rank0},
                                    {"name=\"trace\"; filename=\"b/ddp.json\"", *rank1}}),
                              type);
  EXPECT_EQ(twice.status, 200) << twice.body;
  const auto both = parse_json(twice.body, "answer");
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->root.find("ranks")->array()->size(), 2U);
  const auto leftovers = [] {
    int out = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::temp_directory_path())) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("headway-") && name.size() == 14 &&
          std::filesystem::exists(entry.path() / "ddp-rank0.json")) {
        ++out;
      }
    }
    return out;
  };
  EXPECT_EQ(leftovers(), 0);
  for (const std::string& wrong :
       {std::string("--XX"), std::string("--XX\r\n\r\n"), form({{"name=x", "y"}}),
        "--XX\r\nContent-Disposition: " + std::string(1 << 20, 'a')}) {
    EXPECT_EQ(TestClient(port()).post("/api/comms", wrong, type).status, 400);
  }
  EXPECT_EQ(TestClient(port()).post("/api/predict", form({}), type).status, 415);
}

TEST_F(Serve, GarbageIsRefusedAndNothingBreaks) {
  std::mt19937 random(1);
  const std::string good =
      "POST /api/predict HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port()) +
      "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(kPredict.size()) +
      "\r\n\r\n" + kPredict;
  for (int i = 0; i < 300; ++i) {
    TestClient client(port());
    std::string bytes = good;
    for (int changes = 0; changes < 1 + i % 7; ++changes) {
      const std::size_t at = random() % bytes.size();
      switch (random() % 3) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes.insert(at, std::string(random() % 300, static_cast<char>(random())));
          break;
        default:
          bytes.resize(at + 1);
          break;
      }
    }
    client.send(bytes);
  }
  // Lines that expressions of the HTTP library would recurse over.
  for (const std::string& line : std::vector<std::string>{
           "Range: bytes=" + std::string(15'000, '1'), "Range: bytes=" + std::string(7'000, ','),
           "Content-Type: multipart/form-data; boundary=" + std::string(20'000, 'a'),
           "Content-Encoding: gzip", "Accept-Encoding: br", "Expect: 100-continue"}) {
    TestClient client(port());
    client.send("GET /api/schema HTTP/1.1\r\nHost: " + client.host() + "\r\n" + line + "\r\n\r\n");
    const int status = client.receive().status;
    EXPECT_TRUE(status == 200 || status == 400 || status == 416 || status == 431 || status == 100)
        << line.substr(0, 40);
  }
  expect_well();
}

TEST_F(Serve, APortIsTakenOnce) {
  EXPECT_EQ(HttpServer(SiteOptions(), port()).port(), 0);
  expect_well();
}

TEST(Page, FilesOfAFolderAreServedAndNothingBeside) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "headway_page";
  std::filesystem::create_directories(folder / "page" / "assets");
  const auto write = [&](const char* name, const char* text) {
    std::FILE* file = std::fopen((folder / name).c_str(), "w");
    std::fputs(text, file);
    std::fclose(file);
  };
  write("page/index.html", "<p>hello");
  write("page/assets/a-1.js", "1;");
  write("beside.txt", "secret");
  const std::string page = (folder / "page").string();
  EXPECT_EQ(page_file("/", page)->content, "<p>hello");
  EXPECT_EQ(page_file("/assets/a-1.js", page)->content_type, "text/javascript; charset=utf-8");
  for (const char* path : {"/../beside.txt", "/assets/../../beside.txt", "//beside.txt", "/.",
                           "/..", "/assets", "/assets/", "/%2e%2e/beside.txt", "", "index.html"}) {
    EXPECT_FALSE(page_file(path, page).has_value()) << path;
  }
  SiteOptions options;
  options.page = page;
  const HttpServer server(options, 0);
  TestClient client(server.port());
  const HttpAnswer got = client.get("/");
  EXPECT_EQ(got.body, "<p>hello");
  EXPECT_EQ(client.get("/", "If-None-Match: " + got.headers.at("ETag") + "\r\n").status, 304);
  EXPECT_EQ(client.get("/../beside.txt").status, 404);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace headway
