#include "forecast/predict/predict.hpp"

#include <algorithm>

#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "cost/calibration/calibration.hpp"
#include "forecast/intervals/intervals.hpp"
#include "forecast/intervals/networks.hpp"
#include "forecast/own_interval.hpp"
#include "forecast/two_machines.hpp"
#include "method/methods.hpp"
#include "step/frameworks/habits.hpp"

namespace headway {
namespace {

// The layers of chunk after chunk, as "5, 10 x 6, 5"; empty where all hold as many.
std::string uneven_spread(const Model& model, const Layout& layout) {
  const std::int64_t layers = model.layers(), chunks = chunks_of_model(layout);
  const auto count = [&](std::int64_t chunk) {
    return chunk_begin(layers, layout, chunk + 1) - chunk_begin(layers, layout, chunk);
  };
  std::string out;
  for (std::int64_t chunk = 0; chunk < chunks;) {
    const std::int64_t first = chunk;
    while (chunk < chunks && count(chunk) == count(first)) ++chunk;
    if (chunk - first == chunks) return {};
    out += (out.empty() ? "" : ", ") +
           (chunk - first > 1 ? std::to_string(chunk - first) + " x " : std::string()) +
           std::to_string(count(first));
  }
  return out;
}

// What own runs did to the forecast; empty: there are none.
std::string note_on_own_runs(const Run& run) {
  if (run.own == nullptr) return {};
  const std::string of = to_text(setup_of(run.cluster.accelerator, run.job));
  const OwnSetup* own = own_setup(run);
  if (own == nullptr) return "own runs: none of " + of + "; times are as without them";
  const std::string runs = std::to_string(own->runs) + (own->runs == 1 ? " run" : " runs");
  if (!own->agree) {
    return "own runs: " + runs + " of " + of + " agree on no factor; times are as without them";
  }
  std::string out = "own runs: times are " + formatted("%.3f", own->factor) +
                    " of what they would be without, by " + runs + " of " + of;
  if (!own->looks.empty()) out += "; they look like " + printable(join(own->looks, ", "), 400);
  return out;
}

// What a reader of the forecast should know of the run.
void add_notes_on_run(const Run& run, Forecast& out) {
  const Model& model = run.model;
  const Job& job = run.job;
  const Layout& layout = run.layout;
  out.notes.insert(out.notes.end(), model.notes.begin(), model.notes.end());
  if (std::string note = note_on_own_runs(run); !note.empty()) out.notes.push_back(std::move(note));
  if (!job.method.is_synchronous()) {
    const std::int64_t replicas = replicas_of(layout) > 1 ? replicas_of(layout) : layout.dp;
    out.notes.push_back("method: " + statement_of(job.method, replicas));
    out.notes.emplace_back("method: no measured run learns so: intervals are of synchronous runs");
  }
  if (!out.fits) {
    out.notes.push_back("does not fit: " + to_text(out.memory.total() - out.capacity) +
                        " more than the " + to_text(out.capacity) + " of an accelerator");
  }
  const bool stated = layout.first_stage_layers > 0 || layout.last_stage_layers > 0;
  const bool own = habits(job.framework).pipeline.balances_stages && layout.vpp == 1;
  const std::string spread = stated || own ? std::string() : uneven_spread(model, layout);
  if (!spread.empty()) {
    const std::string option(option_of_uneven_stages(job.framework));
    out.notes.push_back(std::to_string(model.layers()) + " layers on " +
                        std::to_string(chunks_of_model(layout)) + " pipeline chunks: " + spread +
                        (option.empty() ? option
                                        : " (" + std::string(title_of(job.framework)) + " needs " +
                                              option + " for that)"));
  }
  if (layout.split_vocabulary) {
    out.notes.push_back("no release of " + std::string(title_of(job.framework)) +
                        " splits the vocabulary over pipeline stages");
  }
  if (model.maximum_sequence > 0 && job.sequence > model.maximum_sequence) {
    out.notes.push_back("sequence of " + std::to_string(job.sequence) +
                        " tokens is longer than the " + std::to_string(model.maximum_sequence) +
                        " the model was made for");
  }
}

// What holds on both machines.
template <class Q>
void widen(std::optional<Interval<Q>>& interval, const std::optional<Interval<Q>>& other) {
  if (!interval || !other) return;
  interval->low = std::min(interval->low, other->low);
  interval->high = std::max(interval->high, other->high);
}

// Which machine holds what, and where the slowest stage is.
std::string note_on_machines(const RequestedRun& run, const Forecast& forecast) {
  const std::int64_t pp = run.layout.pp, near = pp - run.far->stages;
  return "stages 0 to " + std::to_string(near - 1) + " on " + printable(run.cluster.name) +
         ", stages " + std::to_string(near) + " to " + std::to_string(pp - 1) + " on " +
         printable(run.far->cluster.name) + ": the slowest is on the " +
         (forecast.pace_is_far ? "second" : "first") +
         ", and transfers take what the slower network does";
}

// Time, memory and what measured runs say of how far off they may be.
Forecast numbers_of(const Run& run, const Calibration& calibration) {
  Forecast out = forecast(run, calibration);
  const auto& intervals = embedded_interval_model();
  if (run.model.is_network()) {
    if (const auto& spreads = embedded_network_spreads())
      add_network_interval(*spreads, run.layout.ranks(), out);
  } else if (intervals) {
    add_intervals(*intervals, run, out);
    if (const OwnSetup* own = own_setup(run)) narrow_interval(*own, out);
  }
  return out;
}

// The same on two machines.
Result<Forecast> numbers_on_both(const RequestedRun& run, const Calibration& calibration) {
  const Run far = on_far_machine(run);
  const auto of_far = calibration_for(far);
  if (!of_far) return of_far.problems();
  Forecast out = forecast({run, calibration}, {far, *of_far}, run.layout.pp - run.far->stages);
  if (const auto& intervals = embedded_interval_model()) {
    Forecast as_far = out;
    add_intervals(*intervals, run, out);
    add_intervals(*intervals, far, as_far);
    widen(out.step_time_interval, as_far.step_time_interval);
    widen(out.memory_interval, as_far.memory_interval);
  }
  return out;
}

}  // namespace

Result<Forecast> predict(const Run& run) {
  const auto calibration = calibration_for(run);
  if (!calibration) return calibration.problems();
  Forecast out = numbers_of(run, *calibration);
  add_notes_on_run(run, out);
  return out;
}

Result<Forecast> predict(const RequestedRun& run) {
  KeptCalibration only;
  auto out = predict_numbers(run, only);
  if (out) add_notes(run, out.value());
  return out;
}

Result<Forecast> predict_numbers(const RequestedRun& run, KeptCalibration& kept) {
  const auto& calibration = kept.of(run);
  if (!calibration) return calibration.problems();
  if (run.far == nullptr) return numbers_of(run, *calibration);
  return numbers_on_both(run, *calibration);
}

void add_notes(const RequestedRun& run, Forecast& forecast) {
  add_notes_on_run(run, forecast);
  if (run.far != nullptr) forecast.notes.push_back(note_on_machines(run, forecast));
}

}  // namespace headway
