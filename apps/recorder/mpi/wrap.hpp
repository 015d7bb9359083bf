// The wrappers of the rows of calls.def, made from the type of the blocking function: an immediate
// form takes a request behind its arguments, a wide one has MPI_Count for int.
#pragma once

#include <cstdint>

#include "requests.hpp"
#include "session.hpp"
#include "shape.hpp"

namespace headway::recorder {

constexpr unsigned counts() {
  return 0;
}
template <class... Number>
constexpr unsigned counts(Number... numbers) {
  return ((1u << numbers) | ...);
}
template <class... Number>
constexpr unsigned steps(Number... numbers) {
  return counts(numbers...);
}

template <class... A>
struct Arguments {};

// ---- the arguments of a form ----

template <class T, class As>
struct Widened {
  using Type = As;
};
template <class T, class As>
struct Widened<const T*, As> {
  using Type = const As*;
};

enum class Width { narrow, mpi4 = narrow, wide };

template <class Row, Width width, unsigned i, class A>
struct Argument {
  using Type = A;
};
template <class Row, unsigned i, class A>
requires(((Row::counts_at | Row::steps_at) >> i & 1) != 0) struct Argument<Row, Width::wide, i, A> {
  using Type =
      Widened<A, std::conditional_t<(Row::counts_at >> i & 1) != 0, MPI_Count, MPI_Aint>>::Type;
};

template <class Row, Width width, class Numbers, class Type>
struct ArgumentsOf;
template <class Row, Width width, std::size_t... i, class... A>
struct ArgumentsOf<Row, width, std::index_sequence<i...>, int(A...)> {
  using List = Arguments<typename Argument<Row, width, i, A>::Type...>;
};

template <class Type>
struct Blocking_;
template <class... A>
struct Blocking_<int(A...)> {
  using Type = int(A...);
  static constexpr std::size_t count = sizeof...(A);
};

// Without the status at its end.
template <class Done, class... A>
struct WithoutLast;
template <class... D, class Last>
struct WithoutLast<Arguments<D...>, Last> {
  using Type = int(D...);
};
template <class... D, class First, class Second, class... A>
struct WithoutLast<Arguments<D...>, First, Second, A...> {
  using Type = typename WithoutLast<Arguments<D..., First>, Second, A...>::Type;
};
template <class Type>
struct Unstated;
template <class... A>
struct Unstated<int(A...)> {
  using Type = typename WithoutLast<Arguments<>, A...>::Type;
};

template <class Row, Width width>
using List =
    typename ArgumentsOf<Row, width, std::make_index_sequence<Blocking_<typename Row::Type>::count>,
                         typename Row::Type>::List;

// ---- what is recorded ----

inline record_file::Record record_of(const Shape& shape, std::uint8_t op, unsigned function) {
  record_file::Record record{};
  record.bytes = shape.bytes;
  record.asked = record.done = op;
  record.type = number_of(shape.type).number;
  record.group = shape.group->number;
  record.peer = shape.peer;
  record.stream = static_cast<std::uint32_t>(shape.tag);
  record.flags = shape.flags | (function + 1) << record_file::kFunctionShift;
  return record;
}

inline void put_call(record_file::Record& record, Group* group, bool collective,
                     std::uint64_t start, std::uint64_t end, std::uint8_t time) {
  // Counted in every step, so that all ranks count alike.
  if (collective) {
    record.sequence = group->collectives.fetch_add(1, std::memory_order_relaxed);
    record.flags |= record_file::kSequence;
  }
  if (!is_time_to_record()) return;
  record.start_ns = start;
  record.duration_ns = end > start ? end - start : 1;
  record.time = time;
  put(record);
}

inline void put_wait(unsigned function, std::uint64_t start, std::uint64_t end,
                     std::uint64_t requests) {
  if (!is_time_to_record()) return;
  record_file::Record record{};
  record.start_ns = start;
  record.duration_ns = end > start ? end - start : 1;
  record.bytes = requests;
  record.asked = record.done = record_file::kWait;
  record.time = record_file::kHost;
  record.flags = (function + 1) << record_file::kFunctionShift;
  put(record);
}

// ---- the forms; `real` is the library's function ----

// enqueued: it may go on after it returned, as what is one-sided does.
template <class Row, unsigned function, bool enqueued, class L>
struct Returning;
template <class Row, unsigned function, bool enqueued, class... A>
struct Returning<Row, function, enqueued, Arguments<A...>> {
  inline static int (*real)(A...) = nullptr;
  static int call(A... a) {
    const Inside inside;
    if (!inside.watched()) return real(a...);
    const std::uint64_t start = ticks();
    const int result = real(a...);
    const std::uint64_t end = ticks();
    if (result != MPI_SUCCESS) return result;
    const Shape shape = Row::shape(a...);
    record_file::Record record = record_of(shape, Row::operation, function);
    if (enqueued) record.stream = 0;
    put_call(record, shape.group, Row::collective, start, end,
             enqueued ? record_file::kEnqueue : record_file::kHost);
    return result;
  }
};
template <class Row, unsigned function, class L>
using Blocking = Returning<Row, function, false, L>;
template <class Row, unsigned function, class L>
using Enqueued = Returning<Row, function, true, L>;

template <class Row, unsigned function, class L>
struct WithStatus;
template <class Row, unsigned function, class... A>
struct WithStatus<Row, function, Arguments<A...>> {
  inline static int (*real)(A..., MPI_Status*) = nullptr;
  static int call(A... a, MPI_Status* status) {
    const Inside inside;
    if (!inside.watched()) return real(a..., status);
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE) status = &own;
    const std::uint64_t start = ticks();
    const int result = real(a..., status);
    const std::uint64_t end = ticks();
    if (result != MPI_SUCCESS) return result;
    const Shape shape = Row::shape(a...);
    record_file::Record record = record_of(shape, Row::operation, function);
    if (Row::receives) set_received(record, *status);
    put_call(record, shape.group, false, start, end, record_file::kHost);
    return result;
  }
};

// A call that is closed when it is waited for.
template <class Row, unsigned function>
Posted posted(const Shape& shape) {
  return {.record = record_of(shape, Row::operation, function),
          .group = shape.group,
          .receives = Row::receives,
          .collective = Row::collective};
}

template <class Row, unsigned function, class L>
struct Immediate;
template <class Row, unsigned function, class... A>
struct Immediate<Row, function, Arguments<A...>> {
  inline static int (*real)(A..., MPI_Request*) = nullptr;
  static int call(A... a, MPI_Request* request) {
    const Inside inside;
    if (!inside.watched()) return real(a..., request);
    const std::uint64_t start = ticks();
    const int result = real(a..., request);
    if (result != MPI_SUCCESS) return result;
    Posted call = posted<Row, function>(Row::shape(a...));
    call.record.start_ns = start;
    post(*request, call);
    return result;
  }
};

// One that is started later, and again.
template <class Row, unsigned function>
void prepare(const Shape& shape, MPI_Request request) {
  Posted call = posted<Row, function>(shape);
  call.persistent = true;
  post(request, call);
}

// Info: what stands before the request.
template <class Row, unsigned function, class L, class... Info>
struct Prepared;
template <class Row, unsigned function, class... A, class... Info>
struct Prepared<Row, function, Arguments<A...>, Info...> {
  inline static int (*real)(A..., Info..., MPI_Request*) = nullptr;
  static int call(A... a, Info... info, MPI_Request* request) {
    const Inside inside;
    const int result = real(a..., info..., request);
    if (!inside.watched() || result != MPI_SUCCESS) return result;
    prepare<Row, function>(Row::shape(a...), *request);
    return result;
  }
};
template <class Row, unsigned function, class L>
using Persistent = Prepared<Row, function, L>;
template <class Row, unsigned function, class L>
using PersistentWithInfo = Prepared<Row, function, L, MPI_Info>;

template <class Row, unsigned function, class L>
struct Waiting;
template <class Row, unsigned function, class... A>
struct Waiting<Row, function, Arguments<A...>> {
  inline static int (*real)(A...) = nullptr;
  static int call(A... a) {
    const Inside inside;
    if (!inside.watched()) return real(a...);
    const std::uint64_t start = ticks();
    const int result = real(a...);
    put_wait(function, start, ticks(), 0);
    return result;
  }
};

template <class Row, unsigned function, class L>
struct Quiet;
template <class Row, unsigned function, class... A>
struct Quiet<Row, function, Arguments<A...>> {
  inline static int (*real)(A...) = nullptr;
  static int call(A... a) {
    const Inside inside;
    return real(a...);
  }
};

template <int i, class First, class... A>
auto argument(First first, A... a) {
  if constexpr (i == 0) {
    return first;
  } else {
    return argument<i - 1>(a...);
  }
}

template <class... A>
auto last_of(A... a) {
  return argument<static_cast<int>(sizeof...(A)) - 1>(a...);
}

template <class Row, unsigned function, class L>
struct Creating;
template <class Row, unsigned function, class... A>
struct Creating<Row, function, Arguments<A...>> {
  inline static int (*real)(A...) = nullptr;
  static int call(A... a) {
    const Inside inside;
    const int result = real(a...);
    if (!inside.watched() || result != MPI_SUCCESS) return result;
    const MPI_Comm made = *last_of(a...);
    if (made != MPI_COMM_NULL) group_of(made);
    return result;
  }
};

template <class Row, unsigned function, class L>
struct Opening;
template <class Row, unsigned function, class... A>
struct Opening<Row, function, Arguments<A...>> {
  inline static int (*real)(A...) = nullptr;
  static int call(A... a) {
    const Inside inside;
    const int result = real(a...);
    if (!inside.watched() || result != MPI_SUCCESS) return result;
    open_window(*last_of(a...), argument<Row::communicator_at>(a...));
    return result;
  }
};

}  // namespace headway::recorder
