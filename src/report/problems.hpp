// What every command may answer: problems, and documents that were read.
#pragma once

#include <string>

#include "base/document/document.hpp"
#include "base/result.hpp"

namespace headway {

/// {"problems": [{"where": "tp", "message": "..."}]}, and a line end.
std::string problems_json(const Problems& problems);

/// The members of a document, as they stand.
std::string document_json(const Document& document);

}  // namespace headway
