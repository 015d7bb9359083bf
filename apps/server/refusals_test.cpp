// Who and what is kept out, and how it is told so.
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "serve_for_test.hpp"

namespace headway {
namespace {

using testing::HttpAnswer;
using testing::kPredict;
using testing::Serve;
using testing::TestClient;

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
  // Each has begun a request, so that none waits for one. One whose beginning the server had not
  // read when others came has given way: another takes its place.
  std::vector<std::unique_ptr<TestClient>> busy;
  const auto begin_one_more = [&] {
    busy.push_back(std::make_unique<TestClient>(port()));
    busy.back()->send("GET /api/sch");
  };
  for (int i = 0; i < 256; ++i) begin_one_more();
  HttpAnswer got;
  for (int tries = 0; tries < 100 && got.status != 503; ++tries) {
    if (tries > 0) begin_one_more();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // until all are taken
    got = TestClient(port()).get("/api/schema/list");
  }
  EXPECT_EQ(got.status, 503);
  EXPECT_NE(got.body.find("too many connections"), std::string::npos) << got.body;
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

}  // namespace
}  // namespace headway
