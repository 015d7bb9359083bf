// The files of one run: named ones, and folders of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "platform/parallel.hpp"
#include "trace/recording/recording.hpp"

namespace headway {

/// What the files of one run say together, and the files of which nothing could be read.
struct RunRecording {
  Recording recording;
  std::vector<std::string> files;  // those that were read
  Problems unread;
  std::vector<std::string> not_traces;  // files of a folder that are something else
  std::vector<std::string> doubts;      // what speaks against all being of one run
  bool stopped = false;                 // before all was read
};

/// Reads files and folders. Of a folder all traces in it are read, in the order of their names
/// (numbers in them by value); what is no trace, hidden or a folder is passed over. A folder of
/// more than kMostFiles files is refused. Of several recordings of one rank one is counted.
/// `progress` is told of the bytes of the files as they lie there, and may stop the reading.
RunRecording read_run_traces(const std::vector<std::string>& paths, const Progress& progress = {});
/// The ordinary files of a folder that may be traces, in the order of their names; what is none for
/// certain goes to `others`.
Result<std::vector<std::string>> trace_files_in(const std::string& folder,
                                                std::vector<std::string>& others);
inline constexpr std::size_t kMostFiles = 4096;

}  // namespace headway
