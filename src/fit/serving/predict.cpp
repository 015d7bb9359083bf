// Rows of measured serving beside what they are predicted to take.
#include <limits>
#include <sstream>

#include "base/formatted.hpp"
#include "fit/serving/asked.hpp"
#include "platform/parallel.hpp"
#include "study/infer/intervals/intervals.hpp"
#include "study/infer/search/tuned.hpp"
#include "study/infer/steps.hpp"
#include "study/infer/summary.hpp"

namespace headway {

const std::optional<TunedServing::Best>& TunedServing::best() const {
  std::call_once(once_, [&] {
    auto found =
        tuned(alone_.serving, *alone_.constants, alone_.load, accelerators_, steps_, share_);
    if (!found) return;
    Best best{alone_, {}};
    best.asked.serving = std::move(found->serving);
    best.asked.load = std::move(found->load);
    best.served = served(best.asked);
    best_ = std::move(best);
  });
  return best_;
}

Seconds cold_time(const AskedServing& asked, const Engine& engine) {
  const Start start = start_of(engine, asked.start);
  return asked.cold * (start.first + (asked.full ? start.full : Seconds(0)));
}

Served served(const AskedServing& asked) {
  if (asked.apart) return served(*asked.apart, *asked.constants, asked.load).all;
  return served(asked.serving, *asked.constants, asked.load);
}

ServedNumbers numbers_of(const Served& served) {
  ServedNumbers out;
  out[kFirstToken] = served.first_token.value();
  out[kEachToken] = served.each_token.value();
  out[kLatency] = served.latency.value();
  out[kOutput] = served.output_per_second;
  out[kTotal] = served.total_per_second;
  return out;
}

ServedNumbers numbers_of(const AskedServing& asked, const Served& served, const Engine& engine) {
  ServedNumbers out = numbers_of(served);
  const double cold = cold_time(asked, engine).value();
  *out[kFirstToken] += cold;
  *out[kLatency] += cold;
  if (asked.in_turns) {
    const double tokens =
        static_cast<double>(asked.load.listed->size()) * static_cast<double>(asked.load.output);
    out[kLatency] = tokens / served.output_per_second;
  }
  return out;
}

namespace {

std::optional<ServedRange> scaled(std::optional<ServedRange> range, double by) {
  if (range) *range = {range->low * by, range->high * by};
  return range;
}

std::optional<ServedRange> interval_of(std::size_t quantity, const ServedIntervals& intervals,
                                       const Served& said) {
  switch (quantity) {
    case kFirstToken:
      return intervals.first_token;
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

// As `infer` tells them.
void add_intervals(ServedRow& row, const AskedServing& asked, const Served& said) {
  if (!row.main()) return;
  const ServedIntervals intervals =
      asked.apart
          ? intervals_of(*asked.apart, *asked.constants, asked.load, said)
          : intervals_of(asked.serving, *asked.constants, asked.load, said, asked.at_capacity);
  for (std::size_t quantity = 0; quantity < row.intervals.size(); ++quantity) {
    const auto range = interval_of(quantity, intervals, said);
    if (!range) continue;
    double with_cold = 1;  // what waits for the first passes is as uncertain as the rest
    if (quantity == kFirstToken || quantity == kLatency) {
      const Seconds warm = quantity == kFirstToken ? said.first_token : said.latency;
      with_cold += cold_time(asked, asked.serving.engine) / warm;
    }
    row.intervals[quantity] = ServedBounds{range->low * with_cold, range->high * with_cold};
  }
}

// [INFER-31] What a rank holds at most of a batch that starts together, by an engine that takes
// what it needs: weights, context and communicators, activations of as many tokens as pass at once,
// logits of the batch, and the cache of all its tokens. Of an engine that takes a pool, the pool.
// Known error: FasterTransformer's buffers grow with the batch beyond these.
Bytes most_held(const AskedServing& asked, const ServingMemory& memory) {
  constexpr double kPlannedSequences = 256;  // of which [INFER-24] counts the logits
  if (asked.pooled) return memory.capacity;
  const auto batch = static_cast<double>(asked.load.batch);
  const auto input = static_cast<double>(asked.load.input);
  const auto planned = static_cast<double>(asked.serving.engine.policy.most_tokens);
  const double context = input + static_cast<double>(asked.load.output);
  const Reserved& parts = memory.parts;
  return memory.weights + parts.context + parts.communicators +
         std::min(1.0, batch * input / planned) * parts.activations +
         std::min(1.0, batch / kPlannedSequences) * parts.head +
         batch * (context * memory.cache_of_token + memory.state_of_sequence);
}

bool waits_for_others(const AskedServing& asked) {
  return !asked.apart && asked.load.arrivals != Arrivals::together;
}

double share_of_capacity(const AskedServing& asked, const Served& said, const StepTimes& steps) {
  const Serving& serving = asked.serving;
  const Load& load = asked.load;
  if (asked.at_capacity) return 1;
  Policy policy = serving.engine.policy;  // of as many as memory holds
  policy.most_sequences = std::numeric_limits<std::int64_t>::max();
  const double most = most_rate(engine_of(serving, steps, policy, said.memory, load), load);
  const double tokens = static_cast<double>(load.output) * load.output_spread.mean();
  // The closed form is low where short prompts share a step.
  return std::min(1.0, said.output_per_second / static_cast<double>(serving.dp) / tokens / most);
}

constexpr const char* kUnstable = "more requests a second than are answered";

// `known`: what it serves, where that is known.
ServedRow predicted_row(const AskedServing& asked, ServedRow row, const Served* known = nullptr) {
  std::optional<StepTimes> steps;
  if (waits_for_others(asked)) {
    steps = step_times(asked.serving, *asked.constants, asked.load.input, asked.load.output);
  }
  const Served said = known != nullptr ? *known
                      : steps ? served(asked.serving, *asked.constants, asked.load, &*steps)
                              : served(asked);
  if (!said.stable()) {
    row.skipped_reason = kUnstable;
    return row;
  }
  row.fits = said.fits;
  if (!said.fits) return row;
  row.predicted = numbers_of(asked, said, asked.serving.engine);
  if (!asked.apart && (asked.pooled || asked.load.arrivals == Arrivals::together)) {
    row.predicted_memory_gb = most_held(asked, said.memory).value() / 1e9;
  }
  if (steps && !asked.in_turns) row.of_capacity = share_of_capacity(asked, said, *steps);
  add_intervals(row, asked, said);
  return row;
}

constexpr const char* kNoWay = "no split of its accelerators serves it";

ServedRow predicted_row(ServedCase& from) {
  ServedRow row = std::move(from.row);
  if (from.asked) return predicted_row(*from.asked, std::move(row));
  if (!from.tuned) return row;
  if (const auto& best = from.tuned->best()) {
    return predicted_row(best->asked, std::move(row), &best->served);
  }
  row.skipped_reason = kNoWay;
  return row;
}

// What a prediction adds to a row, in order.
template <class Row, class Visit>
void for_each_predicted(Row& row, const Visit& visit) {
  visit(row.of_capacity);
  visit(row.predicted_memory_gb);
  for (auto& value : row.predicted) visit(value);
}

constexpr std::string_view kNone = "-";

// As a line of a part: what there is, "-" where there is nothing.
std::string line_of(const ServedRow& row) {
  if (!row.fits) return row.skipped_reason.empty() ? "?" : row.skipped_reason;
  std::string out = *row.fits ? "fits" : "not";
  for_each_predicted(row, [&](const std::optional<double>& value) {
    out += " " + (value ? shortest_text(*value) : std::string(kNone));
  });
  for (const auto& interval : row.intervals) {
    out += " " + (interval ? shortest_text(interval->low) + " " + shortest_text(interval->high)
                           : std::string("- -"));
  }
  return out;
}

// Whether the line is of this row, which is then as it was predicted.
bool read_line(const std::string& line, ServedRow& row) {
  std::istringstream words(line);
  std::string word;
  bool sound = true;
  const auto next = [&](std::optional<double>& value) {
    if (!(words >> word)) return sound = false, void();
    if (word == kNone) return;
    value = exact_number(word);
    sound = sound && value.has_value();
  };
  words >> word;
  if (word != "fits" && word != "not") return false;
  row.fits = word == "fits";
  for_each_predicted(row, next);
  for (auto& interval : row.intervals) {
    std::optional<double> low, high;
    next(low);
    next(high);
    if (low && high) interval = ServedBounds{*low, *high};
  }
  return sound && !(words >> word);
}

}  // namespace

Result<std::vector<ServedRow>> predict_serving_in_parts(const Csv& csv, const std::string& name,
                                                        const Division& division, int threads) {
  auto cases = read_serving(csv);
  if (!cases) return cases.problems();
  const auto lines = divide(division,
                            {.name = name,
                             .count = cases->size(),
                             .make =
                                 [&](std::size_t i) {
                                   ServedCase each = cases.value()[i];
                                   return line_of(predicted_row(each));
                                 }},
                            threads, {});
  if (!lines) return lines.problems();
  std::vector<ServedRow> out;
  if (division.only) return out;
  for (std::size_t i = 0; i < cases->size(); ++i) {
    ServedRow row = std::move(cases.value()[i].row);
    const std::string& line = *(*lines)[i];
    const bool asks = cases.value()[i].asked || cases.value()[i].tuned;
    const bool none = line == kUnstable || line == kNoWay;
    if (asks && !none && !read_line(line, row)) {
      return Problem{"merge", "the parts hold predictions that are none of their rows",
                     Trouble::malformed};
    }
    if (asks && none) row.skipped_reason = line;
    out.push_back(std::move(row));
  }
  return out;
}

std::optional<double> share_of_capacity(const AskedServing& asked) {
  if (!waits_for_others(asked)) return std::nullopt;
  const StepTimes steps =
      step_times(asked.serving, *asked.constants, asked.load.input, asked.load.output);
  const Served said = served(asked.serving, *asked.constants, asked.load, &steps);
  if (!said.fits || !said.stable()) return std::nullopt;
  return share_of_capacity(asked, said, steps);
}

Result<std::vector<ServedRow>> predict_serving(const Csv& csv, int threads) {
  auto cases = read_serving(csv);
  if (!cases) return cases.problems();
  std::vector<ServedRow> rows(cases->size());
  for_each_index(rows.size(), threads,
                 [&](std::size_t i, std::size_t) { rows[i] = predicted_row(cases.value()[i]); });
  return rows;
}

}  // namespace headway
