#include "platform/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>

namespace headway {
namespace {

constexpr int kGzip = 15 + 16;  // zlib's largest window, in gzip's form

}  // namespace

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

struct GzipPacker::Stream {
  z_stream state{};
};

GzipPacker::GzipPacker() : stream_(std::make_unique<Stream>()) {
  constexpr int kMemory = 8;
  if (deflateInit2(&stream_->state, Z_BEST_SPEED, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::bad_alloc();
  }
}

GzipPacker::~GzipPacker() {
  deflateEnd(&stream_->state);
}

std::string GzipPacker::pack(std::string_view text, int flush) {
  z_stream& state = stream_->state;
  std::string out;
  do {
    const std::size_t taken = std::min<std::size_t>(text.size(), std::numeric_limits<uInt>::max());
    state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    state.avail_in = static_cast<uInt>(taken);
    text.remove_prefix(taken);
    do {
      char room[16 * 1024];
      state.next_out = reinterpret_cast<Bytef*>(room);
      state.avail_out = sizeof room;
      deflate(&state, text.empty() ? flush : Z_NO_FLUSH);
      out.append(room, sizeof room - state.avail_out);
    } while (state.avail_out == 0);
  } while (!text.empty());
  return out;
}

std::string GzipPacker::piece(std::string_view text) {
  return pack(text, Z_SYNC_FLUSH);
}

std::string GzipPacker::last(std::string_view text) {
  return pack(text, Z_FINISH);
}

}  // namespace headway
