#include "members.hpp"

#include <stdio.h>

#include "../file/folder.hpp"
#include "../file/identity.hpp"

namespace headway::recorder::nccl {
namespace {

Settings settings;
int world = 1;

// The ranks that this process is, a device each; the first is that of the file.
struct Local {
  int device;
  int rank;  // in the world, -1: not known
};
Local locals[record_file::kMostLocals];
std::uint32_t local_count = 0;

void say(const char* form, auto... values) {
  char text[256];
  const int length = ::snprintf(text, sizeof text, form, values...);
  put_text(text, static_cast<std::size_t>(length));
}

}  // namespace

bool begin_member_file(int size, int rank, const char* library, const char* functions) {
  read_settings(settings);
  if (settings.folder[0] == '\0') return false;
  // Where fewer processes were launched than there are ranks, a process is several: the launcher
  // does not say which.
  Ranks ranks = ranks_of_launcher();
  if (ranks.rank < 0 || (ranks.world >= 0 && ranks.world < size)) ranks = {rank, size};
  world = ranks.world < 0 ? size : ranks.world;
  const Identity identity{.rank = ranks.rank,
                          .world = world,
                          .host = host_name(),
                          .library = library,
                          .counts = "the whole tensor; all-to-all: what a rank sends in all",
                          .functions = functions};
  const char* why = "";
  int run = 1;
  if (!begin_in_first_free(settings, run, ".nccl", identity, why)) {
    say_not_recorded(settings, identity.rank, why);
    return false;
  }
  locals[0] = {-1, identity.rank};
  local_count = 1;
  return true;
}

std::uint32_t local_of(int device, int size, int rank) {
  if (device < 0) return 0;
  if (locals[0].device < 0) locals[0].device = device;
  for (std::uint32_t i = 0; i < local_count; ++i) {
    if (locals[i].device == device) return i;
  }
  if (local_count == record_file::kMostLocals) return 0;
  const std::uint32_t local = local_count++;
  locals[local] = {device, size == world ? rank : -1};
  if (size == world) {
    say("{\"local\":%u,\"rank\":%d}", local, rank);
  } else {
    say("{\"local\":%u,\"device\":%d}", local, device);
  }
  return local;
}

bool is_one_rank() {
  return local_count <= 1;
}

void tell_member(std::uint32_t number, int size, int rank, std::uint32_t local) {
  const int own = locals[local].rank;
  if (size > 0 && own >= 0) {
    say("{\"group\":%u,\"size\":%d,\"member\":%d,\"rank\":%d}", number, size, rank, own);
  } else if (size > 0) {
    say("{\"group\":%u,\"size\":%d}", number, size);
  } else if (own >= 0) {
    say("{\"group\":%u,\"member\":%d,\"rank\":%d}", number, rank, own);
  }
}

void end_member_file() {
  end_file();
  say_if_no_step_was_marked(settings, locals[0].rank);
}

}  // namespace headway::recorder::nccl
