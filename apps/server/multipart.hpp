// Bodies of several parts (multipart/form-data, RFC 7578): a request with files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace headway {

/// One part; its content lies in the body it was read from.
struct FormPart {
  std::string name;      // of the field
  std::string filename;  // as the sender calls it; empty: none
  std::string_view content;
};

/// The boundary of a Content-Type, or empty where it is no multipart/form-data with a legal one.
std::string form_boundary(std::string_view content_type);

/// The parts of a body, or what is wrong with it.
Result<std::vector<FormPart>> form_parts(std::string_view body, std::string_view boundary);

}  // namespace headway
