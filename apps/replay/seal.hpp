// What the replaying program knows of its recording, and the recorder does not.
#pragma once

#include <string>

namespace headway::replay {

/// Calls one by one were waited for at once, with nothing between: their times are those of calls
/// that block, not ones until which a call was done. Those of a step began when the one before on
/// their stream was done, and were looked after all the while. False: the file cannot be read or
/// written.
bool seal_calls(const std::string& file, bool one_by_one);

}  // namespace headway::replay
