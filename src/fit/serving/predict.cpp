// Rows of measured serving beside what they are predicted to take.
#include "fit/serving/asked.hpp"
#include "platform/parallel.hpp"
#include "study/infer/intervals/intervals.hpp"
#include "study/infer/steps.hpp"
#include "study/infer/summary.hpp"

namespace headway {

Served served(const AskedServing& asked) {
  if (asked.apart) return served(*asked.apart, *asked.constants, asked.load).all;
  return served(asked.serving, *asked.constants, asked.load);
}

ServedNumbers numbers_of(const Served& served, double chunk) {
  ServedNumbers out;
  out[kFirstToken] = (served.first_token + (chunk - 1) * served.each_token).value();
  out[kEachToken] = served.each_token.value();
  out[kLatency] = served.latency.value();
  out[kOutput] = served.output_per_second;
  out[kTotal] = served.total_per_second;
  return out;
}

namespace {

std::optional<ServedRange> scaled(std::optional<ServedRange> range, double by) {
  if (range) *range = {range->low * by, range->high * by};
  return range;
}

// A client that sees so many tokens at once sees the first with the others.
std::optional<ServedRange> of_chunk(const ServedIntervals& intervals, double chunk) {
  if (!intervals.first_token || !intervals.each_token) return intervals.first_token;
  return ServedRange{intervals.first_token->low + (chunk - 1) * intervals.each_token->low,
                     intervals.first_token->high + (chunk - 1) * intervals.each_token->high};
}

std::optional<ServedRange> interval_of(std::size_t quantity, const ServedIntervals& intervals,
                                       const Served& said, double chunk) {
  switch (quantity) {
    case kFirstToken:
      return of_chunk(intervals, chunk);
    case kEachToken:
      return intervals.each_token;
    case kLatency:
      return intervals.latency;
    case kOutput:
      return intervals.output;
    default:
      return scaled(intervals.output, said.total_per_second / said.output_per_second);
  }
}

// Of the main quantity, as `infer` tells it.
void add_interval(ServedRow& row, const AskedServing& asked, const Served& said) {
  const auto quantity = row.main();
  if (!quantity) return;
  const ServedIntervals intervals =
      asked.apart
          ? intervals_of(*asked.apart, *asked.constants, asked.load, said)
          : intervals_of(asked.serving, *asked.constants, asked.load, said, asked.at_capacity);
  const auto range = interval_of(*quantity, intervals, said, asked.chunk);
  if (!range) return;
  row.interval_low = range->low;
  row.interval_high = range->high;
}

double share_of_capacity(const AskedServing& asked, const Served& said, const StepTimes& steps) {
  const Serving& serving = asked.serving;
  const Load& load = asked.load;
  if (asked.at_capacity) return 1;
  const double most =
      most_rate(engine_of(serving, steps, serving.engine.policy, said.memory, load), load);
  const double tokens = static_cast<double>(load.output) * load.output_spread.mean();
  // The closed form is low where short prompts share a step.
  return std::min(1.0, said.output_per_second / static_cast<double>(serving.dp) / tokens / most);
}

ServedRow predicted_row(ServedCase& from) {
  ServedRow row = std::move(from.row);
  if (!from.asked) return row;
  const AskedServing& asked = *from.asked;
  std::optional<StepTimes> steps;
  if (!asked.apart && asked.load.arrivals != Arrivals::together) {
    steps = step_times(asked.serving, *asked.constants, asked.load.input, asked.load.output);
  }
  const Served said =
      steps ? served(asked.serving, *asked.constants, asked.load, &*steps) : served(asked);
  if (!said.stable()) {
    row.skipped_reason = "more requests a second than are answered";
    return row;
  }
  row.fits = said.fits;
  if (!said.fits) return row;
  row.predicted = numbers_of(said, asked.chunk);
  if (steps) row.of_capacity = share_of_capacity(asked, said, *steps);
  add_interval(row, asked, said);
  return row;
}

}  // namespace

Result<std::vector<ServedRow>> predict_serving(const Csv& csv, int threads) {
  auto cases = read_serving(csv);
  if (!cases) return cases.problems();
  std::vector<ServedRow> rows(cases->size());
  for_each_index(rows.size(), threads,
                 [&](std::size_t i, std::size_t) { rows[i] = predicted_row(cases.value()[i]); });
  return rows;
}

}  // namespace headway
