// headway limits --real: idealised answers beside those of the full prediction of a step. Internal
// to src/api.
#pragma once

#include <string>
#include <vector>

#include "api/commands.hpp"
#include "api/limits.hpp"
#include "study/limits/transformer_curves.hpp"

namespace headway {

/// Why the question cannot be asked of the settings on the clusters of the request.
Problems real_problems(const LimitsRequest& request, const std::vector<limits::Setting>& settings);

/// The same on the cluster of the request, or on those that the settings' machines stand for; or
/// everything that is wrong with them.
Result<std::vector<RealCurve>> real_answers(const LimitsRequest& request,
                                            const std::vector<limits::Setting>& settings);

/// The real form of `headway limits`.
CommandOutput run_limits_real(const LimitsRequest& request, const limits::Comparison& comparison);

std::string real_text(const std::vector<RealCurve>& curves);
/// What limits_json() writes, and in each setting what holds of transformers.
std::string real_json(const std::string& title, const std::vector<RealCurve>& curves);
std::string real_csv(const std::vector<RealCurve>& curves);
/// Utilisation and MFU, and both clusters, against training compute.
std::string real_svg(const RealCurve& of);

/// Two lines: where both answers end.
std::string real_ends_text(const RealCurve& of);

/// Cells of a table, its head first: a row for each width.
std::vector<std::vector<std::string>> real_rows(const RealCurve& of);

}  // namespace headway
