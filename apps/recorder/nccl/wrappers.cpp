// What every program finds in place of NCCL's functions: the same ones, recorded. Each returns what
// the library returned.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <new>

#include "../file/writer.hpp"
#include "communicators.hpp"
#include "events.hpp"
#include "grouped.hpp"
#include "library.hpp"
#include "session.hpp"

namespace headway::recorder::nccl {
namespace {

using record_file::Record;
using namespace record_file;

constexpr int kNobody = -1;  // as root or other end

enum class Bytes { whole, parts, sum, none };

// What a call is asked for.
struct Asked {
  std::uint8_t op;
  Bytes bytes;
  Function number;
  std::size_t count = 0;
  const std::size_t* counts = nullptr;  // sum: one for each rank
  DataType type = -1;
  int peer = kNobody;
  bool together = false;  // a collective
  Comm comm;
  Stream* stream;

  void set_count(std::size_t value) { count = value; }
  void set_count(const std::size_t* values) { counts = values; }
};

std::uint64_t elements(const Asked& asked, const Group& group) {
  const auto ranks = static_cast<std::uint64_t>(group.size);
  switch (asked.bytes) {
    case Bytes::whole:
      return asked.count;
    case Bytes::parts:
      return asked.count * ranks;
    case Bytes::sum: {
      std::uint64_t sum = 0;
      for (std::uint64_t i = 0; i < ranks; ++i) sum += asked.counts[i];
      return sum;
    }
    case Bytes::none:
      break;
  }
  return 0;
}

Record record_of(const Asked& asked, Group& group) {
  Record record;
  const Element element = element_of(asked.type);
  record.asked = record.done = asked.op;
  record.type = element.number;
  record.bytes = elements(asked, group) * element.bytes;
  record.group = group.number;
  record.flags = static_cast<std::uint32_t>(asked.number) << kFunctionShift |
                 group.local << kLocalShift | asked_after(marked_steps());
  if (asked.peer != kNobody) record.flags |= kPeer;
  record.peer = asked.peer;
  // A number that tells streams apart.
  record.stream = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(asked.stream) >> 4);
  if (asked.together) {
    record.sequence = group.collectives.fetch_add(1, std::memory_order_relaxed);
    record.flags |= kSequence;
  }
  return record;
}

Result absent(const char* name) {
  static std::atomic<bool> said{false};
  if (!said.exchange(true)) {
    ::fprintf(stderr, "headway record: %s was called, which this NCCL does not have\n", name);
  }
  return kInvalidUsage;
}

// A call outside of groups: its time is that between two events, else that of putting it into the
// stream.
template <class Call>
Result call_alone(const Asked& asked, Record& record, Call call) {
  const Marked marked = mark_begin(asked.stream, takes_times(asked.stream));
  const std::uint64_t start = ticks();
  const Result result = call();
  const std::uint64_t end = ticks();
  const bool done = result == kSuccess;  // kInProgress: it is put into the stream later
  const bool timed = marked.pair != nullptr && done && mark_end(marked.pair, asked.stream);
  if (marked.pair != nullptr && !done) give_back(marked.pair);
  if (!done && result != kInProgress) return result;
  record.start_ns = start;
  record.duration_ns = end - start;
  record.time = kEnqueue;
  if (marked.captured) {
    record.flags |= kCaptured;
    record.duration_ns = 0;
    record.time = record_file::kNone;
  }
  if (timed) {
    keep_until_passed(marked.pair, &record, 1);
  } else {
    put(record);
  }
  return result;
}

template <class Call>
Result recorded(const Asked& asked, const char* name, bool there, Call call) {
  if (!there) return absent(name);
  const Inside inside;
  if (!inside.watched()) return call();
  Group* group = group_of(asked.comm);
  if (state.load() != State::recording) return call();
  if (group == nullptr || group->size == 0) {
    const Result result = call();
    const bool done = result == kSuccess || result == kInProgress;
    if (done && asked.comm != nullptr) lose(asked.op);
    return result;
  }
  Record record = record_of(asked, *group);
  const bool kept = is_kept(record);
  if (grouped.depth > 0) {
    const Result result = call();
    if (kept && (result == kSuccess || result == kInProgress)) {
      record.start_ns = ticks();
      hold(record, asked.stream);
    }
    return result;
  }
  if (!kept) return call();
  return call_alone(asked, record, call);
}

}  // namespace
}  // namespace headway::recorder::nccl

using namespace headway::recorder::nccl;
using namespace headway::record_file;

#define VISIBLE extern "C" __attribute__((visibility("default")))
#define BARE(...) __VA_ARGS__
#define CALLED(function, asked, ...)                        \
  recorded(asked, #function, library().function != nullptr, \
           [&]() -> Result { return library().function(__VA_ARGS__); })

// A collective as `function`; `head` are its parameters, and what stands behind its arguments.
#define AS_COLLECTIVE(function, op_, bytes_, root_, head, ...) \
  VISIBLE Result function(BARE head) {                         \
    Asked asked{.op = op_,                                     \
                .bytes = Bytes::bytes_,                        \
                .number = k_##function,                        \
                .type = type,                                  \
                .peer = root_,                                 \
                .together = true,                              \
                .comm = comm,                                  \
                .stream = stream};                             \
    asked.set_count(count);                                    \
    return CALLED(function, asked, __VA_ARGS__);               \
  }
#define COLLECTIVE(function, op_, bytes_, root_, arguments, ...) \
  AS_COLLECTIVE(function, op_, bytes_, root_, (__VA_ARGS__), BARE arguments)
#define CONFIGURED(function, op_, bytes_, root_, arguments, ...)                         \
  COLLECTIVE(function, op_, bytes_, root_, arguments, __VA_ARGS__)                       \
  AS_COLLECTIVE(function##Config, op_, bytes_, root_, (__VA_ARGS__, const void* config), \
                BARE arguments, config)
#define MESSAGE(function, op_, arguments, ...)      \
  VISIBLE Result function(__VA_ARGS__) {            \
    const Asked asked{.op = op_,                    \
                      .bytes = Bytes::whole,        \
                      .number = k_##function,       \
                      .count = count,               \
                      .type = type,                 \
                      .peer = peer,                 \
                      .comm = comm,                 \
                      .stream = stream};            \
    return CALLED(function, asked, BARE arguments); \
  }
#define UNSIZED(function, op_, peer_, arguments, ...) \
  VISIBLE Result function(__VA_ARGS__) {              \
    const Asked asked{.op = op_,                      \
                      .bytes = Bytes::none,           \
                      .number = k_##function,         \
                      .peer = peer_,                  \
                      .comm = comm,                   \
                      .stream = stream};              \
    return CALLED(function, asked, BARE arguments);   \
  }
#include "calls.def"
