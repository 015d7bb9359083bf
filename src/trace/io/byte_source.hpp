// Bytes in pieces: a file or text in memory, plain or gzip.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace headway {

/// Bytes that are read once, from front to back.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills up to `most` bytes; 0 at the end.
  virtual std::size_t read(char* to, std::size_t most) = 0;
  /// Why the bytes ended before their time; empty where they did not.
  virtual std::string_view damage() const { return {}; }
};

/// A file as it lies there.
Result<std::unique_ptr<ByteSource>> open_file(const std::string& path);

/// The text must outlive the source.
std::unique_ptr<ByteSource> source_of(std::string_view text);

/// The same bytes, unpacked where they begin as gzip does (one member or several).
std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> source);

/// Told of how many more bytes were read; answers whether to go on.
using BytesRead = std::function<bool(std::size_t more)>;

/// The same bytes; they end, damaged, where `told` says so.
std::unique_ptr<ByteSource> watched(std::unique_ptr<ByteSource> source, BytesRead told);

/// Puts `front`, which was read already, before what is left in `rest`.
std::unique_ptr<ByteSource> rejoined(std::string front, std::unique_ptr<ByteSource> rest);

/// Reads until `most` bytes are there or the source ends.
std::string read_up_to(ByteSource& source, std::size_t most);

}  // namespace headway
