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

/// What logs of collectives measured, to fit a network on.
struct MeasuredLogs {
  std::vector<Recording> recordings;  // of a benchmark's log each, and of each traced run
  std::vector<std::string> files;     // those that count
  Problems unread;                    // files of folders that are no logs among them
  std::vector<std::string> doubts;    // what speaks against the files of a run being of one
};

/// Reads files and folders as read_run_traces() does: benchmarks stand each for itself; the traces
/// of a folder are one run's, as are all of those that are named one by one.
MeasuredLogs read_measured_logs(const std::vector<std::string>& paths);

inline constexpr std::size_t kMostFiles = 4096;

}  // namespace headway
