// Small and medium spaces for tests of the planner. Tests only.
#pragma once

#include <unordered_map>

#include "forecast/random_run_for_test.hpp"
#include "method/methods.hpp"
#include "study/plan/search.hpp"

namespace headway::testing {

struct PlanCase {
  Case run;
  std::int64_t ranks = 8;
  Result<PlanSpace> space = Problems{};
  double headroom = 0;

  PlanQuestion question() const { return {run, run.calibration, *space, headroom}; }
};

inline PlanCase plan_case(const std::string& model, const std::string& cluster, std::int64_t ranks,
                          Framework framework, std::int64_t batch, std::int64_t sequence = 4096,
                          const std::vector<PlanFilter>& filters = {}) {
  PlanCase out;
  out.run = case_of(model, cluster);
  out.ranks = ranks;
  out.run.job.framework = framework;
  out.run.job.global_batch = batch;
  out.run.job.sequence = sequence;
  const bool bf16 = out.run.cluster.accelerator.peak_of(Precision::bf16).value() > 0;
  out.run.job.recipe = recipe_from(bf16 ? "bf16" : "fp16");
  out.space = PlanSpace::make(out.run, ranks, filters);
  return out;
}

inline PlanCase random_plan_case() {
  const auto model =
      *rc::gen::element<std::string>("llama-2-7b", "llama-3-70b", "mixtral-8x7b", "gpt-neox-1.3b");
  const auto cluster =
      *rc::gen::element<std::string>("dgx-a100-80gb", "dgx-h100", "frontier", "dgx-v100");
  const auto framework = static_cast<Framework>(*rc::gen::inRange(0, 5));
  // Experts multiply the space: fewer ranks.
  const auto ranks = model == "mixtral-8x7b" ? *rc::gen::element<std::int64_t>(2, 4)
                                             : *rc::gen::element<std::int64_t>(4, 6, 8, 12, 16);
  PlanCase out = plan_case(model, cluster, ranks, framework, *rc::gen::element<std::int64_t>(4, 12),
                           *rc::gen::element<std::int64_t>(2048, 8192));
  // Any other field of the job; those of the layout are searched.
  for (const FieldRow& row : field_rows()) {
    const std::string_view name = row.field.name;
    if (name == "framework" || name == "seq" || name == "global-batch") continue;
    if (!std::holds_alternative<FieldAccess<Job>>(row.access) || *rc::gen::inRange(0, 4) < 3)
      continue;
    set_number(out.run, row, usual_number(row));
  }
  repair(out.run);
  out.space = PlanSpace::make(out.run, ranks);
  if (*rc::gen::inRange(0, 4) == 0) {  // searched only where it is asked for
    const auto split = PlanSpace::make(out.run, ranks, {{"split-vocabulary", "on", false, {}}});
    if (split) out.space = split;
  }
  if (*rc::gen::inRange(0, 3) == 0) {  // given, it leaves ZeRO-3 alone
    Case plus = out.run;
    plus.job.quantized_weights = *rc::gen::arbitrary<bool>();
    plus.job.quantized_gradients = *rc::gen::arbitrary<bool>();
    plus.layout.secondary = *rc::gen::element<std::int64_t>(0, 2, 4);
    const auto given = PlanSpace::make(plus, ranks);
    if (given) {
      out.run = plus;
      out.space = given;
    }
  }
  RC_LOG() << flags_of(out.run) << " on " << ranks << "\n";
  if (*rc::gen::inRange(0, 3) == 0) {  // a method of training
    Case learns = out.run;
    const MethodRow& row = methods()[*rc::gen::inRange<std::size_t>(0, methods().size())];
    learns.job.method = method_from(row.name, FieldName("method")).value();
    if (row.usual.submodels > 1) RC_DISCARD("trains another model");
    follow(learns.job.method, learns.layout);
    RC_LOG() << "method " << row.name << "\n";
    const auto given = PlanSpace::make(learns, ranks);
    if (given) {
      out.run = learns;
      out.space = given;
    }
  }
  out.headroom = *rc::gen::element(0.0, 0.1, 0.5);
  if (!out.space) RC_DISCARD("nothing is legal");
  return out;
}

/// Prices all that fits.
inline PlanPricer pricer_of_all(const PlanQuestion& question) {
  static const PlanLimit none;
  return {question, {&none, 1}};
}

/// Every fitting layout of a cell.
template <class Visit>
PlanCounts price_all(PlanPricer& pricer, const PlanCell& cell, const Visit& visit) {
  CellTimes unknown{};
  return pricer.price(cell, {.visit = [&](const PlanPoint& point, Seekers) { visit(point); }},
                      unknown);
}

/// Every fitting layout by its index.
inline std::unordered_map<std::uint64_t, PlanPoint> all_points(const PlanQuestion& question,
                                                               PlanCounts& counts) {
  std::unordered_map<std::uint64_t, PlanPoint> out;
  PlanPricer pricer = pricer_of_all(question);
  for (const PlanCell& cell : question.space.cells()) {
    counts += price_all(pricer, cell, [&](const PlanPoint& point) { out[point.index] = point; });
  }
  return out;
}

}  // namespace headway::testing
