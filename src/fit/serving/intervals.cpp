#include "fit/serving/intervals.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <tuple>

#include "base/document/toml_text.hpp"
#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/statistics.hpp"
#include "base/text.hpp"

namespace headway {
namespace {

constexpr double kOutside = 0.1;
constexpr double kOfSource = 0.6;  // n rows of a source count as n to the power of 1 less this
constexpr std::size_t kLeastOfClass = 20;

// One measurement beside a prediction that did not see it.
struct Seen {
  IntervalClass of;
  std::string source;
  std::string drawn;  // of what it is one of many: its source, or the accelerator that is left out
  double log_ratio = 0;    // ln(measured / predicted), of the quantity as it is told
  bool of_source = false;  // its source was left out, not its model alone
  std::size_t quantity = 0;
  double waiting = 0;  // of a first token of clients: the share of it that is waiting

  double low(const IntervalFactors& factors) const { return factors.at(waiting).low; }
  double high(const IntervalFactors& factors) const { return factors.at(waiting).high; }
};

// By the constants that were fitted on all.
double waiting_of(const ServedCase& from, const ServedResidual& each, const HostFit& fit) {
  const AskedServing& asked = *from.asked;
  if (kServedQuantities[each.quantity] != "ttft_s" || asked.apart) return 0;
  Serving serving = asked.serving;
  const Policy policy = serving.engine.policy;
  for (const Engine& engine : fit.engines) {
    if (engine.name == serving.engine.name) serving.engine = engine;
  }
  serving.engine.policy = policy;
  return waiting_share(Seconds(each.fitted), serving, *asked.constants, asked.load);
}

// Thrice: without its source, which may know neither engine nor accelerator; without its model; and
// without its model and its accelerator, by estimates of its kernels.
std::vector<Seen> seen_by(const std::vector<ServedCase>& cases, const HostFit& fit) {
  std::map<std::string, std::set<std::string>> sources;  // that measured an accelerator
  for (const ServedResidual& each : fit.residuals) {
    const ServedRow& row = cases[each.of].row;
    sources[row.machine].insert(row.source_key);
  }
  ServingIntervals none;
  std::vector<Seen> out;
  for (const ServedResidual& each : fit.residuals) {
    const ServedCase& from = cases[each.of];
    const std::string_view quantity = kServedQuantities[each.quantity];
    const double sign = quantity.starts_with("throughput") ? -1 : 1;
    Seen seen;
    seen.of = interval_class(none, from.asked->serving, from.asked->load, from.asked->at_capacity,
                             quantity);
    seen.source = seen.drawn = from.row.source_key;
    seen.quantity = each.quantity;
    seen.waiting = waiting_of(from, each, fit);
    const auto add = [&](double predicted, bool engine, bool accelerator, bool of_source) {
      seen.of.engine = engine ? "known" : "unknown";
      seen.of.accelerator = accelerator ? "known" : "unknown";
      seen.log_ratio = sign * std::log(each.measured / predicted);
      seen.of_source = of_source;
      out.push_back(seen);
    };
    add(each.without_source, each.source_known, sources[from.row.machine].size() > 1, true);
    if (each.model_known) add(each.without_model, true, true, false);
    // Without an engine that is known either, its source is what was left out.
    if (each.accelerator_known) {
      seen.drawn = from.row.machine;
      add(each.without_accelerator, true, false, false);
    }
  }
  return out;
}

double weighted_quantile(std::vector<std::pair<double, double>> values, double q) {
  std::sort(values.begin(), values.end());
  double sum = 0, below = 0;
  for (const auto& [value, weight] : values) sum += weight;
  for (const auto& [value, weight] : values) {
    below += weight;
    if (below >= q * sum) return value;
  }
  return values.back().first;
}

// What lies outside at one end, and how it grows with waiting: of those that wait less than others
// and of those that wait more the quantile of each, squared, is linear in the mean square of the
// share. `sign`: -1 of the lower end.
struct Edge {
  double alone = 0, waiting = 0;  // logs, not below 0
};
Edge edge_of(const std::vector<std::tuple<double, double, double>>& seen, double sign) {
  const auto quantile_of = [&](const auto& wanted) {
    std::vector<std::pair<double, double>> values;
    double squares = 0, weights = 0;
    for (const auto& [waiting, value, weight] : seen) {
      if (!wanted(waiting)) continue;
      values.emplace_back(sign * value, weight);
      squares += weight * waiting * waiting;
      weights += weight;
    }
    // An interval holds its prediction.
    const double edge =
        values.empty() ? 0 : std::max(0.0, weighted_quantile(std::move(values), 1 - kOutside));
    return std::pair(edge, weights > 0 ? squares / weights : 0.0);
  };
  const auto [all, square] = quantile_of([](double) { return true; });
  Edge out{all, 0};
  std::vector<std::pair<double, double>> shares;
  for (const auto& [waiting, value, weight] : seen) shares.emplace_back(waiting, weight);
  const double middle = weighted_quantile(std::move(shares), 0.5);
  if (middle <= 0) return out;
  const auto [less, less_square] = quantile_of([&](double share) { return share <= middle; });
  const auto [more, more_square] = quantile_of([&](double share) { return share > middle; });
  if (!(more > less) || !(more_square > less_square)) return out;
  const double squared = (more * more - less * less) / (more_square - less_square);
  // Where they grow faster than waiting does, all of it is waiting.
  if (less * less < less_square * squared) return {0, all / std::sqrt(square)};
  out.alone = std::sqrt(less * less - less_square * squared);
  out.waiting = std::sqrt(squared);
  return out;
}

// Of prefill and decode apart, on which no constant is fitted: those of the program have not seen
// them.
std::vector<Seen> seen_apart(const std::vector<ServedCase>& cases) {
  std::vector<Seen> out;
  for (const ServedCase& from : cases) {
    if (!from.asked || !from.asked->apart) continue;
    const Served said = served(*from.asked);
    if (!said.fits || !said.stable()) continue;
    const ServedNumbers numbers = numbers_of(said);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto& measured = from.row.measured[i];
      const std::string_view quantity = kServedQuantities[i];
      if (!measured || !numbers[i] || quantity.starts_with("throughput")) continue;
      out.push_back({{std::string(quantity), "apart", "", ""},
                     from.row.source_key,
                     from.row.source_key,
                     std::log(*measured / *numbers[i]),
                     true,
                     i});
    }
  }
  return out;
}

// The entry of all that `of` holds for; none: too few.
std::optional<ServingIntervals::Entry> entry_of(const IntervalClass& of,
                                                const std::vector<const Seen*>& seen) {
  std::map<std::string, double> rows;
  for (const Seen* each : seen) {
    if (of.holds(each->of)) rows[each->drawn] += 1;
  }
  std::vector<std::tuple<double, double, double>> values;
  for (const Seen* each : seen) {
    if (!of.holds(each->of)) continue;
    values.emplace_back(each->waiting, each->log_ratio, std::pow(rows[each->drawn], -kOfSource));
  }
  if (values.size() < kLeastOfClass) return std::nullopt;
  const Edge low = edge_of(values, -1), high = edge_of(values, 1);
  const IntervalFactors factors{std::exp(-low.alone), std::exp(high.alone), std::exp(-low.waiting),
                                std::exp(high.waiting)};
  return ServingIntervals::Entry{of, factors, values.size(), rows.size()};
}

// What is not known of an accelerator comes on top of what is not known otherwise.
void widen_unknown(std::vector<ServingIntervals::Entry>& entries) {
  for (ServingIntervals::Entry& entry : entries) {
    if (entry.of.accelerator != "unknown" || entry.of.engine != "known") continue;
    IntervalClass known = entry.of;
    known.accelerator = "known";
    for (const ServingIntervals::Entry& other : entries) {
      if (!(other.of == known)) continue;
      IntervalFactors& factors = entry.factors;
      factors.low = std::min(factors.low, other.factors.low);
      factors.high = std::max(factors.high, other.factors.high);
      factors.waiting_low = std::min(factors.waiting_low, other.factors.waiting_low);
      factors.waiting_high = std::max(factors.waiting_high, other.factors.waiting_high);
    }
  }
}

ServingIntervals intervals_of(const std::vector<const Seen*>& seen) {
  ServingIntervals out;
  std::set<std::vector<std::string>> asked;
  const auto add = [&](const IntervalClass& of) {
    if (!asked.insert({of.quantity, of.load, of.engine, of.accelerator}).second) return;
    if (const auto entry = entry_of(of, seen)) out.entries.push_back(*entry);
  };
  // From the most special to any, all of a width before the next.
  const std::vector<std::function<void(IntervalClass&)>> wider = {
      [](IntervalClass&) {}, [](IntervalClass& of) { of.load.clear(); },
      [](IntervalClass& of) { of.accelerator.clear(); },
      [](IntervalClass& of) { of.engine.clear(); }, [](IntervalClass& of) { of.quantity.clear(); }};
  for (std::size_t steps = 1; steps <= wider.size(); ++steps) {
    for (const Seen* each : seen) {
      IntervalClass of = each->of;
      for (std::size_t i = 0; i < steps; ++i) wider[i](of);
      add(of);
    }
  }
  widen_unknown(out.entries);
  return out;
}

}  // namespace

ServingIntervalFit fit_serving_intervals(const std::vector<ServedCase>& cases, const HostFit& fit) {
  const std::vector<Seen> seen = seen_by(cases, fit);
  const auto those = [&](const std::string& without) {
    std::vector<const Seen*> out;
    for (const Seen& each : seen) {
      if (each.source != without) out.push_back(&each);
    }
    return out;
  };
  ServingIntervalFit out;
  out.intervals = intervals_of(those(""));
  // Classes of their own, the most special of all.
  const std::vector<Seen> apart = seen_apart(cases);
  std::vector<const Seen*> of_apart;
  for (const Seen& each : apart) of_apart.push_back(&each);
  std::vector<ServingIntervals::Entry> first;
  for (const char* quantity : {"ttft_s", "tpot_s"}) {
    if (const auto entry = entry_of({quantity, "apart", "", ""}, of_apart)) first.push_back(*entry);
  }
  out.intervals.entries.insert(out.intervals.entries.begin(), first.begin(), first.end());
  for (const auto& [engine, rows] : fit.rows) out.intervals.engines.insert(engine);
  for (const ServedResidual& each : fit.residuals) {
    out.intervals.accelerators.insert(cases[each.of].row.machine);
  }

  // How they hold what was left out.
  struct Held {
    std::vector<double> widths;
    std::size_t inside = 0, inside_by_others = 0;
  };
  std::map<std::pair<std::string, std::size_t>, Held> held;
  std::map<std::string, ServingIntervals> by_others;
  for (const Seen& each : seen) {
    if (!by_others.contains(each.source)) by_others[each.source] = intervals_of(those(each.source));
  }
  const auto is_inside = [](const std::optional<IntervalFactors>& factors, const Seen& each) {
    const double ratio = std::exp(each.log_ratio);
    return factors && ratio >= each.low(*factors) && ratio <= each.high(*factors);
  };
  for (const Seen& each : seen) {
    if (!each.of_source) continue;
    const auto own = out.intervals.of(each.of), others = by_others.at(each.source).of(each.of);
    for (const char* source : {each.source.c_str(), "all"}) {
      Held& into = held[{source, each.quantity}];
      if (own) into.widths.push_back(each.high(*own) / each.low(*own));
      into.inside += is_inside(own, each) ? 1 : 0;
      into.inside_by_others += is_inside(others, each) ? 1 : 0;
    }
  }
  for (const auto& [key, each] : held) {
    const double rows = static_cast<double>(each.widths.size());
    out.held.push_back({key.first, std::string(kServedQuantities[key.second]), each.widths.size(),
                        static_cast<double>(each.inside) / rows,
                        static_cast<double>(each.inside_by_others) / rows,
                        quantile(each.widths, 0.5).value_or(0)});
  }
  std::stable_partition(out.held.begin(), out.held.end(),
                        [](const HeldServing& each) { return each.source != "all"; });
  return out;
}

UnitTable held_table(const ServingIntervalFit& fit) {
  UnitTable table = {{"source left out", "quantity", "rows", "in 80 %", "by others", "width"},
                     {"", "", "", "%", "%", ""}};
  for (const HeldServing& each : fit.held) {
    table.push_back({printable(each.source, 30), each.quantity, std::to_string(each.rows),
                     in_percent(each.inside), in_percent(each.inside_by_others),
                     formatted("%.2f", each.width)});
  }
  return table;
}

std::string to_text(const ServingIntervalFit& fit) {
  return aligned(held_table(fit), 2);
}

std::string to_toml(const ServingIntervalFit& fit, const std::string& date) {
  std::string out =
      "# Intervals of serving [INFER-11]: a tenth of what was measured lies below low times its "
      "prediction, a tenth above high times, by constants that did not see its source or model.\n"
      "# The first class that holds stands: the most special first; what a class does not say, it "
      "holds for all; waiting_low, waiting_high: what a first token that is all waiting adds, as "
      "variances do. engines, accelerators: that were measured; others are unknown. Written by\n"
      "# `headway calibrate serving --corpus FILE --left-out --write`.\n"
      "date = \"" +
      date + "\"\nengines = " + toml_list(fit.intervals.engines) +
      "\naccelerators = " + toml_list(fit.intervals.accelerators) + "\nclasses = [\n";
  for (const ServingIntervals::Entry& entry : fit.intervals.entries) {
    out += "  { ";
    const std::pair<const char*, const std::string*> parts[] = {
        {"quantity", &entry.of.quantity},
        {"load", &entry.of.load},
        {"engine", &entry.of.engine},
        {"accelerator", &entry.of.accelerator}};
    for (const auto& [name, value] : parts) {
      if (!value->empty()) out += std::string(name) + " = " + toml_text(*value) + ", ";
    }
    out += formatted("low = %.3f, high = %.3f, ", entry.factors.low, entry.factors.high);
    if (entry.factors.waiting_low < 1 || entry.factors.waiting_high > 1) {
      out += formatted("waiting_low = %.3f, waiting_high = %.3f, ", entry.factors.waiting_low,
                       entry.factors.waiting_high);
    }
    out += formatted("rows = %zu, sources = %zu },\n", entry.rows, entry.sources);
  }
  return out + "]\n";
}

}  // namespace headway
