#include "trace/io/json_stream.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "trace/io/json_scan.hpp"

namespace headway {
namespace {

// The definition, byte by byte.
std::size_t slow_end(const std::string& text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (--depth <= 0) return i + 1;
    } else if (c == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\')) {
      ++i;  // no JSON; the scan takes a backslash to shield a quote everywhere
    }
  }
  return 0;
}

RC_GTEST_PROP(JsonScan, FindsTheSameEndAsReadingByteByByte, ()) {
  const auto picks = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 12));
  const char* tokens[] = {"{", "}", "[", "]",    "\"",         "\\",
                          "a", ",", ":", "\\\"", "0123456789", "{}"};
  std::string text = "{";
  for (const int pick : picks) text += tokens[pick];
  const std::size_t expected = slow_end(text);
  std::string padded = text + std::string(kJsonPadding, '}');
  const char* end = end_of_container(padded.data(), padded.data() + text.size());
  RC_ASSERT((end == nullptr ? 0 : static_cast<std::size_t>(end - padded.data())) == expected);
}

std::vector<std::string> pieces_of(const std::string& text, JsonShape shape,
                                   std::int64_t* damaged = nullptr) {
  const auto source = source_of(text);
  JsonStream stream(*source, shape);
  JsonPiece piece;
  std::vector<std::string> out;
  while (stream.next(piece)) out.push_back(std::string(piece.key) + "=" + std::string(piece.text));
  if (damaged != nullptr) *damaged = stream.damaged();
  return out;
}

TEST(JsonStream, CutsMembersAndTheElementsOfArrays) {
  EXPECT_EQ(
      pieces_of(R"({"a": 1, "b": [{"x": "]}"}, 2], "c": {"d": [3]}, "e": "f", "g": []})",
                JsonShape::document),
      (std::vector<std::string>{"a=1", "b={\"x\": \"]}\"}", "b=2", "c={\"d\": [3]}", "e=\"f\""}));
}

TEST(JsonStream, CutsAnOutermostArrayAndLines) {
  EXPECT_EQ(pieces_of(R"([{"a": 1}, {"b": 2}])", JsonShape::document),
            (std::vector<std::string>{"={\"a\": 1}", "={\"b\": 2}"}));
  EXPECT_EQ(pieces_of("{\"a\": 1}\n{\"b\": 2}\n", JsonShape::lines),
            (std::vector<std::string>{"={\"a\": 1}", "={\"b\": 2}"}));
}

TEST(JsonStream, ALineThatIsCutShortCostsItself) {
  std::int64_t damaged = 0;
  EXPECT_EQ(pieces_of("{\"a\": 1}\n{\"b\": \n{\"c\": 3}\n", JsonShape::lines, &damaged).back(),
            "={\"c\": 3}");
  EXPECT_EQ(damaged, 1);
}

// Elements longer than the first buffer, and many more of them than it holds.
TEST(JsonStream, APieceMayBeLargerThanTheBufferAndTheDocumentMuchLarger) {
  std::string text = "{\"e\": [\"" + std::string(3'000'000, 'x') + "\"";
  for (int i = 0; i < 20000; ++i) text += ", {\"i\": " + std::to_string(i) + "}";
  text += "]}";
  const auto pieces = pieces_of(text, JsonShape::document);
  ASSERT_EQ(pieces.size(), 20001u);
  EXPECT_EQ(pieces[0].size(), 3'000'000u + 4u);
  EXPECT_EQ(pieces.back(), "e={\"i\": 19999}");
}

}  // namespace
}  // namespace headway
