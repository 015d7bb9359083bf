// The run with one field changed, each forecast anew.
#include <algorithm>
#include <map>

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

// Changes of fields that make the run faster, of each field the number that brings most.
class Settings {
 public:
  Settings(const Advised& as_is, std::size_t& tried) : as_is_(as_is), tried_(tried) {}

  void try_number(const FieldRow& row, double number, std::string what, Part part,
                  std::string flag) {
    const RequestedRun other = with(as_is_.run, row, number);
    if (!is_legal(other)) return;
    ++tried_;
    const auto changed = predict(other);
    if (!changed || !changed->fits) return;
    const Gain gain = gain_of(as_is_, *changed);
    if (gain.share < kLeastGain) return;
    Advice advice;
    advice.what = std::move(what);
    advice.says = evidence_of(as_is_, part);
    advice.flags = {std::move(flag)};
    advice.gain = gain.share;
    advice.interval = gain.interval;
    const auto [best, is_new] = best_.try_emplace(row.field.name, advice);
    if (!is_new && advice.gain > best->second.gain) best->second = std::move(advice);
  }

  std::vector<Advice> found() && {
    std::vector<Advice> out;
    for (auto& [field, advice] : best_) out.push_back(std::move(advice));
    std::stable_sort(out.begin(), out.end(),
                     [](const Advice& a, const Advice& b) { return a.gain > b.gain; });
    return out;
  }

 private:
  const Advised& as_is_;
  std::size_t& tried_;
  std::map<std::string_view, Advice> best_;
};

}  // namespace

std::vector<Advice> settings_of(const Advised& as_is, std::size_t& tried) {
  const RequestedRun& run = as_is.run;
  Settings settings(as_is, tried);
  for (const Trial& trial : kTrials) {
    const FieldRow& row = *field_row(trial.field);
    const auto number = number_for(row, trial);
    if (!number || number_of(run, row) == number) continue;
    settings.try_number(row, *number, std::string(trial.what), trial.part, flag_for(row, trial));
  }
  // Micro-batches of other sizes; every order of the ranks.
  const FieldRow& micro = *field_row("micro-batch");
  for (const double factor : {0.5, 2.0, 4.0}) {
    const double number = *number_of(run, micro) * factor;
    if (number < 1) continue;
    const std::string size = text_of(micro.field.form, number);
    settings.try_number(micro, number, "micro-batches of " + size,
                        run.layout.pp > 1 ? Part::bubble : Part::compute, "--micro-batch " + size);
  }
  const FieldRow& order = *field_row("order");
  for (const std::string_view name : order.field.form.names) {
    const auto number = number_of(order.field.form, name);
    if (!number || number_of(run, order) == number) continue;
    settings.try_number(order, *number, "ranks numbered " + std::string(name),
                        run.layout.tp > 1 ? Part::tp : Part::dp, "--order " + std::string(name));
  }
  return std::move(settings).found();
}

}  // namespace headway
