#include "study/infer/intervals/intervals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/document/document.hpp"
#include "platform/files.hpp"
#include "study/infer/intervals/peaks.hpp"
#include "study/infer/prompt_passes.hpp"
#include "study/infer/summary.hpp"

namespace headway {
namespace {

// What no serving beats: one prompt with nobody beside it, whose pieces follow each other through
// the stages [INFER-18], and one sequence's token.
struct LeastTimes {
  Seconds first_token, each_token;
};
LeastTimes least_times(const Serving& prefill, const Serving& decode,
                       const ServingConstants& constants, const Load& load) {
  const double input = static_cast<double>(load.input) * load.input_spread.mean();
  const auto hit = static_cast<std::int64_t>(load.prefix_hit * input);
  const auto tokens = static_cast<std::int64_t>(input) - hit;
  const std::int64_t checked = drafting_of(decode).length + 1;
  const double pieces = std::max(1.0, prompt_passes(prefill.engine.policy, load, 1).of_one);
  const double stages = static_cast<double>(prefill.pp);
  LeastTimes out;
  out.first_token =
      (pieces + stages - 1) / (pieces * stages) *
      least_time(prefill, constants, {.tokens = std::max<std::int64_t>(1, tokens), .cached = hit});
  out.each_token =
      least_time(
          decode, constants,
          {.tokens = checked, .cached = static_cast<std::int64_t>(input), .checks = checked > 1}) /
      drafting_of(decode).made();
  return out;
}

// Holds `value` and is not below `least` or above `most`.
ServedRange held(const ServingIntervals::Entry& entry, const IntervalFactors& factors, double value,
                 double least, double most) {
  return {std::min(value, std::max(least, factors.low * value)),
          std::max(value, std::min(most, factors.high * value)), entry.rows, entry.sources};
}

void say_what_is_known(const IntervalClass& of, ServedIntervals& out) {
  out.engine_known = of.engine == "known";
  out.accelerator_known = of.accelerator == "known";
}

// Every sequence that is there gets a token in the least time.
double most_output(const LeastTimes& least, const Load& load, double sequences) {
  return load.output > 1 ? sequences / least.each_token.value()
                         : std::numeric_limits<double>::infinity();
}

// Tokens of an answer after the first, as the prediction has them.
double others(const Served& served) {
  return served.each_token > Seconds(0) ? (served.latency - served.first_token) / served.each_token
                                        : 0;
}

// Of a whole answer, as its first token and the others may be.
ServedRange of_parts(const ServedRange& first, const std::optional<ServedRange>& token,
                     const Served& served) {
  const ServedRange each = token.value_or(ServedRange{});
  return {first.low + others(served) * each.low, first.high + others(served) * each.high,
          first.rows, first.sources};
}

}  // namespace

bool IntervalClass::holds(const IntervalClass& other) const {
  const auto same = [](const std::string& own, const std::string& said) {
    return own.empty() || own == said;
  };
  return same(quantity, other.quantity) && same(load, other.load) && same(engine, other.engine) &&
         same(accelerator, other.accelerator);
}

IntervalFactors IntervalFactors::at(double share) const {
  const auto grown = [&](double factor, double waiting) {
    // Not std::hypot, whose last digit differs from one C library to another.
    const double fixed = std::log(factor), of_waiting = share * std::log(waiting);
    return std::sqrt(fixed * fixed + of_waiting * of_waiting);
  };
  return {std::exp(-grown(low, waiting_low)), std::exp(grown(high, waiting_high))};
}

double waiting_share(Seconds first_token, const Serving& serving, const ServingConstants& constants,
                     const Load& load) {
  if (load.arrivals == Arrivals::together || first_token <= Seconds(0)) return 0;
  const PromptPasses passes = prompt_passes(serving.engine.policy, load, 1);
  const PassTime prefill = time_of(serving, constants, passes.each);
  const Seconds own =
      time_of_prompts(serving, constants, passes, 1, prefill.total()) + serving.engine.request;
  return std::clamp(1 - own / first_token, 0.0, 1.0);
}

const ServingIntervals::Entry* ServingIntervals::entry_of(const IntervalClass& asked) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.of.holds(asked); });
  return found == entries.end() ? nullptr : &*found;
}

std::optional<IntervalFactors> ServingIntervals::of(const IntervalClass& asked) const {
  const Entry* found = entry_of(asked);
  return found != nullptr ? std::optional(found->factors) : std::nullopt;
}

IntervalClass interval_class(const ServingIntervals& intervals, const Serving& serving,
                             const Load& load, bool full, std::string_view quantity) {
  const auto known = [](const std::set<std::string>& names, const std::string& name) {
    return std::string(names.contains(name) ? "known" : "unknown");
  };
  return {quantity.starts_with("throughput") ? "throughput" : std::string(quantity),
          full                                  ? "full"
          : load.arrivals == Arrivals::together ? "together"
                                                : "clients",
          known(intervals.engines, serving.engine.name),
          known(intervals.accelerators, serving.cluster.accelerator.name)};
}

ServedIntervals intervals_of(const Serving& serving, const ServingConstants& constants,
                             const Load& load, const Served& served, std::optional<bool> full) {
  ServedIntervals out;
  const auto& known = serving_intervals();
  if (!known) return out;
  constexpr double kAny = std::numeric_limits<double>::infinity();
  const bool is_full = full.value_or(load.arrivals == Arrivals::clients &&
                                     served.sequences < static_cast<double>(load.batch));
  const LeastTimes least = least_times(serving, serving, constants, load);
  const auto range = [&](std::string_view quantity, double value, double low, double high,
                         double waiting = 0) -> std::optional<ServedRange> {
    const IntervalClass of = interval_class(*known, serving, load, is_full, quantity);
    say_what_is_known(of, out);
    const auto* entry = known->entry_of(of);
    if (value == 0 || entry == nullptr) return std::nullopt;
    return held(*entry, entry->factors.at(waiting), value, low, high);
  };
  const double waiting = waiting_share(served.first_token, serving, constants, load);
  const Seconds whole = least.first_token + others(served) * least.each_token;
  out.first_token =
      range("ttft_s", served.first_token.value(), least.first_token.value(), kAny, waiting);
  out.each_token = range("tpot_s", served.each_token.value(), least.each_token.value(), kAny);
  out.latency = range("latency_s", served.latency.value(), whole.value(), kAny);
  if (load.arrivals != Arrivals::together && out.latency && out.first_token) {
    const ServedRange parts = of_parts(*out.first_token, out.each_token, served);
    out.latency->low = std::max(out.latency->low, parts.low);
    out.latency->high = std::min(out.latency->high, parts.high);
  }
  // Of requests that come of themselves as much is made as they ask for; rows of measured serving
  // were driven as hard as they went.
  if (load.comes() && !full) return out;
  out.output = range("throughput", served.output_per_second, 0,
                     most_output(least, load, served.sequences * static_cast<double>(serving.dp)));
  return out;
}

ServedIntervals intervals_of(const ServingApart& apart, const ServingConstants& constants,
                             const Load& load, const Served& served) {
  ServedIntervals out;
  const auto& known = serving_intervals();
  if (!known) return out;
  const LeastTimes least = least_times(apart.prefill, apart.decode, constants, load);
  const auto range = [&](std::string_view quantity, double value,
                         Seconds low) -> std::optional<ServedRange> {
    IntervalClass of = interval_class(*known, apart.decode, load, false, quantity);
    of.load = "apart";
    say_what_is_known(of, out);
    const auto* entry = known->entry_of(of);
    if (value == 0 || entry == nullptr) return std::nullopt;
    return held(*entry, entry->factors, value, low.value(),
                std::numeric_limits<double>::infinity());
  };
  out.first_token = range("ttft_s", served.first_token.value(), least.first_token);
  out.each_token = range("tpot_s", served.each_token.value(), least.each_token);
  if (!out.first_token) return out;
  out.latency = of_parts(*out.first_token, out.each_token, served);
  // Of clients, who ask again when they are answered; others' output is what they ask for.
  if (load.arrivals != Arrivals::clients) return out;
  const double work = served.output_per_second * served.latency.value();
  out.output = {work / out.latency->high, work / out.latency->low, out.latency->rows,
                out.latency->sources};
  return out;
}

Result<ServingIntervals> serving_intervals_from(const Document& document) {
  Problems problems;
  Fields root(document, problems);
  ServingIntervals out;
  root.text("date");
  const auto names = [&](const char* key) {
    const auto texts = root.texts_or_empty(key);
    return std::set<std::string>(texts.begin(), texts.end());
  };
  out.engines = names("engines");
  out.accelerators = names("accelerators");
  for (Fields& fields : root.tables("classes")) {
    ServingIntervals::Entry entry;
    entry.of = {fields.text_or("quantity", ""), fields.text_or("load", ""),
                fields.text_or("engine", ""), fields.text_or("accelerator", "")};
    entry.factors = {fields.number("low"), fields.number("high"),
                     fields.number_or("waiting_low", 1), fields.number_or("waiting_high", 1)};
    entry.rows = static_cast<std::size_t>(fields.natural("rows"));
    entry.sources = static_cast<std::size_t>(fields.natural("sources"));
    fields.reject_unknown();
    out.entries.push_back(std::move(entry));
  }
  root.reject_unknown();
  if (!problems.empty()) return problems;
  return out;
}

const Result<ServingIntervals>& serving_intervals() {
  static const Result<ServingIntervals> read = [] {
    const auto document = embedded_document("serving/intervals.toml");
    return document ? serving_intervals_from(*document)
                    : Result<ServingIntervals>(document.problems());
  }();
  return read;
}

}  // namespace headway
