// data/calibration/intervals.toml: written by a calibration. Every forecast reads the model in it
// (forecast/intervals), the errors beside it are read here.

#include "base/document/document.hpp"
#include "base/document/toml_text.hpp"
#include "base/formatted.hpp"
#include "fit/intervals/fit.hpp"
#include "forecast/intervals/intervals.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

std::string number(double x, const char* format = "%.4g") {
  return formatted(format, x);
}

std::string spread_text(const std::string& name, const Spread& spread) {
  std::string out;
  const std::pair<const char*, const Difficulties*> sides[] = {{"below", &spread.below},
                                                               {"above", &spread.above}};
  for (const auto& [side, variances] : sides) {
    out += "\n[" + name + "." + side + "]  # variances of ln(measured/predicted)\n";
    for (std::size_t i = 0; i < kDifficultyNames.size(); ++i) {
      out += std::string(kDifficultyNames[i]) + " = " + number((*variances)[i]) + '\n';
    }
  }
  return out;
}

std::string counts_text(const std::string& of, const std::map<std::string, std::size_t>& counts) {
  std::string out = "\n[reach." + of + "]  # runs of which the step was timed\n";
  for (const auto& [name, runs] : counts) {
    out += toml_text(name) + " = " + std::to_string(runs) + '\n';
  }
  return out;
}

std::string reach_text(const Reach& reach) {
  std::string out =
      counts_text("accelerators", reach.accelerators) + counts_text("setups", reach.setups);
  for (const auto& [name, box] : reach.frameworks) {
    out += "\n[reach.framework." + name +
           "]  # log2 of the least and the most\nruns = " + std::to_string(box.runs) + "\n";
    for (std::size_t side = 0; side < Box::kSides; ++side) {
      out += std::string(Box::kSideNames[side]) + " = { least = " + number(box.least[side]) +
             ", most = " + number(box.most[side]) + " }\n";
    }
  }
  return out;
}

std::string groups_text(const std::string& kind, const std::vector<Generalisation>& groups) {
  std::string out;
  for (const Generalisation& group : groups) {
    out += "\n[left-out." + kind + "." + toml_text(group.name) +
           "]\nrows = " + std::to_string(group.rows) +
           "\nfitted_median = " + number(group.fitted.median, "%.3g") +
           "\nfitted_p90 = " + number(group.fitted.p90, "%.3g") +
           "\nmedian = " + number(group.left_out.median, "%.3g") +
           "\np90 = " + number(group.left_out.p90, "%.3g") +
           "\nbias = " + number(group.left_out.bias, "%.3g") + '\n';
    if (!group.intervals) continue;
    for (const IntervalQualityRow& row : kIntervalQualities) {
      out += std::string(row.name) + " = " + number((*group.intervals).*row.member, "%.3g") + '\n';
    }
  }
  return out;
}

std::vector<Generalisation> groups_from(Fields fields) {
  std::vector<Generalisation> out;
  for (const std::string& name : fields.keys()) {
    Fields entry = fields.table(name);
    Generalisation group;
    group.name = name;
    group.rows = static_cast<std::size_t>(entry.natural("rows"));
    group.fitted.rows = group.left_out.rows = group.rows;
    group.fitted.median = entry.number("fitted_median");
    group.fitted.p90 = entry.number("fitted_p90");
    group.left_out.median = entry.number("median");
    group.left_out.p90 = entry.number("p90");
    group.left_out.bias = entry.number("bias");
    if (entry.has(kIntervalQualities.front().name)) {
      group.intervals = IntervalQuality{};
      for (const IntervalQualityRow& row : kIntervalQualities) {
        (*group.intervals).*row.member = entry.number(row.name);
      }
    }
    entry.reject_unknown();
    out.push_back(std::move(group));
  }
  return out;
}

}  // namespace

std::string to_toml(const IntervalFit& fit, const std::string& date) {
  return "# Intervals of forecasts and the errors that they come from (docs/validation.md): runs "
         "of\n"
         "# data/measurements/training.csv predicted by constants fitted without their source,\n"
         "# accelerator or framework. Written by `headway calibrate intervals --write`.\ndate = "
         "\"" +
         date + "\"\n" + spread_text("step_time", fit.model.step_time) +
         spread_text("memory", fit.model.memory) + reach_text(fit.model.reach) +
         groups_text("class", fit.classes) + groups_text("scale", fit.scales) +
         groups_text("source", fit.sources) + groups_text("accelerator", fit.accelerators);
}

Result<IntervalFit> interval_fit_from(const Document& document) {
  Problems problems;
  Fields fields(document, problems);
  IntervalFit out;
  fields.text("date");
  out.model = interval_model_from(fields);
  Fields left_out = fields.table("left-out");
  out.classes = groups_from(left_out.table("class"));
  out.scales = groups_from(left_out.table("scale"));
  out.sources = groups_from(left_out.table("source"));
  out.accelerators = groups_from(left_out.table("accelerator"));
  left_out.reject_unknown();
  fields.reject_unknown();
  if (!problems.empty()) return problems;
  return out;
}

const Result<IntervalFit>& embedded_interval_fit() {
  static const Result<IntervalFit> fit = [] {
    const auto document = embedded_document("calibration/intervals.toml");
    return document ? interval_fit_from(*document) : Result<IntervalFit>(document.problems());
  }();
  return fit;
}

}  // namespace headway
