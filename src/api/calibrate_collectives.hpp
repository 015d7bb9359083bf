// calibrate --collectives: a cluster's network fitted on its own logs. Internal to src/api.
#pragma once

#include "api/commands.hpp"
#include "base/document/document.hpp"

namespace headway {

CommandOutput calibrate_from_logs(const CalibrateRequest& request);

/// One line of the table of errors: shares of the measured time, medians before and after the fit.
struct ClassError {
  std::string_view level, op, size;
  std::size_t sizes = 0;
  double before = 0, after = 0, bias = 0;
  bool worse = false;
};

/// The members of the cluster file, and what the text has besides: {..., errors: [{level, op, size,
/// sizes, before, after, bias, worse}], notes: [...]}.
std::string calibrated_json(const Document& cluster, const std::vector<ClassError>& errors,
                            const std::vector<std::string>& notes);

}  // namespace headway
