#include "forecast/predict/predict.hpp"

#include "base/quantity_text.hpp"
#include "cost/calibration/calibration.hpp"
#include "forecast/intervals/intervals.hpp"
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

// What a reader of the forecast should know of the run.
void add_notes(const Run& run, Forecast& out) {
  const Model& model = run.model;
  const Job& job = run.job;
  const Layout& layout = run.layout;
  out.notes.insert(out.notes.end(), model.notes.begin(), model.notes.end());
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

}  // namespace

Result<Forecast> predict(const Run& run) {
  const auto calibration = calibration_for(run.cluster, run.job.software);
  if (!calibration) return calibration.problems();
  Forecast out = forecast(run, *calibration);
  if (const auto& intervals = embedded_interval_model()) {
    add_intervals(*intervals, run, out);
  }
  add_notes(run, out);
  return out;
}

}  // namespace headway
