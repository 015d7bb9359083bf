// What moves with what in the communication study: sequence length, model size, volume, exposed
// communication, throughput.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "study/traffic/communication.hpp"

namespace headway {

/// Pearson's correlation of the logarithms; nothing for fewer than two pairs, or where one side is
/// all equal or not above 0.
std::optional<double> log_correlation(std::span<const double> a, std::span<const double> b);

/// Two quantities of the runs over sequence lengths.
struct StudyCorrelation {
  std::string of, with;
  std::optional<double> all;                    // over all runs
  std::vector<std::optional<double>> by_model;  // over those of each, in the order of the models
};
std::vector<StudyCorrelation> correlations(const CommunicationStudy& study);

}  // namespace headway
