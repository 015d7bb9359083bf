// The page: files carried in the binary, or a folder of them while the page is worked on.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headway {

/// A file of the page as it is sent.
struct PageFile {
  std::string content;
  std::string content_type;
  std::string etag;      // of the content, in quotes
  bool gzipped = false;  // the content is compressed
};

/// The file of the page at `path` ("/", "/assets/x.js"), or nothing. `folder` empty: the embedded
/// one, of which a file may be stored compressed (x.js.gz). Without a page, "/" is a list of the
/// API's routes.
std::optional<PageFile> page_file(std::string_view path, const std::string& folder = {});

/// A hash of the text as an ETag.
std::string etag_of(std::string_view text);

}  // namespace headway
