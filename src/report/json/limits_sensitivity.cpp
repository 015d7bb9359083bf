#include "report/json/document.hpp"
#include "report/limits.hpp"

namespace headway {
namespace {

Json limits_of(const limits::SmoothLimits& of) {
  return {{"linear_scaling_flop", known_json(of.linear_scaling)},
          {"wall_flop", known_json(of.wall)}};
}

}  // namespace

std::string sensitivity_json(const std::string& title, const std::vector<LimitsCurve>& curves,
                             const std::vector<limits::Sensitivities>& found) {
  Json document = Json::parse(limits_json({title, curves}));
  for (std::size_t i = 0; i < curves.size(); ++i) {
    Json out = {{"smooth", limits_of(found[i].base)}, {"numbers", Json::array()}};
    for (const limits::Sensitivity& one : found[i].each) {
      out["numbers"].push_back({{"name", limits::name_of(curves[i].setting, one.knob)},
                                {"value_si", one.value},
                                {"linear_scaling_elasticity", known_json(one.linear_elasticity)},
                                {"wall_elasticity", known_json(one.wall_elasticity)},
                                {"formula_linear_scaling_elasticity", one.formula.linear_scaling},
                                {"formula_latency_elasticity", one.formula.latency},
                                {"twice_better", limits_of(one.twice)},
                                {"ten_times_better", limits_of(one.tenfold)}});
    }
    document["settings"][i]["sensitivity"] = std::move(out);
  }
  return document_text(document);
}

}  // namespace headway
