// calibrate: a cluster's network fitted on its own logs.
#pragma once

#include <string>

#include "base/document/document.hpp"
#include "fit/collectives/log.hpp"

namespace headway {

/// The members of the cluster file, and what the text has besides: {..., errors: [{level, op, size,
/// sizes, before, after, bias, worse}], notes: [...]}. Errors are shares of the measured time,
/// medians before and after the fit.
std::string calibrated_json(const Document& cluster, const LoggedFit& fit);

}  // namespace headway
