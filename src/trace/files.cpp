#include "trace/files.hpp"

#include <algorithm>
#include <iterator>
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

// The files as they were read, before they become one.
struct FileRead {
  std::string path;
  Recording recording;
};
using AllRead = std::vector<FileRead>;

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

void add(const std::string& path, RunRecording& run, AllRead& all, Reading& reading) {
  auto one = read_trace(path, reading.of_file());
  run.stopped = reading.stopped();
  if (!one) return append(run.unread, one.problems());
  all.push_back({path, std::move(one).value()});
}

bool is_timed(const Recording& recording) {
  return std::any_of(recording.calls.begin(), recording.calls.end(),
                     [](const RecordedCall& call) { return call.time != TimeKind::none; });
}

// Of several recordings of one rank the first that has times counts, else the first.
void keep_one_a_rank(AllRead& all, RunRecording& run) {
  struct Rank {
    std::size_t kept = 0;
    int files = 0;
  };
  std::map<std::int64_t, Rank> ranks;
  const auto number_of = [&](std::size_t i) -> std::optional<std::int64_t> {
    const Recording& one = all[i].recording;
    if (!one.whole_of_rank || one.ranks.size() != 1) return std::nullopt;
    return one.ranks.front().number;
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto number = number_of(i);
    if (!number) continue;
    Rank& rank = ranks[*number];
    const bool better =
        rank.files > 0 && !is_timed(all[rank.kept].recording) && is_timed(all[i].recording);
    if (rank.files++ == 0 || better) rank.kept = i;
  }
  const Rank* first = nullptr;
  std::int64_t of_first = 0;
  std::size_t often = 0;
  for (const auto& [number, rank] : ranks) {
    if (rank.files < 2) continue;
    if (often++ == 0) {
      first = &rank;
      of_first = number;
    }
  }
  if (often == 0) return;
  run.doubts.push_back("rank " + std::to_string(of_first) +
                       (often > 1 ? " and " + std::to_string(often - 1) + " more" : std::string()) +
                       ": recorded in several files, of which one is counted (" +
                       printable(file_name(all[first->kept].path), 120) +
                       "); name one recording a rank for another");
  AllRead kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto number = number_of(i);
    if (!number || ranks[*number].kept == i) kept.push_back(std::move(all[i]));
  }
  all = std::move(kept);
}

void doubt_one_run(const AllRead& all, RunRecording& run) {
  std::set<std::int64_t> world_sizes;
  for (const FileRead& one : all) {
    for (const RecordedRank& rank : one.recording.ranks) {
      if (rank.world_size) world_sizes.insert(*rank.world_size);
    }
  }
  if (world_sizes.size() > 1) {
    std::vector<std::string> sizes;
    for (const std::int64_t size : world_sizes) sizes.push_back(std::to_string(size));
    run.doubts.push_back("the files are of runs of " + join(sizes, ", ") +
                         " ranks: what follows mixes them");
  }
}

void doubt_one_format(const AllRead& all, RunRecording& run) {
  std::set<std::string> formats;
  for (const FileRead& one : all) formats.insert(one.recording.format);
  if (formats.size() > 1) {
    run.doubts.push_back(
        "the files are of several formats: a call that stands in two of them is counted twice");
  }
}

// One after another, each let go once it is part of the whole.
void join_all(AllRead all, RunRecording& run) {
  for (FileRead& one : all) {
    run.files.push_back(std::move(one.path));
    if (run.files.size() == 1) {
      run.recording = std::move(one.recording);
    } else {
      append(run.recording, one.recording);
      one.recording = {};
    }
  }
}

// The recording of a run from those of its files.
void become_one(AllRead all, RunRecording& run) {
  doubt_one_run(all, run);
  keep_one_a_rank(all, run);
  doubt_one_format(all, run);
  join_all(std::move(all), run);
  complete_groups(run.recording);
  complete_sizes(run.recording);
}

bool is_benchmark(const Recording& recording) {
  return !recording.calls.empty() && recording.calls.front().time == TimeKind::benchmark;
}

void add_folder(const std::string& folder, RunRecording& run, AllRead& all, Reading& reading) {
  const auto files = files_in(folder);
  if (!files) return append(run.unread, files.problems());
  const std::size_t before = all.size();
  for (const std::string& file : *files) {
    if (run.stopped) return;
    if (!may_be_trace(file)) {
      run.not_traces.push_back(file);
      continue;
    }
    const std::size_t problems = run.unread.size();
    add(file, run, all, reading);
    if (run.unread.size() > problems && run.unread.back().kind == Trouble::unknown) {
      run.unread.pop_back();
      run.not_traces.push_back(file);
    }
  }
  if (all.size() == before) {
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
  AllRead all;
  Reading reading(progress, progress ? bytes_of(paths) : 0);
  for (const std::string& path : paths) {
    if (run.stopped) break;
    if (is_folder(path)) {
      add_folder(path, run, all, reading);
    } else {
      add(path, run, all, reading);
    }
  }
  become_one(std::move(all), run);
  return run;
}

MeasuredLogs read_measured_logs(const std::vector<std::string>& paths) {
  MeasuredLogs out;
  const auto take = [&](RunRecording run) {
    append(out.unread, run.unread);
    for (const std::string& file : run.not_traces) out.unread.push_back({file, "is no log"});
    std::move(run.doubts.begin(), run.doubts.end(), std::back_inserter(out.doubts));
    std::move(run.files.begin(), run.files.end(), std::back_inserter(out.files));
    if (!run.files.empty()) out.recordings.push_back(std::move(run.recording));
  };
  // Benchmarks leave `all` for recordings of their own; what stays is of one run.
  const auto finish = [&](RunRecording run, AllRead all) {
    std::erase_if(all, [&](FileRead& one) {
      if (!is_benchmark(one.recording)) return false;
      out.files.push_back(std::move(one.path));
      out.recordings.push_back(std::move(one.recording));
      return true;
    });
    become_one(std::move(all), run);
    take(std::move(run));
  };
  const Progress silent;
  RunRecording named;
  AllRead of_named;
  for (const std::string& path : paths) {
    Reading reading(silent, 0);
    if (!is_folder(path)) {
      add(path, named, of_named, reading);
      continue;
    }
    RunRecording run;
    AllRead all;
    add_folder(path, run, all, reading);
    finish(std::move(run), std::move(all));
  }
  finish(std::move(named), std::move(of_named));
  return out;
}

}  // namespace headway
