// What makes the ranks of a step differ: noise, slow ranks and links, sequences of unequal length,
// pauses, a neighbour on the network.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/quantity.hpp"

namespace headway {

/// Where the nodes of a neighbouring job stand: on switches of their own, so that both jobs meet on
/// the outermost level alone, or between ours, so that they meet on every level of the network.
enum class Placement : std::uint8_t { packed, scattered };
constexpr std::array<std::string_view, 2> kPlacementNames = {"packed", "scattered"};

/// What is not asked for stands at what changes nothing. Shares and deviations are of one.
struct Perturbations {
  double slot_noise = 0;                 // standard deviation of a slot's kernels
  double step_noise = 0;                 // of a rank's kernels all along a step
  std::vector<std::int64_t> slow_ranks;  // global ranks, ascending
  double slow_factor = 1;                // what their kernels take
  std::vector<std::int64_t> slow_links;  // ranks whose network has a share of its bandwidth
  double link_share = 1;
  std::vector<std::int64_t> flapping;  // ranks whose network is down for a part of each period
  Seconds flapping_period;
  double flapping_down = 0;
  double sequence_variation = 0;  // standard deviation of a micro-batch's attention
  Seconds pause;                  // of a host, to collect garbage
  std::int64_t pause_every = 0;   // slots
  bool pause_together = false;    // all ranks behind the same slots
  double neighbour_share = 0;     // of the bandwidth, that another job takes
  Placement neighbour_placement = Placement::scattered;

  bool any() const {
    return slot_noise > 0 || step_noise > 0 || !slow_ranks.empty() || !slow_links.empty() ||
           !flapping.empty() || sequence_variation > 0 || pause_every > 0 || neighbour_share > 0;
  }
};

}  // namespace headway
