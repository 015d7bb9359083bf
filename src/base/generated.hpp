// Parts of a hand-written document that a command writes.
//
//   <!-- generated: NAME -->
//   replaced as a whole
//   <!-- end -->
//
// Each marker stands alone on its line; everything outside stays as it is, byte for byte.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace headway {

/// Text by the name of its block; each ends with a line break.
using GeneratedBlocks = std::map<std::string, std::string>;

/// The document with the content of every block put in its place. Problems, each with its line:
/// blocks that stand twice, are not closed, lie in one another or that nobody writes; and blocks
/// that are written but stand nowhere.
Result<std::string> with_generated(std::string_view document, const std::string& file,
                                   const GeneratedBlocks& blocks);

}  // namespace headway
