// scale published: published whole runs beside what is predicted of them.
#pragma once

#include <string>
#include <vector>

#include "study/lifetime/published.hpp"

namespace headway {

/// For a terminal.
std::string published_text(const std::vector<PublishedRun>& runs);
std::string published_json(const std::vector<PublishedRun>& runs);
/// The block of docs/scaling.md.
std::string published_markdown(const std::vector<PublishedRun>& runs);

}  // namespace headway
