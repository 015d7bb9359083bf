#include "report/comms/advise.hpp"

#include <cmath>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/json/document.hpp"
#include "report/text/comms_measured.hpp"

namespace headway {
namespace {

// "11 %", "0.4 %".
std::string percent(double share) {
  return formatted(std::abs(share) < 0.00995 ? "%.1f" : "%.0f", 100 * share);
}

// Words behind `start`, in lines of at most 80 columns.
std::string lines_behind(const std::string& start, const std::string& text) {
  return start + wrapped(text, start.size(), start.size()).substr(start.size());
}

std::string one_text(std::size_t number, const Advice& advice) {
  std::string out =
      lines_behind("  " + std::to_string(number) + ". ",
                   printable(advice.what, 200) + ": " + percent(advice.gain) + " % (" +
                       percent(advice.interval.low) + " to " + percent(advice.interval.high) +
                       "), " + to_text(advice.step_time) + " a step");
  out += lines_behind("     trace: ", printable(advice.says, 400));
  if (!advice.flags.empty()) out += lines_behind("     try: ", join(advice.flags, " "));
  if (!advice.remedy.empty()) out += lines_behind("     try: ", advice.remedy);
  return out;
}

std::string tried_text(const Advised& advised) {
  return std::to_string(advised.tried) + " changes that were tried, each alone" +
         (advised.layouts > 0
              ? ", and " + count_text(static_cast<double>(advised.layouts)) + " layouts"
              : std::string());
}

Json links_json(const Advised& advised) {
  Json out = Json::array();
  for (const TracedLinks& links : advised.links) {
    out.push_back(
        {{"level", links.level}, {"slower", known_json(links.slower)}, {"fitted", links.fitted}});
  }
  return out;
}

Json advice_json(const Advice& advice) {
  return {{"kind", to_name(advice.kind)},
          {"what", advice.what},
          {"says", advice.says},
          {"flags", advice.flags},
          {"remedy", advice.remedy.empty() ? Json(nullptr) : Json(advice.remedy)},
          {"ranks", advice.ranks},
          {"gain", advice.gain},
          {"interval_gain", {advice.interval.low, advice.interval.high}},
          {"step_time_s", advice.step_time.value()}};
}

}  // namespace

std::string advise_text(const Advised& advised) {
  const Reconciliation& all = advised.reconciliation;
  std::string head =
      printable(advised.run.model.name) + " on " + printable(advised.run.cluster.name) + ", " +
      std::to_string(all.run_ranks) + " accelerators, by a trace of " +
      std::to_string(all.recorded_ranks) + (all.recorded_ranks == 1 ? " rank" : " ranks") +
      " and " + number_text(all.steps.steps) + (all.steps.steps == 1 ? " step" : " steps") + ": ";
  head += advised.measured ? to_text(*advised.measured) + " a step measured, "
                           : std::string("no times of steps, ");
  head += to_text(advised.measured ? advised.forecast.step_time : advised.step_time) + " forecast";
  if (advised.late_share > 0 && advised.measured) head += " without late ranks";
  if (advised.factor != 1) {
    head += " (all times by " + formatted("%.3f", advised.factor) + ", as the trace has it)";
  }
  for (const TracedLinks& links : advised.links) {
    head += "; level " + printable(links.level, 20) +
            (links.slower
                 ? " at " + formatted("%.2f", *links.slower) + " of its times, as the trace has it"
                 : std::string(" fitted to the trace's calls"));
  }
  std::string out = wrapped(head, 0, 0) + "\n";
  if (advised.advice.empty()) {
    return out +
           wrapped("nothing of " + tried_text(advised) + " brings a hundredth of the step", 0, 0);
  }
  for (std::size_t i = 0; i < advised.advice.size(); ++i) {
    out += one_text(i + 1, advised.advice[i]);
  }
  return out + "\n" +
         wrapped("what brings most of " + tried_text(advised) +
                     ": share of the step (four of five times within)",
                 0, 0);
}

std::string advise_json(const Advised& advised) {
  Json list = Json::array();
  for (const Advice& advice : advised.advice) list.push_back(advice_json(advice));
  const auto& bounds = advised.forecast.step_time_interval;
  return document_text(
      {{"model", advised.run.model.name},
       {"cluster", advised.run.cluster.name},
       {"run_ranks", advised.reconciliation.run_ranks},
       {"recorded_ranks", advised.reconciliation.recorded_ranks},
       {"steps", advised.reconciliation.steps.steps},
       {"measured_step_time_s", advised.measured ? Json(advised.measured->value()) : Json(nullptr)},
       {"step_time_s", advised.step_time.value()},
       {"forecast_step_time_s", advised.forecast.step_time.value()},
       {"interval_step_time_s",
        bounds ? Json({bounds->low.value(), bounds->high.value()}) : Json(nullptr)},
       {"factor", advised.factor},
       {"links", links_json(advised)},
       {"tried", advised.tried},
       {"layouts", advised.layouts},
       {"advice", std::move(list)}});
}

}  // namespace headway
