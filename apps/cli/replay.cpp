#include "replay.hpp"

#include <unistd.h>

#include <optional>
#include <sstream>
#include <thread>

#include "base/text.hpp"
#include "beside.hpp"
#include "record.hpp"

namespace headway {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> out;
  for (std::string word; stream >> word;) out.push_back(word);
  return out;
}

bool can_be_run(const std::string& word) {
  if (word.find('/') != std::string::npos) return ::access(word.c_str(), X_OK) == 0;
  std::istringstream folders(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/" + word).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::optional<std::string> beside(const std::string& name) {
  return find_beside({HEADWAY_REPLAY_BUILT, HEADWAY_RECORDER_INSTALLED}, name);
}

std::int64_t cores() {
  return std::max<std::int64_t>(1, std::thread::hardware_concurrency());
}

// Its binary interface: programs of one kind of MPI do not run under another's.
bool is_open_mpi(const std::string& version) {
  return version.find("Open MPI") != std::string::npos ||
         version.find("OpenRTE") != std::string::npos;
}

struct Started {
  std::vector<std::string> words;
};

void add_flags(const ReplayStart& start, std::vector<std::string>& words) {
  if (start.single) words.emplace_back("--single");
  if (start.multiplies) words.emplace_back("--gemm");
  for (const auto& [flag, value] :
       {std::pair{"--repeat", std::to_string(start.repeat)},
        std::pair{"--warm", std::to_string(start.warm)}, std::pair{"--times", start.times}}) {
    words.emplace_back(flag);
    words.push_back(value);
  }
}

Result<Started> by_mpi(const ReplayStart& start) {
  Started out{words_of(start.launcher)};
  const bool own = !out.words.empty();
  if (!own) out.words = {"mpirun", "-np", std::to_string(start.ranks)};
  if (!can_be_run(out.words.front())) {
    return Problem{FieldName("launcher"),
                   printable(out.words.front()) +
                       " is not here: install an MPI (apt-get install openmpi-bin), or name what "
                       "starts the ranks (--launcher \"srun -n " +
                       std::to_string(start.ranks) + "\")"};
  }
  // A launcher of a cluster does not say which MPI it starts: that of mpirun.
  std::string version = launcher_version(out.words.front());
  const bool says = is_open_mpi(version) || version.find("HYDRA") != std::string::npos;
  if (!says && can_be_run("mpirun")) version = launcher_version("mpirun");
  const bool open = is_open_mpi(version);
  const std::string name = std::string("headway-replay-mpi-") + (open ? "openmpi" : "mpich");
  const auto program = beside(name);
  if (!program) {
    return Problem{"replay", name + " is not here: this headway was built without that MPI"};
  }
  if (!own && open) {
    if (start.ranks > cores()) out.words.emplace_back("--oversubscribe");
    if (::geteuid() == 0) out.words.emplace_back("--allow-run-as-root");
  }
  out.words.push_back(*program);
  out.words.push_back(start.list);
  add_flags(start, out.words);
  return out;
}

// A script, which records what it calls itself.
Result<Started> by_torch(const ReplayStart& start) {
  Started out{words_of(start.launcher)};
  if (out.words.empty()) out.words = {"python3"};
  if (!can_be_run(out.words.front())) {
    return Problem{FieldName("launcher"),
                   printable(out.words.front()) +
                       " is not here: name the Python that has torch, or what starts it "
                       "(--launcher \"torchrun --nproc-per-node " +
                       std::to_string(start.ranks) + "\")"};
  }
  const auto script = beside("torch/headway_replay_torch.py");
  if (!script) return Problem{"replay", "headway_replay_torch.py is not here"};
  out.words.insert(out.words.end(),
                   {*script, start.list, "--backend", start.backend, "--record", start.folder});
  add_flags(start, out.words);
  return out;
}

Result<Started> started(const ReplayStart& start) {
  return start.backend == "mpi" ? by_mpi(start) : by_torch(start);
}

// What comes before the first is dropped.
std::string steps_of(const ReplayStart& start) {
  return "0.." + std::to_string(start.repeat - 1);
}

Result<int> run(const ReplayStart& start) {
  auto made = started(start);
  if (!made) return made.problems();
  if (start.backend != "mpi") return run_program(made->words);
  RecordOptions options;
  options.output = start.folder;
  options.beside = "replay";
  options.steps = steps_of(start);
  options.quiet = true;
  options.program = std::move(made->words);
  return record(options);
}

std::string quoted(const std::string& word) {
  const bool plain = word.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                         "-_./=:,+@") == std::string::npos;
  if (plain && !word.empty()) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

Result<std::string> shown(const ReplayStart& start) {
  const auto made = started(start);
  if (!made) return made.problems();
  std::string out;
  if (start.backend == "mpi") {
    out = "headway record -o " + quoted(start.folder) + " --steps " + steps_of(start) + " -- ";
  }
  std::string words;
  for (const std::string& word : made->words) words += (words.empty() ? "" : " ") + quoted(word);
  return out + words;
}

}  // namespace

ReplayStarter replay_starter() {
  return {cores(), run, shown};
}

}  // namespace headway
