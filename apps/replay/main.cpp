// headway-replay-mpi: runs the lists of `headway replay` by MPI, a process for each rank, under the
// recorder or without. What it measures itself is how long each repeat took.
#include <headway/record.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "asked.hpp"
#include "engine.hpp"
#include "mpi.hpp"
#include "seal.hpp"
#include "simulate/live/file.hpp"
#include "unseen.hpp"

namespace {

using headway::LiveList;
using headway::replay::Asked;
using headway::replay::Compute;
using headway::replay::Engine;
using headway::replay::MpiTransport;
namespace unseen = headway::replay::unseen;

constexpr char kUsage[] =
    "usage: mpirun -np RANKS headway-replay-mpi LIST [--single] [--gemm] [--repeat N] [--warm N] "
    "[--times FILE]\n"
    "LIST is written by `headway replay RUN --list FILE`.\n";

// Of rank 0, for all.
std::string text_of(const std::string& path, int rank) {
  std::string text;
  if (rank == 0) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream all;
    all << file.rdbuf();
    text = all.str();
    if (!file) std::fprintf(stderr, "headway-replay-mpi: %s: cannot be read\n", path.c_str());
  }
  auto size = static_cast<unsigned long long>(text.size());
  unseen::broadcast(&size, 1, MPI_UNSIGNED_LONG_LONG);
  text.resize(size);
  constexpr unsigned long long kPiece = 1 << 30;
  for (unsigned long long at = 0; at < size; at += kPiece) {
    unseen::broadcast(text.data() + at, static_cast<int>(std::min(kPiece, size - at)), MPI_CHAR);
  }
  return text;
}

std::string library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string all = text;
  return all.substr(0, all.find_first_of("\n,"));
}

// The longest of all ranks for each repeat.
std::vector<double> repeat(const Asked& asked, Engine& engine, MpiTransport& transport) {
  std::vector<double> own, out;
  for (int i = 0; i < asked.warm + asked.repeat; ++i) {
    if (i >= asked.warm) headway_step();
    transport.meet();
    const auto begin = std::chrono::steady_clock::now();
    asked.single ? engine.single() : engine.step();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (i >= asked.warm) own.push_back(taken.count());
  }
  out.resize(own.size());
  unseen::largest(own.data(), out.data(), static_cast<int>(own.size()));
  return out;
}

int run(const Asked& asked, int rank, int ranks) {
  const auto fail = [&](const std::string& why) {
    if (rank == 0) std::fprintf(stderr, "headway-replay-mpi: %s\n", why.c_str());
    return 2;
  };
  const std::string text = text_of(asked.list, rank);
  const auto list = headway::read_list(text, asked.list);
  if (!list) {
    for (const headway::Problem& problem : list.problems()) {
      fail(headway::where_text(problem) + ": " + problem.message);
    }
    return 2;
  }
  if (static_cast<std::size_t>(ranks) != list->ranks.size()) {
    return fail("the list is of " + std::to_string(list->ranks.size()) + " ranks, and " +
                std::to_string(ranks) + " were started: mpirun -np " +
                std::to_string(list->ranks.size()));
  }
  if (const std::string why = headway::replay::not_by_mpi(*list); !why.empty()) return fail(why);
  const auto& items = list->ranks[static_cast<std::size_t>(rank)];
  MpiTransport transport(*list, rank);
  Compute compute(asked.multiplies, items);
  Engine engine(items, transport, compute);
  const std::vector<double> seconds = repeat(asked, engine, transport);
  const bool writes = rank == 0 && !asked.times.empty();
  if (writes && !headway::replay::write_times(asked, ranks, library(), seconds)) {
    return fail(asked.times + ": cannot be written");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Asked asked;
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int code = 2;
  if (headway::replay::read_arguments(argc, argv, asked)) {
    try {
      code = run(asked, rank, ranks);
    } catch (const std::bad_alloc&) {
      std::fprintf(stderr, "headway-replay-mpi: rank %d has no memory for the calls of its list\n",
                   rank);
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
  } else if (rank == 0) {
    std::fputs(kUsage, stderr);
  }
  MPI_Finalize();  // which ends the recording
  const char* const recording = std::getenv("HEADWAY_RECORD");
  if (code == 0 && recording != nullptr) {
    const std::string file = std::string(recording) + "/rank" + std::to_string(rank) + ".hwr";
    if (!headway::replay::seal_calls(file, asked.single)) {
      std::fprintf(stderr, "headway-replay-mpi: %s: cannot be ended\n", file.c_str());
      return 2;
    }
  }
  return code;
}
