// gzip: what the binary carries packed, and what is packed on its way.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace headway {

/// The text that `packed` holds as one member of gzip; nothing where it is damaged.
std::optional<std::string> unpacked_gzip(std::string_view packed);

/// Packs a text that comes in pieces as one member of gzip, for speed rather than size.
class GzipPacker {
 public:
  GzipPacker();
  ~GzipPacker();
  GzipPacker(const GzipPacker&) = delete;
  GzipPacker& operator=(const GzipPacker&) = delete;

  /// The packed form of all that came so far and was not given yet: whoever has it can unpack the
  /// text to here.
  std::string piece(std::string_view text);
  /// The same, and the end. Nothing may follow.
  std::string last(std::string_view text);

 private:
  struct Stream;
  std::string pack(std::string_view text, int flush);
  std::unique_ptr<Stream> stream_;
};

}  // namespace headway
