// A JSON document of any length, cut into the pieces worth parsing one by one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/io/byte_source.hpp"

namespace headway {

/// How the pieces lie in the source.
enum class JsonShape : std::uint8_t {
  document,  // one object, whose arrays are cut into their elements, or one array
  lines,     // one object after the other ("JSON Lines", or just concatenated)
};

/// One piece: an element of the array that is the member `key` of the outermost object, or another
/// member whole; key "" for elements of an outermost array and for objects in lines.
struct JsonPiece {
  std::string_view key;
  std::string_view text;  // kJsonPadding bytes behind it are readable
  bool element = false;
};

/// Holds one piece at a time (at most 16 MiB), never the document. What is damaged is left out and
/// counted; reading goes on at the next piece that can be made out.
class JsonStream {
 public:
  JsonStream(ByteSource& source, JsonShape shape);

  /// The next piece, valid until the next call; false at the end.
  bool next(JsonPiece& piece);

  /// Says that the last piece is no JSON. Where a quote is missing in it, it has swallowed pieces
  /// that are sound: reading goes on at the first of them.
  void reject();

  std::int64_t damaged() const { return damaged_; }
  /// Whether the document ended in the middle.
  bool truncated() const { return truncated_; }
  std::string_view damage() const { return source_.damage(); }

 private:
  enum class State : std::uint8_t { start, members, elements, lines, done };

  bool refill();
  int peek(std::size_t offset);
  int skip_space();
  int skip(std::string_view what);
  bool find_value_end(std::size_t offset, std::size_t& value_end);
  bool next_member(JsonPiece& piece);
  bool next_element(JsonPiece& piece);
  bool emit(JsonPiece& piece, std::size_t offset, std::size_t value_end, bool element);
  void behind_the_root();
  void resume(std::size_t offset);

  ByteSource& source_;
  JsonShape shape_;
  State state_ = State::start;
  bool nested_ = false;  // the elements belong to a member of an object
  bool ended_ = false;   // the source is
  bool truncated_ = false;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;
  std::size_t piece_at_ = 0, piece_size_ = 0;
  std::string key_;
  std::int64_t damaged_ = 0;
  std::size_t rescans_left_ = std::size_t{1} << 28;  // bytes: hostile input must not take for ever
};

}  // namespace headway
