// The intervals of what is predicted [INFER-11].
#include "study/infer/intervals/intervals.hpp"

#include "base/draw/table.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/infer/parts.hpp"

namespace headway {
namespace {

std::string seconds_text(double seconds) {
  return to_text(Seconds(seconds));
}

std::string tokens_text(double rate) {
  return count_text(rate) + " tokens/s";
}

// Each range that there is, by the name of its quantity.
template <class Write>
void write_each(JsonWriter& out, const ServedIntervals& intervals, const Write& write) {
  const auto add = [&](std::string_view name, const std::optional<ServedRange>& range) {
    if (!range) return;
    out.key(name);
    write(*range);
  };
  add("ttft_s", intervals.first_token);
  add("tpot_s", intervals.each_token);
  add("latency_s", intervals.latency);
  add("throughput_output_tok_s", intervals.output);
}

// By how many measurements each is told, and whether any had the engine and the accelerator.
void write_measured(JsonWriter& out, const ServedIntervals& intervals) {
  out.key("interval_from");
  out.begin_object();
  out.member("engine_measured", intervals.engine_known);
  out.member("accelerator_measured", intervals.accelerator_known);
  write_each(out, intervals, [&](const ServedRange& range) {
    out.begin_object();
    out.member("measurements", range.rows);
    out.member("sources", range.sources);
    out.end_object();
  });
  out.end_object();
}

}  // namespace

void write_intervals(JsonWriter& out, const ServedIntervals& intervals) {
  if (!intervals.first_token) return;
  out.key("interval");
  out.begin_object();
  write_each(out, intervals, [&](const ServedRange& range) {
    out.begin_array();
    out.value(range.low);
    out.value(range.high);
    out.end_array();
  });
  out.end_object();
  write_measured(out, intervals);
}

std::string intervals_text(const ServedIntervals& intervals) {
  if (!intervals.first_token) return {};
  TextTable rows = {{"four of five measured", "from", "to"}};
  const auto add = [&](const char* name, const std::optional<ServedRange>& range,
                       const auto& text) {
    if (range) rows.push_back({name, text(range->low), text(range->high)});
  };
  add("first token", intervals.first_token, seconds_text);
  add("each token after it", intervals.each_token, seconds_text);
  add("whole answer", intervals.latency, seconds_text);
  add("output", intervals.output, tokens_text);
  return aligned(rows) + "\n";
}

std::string intervals_text(const std::vector<PointIntervals>& points) {
  if (points.empty() || !points.front().intervals.first_token) return {};
  TextTable rows = {{"four of", "first", "token", "each", "token", "tokens/s", "of a GPU"},
                    {"five", "from", "to", "from", "to", "from", "to"}};
  for (const PointIntervals& point : points) {
    std::vector<std::string> row = {point.name};
    const auto add = [&](const std::optional<ServedRange>& range, const auto& text) {
      row.push_back(range ? text(range->low) : "-");
      row.push_back(range ? text(range->high) : "-");
    };
    const double ranks = static_cast<double>(point.ranks);
    add(point.intervals.first_token, seconds_text);
    add(point.intervals.each_token, seconds_text);
    add(point.intervals.output, [&](double rate) { return count_text(rate / ranks); });
    rows.push_back(std::move(row));
  }
  return "\n" + aligned(rows);
}

}  // namespace headway
