#include "trace/io/line_reader.hpp"

#include <cstring>

namespace headway {
namespace {

constexpr std::size_t kPiece = 256 * 1024;
constexpr std::size_t kLongest = 1024 * 1024;

}  // namespace

bool LineReader::refill() {
  buffer_.erase(0, at_);
  at_ = 0;
  const std::size_t had = buffer_.size();
  buffer_.resize(had + kPiece);
  const std::size_t got = source_.read(buffer_.data() + had, kPiece);
  buffer_.resize(had + got);
  return got > 0;
}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = 0;
  bool skipping = false;
  while (true) {
    const char* from = buffer_.data() + at_ + searched;
    const std::size_t left = buffer_.size() - at_ - searched;
    const void* end = left == 0 ? nullptr : std::memchr(from, '\n', left);
    if (end != nullptr) {
      const std::size_t length =
          static_cast<std::size_t>(static_cast<const char*>(end) - (buffer_.data() + at_));
      line = std::string_view(buffer_).substr(at_, length);
      at_ += length + 1;
      if (skipping) {
        skipping = false;
        searched = 0;
        continue;
      }
      if (line.ends_with('\r')) line.remove_suffix(1);
      return true;
    }
    searched += left;
    if (searched > kLongest) {  // drop the line, go on behind it
      cut_ += skipping ? 0 : 1;
      skipping = true;
      at_ = buffer_.size();
      searched = 0;
    }
    if (refill()) continue;
    if (at_ == buffer_.size() || skipping) return false;
    line = std::string_view(buffer_).substr(at_);
    at_ = buffer_.size();
    if (line.ends_with('\r')) line.remove_suffix(1);
    return true;
  }
}

}  // namespace headway
