// A server of its own for each test. Tests only.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "api/answer.hpp"
#include "client_for_test.hpp"
#include "serve.hpp"

namespace headway::testing {

inline const std::string kPredict =
    R"({"model":"llama-2-7b","cluster":"dgx-h100","gpus":16,"seq":4096,"global-batch":64})";

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

}  // namespace headway::testing
