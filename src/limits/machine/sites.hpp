// Several data centres, joined over a wide area.
#pragma once

#include "base/result.hpp"
#include "limits/machine/setting.hpp"

namespace headway::limits {

constexpr std::int64_t kMostSites = 1'000'000;

/// Data centres that share a run: evenly, or unlike one another.
struct Sites {
  std::int64_t sites = 1;
  BytesPerSecond bandwidth;  // of one GPU, per direction, to other sites; may be infinite
  Seconds latency;
  // Unlike sites [LIMIT-43]: what each takes of the GPUs and the batch, as whole numbers in
  // proportion (empty: all the same), and each one's bandwidth (empty: all the same).
  std::vector<std::int64_t> shares = {};
  std::vector<BytesPerSecond> bandwidths = {};
};
constexpr std::int64_t kMostShares = 1000;  // of all sites, in smallest numbers

/// Latency of a message over so many metres of fibre, at two thirds of the speed of light, and
/// nothing else. [LIMIT-33]
Seconds latency_of_distance(double metres);

/// The setting with its machine in that many places. [LIMIT-32] [LIMIT-43]
Result<Setting> in_sites(const Setting& setting, const Sites& sites);

}  // namespace headway::limits
