#include "api/forecasts/forecasts.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>

#include "api/json_request.hpp"
#include "base/document/document.hpp"
#include "forecast/predict/predict.hpp"
#include "report/predict.hpp"
#include "study/plan/fitting.hpp"

namespace headway {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMostProblems = 10'000;  // kinds of them that a table tells apart

// In the words and units of data/schema/predict.json.
std::vector<ForecastColumn> columns() {
  std::vector<ForecastColumn> out = {
      {"step_time_s", [](const Forecast& f) { return f.step_time.value(); }},
      {"interval_step_time_s.low",
       [](const Forecast& f) {
         return f.step_time_interval ? f.step_time_interval->low.value() : kNone;
       }},
      {"interval_step_time_s.high",
       [](const Forecast& f) {
         return f.step_time_interval ? f.step_time_interval->high.value() : kNone;
       }},
      {"tokens_per_s", [](const Forecast& f) { return f.tokens_per_second; }},
      {"tokens_per_s_per_gpu",
       [](const Forecast& f) { return f.tokens_per_second_per_accelerator; }},
      {"model_flops_per_s_per_gpu",
       [](const Forecast& f) { return f.model_flops_per_accelerator.value(); }},
      {"mfu", [](const Forecast& f) { return f.mfu; }},
      {"hfu", [](const Forecast& f) { return f.hfu; }},
      {"memory_bytes.total", [](const Forecast& f) { return f.memory.total().value(); }},
      {"memory_bytes.capacity", [](const Forecast& f) { return f.capacity.value(); }},
      {"fits", [](const Forecast& f) { return f.fits ? 1.0 : 0.0; }},
      {"energy_j", [](const Forecast& f) { return f.energy.value(); }}};
  for (const PartRow& row : kParts) {
    out.push_back({"parts_s." + std::string(row.name),
                   [part = row.part](const Forecast& f) { return f.parts[part].value(); }});
  }
  return out;
}

// The fields of a row: those of the base first, then those that are swept, whose texts each row
// sets.
class Row {
 public:
  Row(const RunRequest& base, std::span<const SweptField> swept) : swept_(swept) {
    const auto is_swept = [&](const GivenField& field) {
      return std::any_of(swept.begin(), swept.end(),
                         [&](const SweptField& each) { return each.name == field.name; });
    };
    std::remove_copy_if(base.begin(), base.end(), std::back_inserter(fields_), is_swept);
    first_ = fields_.size();
    for (const SweptField& field : swept) fields_.push_back({field.name, "", member(field.name)});
  }

  const RunRequest& at(std::size_t row) {
    for (std::size_t i = 0; i < swept_.size(); ++i) {
      fields_[first_ + i].text = swept_[i].texts[swept_[i].of_row[row]];
    }
    return fields_;
  }

 private:
  std::span<const SweptField> swept_;
  RunRequest fields_;
  std::size_t first_ = 0;  // of those that are swept
};

bool is_field(std::string_view name) {
  const auto has = [&](std::span<const RunField> fields) {
    return std::any_of(fields.begin(), fields.end(),
                       [&](const RunField& field) { return field.name == name; });
  };
  return has(run_fields()) || has(far_fields());
}

std::string sentence(const Problems& problems) {
  std::string out;
  for (const Problem& problem : by_member(problems, {})) {
    if (!out.empty()) out += "; ";
    const std::string where = where_text(problem);
    out += where.empty() ? problem.message : where + ": " + problem.message;
  }
  return out;
}

// What is wrong with rows, each sentence once.
class Sentences {
 public:
  std::uint32_t place_of(const Problems& problems) {
    std::string text = sentence(problems);
    const std::lock_guard lock(mutex_);
    if (all_.size() >= kMostProblems) text = "one of many other problems";
    const auto [found, is_new] = places_.try_emplace(text, all_.size());
    if (is_new) all_.push_back(std::move(text));
    return found->second;
  }

  // Numbered by the rows that have them, however the work was divided.
  void settle(ForecastTable& table) const {
    std::vector<std::uint32_t> place(all_.size(), 0);
    table.problems = {""};
    for (std::uint32_t& problem : table.problem) {
      if (problem == 0) continue;
      if (place[problem] == 0) {
        place[problem] = static_cast<std::uint32_t>(table.problems.size());
        table.problems.push_back(all_[problem]);
      }
      problem = place[problem];
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> all_ = {""};
  std::map<std::string, std::uint32_t> places_;
};

}  // namespace

Result<std::unique_ptr<PredictedRun>> predicted_run(const RunRequest& fields,
                                                    KeptCalibration& kept) {
  auto run = make_run(fields, Types::two);
  if (!run) return run.problems();
  auto forecast = predict_numbers(*run, kept);
  if (!forecast) return forecast.problems();
  return std::make_unique<PredictedRun>(
      PredictedRun{std::move(run).value(), std::move(forecast).value()});
}

std::string json_of(const PredictedRun& predicted) {
  const auto& [run, forecast] = predicted;
  Forecast told = forecast;
  add_notes(run, told);
  if (!forecast.fits) told.notes.push_back(what_would_fit(run, forecast));
  return predict_json(run, told);
}

std::span<const ForecastColumn> forecast_columns() {
  static const std::vector<ForecastColumn> all = columns();
  return all;
}

Result<RunRequest> run_fields_of(std::string_view body) {
  const auto document = parse_json(body, "request");
  if (!document) return document.problems();
  Problems problems;
  JsonRequest json(document->root, problems, Files::named);
  RunRequest out;
  for (const auto fields : {run_fields(), far_fields()}) {
    for (const RunField& field : fields) {
      if (auto given = json.given(field.name, field.form)) out.push_back(std::move(*given));
    }
  }
  json.reject_unknown();
  if (!problems.empty()) return problems;
  return out;
}

Result<ForecastTable> forecast_rows(const RunRequest& base, std::span<const SweptField> swept,
                                    int threads, const Progress& progress) {
  Problems unknown;
  for (const SweptField& field : swept) {
    if (!is_field(field.name)) {
      unknown.push_back({member(field.name), "is no field of a run", Trouble::unknown});
    }
  }
  if (!unknown.empty()) return unknown;
  const std::size_t rows = swept.empty() ? 1 : swept.front().of_row.size();
  const auto all = forecast_columns();
  ForecastTable out;
  out.columns.assign(all.size(), std::vector<double>(rows, kNone));
  out.problem.assign(rows, 0);
  Sentences sentences;
  std::vector<Row> row_of(workers_of(threads), Row(base, swept));
  std::vector<KeptCalibration> kept(row_of.size());
  const auto predict_row = [&](std::size_t row, std::size_t worker) {
    const auto run = make_run(row_of[worker].at(row), Types::two);
    const auto forecast = run ? predict_numbers(*run, kept[worker]) : run.problems();
    if (!forecast) {
      out.problem[row] = sentences.place_of(forecast.problems());
      return;
    }
    for (std::size_t i = 0; i < all.size(); ++i) out.columns[i][row] = all[i].of(*forecast);
  };
  out.stopped = !for_each_index(rows, threads, predict_row, progress);
  sentences.settle(out);
  return out;
}

}  // namespace headway
