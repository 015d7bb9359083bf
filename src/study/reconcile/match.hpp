// Expected kinds of calls against measured ones of one lane and operation. Internal to src/study.
#pragma once

#include <vector>

#include "study/reconcile/groups.hpp"

namespace headway {

/// Measured calls of one lane, operation and size; `count` is of one rank and step.
struct MeasuredKind {
  std::size_t lane = kNoLane;
  std::optional<std::uint32_t> recorded;  // the first group of these calls
  Operation op = Operation::other;
  std::optional<Bytes> bytes;
  double count = 0;
  std::vector<std::size_t> calls;  // indices into Recording::calls
};

/// By lane, operation, falling size. Receives are left out where the sends are there,
/// too: they are the other end.
std::vector<MeasuredKind> measured_kinds(const Recording& recording, const LaneMapping& mapping);

/// The expected kind of each measured one: of the same lane and operation the nearest in size, if
/// it is the same size [REC-3]; else kNobody.
constexpr std::size_t kNobody = static_cast<std::size_t>(-1);
std::vector<std::size_t> owners(const std::vector<ExpectedKind>& expected,
                                const std::vector<MeasuredKind>& measured);

/// One comparison: which expected and measured kinds stand against each other.
struct Pairing {
  Match match = Match::as_expected;
  std::vector<ExpectedKind> expected;
  std::vector<MeasuredKind> measured;
};

/// [REC-3], [REC-4]
std::vector<Pairing> pair_up(std::vector<ExpectedKind> expected,
                             std::vector<MeasuredKind> measured);

/// [REC-1] The number of steps that most expected kinds agree with; nothing where none does.
/// `measured` counts the whole recording on one rank.
std::optional<double> steps_by_counts(const std::vector<ExpectedKind>& expected,
                                      const std::vector<MeasuredKind>& measured);

/// How often the sequence of calls of a rank repeats from its start on; 1 where it does not.
std::int64_t repeats(const Recording& recording, const LaneMapping& mapping, std::uint32_t rank);

}  // namespace headway
