#include "report/comms_expected.hpp"

#include <cmath>

#include "model/count.hpp"
#include "report/json/document.hpp"
#include "report/json/run.hpp"
#include "study/traffic/sums.hpp"

namespace headway {
namespace {

Json call_json(const TrafficCall& call, const Cluster& cluster) {
  Json at = Json::object();
  for (std::size_t i = 0; i < cluster.levels.size() && i < call.wire_at.size(); ++i) {
    if (call.wire_at[i].value() > 0) at[cluster.levels[i].name] = call.wire_at[i].value();
  }
  Json serves = Json::object();
  for (std::size_t i = 0; i < kModules; ++i) {
    if (call.serves[i] > 0)
      serves[std::string(kModuleNames[i])] = call.serves[i] * call.wire.value();
  }
  return {{"group", to_name(call.call.group)},
          {"op", to_name(call.call.op)},
          {"bytes", call.call.bytes.value()},
          {"count", count_json(call.call.count)},
          {"dtype", to_name(call.call.dtype)},
          {"phase", to_name(call.call.phase)},
          {"ranks", call.ranks},
          {"level", cluster.levels[static_cast<std::size_t>(call.level)].name},
          {"seconds_each", call.each.value()},
          {"latency_s", call.latency.value()},
          {"exposed_s", call.exposed.value()},
          {"hidden_by", to_name(call.call.hidden_by)},
          {"small", call.small},
          {"algorithm_bytes", call.algorithm.value()},
          {"wire_bytes", call.wire.value()},
          {"wire_bytes_by_level", at},
          {"wire_bytes_by_module", serves}};
}

Json sum_json(const TrafficSum& sum) {
  return {{"calls", count_json(sum.calls)},   {"algorithm_bytes", sum.algorithm.value()},
          {"wire_bytes", sum.wire.value()},   {"time_s", sum.time.value()},
          {"latency_s", sum.latency.value()}, {"exposed_s", sum.exposed.value()}};
}

template <class Key>
Json sums_json(const std::vector<TrafficCall>& calls, Key key) {
  Json out = Json::object();
  for (const TrafficSum& sum : sums_by(calls, key)) out[sum.name] = sum_json(sum);
  return out;
}

// What calls add up to: of one class of rank, or of the mean of all.
Json totals_json(const std::vector<TrafficCall>& calls, const ExpectedCalls& e) {
  Json levels = Json::array(), sizes = Json::array();
  for (const LevelLoad& load : level_loads(calls, e.traffic, e.run.cluster)) {
    levels.push_back({{"level", e.run.cluster.levels[load.level].name},
                      {"wire_bytes", load.wire.value()},
                      {"network_cards", load.ports > 0 ? Json(load.ports) : Json(nullptr)},
                      {"ranks_sharing", load.sharing},
                      {"bytes_each_port", load.each_port.value()},
                      {"bytes_per_s_port", load.port_rate.value()},
                      {"busy_share", load.busy}});
  }
  for (const SizeClass& size : size_histogram(calls)) {
    if (!(size.sum.calls > 0)) continue;
    Json entry = {{"from_bytes", std::ldexp(1.0, size.power)},
                  {"below_bytes", std::ldexp(1.0, size.power + 1)}};
    entry.update(sum_json(size.sum));
    sizes.push_back(entry);
  }
  Json modules = Json::object();
  for (const TrafficSum& sum : sums_by_module(calls)) modules[sum.name] = sum_json(sum);
  const TrafficSum all = sum_of(calls);
  return {{"all", sum_json(all)},
          {"calls_per_s", all.calls / e.forecast.step_time.value()},
          {"small", sum_json(small_sum(calls))},
          {"by_group", sums_json(calls, group_of)},
          {"by_op", sums_json(calls, operation_of)},
          {"by_phase", sums_json(calls, phase_of)},
          {"by_module", modules},
          {"by_level", levels},
          {"by_size", sizes}};
}

Json class_json(const ClassTraffic& stage, const ExpectedCalls& e) {
  Json calls = Json::array();
  for (const TrafficCall& call : stage.calls) calls.push_back(call_json(call, e.run.cluster));
  return {{"first_stage", stage.first},
          {"stages", stage.stages},
          {"ranks", stage.ranks},
          {"sets_pace", stage.sets_pace},
          {"calls", calls},
          {"totals", totals_json(stage.calls, e)}};
}

Json textbook_json(const ExpectedCalls& e) {
  Json out = Json::array();
  for (const TextbookVolume& volume : e.textbook) {
    out.push_back({{"of", volume.of},
                   {"formula", volume.formula},
                   {"textbook_bytes", volume.textbook.value()},
                   {"framework_bytes", volume.framework.value()},
                   {"ratio", volume.framework / volume.textbook},
                   {"reasons", volume.reasons}});
  }
  return out;
}

}  // namespace

std::string expected_json(const ExpectedCalls& e) {
  const Job& job = e.run.job;
  Json classes = Json::array();
  for (const ClassTraffic& stage : e.traffic.classes) classes.push_back(class_json(stage, e));
  return document_text({{"model", e.run.model.name},
                        {"cluster", e.run.cluster.name},
                        {"parameters", parameters(e.run.model).total},
                        {"job",
                         {{"framework", name_of(job.framework)},
                          {"seq", job.sequence},
                          {"global_batch", job.global_batch},
                          {"precision", job.recipe->name}}},
                        {"layout", run_layout_json(e.run)},
                        {"step_time_s", e.forecast.step_time.value()},
                        {"fits", e.forecast.fits},
                        {"small_means", e.small},
                        {"mean_rank", totals_json(calls_of_mean_rank(e.traffic), e)},
                        {"classes", classes},
                        {"textbook", textbook_json(e)},
                        {"notes", e.notes}});
}

}  // namespace headway
