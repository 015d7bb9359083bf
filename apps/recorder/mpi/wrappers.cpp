// The rows of calls.def, and the wrappers of all their functions as one table.
#include <stdio.h>

#include <type_traits>

#include "../file/writer.hpp"
#include "front.hpp"
#include "functions.hpp"
#include "own.hpp"
#include "wrap.hpp"

namespace headway::recorder {
namespace {

using namespace record_file;

// ---- the rows ----

#define ROW(Name, made_of, op, counts_, steps_, comes, together, ...) \
  struct Row_##Name {                                                 \
    using Type = made_of;                                             \
    static constexpr std::uint8_t operation = op;                     \
    static constexpr unsigned counts_at = counts_, steps_at = steps_; \
    static constexpr bool receives = comes, collective = together;    \
    static constexpr auto shape = __VA_ARGS__;                        \
  };
#define SEND(Name, name, counts_, ...) \
  ROW(Name, decltype(MPI_##Name), kSend, counts_, 0, false, false, __VA_ARGS__)
#define RECEIVE(Name, name, counts_, ...) \
  ROW(Name, Unstated<decltype(MPI_##Name)>::Type, kReceive, counts_, 0, true, false, __VA_ARGS__)
#define MATCHED RECEIVE
#define EXCHANGE(Name, name, counts_, ...)                                                \
  ROW(Name, Unstated<decltype(MPI_##Name)>::Type, kSendReceive, counts_, 0, false, false, \
      __VA_ARGS__)
#define COLLECTIVE(Name, name, op, counts_, steps_, ...) \
  ROW(Name, decltype(MPI_##Name), op, counts_, steps_, false, true, __VA_ARGS__)
#define BARRIER COLLECTIVE
#define ONESIDED(Name, name, op, counts_, ...) \
  ROW(Name, decltype(MPI_##Name), op, counts_, 0, false, false, __VA_ARGS__)
#define ATOMIC(Name, op, ...) ROW(Name, decltype(MPI_##Name), op, 0, 0, false, false, __VA_ARGS__)
#define FILE_CALL(Name, name, counts_, ...) \
  ROW(Name, Unstated<decltype(MPI_##Name)>::Type, kFile, counts_, 0, false, false, __VA_ARGS__)
#define FILE_ORDERED(Name, counts_, ...) FILE_CALL(Name, , counts_, __VA_ARGS__)
#define QUIET(Name) ROW(Name, decltype(MPI_##Name), kOther, 0, 0, false, false, 0)
#define FILE_BEGIN(Name, counts_) \
  ROW(Name, decltype(MPI_##Name), kOther, counts_, 0, false, false, 0)
#define WAITING(Name) ROW(Name, decltype(MPI_##Name), kWait, 0, 0, false, false, 0)
#define COMMUNICATOR(Name) COMMUNICATOR_MPI4(Name, decltype(MPI_##Name))
#define COMMUNICATOR_MPI4(Name, made_of) ROW(Name, made_of, kOther, 0, 0, false, false, 0)
#define WINDOW(Name, steps_, at)                                \
  struct Row_##Name {                                           \
    using Type = decltype(MPI_##Name);                          \
    static constexpr unsigned counts_at = 0, steps_at = steps_; \
    static constexpr int communicator_at = at;                  \
  };
#define WINDOW_NARROW(Name, at) WINDOW(Name, steps(), at)
#define OWN(Name)
#define OWN_MPI4(Name)
#include "calls.def"

// ---- the table ----

template <class Wrapper>
RecordedFunction entry(const char* name) {
  return {name, reinterpret_cast<void*>(&Wrapper::call), reinterpret_cast<void**>(&Wrapper::real)};
}

// The form of a row; of OWN the function itself.
#define MADE(form, row, width, function) form<Row_##row, k##function, List<Row_##row, Width::width>>
#define FORM_Blocking(...) MADE(Blocking, __VA_ARGS__)
#define FORM_WithStatus(...) MADE(WithStatus, __VA_ARGS__)
#define FORM_Immediate(...) MADE(Immediate, __VA_ARGS__)
#define FORM_Persistent(...) MADE(Persistent, __VA_ARGS__)
#define FORM_PersistentWithInfo(...) MADE(PersistentWithInfo, __VA_ARGS__)
#define FORM_Enqueued(...) MADE(Enqueued, __VA_ARGS__)
#define FORM_Waiting(...) MADE(Waiting, __VA_ARGS__)
#define FORM_Quiet(...) MADE(Quiet, __VA_ARGS__)
#define FORM_Creating(...) MADE(Creating, __VA_ARGS__)
#define FORM_Opening(...) MADE(Opening, __VA_ARGS__)
#define FORM_Own(row, width, function) own::row

const RecordedFunction functions[] = {
#define CALL(row, form, width, function) entry<FORM_##form(row, width, function)>(#function),
#include "forms.def"
#undef CALL
};
static_assert(sizeof functions / sizeof functions[0] == kFunctions);

}  // namespace

const char* function_names() {
  static char names[32 * kFunctions];
  int length = ::snprintf(names, sizeof names, "[");
  for (const RecordedFunction& function : functions) {
    length += ::snprintf(names + length, sizeof names - static_cast<std::size_t>(length),
                         "%s\"%s\"", length == 1 ? "" : ",", function.name);
  }
  ::snprintf(names + length, sizeof names - static_cast<std::size_t>(length), "]");
  return names;
}

}  // namespace headway::recorder

extern "C" __attribute__((visibility("default")))
const headway::recorder::MpiRecorder headway_mpi_recorder = {
    headway::recorder::functions, headway::recorder::kFunctions, headway::recorder::begin_step};
