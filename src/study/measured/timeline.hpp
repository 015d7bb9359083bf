// What each rank did when, all on one clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "study/measured/measured.hpp"

namespace headway {

/// A kernel or a call of a rank in its place.
struct MeasuredSpan {
  std::uint32_t rank = 0;     // index into Recording::ranks
  double begin = 0, end = 0;  // s from the first
  double waiting = 0;         // s of it, at its beginning: for the other ranks of the call
  std::size_t index = 0;      // into Recording::compute or ::calls
  bool compute = false;
};
struct MeasuredSpans {
  std::vector<MeasuredSpan> spans;  // by their beginning
  std::size_t unplaced = 0;         // ranks whose clock is not known
};

/// Kernels, and calls that have a start and a time of their own, but for ranks whose clock is not
/// known.
MeasuredSpans spans_of(const Measured& measured);

struct TimeStrip {
  double begin = 0, end = 0;  // s from the first kernel
};

struct MeasuredRank {
  std::map<Operation, std::vector<TimeStrip>> waiting, transfer;
  std::vector<TimeStrip> compute;
};

struct MeasuredTimeline {
  std::map<std::uint32_t, MeasuredRank> ranks;  // by their index in the recording
  double span = 0;                              // s
  std::size_t unplaced = 0;                     // ranks whose clock is not known
};

/// Kernels, and calls that the host waited for, of the ranks that have such calls; empty where the
/// source has no times.
MeasuredTimeline timeline_of(const Measured& measured);

}  // namespace headway
