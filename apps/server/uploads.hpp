// Files that came with a request, for as long as it takes to answer it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "multipart.hpp"

namespace headway {

/// A folder of this program's own, removed with all that is in it in the end.
class Uploads {
 public:
  Uploads() = default;
  ~Uploads();
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;

  /// Writes the part as a file, named after its own name as far as that is harmless.
  Problems add(const FormPart& part);
  const std::vector<std::string>& files() const { return files_; }

  /// The text without the folder in front of names: what the sender called them.
  std::string as_sent(std::string text) const;

 private:
  std::string folder_;  // ends in '/'; empty: not made yet
  std::vector<std::string> files_;
};

}  // namespace headway
