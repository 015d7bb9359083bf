// Lines of a source, one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/io/byte_source.hpp"

namespace headway {

/// Cuts a source into lines of at most 1 MiB; of longer ones the rest is left out and counted.
class LineReader {
 public:
  explicit LineReader(ByteSource& source) : source_(source) {}

  /// The next line without its line break; false at the end. Valid until the next call.
  bool next(std::string_view& line);

  /// What was read from the source and not given out as lines yet.
  std::string_view unread() const { return std::string_view(buffer_).substr(at_); }

  std::int64_t cut_lines() const { return cut_; }
  std::string_view damage() const { return source_.damage(); }

 private:
  bool refill();

  ByteSource& source_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::int64_t cut_ = 0;
};

}  // namespace headway
