#include "platform/gzip.hpp"

#include <zlib.h>

#include <cstddef>

namespace headway {

std::optional<std::string> unpacked_gzip(std::string_view packed) {
  constexpr std::size_t kHeader = 10, kTrailer = 8;
  if (packed.size() < kHeader + kTrailer) return std::nullopt;
  // The last four bytes are the size of the text, the lowest first (RFC 1952).
  std::size_t size = 0;
  for (std::size_t i = 1; i <= 4; ++i) {
    size = size << 8 | static_cast<unsigned char>(packed[packed.size() - i]);
  }
  constexpr std::size_t kMostDeflated = 1032;  // bytes of text in one packed byte, at most
  if (size > packed.size() * kMostDeflated) return std::nullopt;
  std::string text(size, '\0');
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  if (inflateInit2(&stream, kGzip) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  const bool whole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  if (!whole) return std::nullopt;
  return text;
}

}  // namespace headway
