// Errors of serving by constants that did not see what they predict, as a calibration left them:
// data/serving/left_out.toml.
#pragma once

#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "fit/serving/intervals.hpp"
#include "fit/statistics.hpp"

namespace headway {

struct ServedAims;

/// Of the rows of an aim: by constants without their source, and without its rows of their model.
struct LeftOutErrors {
  std::string aim;
  ErrorSummary no_source, no_model;
};

struct ServedLeftOut {
  std::string date;
  std::vector<LeftOutErrors> errors;
  std::vector<HeldServing> held;  // by intervals

  const LeftOutErrors* of(const std::string& aim) const;
};

/// Of a fit that left out; rows know their share of capacity.
ServedLeftOut left_out_of(const ServedAims& aims, const std::vector<ServedCase>& cases,
                          const HostFit& fit, const ServingIntervalFit& intervals);

std::string to_toml(const ServedLeftOut& left_out, const std::string& date);
Result<ServedLeftOut> served_left_out_from(const Document& document);
const Result<ServedLeftOut>& served_left_out();

}  // namespace headway
