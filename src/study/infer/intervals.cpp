#include "study/infer/intervals.hpp"

#include <algorithm>
#include <cmath>

#include "base/document/document.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

bool holds(const std::string& entry, const std::string& asked) {
  return entry.empty() || entry == asked;
}

}  // namespace

IntervalFactors IntervalFactors::at(double share) const {
  const auto grown = [&](double factor, double waiting) {
    return std::hypot(std::log(factor), share * std::log(waiting));
  };
  return {std::exp(-grown(low, waiting_low)), std::exp(grown(high, waiting_high))};
}

double waiting_share(Seconds first_token, const PassTime& prefill, const Engine& engine) {
  if (first_token <= Seconds(0)) return 0;
  return std::clamp(1 - (prefill.total() + engine.request) / first_token, 0.0, 1.0);
}

std::optional<IntervalFactors> ServingIntervals::of(const IntervalClass& asked) const {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
    return holds(entry.of.quantity, asked.quantity) && holds(entry.of.load, asked.load) &&
           holds(entry.of.engine, asked.engine) && holds(entry.of.accelerator, asked.accelerator);
  });
  if (found == entries.end()) return std::nullopt;
  return found->factors;
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
