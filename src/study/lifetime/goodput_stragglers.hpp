// Stragglers: a synchronous step ends when the slowest of its ranks does.
#pragma once

#include <cstdint>
#include <span>

namespace headway {

/// The expected largest of `draws` independent standard normal values [SCALE-7].
double expected_normal_maximum(std::int64_t draws);

/// The expected largest of `draws` values drawn from the measured `sample`, each as likely as the
/// others, over the sample's mean [SCALE-8]. 1 for an empty sample.
double expected_sample_maximum(std::span<const double> sample, std::int64_t draws);

}  // namespace headway
