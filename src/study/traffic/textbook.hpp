// What the textbook says each form of parallelism sends, beside what the framework sends.
#pragma once

#include <string>
#include <vector>

#include "study/traffic/traffic.hpp"

namespace headway {

/// One form of parallelism. Bytes on the wire of a rank in one step, as the mean of all ranks.
struct TextbookVolume {
  std::string of;       // "data, ZeRO-1"
  std::string formula;  // "2 m (d-1)/d"
  Bytes textbook, framework;
  std::vector<std::string> reasons;  // where the two differ by more than 1 %
};

/// Of every form that the layout uses, [COMM-5] to [COMM-9].
std::vector<TextbookVolume> textbook_volumes(const Run& run, const Traffic& traffic);

}  // namespace headway
