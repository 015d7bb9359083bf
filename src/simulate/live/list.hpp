// A step as lists, one a rank, that a machine can run: calls, computation, waits and marks in order
// [LIVE-1]. Plain values: what `headway replay` runs by MPI or torch, and other tools may.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "trace/recording/element_type.hpp"
#include "trace/recording/operation.hpp"

namespace headway {

/// `batch` products C[m, n] = A[m, k] · B[k, n].
struct LiveProduct {
  std::int64_t m = 1, n = 1, k = 1, batch = 1;
  friend bool operator==(const LiveProduct&, const LiveProduct&) = default;
};

/// In no stream's order: sends and receives, which their ends and tags match.
constexpr std::int32_t kBesideStreams = -1;
constexpr std::int32_t kMostLiveStreams = 65'536;

/// What a rank does next.
///   call     hands a call to its stream: it begins when the one before it there and those of
///            `after` are done. The calls of a rank are numbered from 0 on, in the order of its
///            list
///   compute  takes the rank for so long, or for a product; calls go on meanwhile
///   wait     takes the rank until the call of that number is done
///   mark     says where in the step it is
struct LiveItem {
  enum class Kind : std::uint8_t { call, compute, wait, mark };
  enum class Mark : std::uint8_t { step, micro_batch };
  Kind kind = Kind::compute;

  Operation op = Operation::all_reduce;   // of a call
  std::uint32_t group = 0;                // among the list's groups
  std::int64_t bytes = 0;                 // of the whole tensor, as Call::bytes
  ElementType type = ElementType::uint8;  // of its elements
  std::int32_t stream = 0;                // or kBesideStreams
  std::int64_t peer = 0;                  // the other end, or the root: its place in the group
  std::int64_t tag = 0;                   // of a send and its receive
  std::vector<std::uint32_t> after = {};  // calls of this rank

  Seconds time = Seconds(0);                          // of computation
  std::optional<LiveProduct> product = std::nullopt;  // that it is, where that is known
  std::uint32_t awaited = 0;                          // the call that a wait is for
  Mark mark = Mark::step;
  std::int64_t number = 0;  // of what is marked
  friend bool operator==(const LiveItem&, const LiveItem&) = default;
};

struct LiveGroup {
  std::string name;                 // "tp"; as recorded
  std::vector<std::int64_t> ranks;  // ascending
  friend bool operator==(const LiveGroup&, const LiveGroup&) = default;
};

struct LiveList {
  std::string source;  // what it is the step of
  std::vector<LiveGroup> groups;
  std::vector<std::vector<LiveItem>> ranks;
  friend bool operator==(const LiveList&, const LiveList&) = default;
};

constexpr std::int64_t kMostLiveItems = 2'000'000;  // of all ranks
constexpr std::int64_t kMostLiveRanks = 16'384;

constexpr bool is_between_two(Operation op) {
  return op == Operation::send || op == Operation::receive;
}
/// Whether a list may hold it: what has a direction, and is known.
constexpr bool runs_live(Operation op) {
  return op != Operation::send_receive && op != Operation::other;
}
/// Whether its peer is the root.
constexpr bool has_root(Operation op) {
  return op == Operation::broadcast || op == Operation::reduce || op == Operation::gather ||
         op == Operation::scatter;
}

/// What moves is whole elements, whose types all have whole bytes.
constexpr std::int64_t bytes_of_element(ElementType type) {
  return static_cast<std::int64_t>(bytes_per_element(type));
}
constexpr std::int64_t elements_of(const LiveItem& call) {
  const std::int64_t each = bytes_of_element(call.type);
  return (call.bytes + each - 1) / each;
}

inline std::int64_t count_items(const LiveList& list) {
  std::int64_t out = 0;
  for (const auto& items : list.ranks) out += static_cast<std::int64_t>(items.size());
  return out;
}
inline std::int64_t count_calls(const LiveList& list) {
  std::int64_t out = 0;
  for (const auto& items : list.ranks) {
    for (const LiveItem& item : items) out += item.kind == LiveItem::Kind::call ? 1 : 0;
  }
  return out;
}

}  // namespace headway
