
#include "report/comms_study.hpp"

#include "report/json/document.hpp"
#include "report/json/run.hpp"
#include "study/traffic/correlation.hpp"
#include "study/traffic/sums.hpp"

namespace headway {
namespace {

Json model_json(const StudiedModel& model) {
  return {{"model", model.model},
          {"parameters", model.parameters},
          {"weight_bytes", model.weights.value()},
          {"gradient_wire_bytes_8_ranks", model.gradient_wire.value()},
          {"gradient_calls_zero_1", model.gradient_calls},
          {"activation_bytes", model.activation.value()},
          {"tensor_all_reduces_in_layers", model.layer_reductions},
          {"tensor_all_reduces", model.all_reductions},
          {"tensor_bytes_in_layers", model.reduced.value()},
          {"boundary_bytes", model.boundary.value()},
          {"attention_share_of_parameters", model.attention_parameters},
          {"attention_share_of_flops", model.attention_flops}};
}

template <class Key>
Json wire_json(const std::vector<TrafficCall>& calls, Key key) {
  Json out = Json::object();
  for (const TrafficSum& sum : sums_by(calls, key)) out[sum.name] = sum.wire.value();
  return out;
}

Json run_json(const StudiedRun& run) {
  const TrafficSum all = sum_of(run.calls), small = small_sum(run.calls);
  Json modules = Json::object();
  for (const TrafficSum& sum : sums_by_module(run.calls)) modules[sum.name] = sum.wire.value();
  return {{"part", kStudyPartNames[static_cast<std::size_t>(run.part)]},
          {"model", run.model},
          {"cluster", run.cluster},
          {"seq", run.sequence},
          {"layout", layout_json(run.layout)},
          {"step_time_s", run.step_time.value()},
          {"tokens_per_s_per_gpu", run.tokens_per_second_per_accelerator},
          {"fits", run.fits},
          {"bubble_s", run.bubble.value()},
          {"calls", count_json(all.calls)},
          {"calls_per_s", run.calls_per_second()},
          {"wire_bytes", all.wire.value()},
          {"wire_bytes_by_op", wire_json(run.calls, operation_of)},
          {"wire_bytes_by_group", wire_json(run.calls, group_of)},
          {"wire_bytes_by_module", std::move(modules)},
          {"exposed_s", all.exposed.value()},
          {"smallest_bytes", size_at(run.calls, 0).value()},
          {"median_bytes", size_at(run.calls, 0.5).value()},
          {"largest_bytes", size_at(run.calls, 1).value()},
          {"small",
           {{"calls", count_json(small.calls)},
            {"wire_bytes", small.wire.value()},
            {"time_s", small.time.value()},
            {"latency_s", small.latency.value()}}}};
}

}  // namespace

std::string study_json(const CommunicationStudy& study) {
  Json models = Json::array(), runs = Json::array();
  for (const StudiedModel& model : study.models) models.push_back(model_json(model));
  for (const StudiedRun& run : study.runs) runs.push_back(run_json(run));
  Json correlated = Json::array();
  for (const StudyCorrelation& pair : correlations(study)) {
    Json by_model = Json::object();
    for (std::size_t i = 0; i < study.models.size(); ++i) {
      by_model[study.models[i].model] = known_json(pair.by_model[i]);
    }
    correlated.push_back({{"of", pair.of},
                          {"with", pair.with},
                          {"all", known_json(pair.all)},
                          {"by_model", std::move(by_model)}});
  }
  return document_text({{"cluster", study.cluster.name},
                        {"models", models},
                        {"runs", runs},
                        {"correlations", correlated}});
}

}  // namespace headway
