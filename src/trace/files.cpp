#include "trace/files.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/natural_order.hpp"
#include "base/text.hpp"
#include "platform/paths.hpp"
#include "trace/io/byte_source.hpp"
#include "trace/open.hpp"

namespace headway {
namespace {

// A file that may be a trace: of a known format by its beginning, or a text, which may be a log.
bool may_be_trace(const std::string& path) {
  auto file = open_file(path);
  if (!file) return true;  // reading it will say why not
  constexpr std::size_t kBeginning = 64 * 1024;
  const auto source = unpacked(std::move(file).value());
  const std::string beginning = read_up_to(*source, kBeginning);
  return format_of(beginning) != nullptr || beginning.find('\0') == std::string::npos;
}

// The ordinary files of a folder that are not hidden, in their order.
Result<std::vector<std::string>> files_in(const std::string& folder) {
  auto names = file_names_in(folder, kMostFiles);
  if (!names) return names;
  std::sort(names->begin(), names->end(), natural_less);
  for (std::string& name : names.value()) name = in_folder(folder, name);
  return names;
}

// What was seen of each file before it became part of the whole.
struct Seen {
  std::set<std::string> formats;
  std::set<std::int64_t> world_sizes;
  std::map<std::string, int> files_of_rank;
};

// The bytes of files and of those in folders; what cannot be read has none.
std::size_t bytes_of(const std::vector<std::string>& paths) {
  std::size_t sum = 0;
  for (const std::string& path : paths) {
    if (!is_folder(path)) {
      sum += file_bytes(path);
    } else if (const auto files = files_in(path)) {
      for (const std::string& file : *files) sum += file_bytes(file);
    }
  }
  return sum;
}

// Adds up the bytes of one file after another for who wants to know of all of them.
class Reading {
 public:
  Reading(const Progress& progress, std::size_t of) : progress_(progress), of_(of) {}
  BytesRead of_file() {
    if (!progress_) return {};
    return [this](std::size_t more) {
      done_ += more;
      // What grows while it is read, or is opened twice, is not more than all.
      stopped_ = stopped_ || !progress_(std::min(done_, of_), of_);
      return !stopped_;
    };
  }
  bool stopped() const { return stopped_; }

 private:
  const Progress& progress_;
  std::size_t of_, done_ = 0;
  bool stopped_ = false;
};

void add(const std::string& path, RunRecording& run, Seen& seen, Reading& reading) {
  auto one = read_trace(path, reading.of_file());
  run.stopped = reading.stopped();
  if (!one) return append(run.unread, one.problems());
  seen.formats.insert(one->format);
  for (const RecordedRank& rank : one->ranks) {
    if (rank.world_size) seen.world_sizes.insert(*rank.world_size);
    if (rank.number) ++seen.files_of_rank[rank.label];
  }
  run.files.push_back(path);
  if (run.files.size() == 1) {
    run.recording = std::move(one).value();
  } else {
    append(run.recording, *one);
  }
}

void doubt(const Seen& seen, RunRecording& run) {
  if (seen.world_sizes.size() > 1) {
    std::vector<std::string> sizes;
    for (const std::int64_t size : seen.world_sizes) sizes.push_back(std::to_string(size));
    run.doubts.push_back("the files are of runs of " + join(sizes, ", ") +
                         " ranks: what follows mixes them");
  }
  if (seen.formats.size() > 1) {
    run.doubts.push_back(
        "the files are of several formats: a call that stands in two of them is counted twice");
  }
  std::vector<std::string> often;
  for (const auto& [label, files] : seen.files_of_rank) {
    if (files > 1) often.push_back(label);
  }
  if (!often.empty()) {
    run.doubts.push_back(
        printable(often.front()) +
        (often.size() > 1 ? " and " + std::to_string(often.size() - 1) + " more" : std::string()) +
        ": recorded in several files, whose calls are added up");
  }
}

void add_folder(const std::string& folder, RunRecording& run, Seen& seen, Reading& reading) {
  const auto files = files_in(folder);
  if (!files) return append(run.unread, files.problems());
  const std::size_t before = run.files.size();
  for (const std::string& file : *files) {
    if (run.stopped) return;
    if (!may_be_trace(file)) {
      run.not_traces.push_back(file);
      continue;
    }
    const std::size_t problems = run.unread.size();
    add(file, run, seen, reading);
    if (run.unread.size() > problems && run.unread.back().kind == Trouble::unknown) {
      run.unread.pop_back();
      run.not_traces.push_back(file);
    }
  }
  if (run.files.size() == before) {
    run.unread.push_back(
        {folder, files->empty()
                     ? "has no files"
                     : "holds no trace: none of its " + std::to_string(files->size()) +
                           " files is of a known form (" + names_of(trace_formats()) + ")"});
  }
}

}  // namespace

RunRecording read_run_traces(const std::vector<std::string>& paths, const Progress& progress) {
  RunRecording run;
  Seen seen;
  Reading reading(progress, progress ? bytes_of(paths) : 0);
  for (const std::string& path : paths) {
    if (run.stopped) break;
    if (is_folder(path)) {
      add_folder(path, run, seen, reading);
    } else {
      add(path, run, seen, reading);
    }
  }
  complete_sizes(run.recording);
  doubt(seen, run);
  return run;
}

}  // namespace headway
