#include "mpi.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "api/shard/file.hpp"
#include "base/text.hpp"
#include "platform/files.hpp"
#include "platform/output.hpp"
#include "platform/paths.hpp"
#include "shard.hpp"

using namespace headway;

namespace {

// What ranks say to rank 0 and it to them. A rank asks for two parts at once, so that it has the
// next one while rank 0, which works too, comes to answering.
enum Tag : int {
  kAsked = 1,  // to rank 0: a part is wanted, and there is nothing to be told
  kDone,       // to rank 0: the file of a part, its time before it; and another is wanted
  kFailed,     // to rank 0: the problems of a part, as JSON; and another is wanted
  kWork,       // from rank 0: the number of a part, and the last part's file where one is done
  kNothing,    // from rank 0: no part is left
};
constexpr int kAhead = 2;

using Clock = std::chrono::steady_clock;

struct Message {
  Tag tag;
  int rank;
  std::string text;
};

void send(int rank, Tag tag, const std::string& text) {
  MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, rank, tag, MPI_COMM_WORLD);
}

// What rank 0 sends while it works: a rank that is itself sending something takes it later.
class Sending {
 public:
  void send(int rank, Tag tag, std::string text) {
    std::erase_if(under_way_, [](const auto& each) {
      int done = 0;
      MPI_Test(&each->request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
    auto each = std::make_unique<Sent>();
    each->text = std::move(text);
    MPI_Isend(each->text.data(), static_cast<int>(each->text.size()), MPI_CHAR, rank, tag,
              MPI_COMM_WORLD, &each->request);
    under_way_.push_back(std::move(each));
  }
  void finish() {
    for (const auto& each : under_way_) MPI_Wait(&each->request, MPI_STATUS_IGNORE);
    under_way_.clear();
  }

 private:
  struct Sent {
    std::string text;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::vector<std::unique_ptr<Sent>> under_way_;
};

Message receive(const MPI_Status& seen) {
  int bytes = 0;
  MPI_Get_count(&seen, MPI_CHAR, &bytes);
  Message out{static_cast<Tag>(seen.MPI_TAG), seen.MPI_SOURCE,
              std::string(static_cast<std::size_t>(bytes), '\0')};
  MPI_Recv(out.text.data(), bytes, MPI_CHAR, seen.MPI_SOURCE, seen.MPI_TAG, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  return out;
}

Message wait_for_message() {
  MPI_Status seen;
  MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &seen);
  return receive(seen);
}

std::optional<Message> message_that_came() {
  MPI_Status seen;
  int came = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &came, &seen);
  if (came == 0) return std::nullopt;
  return receive(seen);
}

// A number and a text, as one.
std::string with_number(double number, const std::string& text) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.17g\n", number);
  return digits + text;
}
std::pair<double, std::string> number_and_text(const std::string& both) {
  const std::size_t end = both.find('\n');
  return {std::strtod(both.c_str(), nullptr), both.substr(end + 1)};
}

// What every rank is: the request, and how it works out a part of it.
struct Worker {
  const Arguments& asked;
  std::span<const char* const> given;
  const std::string& version;
  std::vector<PartLines> known = {};  // what another part came to, of which this one is told
  std::shared_ptr<void> shared = {};  // by the parts of this rank

  // The file of the part, or the problems of it.
  Result<std::string> work(std::uint64_t part, const Progress& progress) {
    Arguments mine = asked;
    mine.circumstances.progress = progress;
    if (mine.circumstances.threads == 0) mine.circumstances.threads = 1;  // a rank for each core
    Problems warnings;
    const std::vector<PartLines> others = known;  // more may come while this part is worked out
    const auto file =
        worked_out(mine, given, version, {part, static_cast<std::uint64_t>(asked.mpi.parts)},
                   others, shared, warnings);
    if (!file) return file.problems();
    known = {file->found};
    return shard_file_text(*file);
  }

  void told(const std::string& file) {
    if (file.empty()) return;
    if (auto read = read_shard_file(file, "a part")) known = {std::move(read->found)};
  }
};

// All but rank 0.
void work_for_others(Worker& worker) {
  for (int i = 0; i < kAhead; ++i) send(0, kAsked, "");
  for (int asked = kAhead; asked > 0;) {
    const Message message = wait_for_message();
    if (message.tag == kNothing) {
      --asked;
      continue;
    }
    const auto [part, last] = number_and_text(message.text);
    worker.told(last);
    const auto begun = Clock::now();
    const auto file = worker.work(static_cast<std::uint64_t>(part), {});
    const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
    if (file) {
      send(0, kDone, with_number(seconds, *file));
    } else {
      send(0, kFailed, problems_json(file.problems()));
    }
  }
}

// Rank 0: keeps the counter and what is done, and works between two questions.
class Keeper {
 public:
  Keeper(Worker worker, int ranks) : worker_(std::move(worker)), ranks_(ranks) {
    const auto parts = static_cast<std::size_t>(worker_.asked.mpi.parts);
    done_.resize(parts);
  }

  CommandOutput run() {
    Problems problems = read_done();
    if (!problems.empty()) stop(std::move(problems));
    for (;;) {
      const auto part = next();
      if (!part) break;
      const auto begun = Clock::now();
      const auto file = worker_.work(*part, [this](std::size_t, std::size_t) {
        answer_all();
        return problems_.empty() && goes_on();
      });
      const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
      file ? keep(*file, 0, seconds) : stop(file.problems());
      answer_all();
    }
    while (ended_ < kAhead * (ranks_ - 1)) answer(wait_for_message());
    sending_.finish();
    if (!problems_.empty()) return {.problems = std::move(problems_)};
    return answered();
  }

 private:
  struct Part {
    ShardFile file;
    int rank = 0;  // that worked it out; -1: before
    double seconds = 0;
  };

  std::string name_of(std::uint64_t part) const {
    return worker_.asked.mpi.done + "/part-" + std::to_string(part + 1) + "-of-" +
           std::to_string(done_.size()) + ".json";
  }

  bool goes_on() {
    const Progress& shown = worker_.asked.circumstances.progress;
    return !shown || shown(count_, done_.size());
  }

  // The next part that nobody has; nothing where none is left or something is wrong.
  std::optional<std::uint64_t> next() {
    while (problems_.empty() && counter_ < done_.size()) {
      const std::uint64_t part = counter_++;
      if (!done_[part]) return part;
    }
    return std::nullopt;
  }

  void answer_all() {
    while (const auto message = message_that_came()) answer(*message);
  }

  void answer(const Message& message) {
    if (message.tag == kFailed) {
      stop({{"mpi", "rank " + std::to_string(message.rank) + ": " + message.text}});
    } else if (message.tag == kDone) {
      const auto [seconds, text] = number_and_text(message.text);
      keep(text, message.rank, seconds);
    }
    if (const auto part = next()) {
      sending_.send(message.rank, kWork, with_number(static_cast<double>(*part), last_));
    } else {
      sending_.send(message.rank, kNothing, "");
      ++ended_;
    }
  }

  void stop(Problems problems) {
    if (problems_.empty()) problems_ = std::move(problems);
  }

  // A part that is done, on whichever rank: on the list before another is given out.
  void keep(const std::string& text, int rank, double seconds) {
    auto file = read_shard_file(text, "the part of rank " + std::to_string(rank));
    if (!file) return stop(file.problems());
    const std::uint64_t part = file->shard.index;
    if (!worker_.asked.mpi.done.empty()) {
      if (Problems problems = write_files({{name_of(part), text}}); !problems.empty()) {
        return stop(std::move(problems));
      }
    }
    last_ = text;
    worker_.told(text);
    done_[part] = Part{std::move(file).value(), rank, seconds};
    ++count_;
  }

  // What an earlier run has done.
  Problems read_done() {
    const std::string& folder = worker_.asked.mpi.done;
    if (folder.empty()) return {};
    if (!exists(folder)) {
      std::error_code error;
      std::filesystem::create_directory(folder, error);
      if (error) return {{printable(folder), "cannot be made", Trouble::unreadable}};
      return {};
    }
    const auto names = file_names_in(folder, static_cast<std::size_t>(kMostShards) * 2);
    if (!names) return names.problems();
    Problems problems;
    for (const std::string& name : *names) {
      if (!name.starts_with("part-") || !name.ends_with(".json")) continue;
      const std::string path = folder + "/" + name;
      const auto text = read_file(path, kLargestShardFile);
      const auto file = text ? read_shard_file(*text, path) : Result<ShardFile>(text.problems());
      if (!file) {
        append(problems, file.problems());
      } else if (file->shard.of != done_.size()) {
        problems.push_back({path, "is part " + shard_text(file->shard) +
                                      ": go on with --mpi-parts " +
                                      std::to_string(file->shard.of)});
      } else if (Problems other = of_another_request(*file, path, worker_.given, worker_.version);
                 !other.empty()) {
        append(problems, std::move(other));
      } else {
        last_ = *text;
        done_[file->shard.index] = Part{std::move(*file), -1, 0};
        ++count_;
      }
    }
    if (problems.empty() && count_ > 0 && !worker_.asked.circumstances.quiet) {
      std::fprintf(stderr, "headway: %zu of %zu parts are done already in %s\n", count_,
                   done_.size(), printable(folder).c_str());
    }
    worker_.told(last_);
    return problems;
  }

  // All parts together: they are of this request, version and data, or it is said which are not.
  CommandOutput answered() {
    std::vector<NamedShardFile> files;
    for (std::size_t i = 0; i < done_.size(); ++i) {
      const std::string name =
          worker_.asked.mpi.done.empty() ? "part " + std::to_string(i + 1) : name_of(i);
      files.push_back({name, done_[i]->file});
    }
    const auto parts = all_parts(files);
    if (!parts) return {.problems = parts.problems()};
    Circumstances circumstances = worker_.asked.circumstances;
    circumstances.begun = {};
    circumstances.division = {.parts = &*parts};
    CommandOutput out = worker_.asked.command->run(circumstances);
    if (out.problems.empty() && !worker_.asked.mpi.times.empty()) {
      append(out.problems, write_files({{worker_.asked.mpi.times, times()}}));
    }
    return out;
  }

  std::string times() const {
    std::string out = "part,rank,seconds\n";
    for (std::size_t i = 0; i < done_.size(); ++i) {
      char line[64];
      std::snprintf(line, sizeof line, "%zu,%d,%.6f\n", i + 1, done_[i]->rank, done_[i]->seconds);
      if (done_[i]->rank >= 0) out += line;
    }
    return out;
  }

  Worker worker_;
  const int ranks_;
  std::uint64_t counter_ = 0;              // the next part to be given out
  std::vector<std::optional<Part>> done_;  // the done list
  std::size_t count_ = 0;                  // of it
  std::string last_;                       // the file of the part that was done last
  Sending sending_;
  int ended_ = 0;  // questions that were answered by kNothing
  Problems problems_;
};

}  // namespace

CommandOutput run_mpi(const Arguments& asked, std::span<const char* const> given,
                      const std::string& version) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CommandOutput out;
  Worker worker{asked, given, version};
  if (rank == 0) {
    out = Keeper(std::move(worker), ranks).run();
  } else {
    work_for_others(worker);
  }
  MPI_Finalize();
  return out;
}
