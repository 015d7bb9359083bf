// What each rank did when, all on one clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "study/measured/measured.hpp"

namespace headway {

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
