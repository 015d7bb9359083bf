// Drawings of the communication study, for docs/communication.md.
#pragma once

#include <string>

#include "study/traffic/communication.hpp"

namespace headway {

/// What a rank sends by ZeRO stage and operation, in units of the model's size.
std::string plot_study_volume(const CommunicationStudy& study);

/// How many messages of which size each form of parallelism sends.
std::string plot_study_sizes(const CommunicationStudy& study);

/// Volume and throughput over the sequence length.
std::string plot_study_sequence(const CommunicationStudy& study);

}  // namespace headway
