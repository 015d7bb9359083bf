// What every command may answer: problems, and documents that were read.
#pragma once

#include <string>

#include "base/document/document.hpp"
#include "base/result.hpp"

namespace headway {

/// {"problems": [{"where": "tp", "message": "..."}]}, and a line end.
std::string problems_json(const Problems& problems);

/// As text for stderr, one a line, harmless to a terminal.
std::string problems_text(const Problems& problems);
std::string warnings_text(const Problems& warnings);

/// The members of a document, as they stand.
std::string document_json(const Document& document);

}  // namespace headway
