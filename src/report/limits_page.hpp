// The generated parts of docs/limits.md, and the drawings beside it.
#pragma once

#include <string>
#include <vector>

#include "base/generated.hpp"
#include "platform/output.hpp"
#include "study/limits/page.hpp"

namespace headway {

GeneratedBlocks limits_blocks(const LimitsPage& page);
/// In files of `folder`.
std::vector<OutputFile> limits_drawings(const LimitsPage& page, const std::string& folder);

}  // namespace headway
