#include "api/shard/file.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace headway {
namespace {

ShardFile some_part(std::uint64_t index, std::uint64_t of) {
  return {.version = "1.2",
          .data = "abc",
          .arguments = {"scale", "weak", "--gpus", "8", "--model", "\xff\n\""},
          .files = {{"run.toml", "0123"}},
          .shard = {index, of},
          .found = {{"empty", {}}, {"lines", {"1 a b", "2 \"c\""}}}};
}

std::string wrong_with(const std::vector<ShardFile>& files) {
  std::vector<NamedShardFile> named;
  for (std::size_t i = 0; i < files.size(); ++i) {
    named.push_back({"file" + std::to_string(i), files[i]});
  }
  const auto parts = all_parts(named);
  if (parts) return {};
  std::vector<std::string> out;
  for (const Problem& problem : parts.problems()) {
    out.push_back(where_text(problem) + ": " + problem.message);
  }
  return join(out, "\n");
}

TEST(ShardFile, IsReadAsItWasWritten) {
  ShardFile file = some_part(1, 3);
  file.arguments.back() = "llama \"7b\"\n";
  const auto read = read_shard_file(shard_file_text(file), "part");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->arguments, file.arguments);
  EXPECT_EQ(read->found, file.found);
  EXPECT_EQ(read->files, file.files);
  EXPECT_EQ(read->shard, file.shard);
}

TEST(ShardFile, IsRefusedWhereverItIsCutOrAnyLetterIsAnother) {
  ShardFile file = some_part(0, 2);
  file.arguments.back() = "m";
  const std::string text = shard_file_text(file);
  for (std::size_t i = 0; i + 2 < text.size(); ++i) {
    EXPECT_FALSE(read_shard_file(text.substr(0, i), "cut").ok()) << i;
    if (std::isalnum(static_cast<unsigned char>(text[i])) == 0) continue;
    std::string other = text;
    other[i] = other[i] == 'x' ? 'y' : 'x';
    EXPECT_FALSE(read_shard_file(other, "other").ok()) << text.substr(i, 20);
  }
}

TEST(ShardFile, AreAllPartsInTheirOrderWhateverOrderTheyCameIn) {
  const std::vector<NamedShardFile> files = {
      {"c", some_part(2, 3)}, {"a", some_part(0, 3)}, {"b", some_part(1, 3)}};
  const auto parts = all_parts(files);
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ(parts->size(), 3U);
}

TEST(ShardFile, SaysWhichPartsAreMissingDoubledOrOfAnotherRequestOrVersion) {
  EXPECT_EQ(wrong_with({some_part(0, 3), some_part(2, 3)}), "merge: a part is missing: 2/3");
  EXPECT_EQ(wrong_with({some_part(0, 9)}),
            "merge: 8 parts are missing: 2/9, 3/9, 4/9, 5/9, 6/9, ...");
  EXPECT_EQ(wrong_with({some_part(0, 2), some_part(1, 2), some_part(0, 2)}),
            "file2: is part 1/2 again, as file0 is");
  EXPECT_EQ(wrong_with({some_part(0, 1), some_part(1, 2)}), "file1: is part 2/2, and file0 is 1/1");
  ShardFile other = some_part(1, 2);
  other.arguments = {"scale", "weak", "--gpus", "16"};
  EXPECT_NE(wrong_with({some_part(0, 2), other})
                .find("file1: is of another request than file0: scale weak --gpus 16"),
            std::string::npos);
  other = some_part(1, 2);
  other.version = "1.3";
  EXPECT_NE(wrong_with({some_part(0, 2), other}).find("file1: is of headway 1.3, and file0 of 1.2"),
            std::string::npos);
  other = some_part(1, 2);
  other.files["run.toml"] = "other";
  EXPECT_NE(wrong_with({some_part(0, 2), other}).find("file1: read another run.toml than file0"),
            std::string::npos);
}

}  // namespace
}  // namespace headway
