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

}  // namespace headway
