// calibrate: a cluster's network fitted on its own logs; what own runs say.
#pragma once

#include <string>

#include "base/document/document.hpp"
#include "fit/collectives/log.hpp"
#include "fit/own/fit.hpp"

namespace headway {

/// The members of the cluster file, and what the text has besides: {..., errors: [{level, op, size,
/// sizes, before, after, bias, worse}], notes: [...]}. Errors are shares of the measured time,
/// medians before and after the fit.
std::string calibrated_json(const Document& cluster, const LoggedFit& fit);

/// The members of the file that --calibration reads, and what the text has besides: {..., fits:
/// [{runs: [{name, measured_s, predicted_s, residual}], mean, within, explanations: [{field, says,
/// residuals, gain}]}], unused: [...]}, a fit for each setup. Residuals: ln(measured / predicted).
std::string own_json(const Document& written, const OwnFit& fit);

}  // namespace headway
