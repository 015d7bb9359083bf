// What makes a run fit that does not: the smallest change of its layout, among those that its
// framework can run [PLAN-4].
#pragma once

#include <cstddef>
#include <optional>

#include "cost/calibration/calibration.hpp"
#include "forecast/forecast.hpp"
#include "run/run.hpp"

namespace headway {

/// The layout on as many accelerators that differs from the run's in the fewest searched fields
/// (dp, which follows from the other degrees, not counted), and of those the one with the shortest
/// step.
struct Fitting {
  Layout layout;
  std::size_t fields = 0;  // that differ
  Forecast forecast;
};
/// Of a legal run; nothing where no layout that differs in one or two fields fits.
std::optional<Fitting> smallest_fitting(const Run& run, const Calibration& calibration);

/// The fields that differ, as flags give them: "--recompute full --zero 3".
std::string changes_text(const Run& run, const Layout& layout);

/// The smallest change with which a run fits that does not, in words: "would fit with --zero 3:
/// 61.2 GiB, 9.31 s a step (+4.0 %)". `forecast`: of the run.
std::string what_would_fit(const RequestedRun& run, const Forecast& forecast);

}  // namespace headway
