// What `headway replay` prints.
#pragma once

#include <string>

#include "study/live/replayed.hpp"

namespace headway {

std::string replay_text(const Replayed& replayed);
std::string replay_json(const Replayed& replayed);
/// The calls.
std::string replay_csv(const Replayed& replayed);

}  // namespace headway
