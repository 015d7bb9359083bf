// What every command may answer: problems, and documents that were read.
#pragma once

#include <string>

#include "base/document/document.hpp"
#include "base/result.hpp"

namespace headway {

/// The first ten of each file or request, and how many more it has.
Problems first_problems(const Problems& problems);

/// {"problems": [{"where": "tp", "message": "..."}]}, of first_problems(), and a line end; with
/// "near" where legal numbers are.
std::string problems_json(const Problems& problems);

/// As text for stderr, one a line, harmless to a terminal.
std::string problems_text(const Problems& problems);
std::string warnings_text(const Problems& warnings);

/// The members of a document, as they stand.
std::string document_json(const Document& document);

}  // namespace headway
