// JSON of predict and of what several commands share.
#include "api/json.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

#include "api/answer.hpp"
#include "api/json_writer.hpp"
#include "api/predict.hpp"
#include "api/run_json.hpp"
#include "base/document/csv.hpp"
#include "base/text.hpp"
#include "fit/validation/aims.hpp"
#include "fit/validation/report.hpp"
#include "model/count.hpp"

namespace headway {
namespace {

void write_call(JsonWriter& json, const PricedCall& priced, const Cluster& cluster) {
  const Call& call = priced.call;
  json.begin_object();
  json.member("group", to_name(call.group));
  json.member("op", to_name(call.op));
  json.member("bytes", call.bytes.value());
  json.member("count", call.count);
  json.member("dtype", to_name(call.dtype));
  json.member("phase", to_name(call.phase));
  json.member("ranks", priced.ranks);
  json.member("level", cluster.levels[static_cast<std::size_t>(priced.level)].name);
  json.member("seconds_each", priced.each.value());
  json.member("exposed_s", priced.exposed.value());
  json.end_object();
}

void write_parts(JsonWriter& json, const Parts& parts) {
  json.begin_object();
  json.member("compute", parts.compute.value());
  json.member("tp", parts.tp.value());
  json.member("cp", parts.cp.value());
  json.member("ep", parts.ep.value());
  json.member("pp", parts.pp.value());
  json.member("dp", parts.dp.value());
  json.member("bubble", parts.bubble.value());
  json.member("optimizer", parts.optimizer.value());
  json.member("other", parts.other.value());
  json.end_object();
}

void write_memory(JsonWriter& json, const Forecast& f) {
  json.begin_object();
  json.member("parameters", f.memory.parameters.value());
  json.member("gradients", f.memory.gradients.value());
  json.member("optimizer", f.memory.optimizer.value());
  json.member("activations", f.memory.activations.value());
  json.member("buffers", f.memory.buffers.value());
  json.member("other", f.memory.other.value());
  json.member("total", f.memory.total().value());
  json.member("capacity", f.capacity.value());
  json.end_object();
}

template <class Q>
void write_interval(JsonWriter& json, const std::optional<Interval<Q>>& interval) {
  if (!interval) return json.null();
  json.begin_array();
  json.value(interval->low.value());
  json.value(interval->high.value());
  json.end_array();
}

// The stages' times for one micro-batch, from which the schedule makes the bubble.
void write_pipeline(JsonWriter& json, const PipelineTimes& pipeline) {
  json.begin_object();
  json.key("stages");
  json.begin_array();
  std::int64_t first = 0;
  for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
    const StageTime& time = pipeline.stages[i];
    json.begin_object();
    json.member("first", first);
    json.member("stages", time.stages);
    json.member("forward_s", time.forward.value());
    json.member("backward_s", time.backward.value());
    json.member("weight_gradient_s", time.weight_gradient.value());
    json.member("transfers_s", time.transfers.value());
    json.member("sets_pace", i == pipeline.pace);
    json.end_object();
    first += time.stages;
  }
  json.end_array();
  json.member("send_s", pipeline.send.value());
  json.end_object();
}

}  // namespace

std::string predict_json(const Run& run, const Forecast& f) {
  const Parameters counted = parameters(run.model);
  JsonWriter json;
  json.begin_object();
  json.member("model", run.model.name);
  json.member("cluster", run.cluster.name);
  json.member("parameters", counted.total);
  json.member("active_parameters", counted.active);
  json.key("job");
  write(json, run_job_json(run));
  json.key("layout");
  write(json, run_layout_json(run));
  json.member("step_time_s", f.step_time.value());
  json.key("interval_step_time_s");
  write_interval(json, f.step_time_interval);
  json.key("parts_s");
  write_parts(json, f.parts);
  json.key("pipeline");
  write_pipeline(json, f.pipeline);
  json.member("tokens_per_s", f.tokens_per_second);
  json.member("tokens_per_s_per_gpu", f.tokens_per_second_per_accelerator);
  json.member("model_flops_per_s_per_gpu", f.model_flops_per_accelerator.value());
  json.member("attention_flops", run.convention == AttentionFlops::full ? "full" : "causal");
  json.member("mfu", f.mfu);
  json.member("hfu", f.hfu);
  json.key("memory_bytes");
  write_memory(json, f);
  json.key("interval_memory_bytes");
  write_interval(json, f.memory_interval);
  json.member("fits", f.fits);
  json.member("energy_j", f.energy.value());
  json.key("calls");
  json.begin_array();
  for (const PricedCall& call : f.calls) write_call(json, call, run.cluster);
  json.end_array();
  json.key("notes");
  json.begin_array();
  for (const std::string& note : f.notes) json.value(note);
  for (const std::string& assumption : run.assumptions) json.value("assumed: " + assumption);
  json.end_array();
  json.end_object();
  return json.take();
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

// The columns of --rows that hold text whatever it looks like.
bool is_text_column(const std::string& name) {
  return name == "id" || name == "source_key" || name == "outcome" || name == "assumed" ||
         name == "skipped_reason";
}

Json rows_json(const ValidationReport& report) {
  Json out = Json::array();
  const auto table = parse_csv(to_csv(report.rows), "rows");
  if (!table) return out;
  for (const CsvRow& row : table->rows) {
    Json cells = Json::object();
    for (std::size_t i = 0; i < table->header.size(); ++i) {
      const std::string& cell = row.cells[i];
      double number = 0;
      const char* const end = cell.data() + cell.size();
      const bool is_number =
          !is_text_column(table->header[i]) && std::from_chars(cell.data(), end, number).ptr == end;
      cells[table->header[i]] = cell.empty() ? Json(nullptr)
                                : is_number  ? Json(number)
                                             : Json(cell);
    }
    out.push_back(std::move(cells));
  }
  return out;
}

}  // namespace

std::string validation_json(const ValidationReport& report, bool rows) {
  Json groups = Json::array(), aims = Json::array();
  for (const ValidationGroup& group : report.groups) groups.push_back(group_json(group));
  for (const Aim& aim : aims_of(report)) aims.push_back(aim_json(aim));
  Json document = {{"by", kValidateByNames[static_cast<std::size_t>(report.by)]},
                   {"groups", groups},
                   {"all", group_json(report.all)},
                   {"aims", aims}};
  if (rows) document["rows"] = rows_json(report);
  return document_text(document);
}

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

std::string problems_json(const Problems& problems) {
  Json list = Json::array();
  for (const Problem& problem : problems) {
    list.push_back({{"where", printable(where_text(problem), 300)},
                    {"message", printable(problem.message, 2000)}});
  }
  return document_text({{"problems", std::move(list)}});
}

}  // namespace headway
