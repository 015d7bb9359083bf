// The run planned again, by what its trace says of it.
#include <algorithm>

#include "base/text.hpp"
#include "cost/calibration/calibration.hpp"
#include "forecast/predict/predict.hpp"
#include "study/advise/parts.hpp"
#include "study/plan/fitting.hpp"
#include "study/plan/search.hpp"
#include "study/plan/space/fields.hpp"

namespace headway {
namespace {

// "tp 1, pp 2, dp 8": the degrees that differ.
std::string degrees_text(const Layout& layout, const Layout& other) {
  std::string out;
  for (const PlanField& field : plan_fields()) {
    const bool degree = field.axis == PlanAxis::degrees || field.name == "ep" ||
                        field.name == "etp" || field.name == "vpp";
    if (!degree || field.value(layout) == field.value(other)) continue;
    out += (out.empty() ? "" : ", ") + std::string(field.name) + " " + value_text(field, other);
  }
  return out;
}

// "--tp 1 --recompute none" as one text each.
std::vector<std::string> flags_of(const Run& run, const Layout& other) {
  std::string all = changes_text(run, other);
  if (other.dp != run.layout.dp) {
    all += (all.empty() ? "" : " ") + ("--dp " + std::to_string(other.dp));
  }
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find(" --", begin), all.size());
    out.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// The part of a step that loses most.
Part most_saved(const Forecast& from, const Forecast& to) {
  Part out = Part::compute;
  for (const PartRow& row : kParts) {
    const Seconds saved = from.parts[row.part] - to.parts[row.part];
    if (saved > from.parts[out] - to.parts[out]) out = row.part;
  }
  return out;
}

}  // namespace

std::optional<Advice> layout_advice(const Advised& as_is, int threads, std::uint64_t& layouts) {
  const RequestedRun& run = as_is.run;
  const auto calibration = calibration_for(run);
  const auto space = PlanSpace::make(run, run.layout.ranks());
  if (!calibration || !space) return std::nullopt;
  layouts = space->size();
  PlanSearch how;
  how.threads = threads;
  const PlanBest best = search(PlanQuestion{run, *calibration, *space}, how);
  if (best.points.empty()) return std::nullopt;

  RequestedRun other = run;
  other.layout = space->layout_at(best.points.front().index);
  const auto changed = predict(other);
  if (!changed || !changed->fits) return std::nullopt;
  const Gain gain = gain_of(as_is, *changed);
  if (gain.share < kLeastGain) return std::nullopt;
  Advice out;
  out.flags = flags_of(run, other.layout);
  if (out.flags.empty()) return std::nullopt;
  const bool one = out.flags.size() == 1;
  out.kind = one ? AdviceKind::setting : AdviceKind::layout;
  const std::string degrees = degrees_text(run.layout, other.layout);
  out.what = "planned again, " + (!degrees.empty() ? degrees
                                  : one            ? out.flags.front().substr(2)
                                                   : "other settings together");
  out.says = evidence_of(as_is, most_saved(as_is.forecast, *changed));
  out.gain = gain.share;
  out.interval = gain.interval;
  return out;
}

}  // namespace headway
