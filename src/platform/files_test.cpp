#include "platform/files.hpp"

#include <gtest/gtest.h>

#include "platform/temporary_folder_for_test.hpp"

namespace headway {
namespace {

std::string said(const Result<Document>& document) {
  if (document.ok()) return "no problem";
  return where_text(document.problems()[0]) + " " + document.problems()[0].message;
}

TEST(ReadDocument, IsTomlOrJsonByItsNameElseByItsBeginning) {
  const testing::TemporaryFolder folder;
  EXPECT_TRUE(read_document(folder.write("a.toml", "tp = 8\n")).ok());
  EXPECT_TRUE(read_document(folder.write("config.json", "{\"tp\": 8}")).ok());
  EXPECT_TRUE(read_document(folder.write("no-ending", "{\"tp\": 8}")).ok());
  EXPECT_TRUE(read_document(folder.write("run.txt", "tp = 8\n")).ok());
  EXPECT_FALSE(read_document(folder.write("b.json", "tp = 8\n")).ok());
}

TEST(ReadDocument, MissingFilesAndFoldersAreProblems) {
  const testing::TemporaryFolder folder;
  const std::string missing = folder.of("none.toml");
  EXPECT_EQ(said(read_document(missing)), missing + " cannot be opened for reading");
  EXPECT_EQ(said(read_document(folder.path().string())),
            folder.path().string() + " cannot be read");
}

TEST(ReadDocument, KeepsEveryByteAndRefusesMoreThan16Mebibytes) {
  const testing::TemporaryFolder folder;
  std::string bytes(kLargestDocument, '\n');
  for (std::size_t i = 0; i < bytes.size(); i += 997) bytes[i] = static_cast<char>(i);
  const Result<std::string> read = read_file(folder.write("full", bytes));
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(*read == bytes);
  const std::string path = folder.write("over", bytes + " ");
  EXPECT_EQ(read_file(path).problems()[0],
            (Problem{path, "is larger than 16 MiB", Trouble::unreadable}));
}

TEST(ReadDocument, ANameWithControlCharactersIsShownHarmlessly) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.write("a\x1b[2J.toml", "x = \n");
  const std::string message = said(read_document(path));
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_NE(message.find("a\\x1b[2J.toml:1 "), std::string::npos);
}

}  // namespace
}  // namespace headway
