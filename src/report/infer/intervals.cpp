// The interval of what is predicted [INFER-11].
#include "study/infer/intervals.hpp"

#include <string_view>
#include <utility>

#include "base/draw/table.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/infer/parts.hpp"

namespace headway {
namespace {

// The quantities that an interval is told of, as predicted.
struct Told {
  const char* quantity;
  const char* name;
  double value;
};
std::vector<Told> told_of(const Served& served) {
  return {{"ttft_s", "first token", served.first_token.value()},
          {"tpot_s", "each token after it", served.each_token.value()},
          {"latency_s", "whole answer", served.latency.value()},
          {"throughput_output_tok_s", "output", served.output_per_second}};
}

// [INFER-11]; nothing where this build has none, and of a token that there is not.
std::optional<std::pair<double, double>> interval_of(const Serving& serving, const Load& load,
                                                     const Served& served, const Told& told) {
  const auto& intervals = serving_intervals();
  if (!intervals || told.value == 0) return std::nullopt;
  const bool full =
      load.arrivals == Arrivals::clients && served.sequences < static_cast<double>(load.batch);
  const auto entry = intervals->of(interval_class(*intervals, serving, load, full, told.quantity));
  if (!entry) return std::nullopt;
  const bool waits =
      std::string_view(told.quantity) == "ttft_s" && load.arrivals != Arrivals::together;
  const IntervalFactors factors =
      entry->at(waits ? waiting_share(served.first_token, served.prefill, serving.engine) : 0);
  return std::pair(factors.low * told.value, factors.high * told.value);
}

}  // namespace

void write_intervals(JsonWriter& out, const Serving& serving, const Load& load,
                     const Served& served) {
  if (!serving_intervals()) return;
  out.key("interval");
  out.begin_object();
  for (const Told& told : told_of(served)) {
    const auto interval = interval_of(serving, load, served, told);
    if (!interval) continue;
    out.key(told.quantity);
    out.begin_array();
    out.value(interval->first);
    out.value(interval->second);
    out.end_array();
  }
  out.end_object();
}

std::string intervals_text(const Serving& serving, const Load& load, const Served& served) {
  std::vector<std::vector<std::string>> rows;
  for (const Told& told : told_of(served)) {
    const auto interval = interval_of(serving, load, served, told);
    if (!interval) continue;
    const bool rate = std::string_view(told.quantity).starts_with("throughput");
    const auto text = [&](double value) {
      return rate ? count_text(value) + " tokens/s" : to_text(Seconds(value));
    };
    rows.push_back({told.name, text(interval->first), text(interval->second)});
  }
  if (rows.empty()) return {};
  rows.insert(rows.begin(), {"four of five measured", "from", "to"});
  return aligned(rows) + "\n";
}

}  // namespace headway
