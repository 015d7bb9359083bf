// Writing what a command leaves behind: all of it or nothing.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace headway {

struct OutputFile {
  std::string path, text;
};

/// Writes all files whole or leaves every old one: first each beside its place, then all into their
/// places. `folder`, where not empty, is made first if it is missing. What is no ordinary file (a
/// device, a pipe) is written to as it is.
Problems write_files(const std::vector<OutputFile>& files, const std::string& folder = {});

/// The page `folder`/`name` ("validation.md") of Headway's documents, which --report renews, or
/// that it is not there and where it is.
Result<OutputFile> page_to_renew(const std::string& folder, const std::string& name);

}  // namespace headway
