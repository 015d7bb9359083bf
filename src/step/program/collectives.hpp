// The one table of the collectives that a step calls.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace headway {

enum class CollectiveOp : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  send_receive,
};

/// What each of n ranks puts on the wire for each byte of a call, as nccl-tests counts both.
enum class Wire : std::uint8_t {
  whole,         // 1
  others,        // (n - 1) / n: what is not one's own
  twice_others,  // both ways
};
/// In each direction [COMM-1]; a group of one rank puts nothing on the wire.
constexpr double wire_factor(Wire wire, double ranks) {
  if (ranks <= 1) return 0;
  const double others = (ranks - 1) / ranks;
  return wire == Wire::whole ? 1 : wire == Wire::others ? others : 2 * others;
}

struct CollectiveRow {
  CollectiveOp op;
  std::string_view name;
  Wire wire;
};
constexpr std::array<CollectiveRow, 6> kCollectives = {{
    {CollectiveOp::all_reduce, "all_reduce", Wire::twice_others},
    {CollectiveOp::all_gather, "all_gather", Wire::others},
    {CollectiveOp::reduce_scatter, "reduce_scatter", Wire::others},
    {CollectiveOp::all_to_all, "all_to_all", Wire::others},
    {CollectiveOp::broadcast, "broadcast", Wire::whole},
    {CollectiveOp::send_receive, "send_receive", Wire::whole},
}};

constexpr const CollectiveRow& row_of(CollectiveOp op) {
  return kCollectives[static_cast<std::size_t>(op)];
}
constexpr std::string_view to_name(CollectiveOp op) {
  return row_of(op).name;
}
constexpr double wire_factor(CollectiveOp op, std::int64_t ranks) {
  return wire_factor(row_of(op).wire, static_cast<double>(ranks));
}

/// Domains of `domains` that hold at least one of `choices` ranks drawn at random.
inline double distinct(double domains, double choices) {
  return domains * (1 - std::pow(1 - 1 / domains, choices));
}

constexpr bool collectives_stand_in_order() {
  for (std::size_t i = 0; i < kCollectives.size(); ++i) {
    if (kCollectives[i].op != static_cast<CollectiveOp>(i)) return false;
  }
  return true;
}
static_assert(collectives_stand_in_order());

}  // namespace headway
