// The recorder for an MPI of a kind that is not known: nothing can be said of its handles, nor how
// large its types are, and none of its functions is called. Recorded is which function the program
// calls and when, without bytes, groups and how long it took.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <atomic>

#include "../../file/clock.hpp"
#include "../../file/folder.hpp"
#include "../../file/identity.hpp"
#include "../../file/writer.hpp"
#include "../front.hpp"
#include "../functions.hpp"

extern "C" {
extern void* const headway_notes[];
__attribute__((visibility("hidden"))) void* headway_real[headway::recorder::kFunctions];
__attribute__((visibility("hidden"))) void headway_note(unsigned number);
}

namespace headway::recorder {
namespace {

using namespace record_file;

constexpr std::uint8_t kNothing = 255;

// ---- what a call of each row is ----

#define SEND(Name, ...) constexpr std::uint8_t op_##Name = kSend;
#define RECEIVE(Name, ...) constexpr std::uint8_t op_##Name = kReceive;
#define MATCHED RECEIVE
#define EXCHANGE(Name, ...) constexpr std::uint8_t op_##Name = kSendReceive;
#define COLLECTIVE(Name, name, op, ...) constexpr std::uint8_t op_##Name = op;
#define BARRIER COLLECTIVE
#define ONESIDED COLLECTIVE
#define ATOMIC(Name, op, ...) constexpr std::uint8_t op_##Name = op;
#define FILE_CALL(Name, ...) constexpr std::uint8_t op_##Name = kFile;
#define FILE_ORDERED FILE_CALL
#define QUIET(Name, ...) constexpr std::uint8_t op_##Name = kNothing;
#define FILE_BEGIN QUIET
#define WAITING QUIET
#define COMMUNICATOR QUIET
#define COMMUNICATOR_MPI4 QUIET
#define WINDOW QUIET
#define WINDOW_NARROW QUIET
#define OWN QUIET
#define OWN_MPI4 QUIET
#include "../calls.def"

// How often a persistent call starts is not known: MPI_Start names no more than a handle.
enum Form {
  Blocking,
  WithStatus,
  Immediate,
  Enqueued,
  Persistent,
  PersistentWithInfo,
  Waiting,
  Quiet,
  Creating,
  Opening,
  Own
};

const std::uint8_t operations[] = {
#define CALL(row, form, since, function) form <= Enqueued ? op_##row : kNothing,
#include "../forms.def"
#undef CALL
};

// ---- from the first call to the end of the process ----

Settings settings;
pthread_once_t once = PTHREAD_ONCE_INIT;
std::atomic<bool> watching{false};

const char* names() {
  static char text[40 * kFunctions];
  int length = ::snprintf(text, sizeof text, "[");
#define CALL(row, form, since, function)                                                          \
  length += ::snprintf(text + length, sizeof text - static_cast<std::size_t>(length), "%s\"%s\"", \
                       length == 1 ? "" : ",", #function);
#include "../forms.def"
#undef CALL
  ::snprintf(text + length, sizeof text - static_cast<std::size_t>(length), "]");
  return text;
}

void in_child() {
  watching.store(false);
  abandon_file();
}

// Asks no rank: which one this is says the launcher.
void begin() {
  read_settings(settings);
  if (settings.folder[0] == '\0') return;
  const Ranks ranks = ranks_of_launcher();
  const int rank = ranks.rank < 0 ? 0 : ranks.rank;
  const char* why = "";
  int run = 1;
  const bool begun = begin_in_first_free(settings, run, "",
                                         {.rank = rank,
                                          .world = ranks.world < 1 ? 1 : ranks.world,
                                          .host = host_name(),
                                          .library = "an MPI of another kind",
                                          .counts = "not known",
                                          .functions = names()},
                                         why);
  if (!begun) say_not_recorded(settings, rank, why);
  watching.store(begun);
  ::pthread_atfork(nullptr, nullptr, in_child);
}

__attribute__((destructor)) void leave() {
  if (watching.exchange(false)) end_file();
}

RecordedFunction* functions() {
  static RecordedFunction table[kFunctions];
  unsigned at = 0;
#define CALL(row, form, since, function)                         \
  table[at] = {#function, headway_notes[at], &headway_real[at]}; \
  ++at;
#include "../forms.def"
#undef CALL
  return table;
}

}  // namespace
}  // namespace headway::recorder

void headway_note(unsigned number) {
  using namespace headway::recorder;
  ::pthread_once(&once, begin);
  if (!watching.load(std::memory_order_relaxed)) return;
  if (number == kMPI_Finalize) write_now();
  if (number == kMPI_Abort && watching.exchange(false)) end_file();
  const std::uint8_t op = operations[number];
  if (op == kNothing || !is_time_to_record()) return;
  Record record{};
  record.start_ns = ticks();
  record.asked = record.done = op;
  record.flags = kNoBytes | (number + 1) << kFunctionShift;
  put(record);
}

extern "C" __attribute__((visibility("default")))
const headway::recorder::MpiRecorder headway_mpi_recorder = {
    headway::recorder::functions(), headway::recorder::kFunctions, headway::recorder::begin_step};
