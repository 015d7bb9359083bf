// Published runs beside what is predicted of them: whole ones (scale published) and their pace
// (validate --runs).
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

/// The same of their pace; the block is of docs/flagship.md.
std::string published_steps_text(const std::vector<PublishedStep>& steps);
std::string published_steps_json(const std::vector<PublishedStep>& steps);
std::string published_steps_markdown(const std::vector<PublishedStep>& steps);

}  // namespace headway
