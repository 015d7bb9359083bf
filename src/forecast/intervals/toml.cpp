// data/calibration/intervals.toml as every forecast reads it.
#include "forecast/intervals/intervals.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

Difficulties variances_from(Fields fields) {
  Difficulties out{};
  for (std::size_t i = 0; i < kDifficultyNames.size(); ++i) {
    out[i] = fields.number(kDifficultyNames[i]);
    if (!(out[i] >= 0)) fields.fail(kDifficultyNames[i], "is a variance: must be at least 0");
  }
  fields.reject_unknown();
  return out;
}

Spread spread_from(Fields fields) {
  const Spread out{variances_from(fields.table("below", /*required=*/true)),
                   variances_from(fields.table("above", /*required=*/true))};
  fields.reject_unknown();
  return out;
}

// { name = runs }.
std::map<std::string, std::size_t> counts_from(Fields fields) {
  std::map<std::string, std::size_t> out;
  for (const std::string& name : fields.keys()) {
    out[name] = static_cast<std::size_t>(fields.natural(name));
  }
  fields.reject_unknown();
  return out;
}

Reach reach_from(Fields fields) {
  Reach out;
  out.accelerators = counts_from(fields.table("accelerators"));
  out.setups = counts_from(fields.table("setups"));
  Fields frameworks = fields.table("framework");
  for (const std::string& name : frameworks.keys()) {
    Fields box = frameworks.table(name);
    out.frameworks[name].runs = static_cast<std::size_t>(box.natural("runs"));
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
