#include "ranks.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "base/whole_number.hpp"

namespace headway::replay::nccl {
namespace {

namespace fs = std::filesystem;

std::optional<int> number_in(const char* variable) {
  const char* said = std::getenv(variable);
  const auto number = said == nullptr ? std::nullopt : whole_number(said);
  if (!number || *number < 0 || *number > 1'000'000) return std::nullopt;
  return static_cast<int>(*number);
}

// Under srun with PMI it alone says the place on the machine; a batch script has that of another.
std::optional<int> local_of_srun(int rank) {
  return number_in("SLURM_PROCID") == rank ? number_in("SLURM_LOCALID") : std::nullopt;
}

pid_t start(int rank, int ranks, const std::string& meeting, char** words) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::setenv("RANK", std::to_string(rank).c_str(), 1);
  ::setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
  ::setenv("WORLD_SIZE", std::to_string(ranks).c_str(), 1);
  ::setenv("HEADWAY_MEETING", meeting.c_str(), 1);
  ::execv("/proc/self/exe", words);
  ::_exit(127);
}

int code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::optional<Place> place_of_environment() {
  constexpr std::array<std::array<const char*, 3>, 4> names = {
      {{"RANK", "WORLD_SIZE", "LOCAL_RANK"},
       {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
       {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
       {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"}}};
  for (const auto& [rank, ranks, local] : names) {
    const auto own = number_in(rank), all = number_in(ranks);
    if (!own || !all || *own >= *all) continue;
    return Place{*own, *all, number_in(local).value_or(local_of_srun(*own).value_or(*own))};
  }
  return std::nullopt;
}

int start_ranks(int ranks, char** words) {
  std::string meeting = (fs::temp_directory_path() / "headway-replay-XXXXXX").string();
  if (::mkdtemp(meeting.data()) == nullptr) throw std::runtime_error(meeting + " cannot be made");
  std::vector<pid_t> running;
  int code = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t child = start(rank, ranks, meeting, words);
    if (child > 0) running.push_back(child);
    if (child < 0) code = 1;
  }
  const auto end_all = [&] {
    for (const pid_t other : running) ::kill(other, SIGTERM);
  };
  if (code != 0) end_all();
  while (!running.empty()) {
    int status = 0;
    const pid_t ended = ::wait(&status);
    if (ended < 0) break;
    std::erase(running, ended);
    if (code_of(status) == 0 || code != 0) continue;
    code = code_of(status);
    end_all();
  }
  std::error_code gone;
  fs::remove_all(meeting, gone);
  return code;
}

Meeting::Meeting(std::string folder) : folder_(std::move(folder)) {
  std::error_code there;
  fs::create_directories(folder_, there);
}

void Meeting::give(std::size_t number, const UniqueId& id) {
  const std::string name = folder_ + "/" + std::to_string(number) + ".id", half = name + ".half";
  // One that is left of a run before would join ranks of that one.
  if (fs::exists(name)) throw std::runtime_error(name + " is there: remove it");
  const int file = ::open(half.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  const bool written = file >= 0 && ::write(file, id.bytes, sizeof id.bytes) ==
                                        static_cast<ssize_t>(sizeof id.bytes);
  if (file >= 0) ::close(file);
  std::error_code failed;
  if (written) fs::rename(half, name, failed);
  if (!written || failed) throw std::runtime_error(name + " cannot be written");
  given_.push_back(name);
}

UniqueId Meeting::take(std::size_t number) {
  const std::string name = folder_ + "/" + std::to_string(number) + ".id";
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(10);
  while (std::chrono::steady_clock::now() < until) {
    const int file = ::open(name.c_str(), O_RDONLY);
    if (file < 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    UniqueId id;
    const ssize_t got = ::read(file, id.bytes, sizeof id.bytes);
    ::close(file);
    if (got == static_cast<ssize_t>(sizeof id.bytes)) return id;
  }
  throw std::runtime_error(name + " does not come: do all ranks see that folder (--meeting)?");
}

void Meeting::clean() {
  std::error_code gone;
  for (const std::string& name : given_) fs::remove(name, gone);
  fs::remove(folder_, gone);  // by who is last
}

}  // namespace headway::replay::nccl
