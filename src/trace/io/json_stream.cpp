#include "trace/io/json_stream.hpp"

#include <algorithm>
#include <cstring>

#include "trace/io/json_scan.hpp"

namespace headway {
namespace {

constexpr std::size_t kFirstBuffer = 1024 * 1024;
constexpr std::size_t kLargestPiece = 16 * 1024 * 1024;
constexpr std::string_view kSpace = " \t\r\n";

bool is_space_or_comma(char c) {
  return c == ' ' || c == '\n' || c == ',' || c == '\t' || c == '\r';
}

bool is_one_of(int c, std::string_view set) {
  return c >= 0 && set.find(static_cast<char>(c)) != std::string_view::npos;
}

// Where in `text` an object begins behind another one: "}, {" or, in lines, "\n{".
std::size_t boundary(std::string_view text, JsonShape shape) {
  for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
    std::size_t before = at;
    bool comma = false, line = false;
    while (before > 0 && is_one_of(text[before - 1], " \t\r\n,")) {
      --before;
      comma = comma || text[before] == ',';
      line = line || text[before] == '\n';
    }
    if (before == 0) continue;
    if (text[before - 1] == '}' && (comma || shape == JsonShape::lines)) return at;
    if (shape == JsonShape::lines && line) return at;
  }
  return std::string_view::npos;
}

}  // namespace

JsonStream::JsonStream(ByteSource& source, JsonShape shape)
    : source_(source), shape_(shape), buffer_(kFirstBuffer + kJsonPadding) {}

// Gets more behind end_; the unread bytes may move to the front. False at the end of the source and
// where the unread bytes are larger than a piece may be.
bool JsonStream::refill() {
  if (ended_) return false;
  if (at_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    end_ -= at_;
    at_ = 0;
  }
  if (end_ + kJsonPadding == buffer_.size()) {
    if (end_ >= kLargestPiece) return false;
    buffer_.resize(2 * end_ + kJsonPadding);
  }
  const std::size_t got = source_.read(buffer_.data() + end_, buffer_.size() - kJsonPadding - end_);
  end_ += got;
  ended_ = got == 0;
  return got > 0;
}

// The byte at at_ + offset, or -1 where there is none.
int JsonStream::peek(std::size_t offset) {
  while (at_ + offset >= end_) {
    if (!refill()) return -1;
  }
  return static_cast<unsigned char>(buffer_[at_ + offset]);
}

// Goes over white space and commas; the byte that follows, or -1.
int JsonStream::skip_space() {
  while (true) {
    for (; at_ < end_; ++at_) {
      if (!is_space_or_comma(buffer_[at_])) return static_cast<unsigned char>(buffer_[at_]);
    }
    if (!refill()) return -1;
  }
}

// Goes over bytes of `what`; the byte that follows, or -1.
int JsonStream::skip(std::string_view what) {
  int c = peek(0);
  for (; is_one_of(c, what); c = peek(0)) ++at_;
  return c;
}

// The end of the value that begins at at_ + offset, relative to at_.
bool JsonStream::find_value_end(std::size_t offset, std::size_t& value_end) {
  const int first = peek(offset);
  if (first == '{' || first == '[' || first == '"') {
    do {
      const char* begin = buffer_.data() + at_ + offset;
      const char* limit = buffer_.data() + end_;
      const char* end = first == '"' ? end_of_string(begin, limit) : end_of_container(begin, limit);
      if (end != nullptr) {
        value_end = static_cast<std::size_t>(end - (buffer_.data() + at_));
        return true;
      }
    } while (refill());
    return false;
  }
  value_end = offset;
  while (true) {
    const int c = peek(value_end);
    if (c < 0 || is_one_of(c, ",]}:\"{[ \t\r\n")) return c >= 0 && value_end > offset;
    ++value_end;
  }
}

bool JsonStream::emit(JsonPiece& piece, std::size_t offset, std::size_t value_end, bool element) {
  piece_at_ = at_ + offset;
  piece_size_ = value_end - offset;
  piece.key = key_;
  piece.text = std::string_view(buffer_.data() + piece_at_, piece_size_);
  piece.element = element;
  at_ += value_end;
  return true;
}

// Something at at_ is damaged: goes on at the next object behind at_ + offset.
void JsonStream::resume(std::size_t offset) {
  ++damaged_;
  at_ = std::min(end_, at_ + offset);
  while (true) {
    const std::size_t found = boundary(std::string_view(buffer_.data() + at_, end_ - at_), shape_);
    if (found != std::string_view::npos) {
      at_ += found;
      if (shape_ == JsonShape::document) state_ = State::elements;
      return;
    }
    // What lies before the last closing bracket cannot be part of a boundary any more.
    at_ = end_ - std::min<std::size_t>(end_ - at_, 256);
    if (!refill()) {
      truncated_ = true;
      state_ = State::done;
      return;
    }
  }
}

// The outermost value has ended, or so it seems: where elements follow, one closing bracket too
// many came before them, or the beginning of the document is missing.
void JsonStream::behind_the_root() {
  const int c = skip(" \t\r\n,}]");
  if (c < 0) {
    state_ = State::done;
  } else if (c == '{') {
    ++damaged_;
    nested_ = false;
    state_ = State::elements;
  } else {
    resume(0);
    truncated_ = false;  // the end was there
  }
}

bool JsonStream::next_member(JsonPiece& piece) {
  const int c = skip_space();
  if (c < 0) {
    truncated_ = true;
    state_ = State::done;
    return false;
  }
  if (c == '}') {
    ++at_;
    behind_the_root();
    return false;
  }
  std::size_t key_end = 0;
  if (c != '"' || !find_value_end(0, key_end)) {
    if (c == '"' && ended_) {
      truncated_ = true;
      state_ = State::done;
      return false;
    }
    resume(1);
    return false;
  }
  key_.assign(buffer_.data() + at_ + 1, key_end - 2);
  std::size_t value = key_end;
  while (is_one_of(peek(value), kSpace)) ++value;
  if (peek(value) != ':') {
    resume(1);
    return false;
  }
  ++value;
  while (is_one_of(peek(value), kSpace)) ++value;
  if (peek(value) == '[') {
    at_ += value + 1;
    nested_ = true;
    state_ = State::elements;
    return false;
  }
  std::size_t value_end = 0;
  if (!find_value_end(value, value_end)) {
    resume(value + 1);
    return false;
  }
  return emit(piece, value, value_end, false);
}

bool JsonStream::next_element(JsonPiece& piece) {
  const int c = skip_space();
  if (c < 0) {
    truncated_ = true;
    state_ = State::done;
    return false;
  }
  if (c == ']') {
    ++at_;
    if (nested_) {
      state_ = State::members;
    } else {
      behind_the_root();
    }
    return false;
  }
  std::size_t value_end = 0;
  if (!find_value_end(0, value_end)) {
    resume(1);
    return false;
  }
  return emit(piece, 0, value_end, true);
}

bool JsonStream::next(JsonPiece& piece) {
  while (true) {
    switch (state_) {
      case State::start: {
        const int c = skip(" \t\r\n\xef\xbb\xbf");
        if (c < 0) {
          state_ = State::done;
        } else if (shape_ == JsonShape::lines) {
          state_ = State::lines;
        } else if (c == '{' || c == '[') {
          ++at_;
          state_ = c == '{' ? State::members : State::elements;
        } else {
          resume(0);  // the beginning is missing
        }
        break;
      }
      case State::members:
        if (next_member(piece)) return true;
        break;
      case State::elements:
        if (next_element(piece)) return true;
        break;
      case State::lines: {
        const int c = skip_space();
        std::size_t value_end = 0;
        if (c < 0) {
          state_ = State::done;
        } else if (c == '{' && find_value_end(0, value_end)) {
          return emit(piece, 0, value_end, true);
        } else {
          resume(1);
        }
        break;
      }
      case State::done:
        return false;
    }
  }
}

void JsonStream::reject() {
  ++damaged_;
  if (piece_size_ == 0 || piece_size_ > rescans_left_) return;
  rescans_left_ -= piece_size_;
  const std::size_t found =
      boundary(std::string_view(buffer_.data() + piece_at_, piece_size_), shape_);
  if (found == std::string_view::npos) return;
  at_ = piece_at_ + found;
  if (shape_ == JsonShape::document) state_ = State::elements;
}

}  // namespace headway
