// simulate recording: a recorded step run again.
#pragma once

#include <string>

#include "simulate/recorded/recording.hpp"

namespace headway {

/// For a terminal of 80 columns.
std::string simulate_recording_text(const SimulatedRecording& simulated);
/// {ranks, format, measured_s, own_network_s, network, simulated_s, calls[]}.
std::string simulate_recording_json(const SimulatedRecording& simulated);

}  // namespace headway
