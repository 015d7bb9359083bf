// Calls of a step by named algorithms, placed message by message instead of priced.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "forecast/price.hpp"
#include "simulate/step/simulated.hpp"

namespace headway {

/// All calls of a group and an operation by one algorithm; `algorithm` empty: whichever is fastest
/// for the call.
struct CallChoice {
  Group group{};
  CollectiveOp op{};
  std::string algorithm;
};

/// "tp.all_reduce=ring", "dp.all_gather=best"; problems: of all of them.
Result<std::vector<CallChoice>> read_call_choices(std::span<const std::string> texts);

/// A call of a step by its algorithm.
struct ChosenCall {
  Group group{};
  CollectiveOp op{};
  Bytes bytes;
  double count = 1;  // of a rank in a step, blocks of one micro-batch once
  std::string algorithm;
  Seconds time;    // placed, with what any call takes first
  Seconds usual;   // placed, by the algorithms of common libraries
  Seconds priced;  // by the cost of collectives
};

/// [SIM-51] Every such call of the step, the largest of each group and operation first.
Result<std::vector<ChosenCall>> chosen_calls(std::span<const CallChoice> choices, const Run& run,
                                             const Step& step, const Calibration& calibration);

/// Of the run's own step, with the constants of its cluster.
Result<std::vector<ChosenCall>> chosen_calls(std::span<const CallChoice> choices, const Run& run);

/// Where algorithms are compared with what the run has: the price, as much longer or shorter as the
/// algorithm is than the usual one, both placed.
std::vector<ChosenCall> against_usual(std::vector<ChosenCall> calls);

/// What those calls take in a step.
OtherTimes times_of(std::vector<ChosenCall> calls);

}  // namespace headway
