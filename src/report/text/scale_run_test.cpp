#include "report/scale_run.hpp"

#include <gtest/gtest.h>

namespace headway {
namespace {

RunRequest request() {
  return {{"model", "llama-2-7b", "--model"}, {"cluster", "dgx-h100", "--cluster"},
          {"seq", "4096", "--seq"},           {"global-batch", "1024", "--global-batch"},
          {"gpus", "256", "--gpus"},          {"framework", "fsdp", "--framework"},
          {"tokens", "2T", "--tokens"}};
}

TEST(ScaleRun, TextFitsIntoEightyColumns) {
  const auto base = whole_run(request());
  ASSERT_TRUE(base.ok());
  const std::string text = scale_run_text(*base, by_accelerators(*base));
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 80U) << text.substr(begin, end - begin);
    begin = end + 1;
  }
}

}  // namespace
}  // namespace headway
