// What a few measured steps of one's own say of the forecasts of runs like them
// (docs/models/own.md). `headway calibrate --runs` writes such a file, --calibration reads it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "cluster/cluster.hpp"
#include "layout/job.hpp"

namespace headway {

/// What runs share whose forecasts err alike: the accelerator, the framework, and how many bits the
/// products read.
struct Setup {
  std::string accelerator;
  Framework framework{};
  int bits = 16;
  friend bool operator==(const Setup&, const Setup&) = default;
};
Setup setup_of(const Accelerator& accelerator, const Job& job);
/// The three with commas between them, "..., 16 bit".
std::string to_text(const Setup& setup);

/// What the runs of one setup say.
struct OwnSetup {
  Setup setup;
  std::int64_t runs = 0;           // measured ones
  double factor = 1;               // of every time of a step [OWN-1]
  double interval = 1;             // share of the interval's width that is left, as a log [OWN-2]
  bool agree = true;               // false: on no factor, times are as without them
  std::vector<std::string> looks;  // what would explain them, as fields: "unfused"
};

struct OwnRuns {
  std::string file;
  std::vector<OwnSetup> setups;

  /// Null: none of it.
  const OwnSetup* of(const Setup& setup) const;
};

/// Factors and shares beyond these are no calibration, but another run.
constexpr double kMostOwnFactor = 4, kLeastOwnInterval = 0.05;
constexpr std::size_t kMostOwnSetups = 1024;

Result<OwnRuns> own_runs_from(const Document& document);

}  // namespace headway
