// data/calibration/intervals.toml as every forecast reads it.
#include <cmath>

#include "forecast/intervals/intervals.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

Spread spread_from(Fields fields) {
  Spread out;
  for (std::size_t i = 0; i < kDifficultyNames.size(); ++i) {
    out.slopes[i] = fields.number(kDifficultyNames[i]);
    if (std::abs(out.slopes[i]) > 20) fields.fail(kDifficultyNames[i], "must be from -20 to 20");
  }
  out.low = fields.number("low");
  out.high = fields.number("high");
  if (!(out.low <= out.high)) fields.fail("low", "must not be above high");
  fields.reject_unknown();
  return out;
}

Reach reach_from(Fields fields) {
  Reach out;
  for (const std::string& name : fields.texts_or_empty("architectures")) {
    out.architectures.insert(name);
  }
  Fields frameworks = fields.table("framework");
  for (const std::string& name : frameworks.keys()) {
    Fields box = frameworks.table(name);
    for (std::size_t side = 0; side < Box::kSides; ++side) {
      Fields ends = box.table(Box::kSideNames[side], /*required=*/true);
      out.frameworks[name].least[side] = ends.number("least");
      out.frameworks[name].most[side] = ends.number("most");
      ends.reject_unknown();
    }
    box.reject_unknown();
  }
  fields.reject_unknown();
  return out;
}

}  // namespace

IntervalModel interval_model_from(Fields& fields) {
  IntervalModel out;
  out.step_time = spread_from(fields.table("step_time", /*required=*/true));
  out.memory = spread_from(fields.table("memory", /*required=*/true));
  out.reach = reach_from(fields.table("reach", /*required=*/true));
  return out;
}

const Result<IntervalModel>& embedded_interval_model() {
  static const Result<IntervalModel> model = []() -> Result<IntervalModel> {
    const auto document = embedded_document("calibration/intervals.toml");
    if (!document) return document.problems();
    Problems problems;
    Fields fields(*document, problems);
    IntervalModel out = interval_model_from(fields);
    if (!problems.empty()) return problems;
    return out;
  }();
  return model;
}

}  // namespace headway
