// A recording as an SQLite database, for questions of one's own.
#pragma once

#include <string>

#include "base/result.hpp"
#include "trace/analysis/align.hpp"

namespace headway {

/// Whether `path` may be written by save_recording: absent, or a database that Headway wrote.
Problems may_save_to(const std::string& path);

/// Writes the recording to a new database at `path`, which must not exist: tables ranks, groups,
/// calls, compute, matched, omissions and views on them (docs/traces.md). What is not known is
/// NULL. The same recording gives the same bytes.
Problems save_recording(const Recording& recording, const Alignment& alignment,
                        const std::string& path);

}  // namespace headway
