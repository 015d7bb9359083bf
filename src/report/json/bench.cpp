#include "report/bench.hpp"

#include "report/json/document.hpp"

namespace headway {
namespace {

Json error_json(const ErrorSummary& error) {
  return {{"rows", error.rows},
          {"median_error", error.median},
          {"mean_error", error.mean},
          {"p90_error", error.p90},
          {"bias", error.bias}};
}

Json with_error(Json line, const ErrorSummary& error) {
  line.update(error_json(error));
  return line;
}

}  // namespace

std::string signature_json(std::string_view digest) {
  return document_text({{"signature", digest}});
}

std::string bench_json(const KernelReport& report) {
  Json lines = Json::array(), skipped = Json::array();
  for (const KernelErrorLine& line : report.lines) {
    Json row = with_error({{"source", line.source},
                           {"accelerator", line.accelerator},
                           {"kernel", line.kernel},
                           {"fitted", line.fitted}},
                          line.error);
    row["held_out"] = line.held_out.rows > 0 ? error_json(line.held_out) : Json();
    lines.push_back(std::move(row));
  }
  for (const SkippedKernels& row : report.skipped) {
    skipped.push_back({{"reason", row.reason}, {"rows", row.rows}});
  }
  return document_text({{"lines", std::move(lines)}, {"skipped", std::move(skipped)}});
}

std::string bench_json(const CollectiveReport& report) {
  const auto left_out_json = [](const ErrorSummary& error) {
    return error.rows > 0 ? error_json(error) : Json();
  };
  const auto lines_json = [&](const std::vector<CollectiveErrorLine>& lines) {
    Json out = Json::array();
    for (const CollectiveErrorLine& line : lines) {
      out.push_back(with_error({{"name", line.name}, {"op", line.op}, {"size", to_name(line.size)}},
                               line.error));
      out.back()["left_out"] = left_out_json(line.left_out);
    }
    return out;
  };
  Json sizes = Json::array(), skipped = Json::array();
  for (const CollectiveSizeLine& line : report.sizes) {
    Json row = with_error({{"size", to_name(line.size)},
                           {"systems", line.systems},
                           {"median_system", line.error.of_systems}},
                          line.error.rows);
    row["left_out"] = left_out_json(line.left_out.rows);
    if (line.left_out.rows.rows > 0) {
      row["left_out"]["median_system"] = line.left_out.of_systems;
    }
    sizes.push_back(std::move(row));
  }
  for (const SkippedMeasurements& row : report.skipped) {
    skipped.push_back({{"system", row.system}, {"reason", row.reason}, {"rows", row.rows}});
  }
  return document_text({{"rows", report.rows},
                        {"sizes", std::move(sizes)},
                        {"lines", lines_json(report.lines)},
                        {"from_few_nodes", lines_json(report.generalisation)},
                        {"skipped", std::move(skipped)}});
}

std::string bench_json(const LimitsTiming& timing) {
  Json rows = Json::array();
  for (const LimitsTiming::Row& row : timing.rows) {
    rows.push_back({{"what", row.what}, {"models", row.models}, {"median_s", row.median.value()}});
  }
  return document_text({{"repetitions", timing.repetitions},
                        {"threads", timing.threads},
                        {"rows", std::move(rows)}});
}

std::string bench_json(const PlanTiming& timing) {
  Json bounded = Json::array(), whole = Json::array();
  for (const PlanTiming::Bounded& row : timing.bounded) {
    bounded.push_back({{"name", row.name},
                       {"layouts", row.layouts},
                       {"best_s", row.best.value()},
                       {"ten_best_s", row.ten_best.value()},
                       {"answer_s", row.answer.value()},
                       {"priced", row.priced},
                       {"memory_bytes", row.memory.value()},
                       {"step_time_s", row.step ? Json(row.step->value()) : Json()}});
  }
  for (const PlanTiming::Whole& row : timing.whole) {
    whole.push_back({{"name", row.name},
                     {"layouts", row.layouts},
                     {"legal", row.legal},
                     {"fitting", row.fitting},
                     {"time_s", row.time.value()},
                     {"same_best", row.same_best}});
  }
  return document_text({{"repetitions", timing.repetitions},
                        {"threads", timing.threads},
                        {"bounded", std::move(bounded)},
                        {"whole", std::move(whole)}});
}

}  // namespace headway
