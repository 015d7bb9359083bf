#include "replay.hpp"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <thread>

#include "base/text.hpp"
#include "programs.hpp"
#include "record.hpp"

namespace headway {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> out;
  for (std::string word; stream >> word;) out.push_back(word);
  return out;
}

std::optional<std::string> beside(const std::string& name) {
  return find_beside({HEADWAY_RECORDER_INSTALLED, HEADWAY_REPLAY_BUILT}, name);
}

std::int64_t cores() {
  return std::max<std::int64_t>(1, std::thread::hardware_concurrency());
}

// Its binary interface: programs of one kind of MPI do not run under another's.
bool is_open_mpi(const std::string& version) {
  return version.find("Open MPI") != std::string::npos ||
         version.find("OpenRTE") != std::string::npos;
}

using Words = std::vector<std::string>;

void add_flags(const ReplayStart& start, Words& words) {
  if (start.single) words.emplace_back("--single");
  if (start.multiplies) words.emplace_back("--gemm");
  for (const auto& [flag, value] :
       {std::pair{"--repeat", std::to_string(start.repeat)},
        std::pair{"--warm", std::to_string(start.warm)}, std::pair{"--times", start.times}}) {
    words.emplace_back(flag);
    words.push_back(value);
  }
}

Result<Words> by_mpi(const ReplayStart& start) {
  Words out = words_of(start.launcher);
  const bool own = !out.empty();
  if (!own) out = {"mpirun", "-np", std::to_string(start.ranks)};
  if (!can_be_run(out.front())) {
    return Problem{FieldName("launcher"),
                   printable(out.front()) +
                       " is not here: install an MPI (apt-get install openmpi-bin), or name what "
                       "starts the ranks (--launcher \"srun -n " +
                       std::to_string(start.ranks) + "\")"};
  }
  // A launcher of a cluster does not say which MPI it starts: that of mpirun.
  std::string version = launcher_version(out.front());
  const bool says = is_open_mpi(version) || version.find("HYDRA") != std::string::npos;
  if (!says && can_be_run("mpirun")) version = launcher_version("mpirun");
  const bool open = is_open_mpi(version);
  const std::string name = std::string("headway-replay-mpi-") + (open ? "openmpi" : "mpich");
  const auto program = beside(name);
  if (!program) {
    return Problem{"replay", name + " is not here: this headway was built without that MPI"};
  }
  if (!own && open) {
    if (start.ranks > cores()) out.emplace_back("--oversubscribe");
    if (::geteuid() == 0) out.emplace_back("--allow-run-as-root");
  }
  out.push_back(*program);
  out.push_back(start.list);
  add_flags(start, out);
  return out;
}

// A script, which records what it calls itself.
Result<Words> by_torch(const ReplayStart& start) {
  Words out = words_of(start.launcher);
  if (out.empty()) out = {"python3"};
  if (!can_be_run(out.front())) {
    return Problem{FieldName("launcher"),
                   printable(out.front()) +
                       " is not here: name the Python that has torch, or what starts it "
                       "(--launcher \"torchrun --nproc-per-node " +
                       std::to_string(start.ranks) + "\")"};
  }
  const auto script = beside("torch/headway_replay_torch.py");
  if (!script) return Problem{"replay", "headway_replay_torch.py is not here"};
  out.insert(out.end(),
             {*script, start.list, "--backend", start.backend, "--record", start.folder});
  add_flags(start, out);
  return out;
}

// Whether a launcher starts Python: then torch has the calls.
bool is_of_python(const std::string& launcher) {
  const Words words = words_of(launcher);
  if (words.empty()) return false;
  const auto name = [](const std::string& word) { return word.substr(word.rfind('/') + 1); };
  const bool starts_programs = std::find(words.begin(), words.end(), "--no-python") != words.end();
  const bool first =
      name(words.front()).starts_with("python") || name(words.front()).starts_with("torchrun");
  return (first || name(words.back()).starts_with("python")) && !starts_programs;
}

// What the program says that it lacks, a line each; none where it lacks nothing.
Problems lacks(const std::string& program, const ReplayStart& start) {
  const Said said = said_by(shell_quoted(program) + " --libraries " + std::to_string(start.ranks) +
                            (start.multiplies ? " --gemm" : ""));
  if (!said.started) return {{"replay", program + " cannot be started"}};
  if (!said.failed) return {};
  Problems missing;
  std::istringstream lines(said.text);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view kName = "headway-replay-nccl: ";
    if (line.starts_with(kName)) line.erase(0, kName.size());
    missing.push_back({"replay", line});
  }
  return missing;
}

// A program that starts its ranks itself where nothing else does, and records what it calls.
Result<Words> by_nccl(const ReplayStart& start) {
  Words out = words_of(start.launcher);
  if (!out.empty() && !can_be_run(out.front())) {
    return Problem{FieldName("launcher"), printable(out.front()) +
                                              " is not here: name what starts the ranks "
                                              "(--launcher \"srun -n " +
                                              std::to_string(start.ranks) + "\")"};
  }
  const auto program = beside("headway-replay-nccl");
  if (!program) return Problem{"replay", "headway-replay-nccl is not here"};
  if (start.here) {
    Problems missing = lacks(*program, start);
    if (!missing.empty()) return missing;
  }
  out.push_back(*program);
  // A batch script and a pod have the environment of a rank, which it would take itself for.
  if (start.here) out.emplace_back("--start");
  out.insert(out.end(), {start.list, "--record", start.folder});
  add_flags(start, out);
  return out;
}

// What comes before the first is dropped.
std::string steps_of(const ReplayStart& start) {
  return "0.." + std::to_string(start.repeat - 1);
}

Result<int> recorded(const ReplayStart& start, const Words& words) {
  RecordOptions options;
  options.output = start.folder;
  options.beside = "replay";
  options.steps = steps_of(start);
  options.quiet = true;
  options.program = words;
  return record(options);
}

Result<ReplayProgram> prepare(const ReplayStart& start) {
  const bool by_recorder = start.backend == "mpi";
  const bool by_script = start.backend == "gloo" || is_of_python(start.launcher);
  auto words = by_recorder ? by_mpi(start) : by_script ? by_torch(start) : by_nccl(start);
  if (!words) return words.problems();
  ReplayProgram out;
  out.shown = shell_line(*words);
  if (!by_recorder) {
    out.run = [words = std::move(words).value()] { return run_program(words); };
    return out;
  }
  out.shown = "headway record -o " + shell_quoted(start.folder) + " --steps " + steps_of(start) +
              " -- " + out.shown;
  out.run = [start, words = std::move(words).value()] { return recorded(start, words); };
  return out;
}

}  // namespace

ReplayStarter replay_starter() {
  return {cores(), prepare};
}

}  // namespace headway
