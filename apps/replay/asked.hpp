// What a replaying program is asked, and what it says of itself.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headway::replay {

struct Asked {
  std::string list, times;  // files
  bool single = false, multiplies = false;
  int repeat = 20, warm = 3;
};

/// Words of the command line; `more`: flags of one program alone, each with a value. False: what is
/// wrong is for its usage.
bool read_arguments(int count, char** words, Asked& out,
                    std::initializer_list<std::pair<std::string_view, std::string*>> more = {});

/// The file that `headway replay` reads: `seconds` of each repeat on the rank that took longest.
/// False: it cannot be written.
bool write_times(const Asked& asked, int ranks, const std::string& library,
                 const std::vector<double>& seconds);

}  // namespace headway::replay
