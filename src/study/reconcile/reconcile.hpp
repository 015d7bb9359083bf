// Expected calls against measured ones: which agree, which differ and how, and where the time went.
// Formulas [REC-1] to [REC-6]: docs/models/reconcile.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/price.hpp"
#include "trace/analysis/align.hpp"
#include "trace/recording/recording.hpp"

namespace headway {

/// How the number of steps in a recording became known.
enum class StepEvidence : std::uint8_t { said, marked, counts, sequence, none };
constexpr std::array<std::string_view, 5> kStepEvidenceNames = {
    "said", "marked by the profiler", "by the counts of calls", "by the repeated sequence of calls",
    "not known"};

struct StepCount {
  double steps = 1;  // below 1: the recording holds a part of one
  StepEvidence evidence = StepEvidence::none;
  /// What the counts say where they contradict what was said or marked.
  std::optional<double> by_counts;
};

/// How a recorded group was found to be one of the layout's.
enum class GroupEvidence : std::uint8_t { name, ranks, size, operations, ambiguous, none };
constexpr std::array<std::string_view, 6> kGroupEvidenceNames = {
    "its name", "its ranks", "its size", "size and operations", "ambiguous", "none"};

/// A recorded group and what it is in the layout. Groups of the layout that hold the same ranks
/// (tensor- and expert-parallel ones, often) are one.
struct GroupMapping {
  std::optional<std::uint32_t> recorded;  // index into Recording::groups
  std::vector<Group> groups;              // empty: none of the layout's
  GroupEvidence evidence = GroupEvidence::none;
  std::optional<std::int64_t> size;  // as recorded
  std::int64_t layout_size = 0;      // of the layout's group
  double calls = 0;
};

enum class Match : std::uint8_t {
  as_expected,
  fewer,            // of this size than expected
  more,             // of this size than expected
  repeated,         // a whole multiple of what is expected
  resized,          // other sizes, other bytes
  rebucketed,       // other sizes, the same bytes
  other_operation,  // the same bytes by another operation
  missing,
  unexpected,
  setup,    // broadcasts that nobody expects in a step: weights at the start, buffers
  small,    // up to kSmallCall: norms, flags, shapes; compared in no detail
  barrier,  // without bytes
};
constexpr std::array<std::string_view, 12> kMatchNames = {
    "as expected",     "fewer",   "more",       "repeated", "resized", "re-bucketed",
    "other operation", "missing", "unexpected", "set-up",   "small",   "barrier"};
constexpr std::string_view to_name(Match match) {
  return kMatchNames[static_cast<std::size_t>(match)];
}
/// Whether the calls differ from what is expected in a way that matters.
bool differs(Match match);

// Tolerances [REC-3].
constexpr Bytes kSmallCall{4096};         // up to this a call is "small"
constexpr double kSizeTolerance = 0.01;   // of a message: padding, uneven buckets
constexpr double kRoutedTolerance = 0.3;  // of the bytes exchanged with experts: routing varies
constexpr double kTotalTolerance = 0.02;  // of counts and of sums of bytes

/// How the seconds of measured calls were parted into transfer and waiting [REC-5].
enum class TransferKind : std::uint8_t {
  none,       // no times that mean a transfer
  benchmark,  // all ranks were ready
  aligned,    // the shortest of the ranks of one call
  shortest,   // one rank only: the shortest of equal calls
  whole,      // one rank, too few equal calls: waiting is in it
};

/// Counts, bytes and seconds are of one rank and one step: means over the recorded ranks.
struct ReconciledRow {
  Match match = Match::as_expected;
  std::vector<Group> groups;              // empty: none of the layout's
  std::optional<std::uint32_t> recorded;  // the first recorded group of these calls
  CollectiveOp expected_op = CollectiveOp::all_reduce;
  Operation measured_op = Operation::other;
  Phase phase = Phase::gradient;  // the first of the expected calls
  double expected_count = 0, measured_count = 0;
  Bytes expected_bytes, measured_bytes;  // sums
  bool sized = true;                     // the source tells the sizes
  std::int64_t ranks = 0;                // of the group; 0: not known
  int level = 0;                         // the outermost that it crosses
  // Seconds [REC-6]: measured = expected + calls + link + waiting, where calls = model - expected.
  Seconds expected;              // the model's, of the expected calls
  std::optional<Seconds> model;  // the model's, of the measured calls; none: group or sizes unknown
  TransferKind transfer_kind = TransferKind::none;
  double timed_count = 0;
  Seconds transfer, waiting;       // of the timed calls; their sum is what was measured
  Seconds timed_model;             // the model's, of the timed calls
  std::optional<Seconds> exposed;  // of the kernels, where computation is recorded, too
  std::optional<BytesPerSecond> model_bus, measured_bus;

  Seconds measured() const { return transfer + waiting; }
  /// The transfer over the model's, of the timed calls; nothing where either is not known.
  std::optional<double> slowdown() const;
  Bytes expected_size() const;
  Bytes measured_size() const;
};

/// Waiting that a recorded rank causes by coming last, a step, as a mean over the recorded ranks.
struct LateRank {
  std::uint32_t rank = 0;  // index into Recording::ranks
  Seconds causes;
  double share_last = 0;  // of the matched calls it takes part in
};

struct Reconciliation {
  StepCount steps;
  std::int64_t recorded_ranks = 0;  // that communicate
  std::int64_t run_ranks = 0;
  std::optional<std::int64_t> world_size;  // as recorded
  std::vector<std::int64_t> stages;        // pipeline stages that were compared with, ascending
  bool stage_guessed = false;              // the source does not number its ranks
  std::vector<GroupMapping> groups;
  std::vector<ReconciledRow> rows;  // by group, operation, size; what differs stands beside
  std::vector<LateRank> late;       // who causes most first; only where several ranks are recorded
  Seconds expected;                 // sums over the rows
  std::optional<Seconds> measured;
  Seconds transfer, waiting;
  std::optional<Seconds> exposed;
};

/// Compares with a legal run, priced by these constants. `steps`: optimiser steps in the recording;
/// 0: to be found out.
Reconciliation reconcile(const Recording& recording, const Run& run, const Calibration& calibration,
                         double steps = 0);
/// The same of a recording whose align() is known.
Reconciliation reconcile(const Recording& recording, const Alignment& alignment, const Run& run,
                         const Calibration& calibration, double steps = 0);

}  // namespace headway
