// What a trace or a log says happened, in one form whatever its source. What the source does not
// say is absent, never zero.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity.hpp"
#include "trace/recording/element_type.hpp"
#include "trace/recording/operation.hpp"

namespace headway {

/// What the duration of a call is the duration of.
enum class TimeKind : std::uint8_t {
  none,       // the source has no duration
  kernel,     // on the GPU from start to end: transfer and waiting for the other ranks
  host,       // on the host, until the call was done (after synchronising the device)
  enqueue,    // on the host, to put the call into a queue: says nothing about the transfer
  benchmark,  // mean of a loop of equal calls and nothing else: transfer with all ranks ready
};
constexpr std::array<std::string_view, 5> kTimeKindNames = {"none", "kernel", "host", "enqueue",
                                                            "benchmark"};
constexpr std::string_view to_name(TimeKind kind) {
  return kTimeKindNames[static_cast<std::size_t>(kind)];
}

/// Whether such a time holds the transfer, with whatever waiting for other ranks.
constexpr bool can_mean_transfer(TimeKind kind) {
  return kind == TimeKind::kernel || kind == TimeKind::host || kind == TimeKind::benchmark;
}

/// A process and device that recorded. Clocks of different ones need not agree.
struct RecordedRank {
  std::optional<std::int64_t> number;  // global rank
  std::string label;                   // as shown: "rank 3", "hopper01:191370 [1]"
  std::optional<std::int64_t> world_size;
  /// What the program spent in calls that only wait for others to be done (MPI_Wait), where the
  /// source has those.
  std::int64_t waits = 0;
  Seconds waited = Seconds(0);
};

/// A process group or communicator.
struct RecordedGroup {
  std::string id;           // as the source names it; unique within the source only
  std::string description;  // "default_pg", "TENSOR_MODEL_PARALLEL_GROUP"
  std::optional<std::int64_t> size;
  std::vector<std::int64_t> ranks;  // global ranks; empty where the source does not list them
  /// False where the source tells no more than the size: several groups may be meant.
  bool named = true;
  std::optional<std::int64_t> nodes = std::nullopt;  // hosts that its ranks are on
  /// Of a source in which every rank says no more than its own place: place in the group and rank.
  std::vector<std::pair<std::int64_t, std::int64_t>> members = {};
};

/// Stands for no group where calls are sorted by the index of their group.
inline constexpr std::uint32_t kNoGroup = std::numeric_limits<std::uint32_t>::max();

/// One communication, or `count` equal ones of which the source keeps only the sum.
struct RecordedCall {
  Operation op = Operation::other;
  /// What the backend did where that is another operation than was asked for: `op` is what was
  /// asked. gloo does a reduce-scatter as an all-reduce of the same bytes.
  std::optional<Operation> done_as = std::nullopt;
  std::uint32_t rank = 0;              // index into Recording::ranks
  std::optional<std::uint32_t> group;  // index into Recording::groups
  /// The whole logical tensor, as in Call::bytes and in nccl-tests, whatever the source counts: the
  /// buffer of an all-reduce, broadcast or reduce, the gathered result, the input of a
  /// reduce-scatter, what one rank sends in all in an all-to-all, the message of a send.
  std::optional<Bytes> bytes;
  /// The size as the source counts it, where that does not tell the whole tensor: one rank's part
  /// of a group of unknown size, or a number whose meaning depends on who wrote it.
  std::optional<Bytes> counted_bytes;
  std::optional<Bytes> received;  // of an all-to-all: what the rank gets in all
  bool counted_part = false;  // counted_bytes is one rank's part: the whole is it times the ranks
  std::optional<ElementType> type;
  std::optional<std::int64_t> start_ns;  // on the clock of the rank; its zero is the source's own
  std::optional<Seconds> duration;       // of one call
  TimeKind time = TimeKind::none;
  std::optional<std::int64_t> stream;
  std::optional<std::int64_t> sequence;  // the source's own number of the call within the group
  std::optional<std::int64_t> peer;      // the other end of a send or receive, or the root
  std::optional<std::int64_t> tag;       // of a send, that its receive has as well
  std::optional<bool> in_place;          // benchmarks only
  /// The step in which it was asked for, as its mark is numbered; else its start tells.
  static constexpr std::int32_t kStepNotSaid = -1, kBeforeSteps = -2;
  std::int32_t step = kStepNotSaid;
  /// Of a time on the host: the program did nothing else from start to done.
  bool blocks = false;
  /// Of a time on the host: it holds the transfer and the waiting for other ranks and no more, as
  /// that of a kernel does: of a call that blocks, and of one on a stream of the host's.
  bool own_time = false;
  double count = 1;
};

/// Computation on a GPU: what communication can hide behind.
struct RecordedCompute {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t rank = 0;
  std::int32_t stream = 0;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::uint32_t name = kNone;     // index into Recording::kernel_names
  std::uint32_t product = kNone;  // index into Recording::products: the kernel works for it
};

/// A matrix product that the program asked for, m x k times k x n, `batch` of them.
struct RecordedProduct {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  std::optional<ElementType> type;
  friend bool operator==(const RecordedProduct&, const RecordedProduct&) = default;
};

/// A step as the source marks it, on the clock of the rank.
struct RecordedStep {
  std::uint32_t rank = 0;
  std::int64_t number = 0;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
};

/// A node of a graph that says what waits for what, of sources that have one.
struct RecordedNode {
  std::uint32_t rank = 0;
  std::optional<std::size_t> call = std::nullopt;  // index into Recording::calls; else no call
  std::optional<std::int64_t> start_ns = std::nullopt;
  std::optional<Seconds> duration = std::nullopt;  // what is no call has none: its time is left to
                                                   // who runs it
  std::vector<std::size_t> needs = {};             // indices into Recording::graph
};

/// [RECORD-7] A file that was not ended: of the records that came into its process's buffer those
/// that are not placed were on their way.
struct UnendedFile {
  std::uint32_t rank = 0;
  std::int64_t began_ns = 0;  // of the process's recording: its files have the same
  std::int64_t came = 0;
  std::int64_t placed = 0;  // in this file or those before it, or counted as lost

  std::int64_t missing() const { return came > placed ? came - placed : 0; }
};

/// Something that could not be read, or that the source does not say, and how often.
struct Omission {
  std::string what;
  std::int64_t count = 0;
  bool lost = true;  // it is there and could not be read; else the source does not say it
};

/// Omissions that a look at all files may make good.
inline constexpr std::string_view kCallsWithoutGroup = "calls without a group";
inline constexpr std::string_view kCallsWithoutWhole = "calls whose whole size is not known";
inline constexpr std::string_view kLastMoments =
    "records of the last moments of a program that was killed, or runs on";
/// Omissions that need no word of their own where the whole recording has no sizes, no durations.
inline constexpr std::string_view kCallsWithoutSize = "calls without a size";
inline constexpr std::string_view kCallsWithoutDuration =
    "calls without a duration (TORCH_NCCL_ENABLE_TIMING)";
inline constexpr std::string_view kLogWithoutDurations = "the log holds no durations";

struct Recording {
  std::string source;            // file, as shown
  std::string format;            // "PyTorch Kineto trace"
  std::string size_advice = {};  // what to say of sizes where it has none; empty: nothing
  std::vector<RecordedRank> ranks;
  std::vector<RecordedGroup> groups;
  std::vector<RecordedCall> calls;       // in the order of the source
  std::vector<RecordedCompute> compute;  // empty where the source has none
  std::vector<std::string> kernel_names;
  std::vector<RecordedProduct> products;  // each asked for once
  std::vector<RecordedNode> graph;        // empty where the source has none
  std::vector<RecordedStep> steps;        // that the source marks, or of a window as found
  std::vector<Omission> omissions;
  std::vector<UnendedFile> unended;  // that say how many records came; `omissions` has the missing
  /// The source is all that was recorded of its one rank: another of the same rank is not more of
  /// it, but another recording.
  bool whole_of_rank = false;
  /// Optimiser steps that the source marks (PyTorch's ProfilerStep#n); 0: it marks none.
  std::int64_t marked_steps = 0;
  /// Of a window of steps that nothing marks: how many of those that its ranks repeat it holds, and
  /// they are `steps`; 0: these are marks.
  std::int64_t repeated_steps = 0;
  std::int64_t records_read = 0;  // events, nodes or lines understood, of any kind
};

/// Counts one more of `what` among the omissions that could not be read.
void omit(Recording& recording, std::string_view what, std::int64_t count = 1);
/// Takes back `count` of what was omitted, where it became known after all.
void reduce_omission(Recording& recording, std::string_view what, std::int64_t count);
/// Counts what the source does not say.
void leave_unsaid(Recording& recording, std::string_view what, std::int64_t count = 1);

/// The index of the rank with this label, new where there is none.
std::uint32_t rank_index(Recording& recording, std::string_view label,
                         std::optional<std::int64_t> number = std::nullopt);

/// The index of the group with this id, new where there is none; a size given later is kept.
std::uint32_t group_index(Recording& recording, std::string_view id,
                          std::optional<std::int64_t> size = std::nullopt);

/// The group that stands for those of `size` ranks that the source does not name.
std::uint32_t unnamed_group_index(Recording& recording, std::int64_t size);

/// The operation whose bytes go over the wire.
inline Operation done_op(const RecordedCall& call) {
  return call.done_as.value_or(call.op);
}

/// Ranks of the call's group, where known.
std::optional<std::int64_t> group_size(const Recording& recording, const RecordedCall& call);

/// Adds the ranks, groups and calls of `more` (another file of the same run). Groups of the same id
/// and, where both list them, the same ranks are one group; ranks of the same number one rank only
/// where the labels agree.
void append(Recording& to, const Recording& more);

/// Sets the size of a call from the count of NCCL's interface (and MPI's), in bytes: all-gather,
/// reduce-scatter, gather and scatter count one rank's part, all-to-all what goes to one rank. The
/// whole where the ranks are known or not needed, else counted_bytes.
void set_bytes_from_count(RecordedCall& call, double bytes, std::optional<std::int64_t> ranks);

/// The buffer sizes of one rank, input and output, as the whole tensor. Negative sizes: unknown.
std::optional<Bytes> whole_from_buffers(Operation op, double input_bytes, double output_bytes);

/// The ranks of groups whose members said their places, names for them by how their ranks lie, "by
/// 8" of every eighth; of others how many they are. Ends of calls become ranks, members are gone.
void complete_groups(Recording& recording);

/// [TRACE-8] The whole size of calls of which one rank's part is known, where the size of the group
/// has become known (from another file, or by matching).
void complete_sizes(Recording& recording);

}  // namespace headway
