// headway-replay-nccl: runs the lists of `headway replay` by NCCL, a process and a GPU for each
// rank, and records them. Started alone it starts the ranks on its machine.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "../asked.hpp"
#include "base/whole_number.hpp"
#include "device.hpp"
#include "platform/files.hpp"
#include "recording.hpp"
#include "simulate/live/file.hpp"

namespace {

using headway::replay::Asked;
namespace nccl = headway::replay::nccl;

struct AskedOfNccl : Asked {
  std::string record = "replay";  // folder of the recording
  std::string meeting;            // folder in which the ranks meet
  bool starts = false;            // the ranks, whatever the environment says
};

constexpr char kUsage[] =
    "usage: headway-replay-nccl [--start] LIST [--single] [--gemm] [--repeat N] [--warm N] "
    "[--times FILE] [--record DIR] [--meeting DIR]\n"
    "       headway-replay-nccl --libraries [RANKS] [--gemm]   whether NCCL, CUDA and a GPU are "
    "found\n"
    "LIST is written by `headway replay RUN --backend nccl --list FILE`. Under torchrun "
    "--no-python, "
    "mpirun or srun it is one rank; alone, or with --start, it starts them.\n";

int fail(const std::string& why) {
  std::fprintf(stderr, "headway-replay-nccl: %s\n", why.c_str());
  return 2;
}
int fail(const headway::Problems& problems) {
  for (const headway::Problem& problem : problems) {
    const std::string where = headway::where_text(problem);
    fail((where.empty() || where == "replay" ? "" : where + ": ") + problem.message);
  }
  return 2;
}

int run(const AskedOfNccl& asked, const nccl::Place& place, const nccl::NcclPlan& plan,
        const nccl::Libraries& libraries) {
  const char* const met = std::getenv("HEADWAY_MEETING");
  nccl::Meeting meeting(!asked.meeting.empty() ? asked.meeting
                        : met != nullptr       ? met
                                               : asked.record + "/meeting");
  nccl::DeviceRank device(libraries, plan, place, meeting, asked.multiplies);
  nccl::Recording recording(plan, place.rank, libraries.name);
  std::vector<double> seconds;
  for (int i = 0; i < asked.warm + asked.repeat; ++i) {
    const nccl::Repeat repeat = asked.single ? device.single() : device.step();
    if (i < asked.warm) continue;
    recording.step(i - asked.warm, repeat.begin_ns);
    for (std::size_t c = 0; c < repeat.calls.size(); ++c) {
      recording.call(c, repeat.begin_ns + static_cast<std::uint64_t>(repeat.calls[c].start * 1e9),
                     static_cast<std::uint64_t>(repeat.calls[c].duration * 1e9));
    }
    seconds.push_back(repeat.seconds);
  }
  const std::vector<double> longest = device.longest(seconds);
  meeting.clean();
  if (!recording.write(asked.record)) return fail(asked.record + ": cannot be written, or is full");
  const bool writes = place.rank == 0 && !asked.times.empty();
  if (writes && !write_times(asked, place.ranks, libraries.name, longest)) {
    return fail(asked.times + ": cannot be written");
  }
  return 0;
}

int run_all(const AskedOfNccl& asked, char** words) {
  const auto text = headway::read_file(asked.list, headway::kLargestLiveList);
  if (!text) return fail(text.problems());
  auto list = headway::read_list(*text, asked.list);
  if (!list) return fail(list.problems());
  const auto plan = nccl::plan_of(std::move(list).value());
  if (!plan) return fail(plan.problems());
  const auto libraries = nccl::open_libraries(asked.multiplies);
  if (!libraries) return fail(libraries.problems());
  const auto ranks = static_cast<int>(plan->list.ranks.size());
  const auto place = asked.starts ? std::nullopt : nccl::place_of_environment();
  if (!place) return nccl::start_ranks(ranks, words);
  if (place->ranks != ranks) {
    return fail("the list is of " + std::to_string(ranks) + " ranks, and " +
                std::to_string(place->ranks) + " were started");
  }
  return run(asked, *place, *plan, *libraries);
}

// What can be said before a rank is started.
int look_for_libraries(bool multiplies, std::int64_t ranks) {
  const auto found = nccl::open_libraries(multiplies);
  if (!found) return fail(found.problems());
  int devices = 0;
  const int error = found->GetDeviceCount(&devices);
  const std::string elsewhere = ": --list FILE.jsonl writes the list for a machine that has them";
  if (error != 0 || devices == 0) {
    return fail("no GPU is seen here (error " + std::to_string(error) +
                "), of which NCCL needs one for each rank" + elsewhere);
  }
  if (devices < ranks) {
    return fail("is of " + std::to_string(ranks) + " ranks, and " + std::to_string(devices) +
                " GPUs are here, of which NCCL needs one for each" + elsewhere);
  }
  std::printf("%s, %d GPUs\n", found->name.c_str(), devices);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  AskedOfNccl asked;
  if (argc > 1 && std::string_view(argv[1]) == "--libraries") {
    const bool multiplies = std::string_view(argv[argc - 1]) == "--gemm";
    const auto ranks = argc > 2 ? headway::whole_number(argv[2]) : std::nullopt;
    return look_for_libraries(multiplies, ranks.value_or(1));
  }
  // Not for the ranks that it starts.
  if (argc > 1 && std::string_view(argv[1]) == "--start") {
    asked.starts = true;
    argv[1] = argv[0];
    ++argv, --argc;
  }
  if (!headway::replay::read_arguments(
          argc, argv, asked, {{"--record", &asked.record}, {"--meeting", &asked.meeting}})) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  try {
    return run_all(asked, argv);
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}
