// The communication study in tables, for a terminal and for docs/communication.md.
#pragma once

#include <string>
#include <vector>

#include "study/traffic/communication.hpp"

namespace headway {

struct StudyTable {
  std::string name;                            // of its block in the page
  std::string title;                           // for the terminal
  std::size_t left = 1;                        // columns of text
  std::vector<std::vector<std::string>> rows;  // the first is the head
};

std::vector<StudyTable> study_tables(const CommunicationStudy& study);
/// Of them those of what the study says beyond formulas: overhead, growth, attention, interconnect,
/// correlations, messages a second.
std::vector<StudyTable> claim_tables(const CommunicationStudy& study);

/// "13b" of "gpt-neox-13b".
std::string short_model_name(const std::string& model);

}  // namespace headway
