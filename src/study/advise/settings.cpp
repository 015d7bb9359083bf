// The run with one field changed, each forecast anew.
#include <algorithm>

#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "forecast/predict/predict.hpp"
#include "study/advise/parts.hpp"

namespace headway {
namespace {

// A field that may be tried, to what, and the part of a step that it is about.
struct Trial {
  std::string_view field, value, what;
  Part part;
};
constexpr Trial kTrials[] = {
    {"no-sp", "false", "sequence parallelism on", Part::tp},
    {"overlap-gradients", "on", "gradients overlapped with the backward pass", Part::dp},
    {"overlap-parameters", "on", "gathers of parameters overlapped", Part::dp},
    {"overlap-tensor", "on", "tensor-parallel calls overlapped", Part::tp},
    {"overlap-experts", "on", "exchanges with experts overlapped", Part::ep},
    {"dispatch", "once", "tokens sent once to each rank", Part::ep},
    {"no-reshard", "true", "gathered weights kept for the backward pass", Part::dp},
    {"no-reshard", "false", "weights gathered again for the backward pass", Part::dp},
    {"zero", "0", "nothing sharded over data-parallel ranks", Part::dp},
    {"zero", "1", "ZeRO stage 1", Part::dp},
    {"zero", "2", "ZeRO stage 2", Part::dp},
    {"zero", "3", "ZeRO stage 3", Part::dp},
    {"reduce-dtype", "bf16", "gradients reduced in 16 bit", Part::dp},
    {"param-dtype", "bf16", "weights gathered in 16 bit", Part::dp},
    {"recompute", "none", "nothing computed again", Part::compute},
    {"recompute", "selective", "the core of attention alone computed again", Part::compute},
    {"unfused", "false", "norms, activation, rotary and dropout fused", Part::compute},
    {"fused-loss", "on", "the loss in one kernel", Part::compute},
    {"graphs", "step", "CUDA graphs of the whole step", Part::other},
    {"schedule", "zero-bubble", "the zero-bubble schedule", Part::bubble},
    {"schedule", "1f1b", "the 1F1B schedule", Part::bubble},
};

std::optional<double> number_for(const FieldRow& row, const Trial& trial) {
  if (row.field.form.kind != FieldForm::Kind::flag) return number_of(row.field.form, trial.value);
  return (trial.value == "true") == row.field.form.sets ? 1.0 : 0.0;
}

std::string flag_for(const FieldRow& row, const Trial& trial) {
  const std::string name(row.field.name);
  if (row.field.form.kind != FieldForm::Kind::flag)
    return "--" + name + " " + std::string(trial.value);
  return trial.value == "true" ? "--" + name : "without --" + name;
}

// What the step spends on the part, where the trace's calls do not tell.
std::string part_evidence(const Forecast& forecast, Part part) {
  return std::string(row_of(part).long_name) + " takes " + to_text(forecast.parts[part]) +
         " of the step, as calibrated to the trace";
}

void try_run(const Run& other, const Forecast& as_it_is, Advice advice, std::size_t& tried,
             std::vector<Advice>& out) {
  if (!is_legal(other)) return;
  ++tried;
  const auto changed = predict(other);
  if (!changed || !changed->fits || changed->step_time >= as_it_is.step_time) return;
  advice.kind = AdviceKind::setting;
  advice.step_time = changed->step_time;
  advice.gain = (as_it_is.step_time - changed->step_time) / as_it_is.step_time;
  advice.interval = gain_interval(as_it_is, *changed, as_it_is.step_time);
  out.push_back(std::move(advice));
}

}  // namespace

std::vector<Advice> settings_of(const RequestedRun& run, const Reconciliation& reconciliation,
                                const Forecast& as_it_is, std::size_t& tried) {
  std::vector<Advice> out;
  const auto evidence = [&](Part part) {
    const std::string calls = group_evidence(reconciliation, part);
    return calls.empty() ? part_evidence(as_it_is, part) : calls;
  };
  for (const Trial& trial : kTrials) {
    const FieldRow& row = *field_row(trial.field);
    const auto number = number_for(row, trial);
    if (!number || number_of(run, row) == number) continue;
    Advice advice;
    advice.what = std::string(trial.what);
    advice.says = evidence(trial.part);
    advice.flags = {flag_for(row, trial)};
    try_run(with(run, row, *number), as_it_is, std::move(advice), tried, out);
  }
  // Micro-batches of other sizes; every order of the ranks.
  const FieldRow& micro = *field_row("micro-batch");
  for (const double factor : {0.5, 2.0, 4.0}) {
    const double number = *number_of(run, micro) * factor;
    if (number < 1) continue;
    Advice advice;
    advice.what = "micro-batches of " + text_of(micro.field.form, number);
    advice.says = evidence(run.layout.pp > 1 ? Part::bubble : Part::compute);
    advice.flags = {"--micro-batch " + text_of(micro.field.form, number)};
    try_run(with(run, micro, number), as_it_is, std::move(advice), tried, out);
  }
  const FieldRow& order = *field_row("order");
  for (const std::string_view name : order.field.form.names) {
    const auto number = number_of(order.field.form, name);
    if (!number || number_of(run, order) == number) continue;
    Advice advice;
    advice.what = "ranks numbered " + std::string(name);
    advice.says = evidence(run.layout.tp > 1 ? Part::tp : Part::dp);
    advice.flags = {"--order " + std::string(name)};
    try_run(with(run, order, *number), as_it_is, std::move(advice), tried, out);
  }
  // Of one field the number that brings most.
  std::stable_sort(out.begin(), out.end(),
                   [](const Advice& a, const Advice& b) { return a.gain > b.gain; });
  std::vector<Advice> best;
  const auto field_of = [](const Advice& advice) {
    const std::string& flag = advice.flags.front();
    const std::size_t name = flag.find("--");
    return flag.substr(name, flag.find(' ', name) - name);
  };
  for (Advice& advice : out) {
    const bool have = std::any_of(best.begin(), best.end(), [&](const Advice& other) {
      return field_of(other) == field_of(advice);
    });
    if (!have) best.push_back(std::move(advice));
  }
  return best;
}

}  // namespace headway
