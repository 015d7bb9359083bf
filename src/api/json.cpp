// JSON of predict and of what several commands share.
#include "api/json.hpp"

#include <nlohmann/json.hpp>

#include "api/predict.hpp"
#include "api/run_json.hpp"
#include "fit/aims.hpp"
#include "model/count.hpp"

namespace headway {
namespace {

Json call_json(const PricedCall& priced, const Cluster& cluster) {
  const Call& call = priced.call;
  return {{"group", to_name(call.group)},
          {"op", to_name(call.op)},
          {"bytes", call.bytes.value()},
          {"count", call.count},
          {"dtype", to_name(call.dtype)},
          {"phase", to_name(call.phase)},
          {"ranks", priced.ranks},
          {"level", cluster.levels[static_cast<std::size_t>(priced.level)].name},
          {"seconds_each", priced.each.value()},
          {"exposed_s", priced.exposed.value()}};
}

}  // namespace

std::string predict_json(const Run& run, const Forecast& f) {
  Json notes = Json::array();
  for (const std::string& note : f.notes) notes.push_back(note);
  for (const std::string& assumption : run.assumptions) notes.push_back("assumed: " + assumption);
  Json calls = Json::array();
  for (const PricedCall& call : f.calls) calls.push_back(call_json(call, run.cluster));
  const Parameters counted = parameters(run.model);
  const Json document = {
      {"model", run.model.name},
      {"cluster", run.cluster.name},
      {"parameters", counted.total},
      {"active_parameters", counted.active},
      {"job", run_job_json(run)},
      {"layout", run_layout_json(run)},
      {"step_time_s", f.step_time.value()},
      {"interval_step_time_s", interval_json(f.step_time_interval)},
      {"parts_s",
       {{"compute", f.parts.compute.value()},
        {"tp", f.parts.tp.value()},
        {"cp", f.parts.cp.value()},
        {"ep", f.parts.ep.value()},
        {"pp", f.parts.pp.value()},
        {"dp", f.parts.dp.value()},
        {"bubble", f.parts.bubble.value()},
        {"optimizer", f.parts.optimizer.value()},
        {"other", f.parts.other.value()}}},
      {"tokens_per_s", f.tokens_per_second},
      {"tokens_per_s_per_gpu", f.tokens_per_second_per_accelerator},
      {"model_flops_per_s_per_gpu", f.model_flops_per_accelerator.value()},
      {"attention_flops", run.convention == AttentionFlops::full ? "full" : "causal"},
      {"mfu", f.mfu},
      {"hfu", f.hfu},
      {"memory_bytes",
       {{"parameters", f.memory.parameters.value()},
        {"gradients", f.memory.gradients.value()},
        {"optimizer", f.memory.optimizer.value()},
        {"activations", f.memory.activations.value()},
        {"buffers", f.memory.buffers.value()},
        {"other", f.memory.other.value()},
        {"total", f.memory.total().value()},
        {"capacity", f.capacity.value()}}},
      {"interval_memory_bytes", interval_json(f.memory_interval)},
      {"fits", f.fits},
      {"energy_j", f.energy.value()},
      {"calls", calls},
      {"notes", notes}};
  return document_text(document);
}

namespace {

Json number_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json share_json(std::size_t part, std::size_t whole) {
  if (whole == 0) return nullptr;
  return static_cast<double>(part) / static_cast<double>(whole);
}

Json errors_json(const ErrorSummary& error) {
  if (error.rows == 0) return {{"rows", 0}};
  return {{"rows", error.rows},
          {"median_share", error.median},
          {"mean_share", error.mean},
          {"p90_share", error.p90},
          {"bias_share", error.bias}};
}

Json group_json(const ValidationGroup& group) {
  const Confusion& fits = group.fits;
  const auto counted = [](int count) { return static_cast<std::size_t>(count); };
  return {{"name", group.name},
          {"rows", group.rows},
          {"predicted", group.predicted},
          {"filled", group.filled},
          {"skipped", group.skipped},
          {"step_time_error", errors_json(group.step_time)},
          {"mfu_difference_points", number_json(group.mfu_difference)},
          {"memory_error", errors_json(group.memory)},
          {"fits",
           {{"predicted_to_fit_ran", fits.fits_fits},
            {"predicted_to_fit_oom", fits.fits_not},
            {"predicted_not_to_fit_ran", fits.not_fits},
            {"predicted_not_to_fit_oom", fits.not_not},
            {"ran_right_share",
             share_json(counted(fits.fits_fits), counted(fits.fits_fits + fits.not_fits))},
            {"oom_right_share",
             share_json(counted(fits.not_not), counted(fits.not_not + fits.fits_not))},
            {"balanced_accuracy_share", number_json(fits.balanced_accuracy())}}},
          {"ranking",
           {{"contests", group.ranking.contests},
            {"median_spearman", number_json(group.ranking.spearman)},
            {"median_regret_share", number_json(group.ranking.regret)}}},
          {"interval",
           {{"rows", group.with_interval},
            {"inside_share", share_json(group.in_interval, group.with_interval)}}}};
}

Json aim_json(const Aim& aim) {
  return {{"of", aim.of},
          {"measure", aim.measure},
          {"unit", aim.percent ? "share" : "1"},
          {"at_least", number_json(aim.at_least)},
          {"at_most", number_json(aim.at_most)},
          {"rows", aim.rows},
          {"now", number_json(aim.now)},
          {"met", aim.now ? Json(aim.met()) : Json(nullptr)}};
}

}  // namespace

std::string validation_json(const ValidationReport& report) {
  Json groups = Json::array(), aims = Json::array();
  for (const ValidationGroup& group : report.groups) groups.push_back(group_json(group));
  for (const Aim& aim : aims_of(report)) aims.push_back(aim_json(aim));
  return document_text({{"by", kValidateByNames[static_cast<std::size_t>(report.by)]},
                        {"groups", groups},
                        {"all", group_json(report.all)},
                        {"aims", aims}});
}

namespace {

Json node_json(const Node& node) {
  if (const Node::Table* table = node.table()) {
    Json out = Json::object();
    for (const auto& [name, member] : *table) out[name] = node_json(member);
    return out;
  }
  if (const Node::Array* array = node.array()) {
    Json out = Json::array();
    for (const Node& member : *array) out.push_back(node_json(member));
    return out;
  }
  if (const auto* text = std::get_if<std::string>(&node.value)) return *text;
  if (const auto* number = std::get_if<double>(&node.value)) return *number;
  if (const auto* count = std::get_if<std::int64_t>(&node.value)) return *count;
  if (const auto* flag = std::get_if<bool>(&node.value)) return *flag;
  return nullptr;
}

}  // namespace

std::string document_json(const Document& document) {
  return document_text(node_json(document.root));
}

std::string launch_json(Launcher launcher, const std::vector<LaunchFile>& files) {
  const auto index = static_cast<std::size_t>(launcher);
  nlohmann::ordered_json texts = nlohmann::ordered_json::array();
  for (const LaunchFile& file : files) {
    texts.push_back({{"name", file.name}, {"text", file.text}});
  }
  return document_text({{"framework", kLauncherNames[index]},
                        {"version", kLauncherVersions[index]},
                        {"files", std::move(texts)}});
}

std::string names_json(const std::string& kind, const std::vector<std::string>& names) {
  return document_text({{kind, names}});
}

}  // namespace headway
