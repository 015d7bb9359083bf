// comms --compare: two recordings, before and after.
#pragma once

#include <string>

#include "study/measured/change.hpp"

namespace headway {

/// For a terminal of 80 columns.
std::string change_text(const Change& change);
std::string change_json(const Change& change);
/// A row for each group, operation and size.
std::string change_csv(const Change& change);

}  // namespace headway
