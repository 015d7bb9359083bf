// limits beyond the study: relaxed training, several sites, sensitivity. Internal to src/api.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/commands.hpp"
#include "api/files.hpp"
#include "limits/low_communication.hpp"
#include "limits/sensitivity.hpp"

namespace headway {

/// The flags of `headway limits` that edit every setting asked for.
struct LimitsBeyond {
  limits::RelaxationWishes relaxation{};  // --relax --sync-every --loose-level --compression
                                          // --blocks --submodels --sample-penalty
  std::int64_t sites = 0;                 // --sites; 0: as the machine has it
  std::string site_bandwidth{};           // --site-bandwidth "1 GB/s", of one GPU, or "unlimited"
  double site_distance_km = 0;            // --site-distance
};

/// The settings, each followed by its edited form where anything is asked for; or all problems,
/// named by flag.
Result<std::vector<limits::Setting>> with_beyond(const std::vector<limits::Setting>& settings,
                                                 const LimitsBeyond& beyond);

/// What each relaxed setting stands for and what its penalty rests on; empty where none is.
std::string relaxations_text(const std::vector<limits::Setting>& settings);

/// --sensitivity of one setting, its variants on `threads` threads; nothing where `progress`
/// stopped it.
std::optional<limits::Sensitivities> limits_sensitivity(const limits::Setting& setting, int threads,
                                                        const Progress& progress);
std::string sensitivity_text(const limits::Setting& setting, const limits::Sensitivities& found);
std::string sensitivity_json(const limits::Setting& setting, const limits::Sensitivities& found);
/// A tornado: each number's reach on both limits.
std::string sensitivity_svg(const limits::Setting& setting, const limits::Sensitivities& found);

}  // namespace headway
