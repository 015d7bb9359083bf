// A recorded step simulated on another network: `simulate recording`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulate/recorded/again.hpp"
#include "simulate/recorded/network.hpp"

namespace headway {

/// Calls of one operation in groups that are alike. Each call once: what it takes with all of its
/// ranks ready; and what all ranks wait in it for the last one.
struct RecordedCalls {
  std::string group;
  Operation op = Operation::all_reduce;
  std::optional<std::int64_t> ranks;
  std::int64_t calls = 0;
  Bytes bytes = {};                                      // of those of which it is known
  std::optional<Seconds> measured = {}, simulated = {};  // transfers
  std::optional<Seconds> waited = {}, waits = {};        // as measured, and on the other network
};

struct SimulatedRecording {
  std::int64_t ranks = 0, steps = 0;  // steps: that the source marks; 0: none
  std::string format;
  bool of_graph = false;
  std::int64_t alone = 0;
  std::optional<Seconds> measured;   // of the recording, first start to last end
  std::optional<Seconds> own;        // run again with the transfers as measured
  std::string network;               // the other one; empty: none
  std::optional<Seconds> simulated;  // on it
  std::vector<RecordedCalls> groups;
};

/// Where `other` is none: run again as it was.
Result<SimulatedRecording> simulate_recording(const Recording& recording,
                                              const std::optional<OtherNetwork>& other);

}  // namespace headway
