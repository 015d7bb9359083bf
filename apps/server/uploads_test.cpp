// Files that come as a form.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "api/answer.hpp"
#include "base/document/document.hpp"
#include "base/source_dir_for_test.hpp"
#include "platform/files.hpp"
#include "serve_for_test.hpp"

namespace headway {
namespace {

using testing::HttpAnswer;
using testing::Serve;
using testing::TestClient;

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

}  // namespace
}  // namespace headway
