// limits: curves of settings, what real transformers make of them, and what moves their ends.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "limits/search/sensitivity.hpp"
#include "platform/output.hpp"
#include "study/limits/curves.hpp"
#include "study/limits/timing.hpp"
#include "study/limits/transformer_curves.hpp"

namespace headway {

/// Cells of a table, its head first.
using Cells = std::vector<std::vector<std::string>>;

// Curves.
std::string limits_text(const LimitsReport& report);
/// "dp 64 tp 8x16 pp 4 micro-batches 8".
std::string limits_layout_text(const limits::Layout& layout);
/// What a step's time goes to, each part with its share.
std::string limits_losses_text(const limits::Run& run);
/// A row for each setting.
Cells limits_rows(const LimitsReport& report);
/// What binds, what the formulas say, and what is weak in the model.
std::string limits_explanation(const LimitsReport& report);
std::span<const std::string_view> limits_weak_points();
/// What each relaxed setting stands for and what its penalty rests on; empty where none is.
std::string relaxations_text(const std::vector<limits::Setting>& settings);
std::string limits_json(const LimitsReport& report);
/// Every model of every curve.
std::string limits_csv(const LimitsReport& report);
/// Drawings, in files whose names begin with `stem`: utilisation, degrees.
std::vector<OutputFile> limits_plots(const LimitsReport& report, const std::string& stem);

// Transformers beside them.
std::string real_text(const std::vector<RealCurve>& curves);
/// Two lines: where both answers end.
std::string real_ends_text(const RealCurve& of);
/// A row for each width.
Cells real_rows(const RealCurve& of);
/// What limits_json() writes, and in each setting what holds of transformers.
std::string real_json(const std::string& title, const std::vector<RealCurve>& curves);
std::string real_csv(const std::vector<RealCurve>& curves);
/// Utilisation and MFU, and both clusters, against training compute.
std::string real_svg(const RealCurve& of);

// Sensitivity.
/// `of` is the setting's curve, whose own ends stand beside the smooth ones.
std::string sensitivity_text(const LimitsCurve& of, const limits::Sensitivities& found);
/// A row for each number.
Cells sensitivity_rows(const limits::Setting& setting, const limits::Sensitivities& found);
/// Two lines: what moves each limit most.
std::string improvements_text(const limits::Setting& setting, const limits::Sensitivities& found);
/// What limits_json() writes, and in each setting its sensitivity.
std::string sensitivity_json(const std::string& title, const std::vector<LimitsCurve>& curves,
                             const std::vector<limits::Sensitivities>& found);
/// A tornado: each number's reach on both limits.
std::string sensitivity_svg(const limits::Setting& setting, const limits::Sensitivities& found);

/// How long they take, as a table.
std::string timing_text(const LimitsTiming& timing);

/// "2.05e28".
std::string power_text(double value);

}  // namespace headway
