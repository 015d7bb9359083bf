#include "identity.hpp"

#include <limits.h>
#include <stdlib.h>

namespace headway::recorder {
namespace {

int number_of(const char* name) {
  const char* text = ::getenv(name);
  if (text == nullptr || *text == '\0') return -1;
  char* end = nullptr;
  const long number = ::strtol(text, &end, 10);
  return *end == '\0' && number >= 0 && number < INT_MAX ? static_cast<int>(number) : -1;
}

}  // namespace

Ranks ranks_of_launcher() {
  constexpr const char* names[][2] = {{"RANK", "WORLD_SIZE"},
                                      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                      {"SLURM_PROCID", "SLURM_NTASKS"},
                                      {"PMI_RANK", "PMI_SIZE"}};
  for (const auto& [rank, world] : names) {
    const Ranks said{number_of(rank), number_of(world)};
    if (said.rank >= 0) return said;
  }
  return {};
}

}  // namespace headway::recorder
