#include "page.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "client_for_test.hpp"
#include "serve.hpp"

namespace headway {
namespace {

using testing::HttpAnswer;
using testing::TestClient;

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
