#include "record.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "base/written_count.hpp"
#include "programs.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;

// What the library before the program shows: functions of MPI 3, of MPI 4, and with wide counts.
constexpr std::array<std::string_view, 3> kLevels = {"3", "4", "4c"};

// As apps/recorder/file/settings.hpp has them, which the program's side reads; a test compares.
constexpr std::array<std::string_view, 15> kOperations = {
    "all_reduce",   "all_gather", "reduce_scatter", "all_to_all", "broadcast",
    "send_receive", "send",       "receive",        "reduce",     "gather",
    "scatter",      "barrier",    "other",          "wait",       "file"};

// NCCL keeps a plugin's name in 255 bytes (src/plugin/plugin_open.cc).
constexpr std::size_t kLongestPlugin = 254;

struct Variable {
  std::string name, value;
};

std::optional<std::string> recorder_library(const std::string& name) {
  return find_beside({HEADWAY_RECORDER_INSTALLED, HEADWAY_RECORDER_BUILT}, name);
}

// Python runs a file of this name at its start, where its folder is in PYTHONPATH.
std::optional<std::string> recorder_of_python() {
  const auto start =
      find_beside({HEADWAY_PYTHON_INSTALLED, HEADWAY_PYTHON_BUILT}, "sitecustomize.py");
  if (!start) return std::nullopt;
  return fs::path(*start).parent_path().string();
}

// A variable that lists paths, with one more before those that are there.
Variable with_before(const char* name, const std::string& path) {
  const char* before = std::getenv(name);
  if (before == nullptr || *before == '\0') return {name, path};
  return {name, path + ":" + before};
}

}  // namespace

std::string launcher_version(const std::string& launcher) {
  return said_by(shell_quoted(launcher) + " --version").text;
}

namespace {

// MPICH has wide counts since 4.0, OpenMPI the rest of MPI 4's calls since 5.0. Of others what
// every MPI has: a program must not find a function that its MPI lacks.
std::string level_of(const std::vector<std::string>& program) {
  for (const std::string& word : program) {
    const std::string name = fs::path(word).filename().string();
    if (!name.starts_with("mpirun") && !name.starts_with("mpiexec")) continue;
    const std::string said = launcher_version(word);
    const std::size_t hydra = said.find("HYDRA"), version = said.find("Version:", hydra);
    if (hydra != std::string::npos && version != std::string::npos) {
      return std::atoi(said.c_str() + version + 8) >= 4 ? "4c" : "3";
    }
    const std::string_view open = "(Open MPI) ";
    const std::size_t at = said.find(open);
    return at != std::string::npos && std::atoi(said.c_str() + at + open.size()) >= 5 ? "4" : "3";
  }
  return "3";
}

void read_steps(const std::string& text, std::vector<Variable>& out, Problems& problems) {
  if (text.empty()) return;
  const std::size_t dots = text.find("..");
  const auto first = written_count(text.substr(0, dots));
  const auto last = dots == std::string::npos ? first : written_count(text.substr(dots + 2));
  if (!first || !last || *first < 0 || *last < *first) {
    problems.push_back(
        {FieldName("steps"), "'" + printable(text) + "' is no range of steps; as 10..20, or 10"});
    return;
  }
  out.push_back({"HEADWAY_RECORD_STEPS", std::to_string(*first) + ".." + std::to_string(*last)});
}

void read_bytes(const char* flag, const char* variable, const std::string& text,
                std::vector<Variable>& out, Problems& problems) {
  if (text.empty()) return;
  const auto bytes = parse_quantity<Bytes>(text, FieldName(flag));
  if (!bytes) return append(problems, bytes.problems());
  out.push_back({variable, std::to_string(static_cast<std::uint64_t>(bytes->value()))});
}

void read_operations(const std::string& text, std::vector<Variable>& out, Problems& problems) {
  if (text.empty()) return;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view name = std::string_view(text).substr(at, end - at);
    at = end + 1;
    if (std::find(kOperations.begin(), kOperations.end(), name) == kOperations.end()) {
      problems.push_back(
          {FieldName("ops"),
           not_known(name, std::vector<std::string>(kOperations.begin(), kOperations.end())),
           Trouble::unknown});
    }
  }
  out.push_back({"HEADWAY_RECORD_OPS", text});
}

// One of the names, or the first where none is given.
std::string read_choice(const char* flag, const std::string& text,
                        const std::vector<std::string>& names, Problems& problems) {
  if (text.empty()) return names.front();
  if (std::find(names.begin(), names.end(), text) != names.end()) return text;
  problems.push_back({FieldName(flag), not_known(text, names), Trouble::unknown});
  return names.front();
}

// How NCCL's calls are recorded: the library that stands before the program, if any.
std::optional<std::string> read_nccl(const RecordOptions& options, std::vector<Variable>& out,
                                     Problems& problems) {
  const std::string how = read_choice("nccl", options.nccl, {"calls", "plugin", "off"}, problems);
  const std::string usual = how == "plugin" ? "off" : "on", other = how == "plugin" ? "on" : "off";
  const std::string times =
      read_choice("device-times", options.device_times, {usual, other}, problems);
  if (how == "off") {
    if (!options.device_times.empty()) {
      problems.push_back({FieldName("device-times"), "says nothing with --nccl off"});
    }
    return std::nullopt;
  }
  const std::string name = how == "plugin" ? "libnccl-profiler-headway.so" : "libheadway_nccl.so";
  const auto library = recorder_library(name);
  if (!library) {
    if (!options.nccl.empty()) {
      problems.push_back({FieldName("nccl"), "its library (" + name + ") is not here"});
    }
    return std::nullopt;
  }
  out.push_back({"HEADWAY_RECORD_DEVICE_TIMES", times});
  if (how == "calls") return library;
  if (const char* set = std::getenv("NCCL_PROFILER_PLUGIN"); set != nullptr && *set != '\0') {
    problems.push_back(
        {FieldName("nccl"), "NCCL_PROFILER_PLUGIN is set to '" + printable(set) +
                                "' already, and NCCL loads one plugin; take --nccl calls"});
  }
  if (library->size() > kLongestPlugin) {
    problems.push_back({FieldName("nccl"), "NCCL reads no more than " +
                                               std::to_string(kLongestPlugin) +
                                               " characters of a plugin's path: " + *library});
  }
  out.push_back({"NCCL_PROFILER_PLUGIN", *library});
  return library;  // before the program, too: it finds headway_step there
}

// Every copy of NVTX in the program loads the library that is named so.
void read_step_range(const std::string& name, std::vector<Variable>& out, Problems& problems) {
  if (name.empty()) return;
  const auto library = recorder_library("libheadway_nvtx.so");
  const char* other = std::getenv("NVTX_INJECTION64_PATH");
  if (!library) {
    problems.push_back({FieldName("step-range"), "its library (libheadway_nvtx.so) is not here"});
    return;
  }
  if (other != nullptr && *other != '\0') {
    problems.push_back({FieldName("step-range"), "NVTX_INJECTION64_PATH names another tool, '" +
                                                     printable(other) + "', and NVTX has one"});
    return;
  }
  out.push_back({"HEADWAY_RECORD_STEP_RANGE", name});
  out.push_back({"NVTX_INJECTION64_PATH", *library});
}

void check_folder(const std::string& folder, const std::string& beside, Problems& problems) {
  std::error_code error;
  if (!fs::exists(folder, error)) {
    fs::create_directories(folder, error);
    if (error) problems.push_back({FieldName("output"), folder + ": " + error.message()});
    return;
  }
  if (!fs::is_directory(folder, error)) {
    problems.push_back({FieldName("output"), folder + " is no folder"});
    return;
  }
  const auto entries = fs::directory_iterator(folder, error);
  if (std::any_of(begin(entries), end(entries),
                  [&](const auto& entry) { return entry.path().filename() != beside; })) {
    problems.push_back(
        {FieldName("output"), folder + " is not empty: a recording stands alone; name another"});
  }
}

// OpenMPI starts processes on other machines with the variables that it is told of. Where the
// command names some itself (-x), it has to name these as well: OpenMPI takes one list or the
// other.
void pass_on(const std::vector<std::string>& program, std::vector<Variable>& out) {
  if (std::find(program.begin(), program.end(), "-x") != program.end()) return;
  if (std::getenv("OMPI_MCA_mca_base_env_list") != nullptr) return;
  std::string list;
  for (const Variable& variable : out) list += (list.empty() ? "" : ";") + variable.name;
  out.push_back({"OMPI_MCA_mca_base_env_list", list});
}

// What is sent to us is meant for it, too; what a terminal sends goes to both.
volatile sig_atomic_t child = 0;
void send_on(int signal) {
  if (child > 0) ::kill(static_cast<pid_t>(child), signal);
}

int run(const std::vector<std::string>& program, const std::vector<Variable>& variables) {
  std::vector<char*> words;
  for (const std::string& word : program) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t started = ::fork();
  if (started < 0) return -1;
  if (started == 0) {
    for (const Variable& variable : variables) {
      ::setenv(variable.name.c_str(), variable.value.c_str(), 1);
    }
    ::execvp(words.front(), words.data());
    std::fprintf(stderr, "headway: %s: %s\n", words.front(), std::strerror(errno));
    ::_exit(errno == ENOENT ? 127 : 126);
  }
  child = started;
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGQUIT, SIG_IGN);
  ::signal(SIGTERM, send_on);
  ::signal(SIGHUP, send_on);
  int status = 0;
  while (::waitpid(started, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// How many ranks left a file, and in how many runs of the program.
std::string summary(const std::string& folder) {
  std::size_t files = 0, runs = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory()) ++runs;
    if (entry.path().extension() == ".hwr") ++files;
  }
  if (files == 0) {
    return "headway record: nothing was recorded: neither MPI nor NCCL was used from a library of "
           "its own (libmpi.so, libnccl.so), nor was torch.distributed started\n";
  }
  std::string out = "headway record: " + std::to_string(files) + (files == 1 ? " file" : " files") +
                    " in " + folder;
  if (runs > 0) out += ", of later starts in " + std::to_string(runs) + " more in it";
  return out + "; read it with: headway comms " + folder + "\n";
}

}  // namespace

Result<int> run_program(const std::vector<std::string>& program) {
  const int code = run(program, {});
  if (code < 0)
    return Problem{printable(program.front()), std::string("no process: ") + std::strerror(errno)};
  return code;
}

Result<int> record(const RecordOptions& options) {
  Problems problems;
  std::vector<Variable> variables;
  read_steps(options.steps, variables, problems);
  read_bytes("min-bytes", "HEADWAY_RECORD_MIN_BYTES", options.min_bytes, variables, problems);
  read_bytes("rotate", "HEADWAY_RECORD_ROTATE", options.rotate, variables, problems);
  read_operations(options.operations, variables, problems);
  read_step_range(options.step_range, variables, problems);
  std::string level = options.mpi;
  if (level.empty()) level = level_of(options.program);
  if (std::find(kLevels.begin(), kLevels.end(), level) == kLevels.end()) {
    problems.push_back({FieldName("mpi"),
                        not_known(level, std::vector<std::string>(kLevels.begin(), kLevels.end())),
                        Trouble::unknown});
    level = kLevels.front();
  }
  const auto mpi = recorder_library("libheadway_mpi" + level + ".so");
  if (!mpi && !options.mpi.empty() && problems.empty()) {
    problems.push_back(
        {FieldName("mpi"), "its library (libheadway_mpi" + level +
                               ".so) is not here: this headway was built without MPI"});
  }
  const auto nccl = read_nccl(options, variables, problems);
  const auto python = recorder_of_python();
  if (!mpi && !nccl && !python) {
    problems.push_back({"record",
                        "nothing can be recorded: neither the libraries of this headway "
                        "(libheadway_mpi" +
                            level +
                            ".so, libheadway_nccl.so) nor that of Python are here: they come with "
                            "make install and the Debian package"});
  }
  if (problems.empty()) check_folder(options.output, options.beside, problems);
  if (!problems.empty()) return problems;

  // NCCL's first: it passes a step's mark on.
  std::string preloaded = nccl.value_or("");
  if (mpi) preloaded += (preloaded.empty() ? "" : ":") + *mpi;
  if (!preloaded.empty()) variables.push_back(with_before("LD_PRELOAD", preloaded));
  if (python) variables.push_back(with_before("PYTHONPATH", *python));
  variables.push_back({"HEADWAY_RECORD", fs::absolute(options.output).lexically_normal().string()});
  pass_on(options.program, variables);
  const int code = run(options.program, variables);
  if (code < 0) return Problem{"record", std::string("no process: ") + std::strerror(errno)};
  if (!options.quiet) std::fputs(summary(options.output).c_str(), stderr);
  return code;
}

}  // namespace headway
