#include "report/infer/curve.hpp"

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/infer/parts.hpp"

namespace headway {
namespace {

std::string_view name_of(CurveOf of) {
  return kCurveNames[static_cast<std::size_t>(of)];
}

}  // namespace

std::string infer_curve_text(const Serving& serving, const Load& asked, const LoadCurve& curve) {
  std::string out = printable(serving.model.name) + " on " + std::to_string(serving.ranks()) + " " +
                    printable(serving.cluster.accelerator.title) + ", " + words_of(serving) + "\n" +
                    count_text(static_cast<double>(asked.input)) + " tokens in, " +
                    count_text(static_cast<double>(asked.output)) + " out\n\n";
  if (curve.points.empty()) {
    return out +
           "does not fit: no sequence of these lengths has room; more tp or pp, or smaller "
           "formats\n";
  }
  const bool rates = curve.of == CurveOf::rate, alike = curve.of == CurveOf::batch;
  const bool limits = asked.has_limits();
  std::vector<std::vector<std::string>> rows = {
      {rates   ? "requests"
       : alike ? "batch"
               : "clients",
       "first", "each", "whole", "tokens/s", "tokens/s", "tokens/s"},
      {rates ? "a second" : "of each", "token", "token", "answer", "of a user", "of a GPU",
       "of all"}};
  if (!alike) {
    rows[0].insert(rows[0].begin() + 2, "its");
    rows[1].insert(rows[1].begin() + 2, "p90");
  }
  if (limits) {
    rows[0].emplace_back("within");
    rows[1].emplace_back("limits");
  }
  std::vector<PointIntervals> told;
  for (const auto& [load, served, intervals] : curve.points) {
    std::vector<std::string> row = {
        rates ? formatted("%.3g", load.rate * static_cast<double>(serving.dp))
              : std::to_string(load.batch),
        to_text(served.first_token),
        to_text(served.each_token),
        to_text(served.latency),
        served.each_token > Seconds(0) ? formatted("%.1f", 1 / served.each_token.value()) : "-",
        count_text(served.output_per_second / static_cast<double>(serving.ranks())),
        count_text(served.output_per_second)};
    if (!alike) row.insert(row.begin() + 2, to_text(served.first_quantiles->p90));
    if (limits) row.push_back(percent_text(*served.good));
    told.push_back({row.front(), serving.ranks(), intervals});
    rows.push_back(std::move(row));
  }
  out += aligned(rows) + intervals_text(told);
  if (curve.capacity) out += "\nat most " + formatted("%.4g", *curve.capacity) + " requests/s\n";
  return out;
}

std::string infer_curve_json(const Serving& serving, const Load& asked, const LoadCurve& curve) {
  JsonWriter out;
  out.begin_object();
  write_asked(out, serving, asked, serving.ranks());
  write_layout(out, "layout", serving);
  out.member("curve", name_of(curve.of));
  out.member("fits", !curve.points.empty());
  if (curve.capacity) out.member("capacity_requests_per_s", *curve.capacity);
  out.key("points");
  out.begin_array();
  for (const auto& [load, served, intervals] : curve.points) {
    out.begin_object();
    write_amount(out, serving.dp, load);
    write_gained(out, serving.cluster, serving.ranks(), load, served);
    write_intervals(out, intervals);
    out.end_object();
  }
  out.end_array();
  write_memory(out, curve.memory);
  out.end_object();
  return out.take();
}

}  // namespace headway
