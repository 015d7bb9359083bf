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

// On what: of which a load of the curve is each copy's share.
struct CurveOn {
  const Cluster& cluster;
  std::int64_t ranks = 1, copies = 1;
  const char* clients = "of each";
};

CurveOn curve_on(const Serving& serving) {
  return {serving.cluster, serving.ranks(), serving.dp};
}
CurveOn curve_on(const ServingApart& apart) {
  return {apart.decode.cluster, apart.ranks(), 1, "of all"};
}

std::string lengths_text(const Load& asked) {
  return count_text(static_cast<double>(asked.input)) + " tokens in, " +
         count_text(static_cast<double>(asked.output)) + " out\n\n";
}

// A line for each load, and its intervals.
std::string points_text(const CurveOn& on, const Load& asked, const LoadCurve& curve) {
  const bool rates = curve.of == CurveOf::rate, alike = curve.of == CurveOf::batch;
  const bool limits = asked.has_limits();
  std::vector<std::vector<std::string>> rows = {
      {rates   ? "requests"
       : alike ? "batch"
               : "clients",
       "first", "each", "whole", "tokens/s", "tokens/s", "tokens/s"},
      {rates ? "a second" : on.clients, "token", "token", "answer", "of a user", "of a GPU",
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
        rates ? formatted("%.3g", load.rate * static_cast<double>(on.copies))
              : std::to_string(load.batch),
        to_text(served.first_token),
        to_text(served.each_token),
        to_text(served.latency),
        served.each_token > Seconds(0) ? formatted("%.1f", 1 / served.each_token.value()) : "-",
        count_text(served.output_per_second / static_cast<double>(on.ranks)),
        count_text(served.output_per_second)};
    if (!alike) row.insert(row.begin() + 2, to_text(served.first_quantiles->p90));
    if (limits) row.push_back(percent_text(*served.good));
    told.push_back({row.front(), on.ranks, intervals});
    rows.push_back(std::move(row));
  }
  return aligned(rows) + intervals_text(told);
}

std::string capacity_text(double capacity) {
  return "\nat most " + formatted("%.4g", capacity) + " requests/s";
}

void write_points(JsonWriter& out, const CurveOn& on, const LoadCurve& curve) {
  out.key("points");
  out.begin_array();
  for (const auto& [load, served, intervals] : curve.points) {
    out.begin_object();
    write_amount(out, on.copies, load);
    write_gained(out, on.cluster, on.ranks, load, served);
    write_intervals(out, intervals);
    out.end_object();
  }
  out.end_array();
}

}  // namespace

std::string infer_curve_text(const Serving& serving, const Load& asked, const LoadCurve& curve,
                             const ServedBeside& beside) {
  const std::string out = printable(serving.model.name) + " on " + std::to_string(serving.ranks()) +
                          " " + printable(serving.cluster.accelerator.title) + ", " +
                          words_of(serving) + "\n" + lengths_text(asked);
  if (curve.points.empty()) {
    return out + "does not fit: no sequence of these lengths has room; " +
           would_fit_text(beside.changes) + "\n" + notes_text(beside.notes);
  }
  return out + points_text(curve_on(serving), asked, curve) +
         (curve.capacity ? capacity_text(*curve.capacity) + "\n" : "") + notes_text(beside.notes);
}

std::string infer_curve_text(const ServingApart& apart, const Load& asked, const ApartCurve& curve,
                             const ServedBeside& beside) {
  const std::string out = words_of(apart) + lengths_text(asked);
  if (curve.points.empty()) {
    return out + "does not fit: " + why_not_text(curve.parts) + "; " +
           would_fit_text(beside.changes) + "\n" + notes_text(beside.notes);
  }
  return out + points_text(curve_on(apart), asked, curve) + capacity_text(*curve.capacity) +
         ", what binds: " + std::string(curve.parts.binding()) + "\n" + notes_text(beside.notes);
}

std::string infer_curve_json(const Serving& serving, const Load& asked, const LoadCurve& curve,
                             const ServedBeside& beside) {
  JsonWriter out;
  out.begin_object();
  write_asked(out, serving, asked, serving.ranks());
  write_layout(out, "layout", serving);
  out.member("curve", name_of(curve.of));
  out.member("fits", !curve.points.empty());
  if (curve.capacity) out.member("capacity_requests_per_s", *curve.capacity);
  write_points(out, curve_on(serving), curve);
  if (curve.points.empty()) write_would_fit(out, beside.changes);
  write_memory(out, curve.memory);
  write_notes(out, beside.notes);
  out.end_object();
  return out.take();
}

std::string infer_curve_json(const ServingApart& apart, const Load& asked, const ApartCurve& curve,
                             const ServedBeside& beside) {
  JsonWriter out;
  out.begin_object();
  write_asked(out, apart.decode, asked, apart.ranks());
  write_layout(out, "layout", apart.decode);
  write_pools(out, apart, curve.parts);
  out.member("curve", name_of(curve.of));
  out.member("fits", !curve.points.empty());
  if (curve.capacity) {
    out.member("capacity_requests_per_s", *curve.capacity);
    out.member("binds", curve.parts.binding());
  }
  write_points(out, curve_on(apart), curve);
  if (curve.points.empty()) write_would_fit(out, beside.changes);
  write_memory(out, curve.memory);
  write_notes(out, beside.notes);
  out.end_object();
  return out.take();
}

}  // namespace headway
