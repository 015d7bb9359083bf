// Which field of the runs, set otherwise, would explain what was measured.
#include <algorithm>
#include <cmath>

#include "fit/own/fit.hpp"
#include "forecast/forecast.hpp"
#include "layout/fields.hpp"

namespace headway {
namespace {

const double kLikelier = std::log(2.0);
constexpr std::size_t kMostExplanations = 3;
constexpr double kSameTime = 0.002;  // a field that changes every time less than that is none

// What people state wrong or not at all, and how a run looks that has it so.
struct Switch {
  std::string_view field, value, says;
};
constexpr Switch kSwitches[] = {
    {"unfused", "true", "norms, activation, rotary and dropout look unfused"},
    {"unfused", "false", "norms, activation, rotary and dropout look fused"},
    {"overlap-gradients", "off", "gradients look exposed"},
    {"overlap-gradients", "on", "gradients look hidden"},
    {"overlap-parameters", "off", "gathers of parameters look exposed"},
    {"overlap-parameters", "on", "gathers of parameters look hidden"},
    {"overlap-tensor", "off", "tensor-parallel calls look exposed"},
    {"overlap-tensor", "on", "tensor-parallel calls look hidden"},
    {"overlap-experts", "off", "the exchange of tokens looks exposed"},
    {"overlap-experts", "on", "the exchange of tokens looks hidden"},
    {"dispatch", "copies", "tokens look sent to each of their experts"},
    {"dispatch", "once", "tokens look sent once to each rank"},
    {"attention", "unfused", "attention looks unfused"},
    {"attention", "flash1", "attention looks like flash attention 1"},
    {"attention", "flash2", "attention looks like flash attention 2"},
    {"attention", "flash3", "attention looks like flash attention 3"},
    {"recompute", "none", "nothing looks computed again"},
    {"recompute", "selective", "the core of attention looks computed again"},
    {"recompute", "full", "whole layers look computed again"},
    {"no-sp", "true", "norms and residual look replicated over tp"},
    {"no-reshard", "true", "gathered weights look kept from forward to backward"},
    {"no-reshard", "false", "weights look gathered for the backward pass, too"},
    {"param-dtype", "fp32", "weights look gathered in fp32"},
    {"reduce-dtype", "fp32", "gradients look reduced in fp32"},
    {"reduce-dtype", "bf16", "gradients look reduced in 16 bit"},
    {"small-gradients", "true", "gradients look kept in 16 bit"},
    {"fused-loss", "off", "the loss looks unfused"},
    {"fused-loss", "on", "the loss looks fused"},
    {"padding-mask", "true", "batches look masked"},
    {"not-causal", "true", "attention looks computed without the causal mask"},
    {"graphs", "none", "the host looks busy: no CUDA graphs"},
    {"graphs", "step", "the host looks idle: CUDA graphs of the whole step"},
    {"checked-collectives", "true", "each collective looks checked by the hosts"},
    {"blocking-transfers", "true", "pipeline transfers look blocking"},
};

// The run with the switch; nothing where it has it so, or may not.
std::optional<Run> switched(const Run& run, const Switch& to) {
  const FieldRow& row = *field_row(to.field);
  auto number = number_of(row.field.form, to.value);
  if (row.field.form.kind == FieldForm::Kind::flag) {
    number = (to.value == "true") == row.field.form.sets ? 1.0 : 0.0;
  }
  if (!number || number_of(run, row) == number) return std::nullopt;
  Run out = with(run, row, *number);
  if (!is_legal(out)) return std::nullopt;
  return out;
}

}  // namespace

std::vector<OwnExplanation> explanations(const OwnPrior& prior, const std::vector<OwnRun>& runs) {
  std::vector<double> as_said;
  for (const OwnRun& run : runs) as_said.push_back(run.residual());
  const double before = log_evidence(prior, as_said);
  std::vector<OwnExplanation> out;
  for (const Switch& each : kSwitches) {
    OwnExplanation found{"--" + std::string(each.field), each.says, {}, 0};
    if (field_row(each.field)->field.form.kind != FieldForm::Kind::flag) {
      found.field += " " + std::string(each.value);
    } else if (each.value == "false") {
      found.field = "no " + found.field;
    }
    double most = 0;
    for (const OwnRun& run : runs) {
      const auto other = switched(run.run, each);
      if (!other) break;
      const Seconds time = forecast(*other, *run.calibration).step_time;
      found.residuals.push_back(std::log(run.measured / time));
      most = std::max(most, std::abs(std::log(time / run.predicted)));
    }
    if (found.residuals.size() < runs.size() || most < kSameTime) continue;
    found.gain = log_evidence(prior, found.residuals) - before;
    if (found.gain >= kLikelier) out.push_back(std::move(found));
  }
  std::stable_sort(out.begin(), out.end(), [](const OwnExplanation& a, const OwnExplanation& b) {
    return a.gain > b.gain;
  });
  if (out.size() > kMostExplanations) out.resize(kMostExplanations);
  return out;
}

}  // namespace headway
