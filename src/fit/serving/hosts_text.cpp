// What was fitted on measured serving: as a table, and in data/serving/engines.toml.
#include <algorithm>
#include <cmath>

#include "base/document/toml_text.hpp"
#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/text.hpp"
#include "fit/serving/hosts.hpp"

namespace headway {
namespace {

// By least of both digits that a fit tells.
std::string time_text(Seconds time) {
  const double s = time.value();
  return s >= 1      ? formatted("%.3g s", s)
         : s >= 1e-3 ? formatted("%.3g ms", s * 1e3)
                     : formatted("%.3g us", s * 1e6);
}

bool is_felt(Seconds time) {
  return time > Seconds(0.05e-6);
}

using Members = std::vector<std::pair<std::string, std::string>>;

// "{ a = 1, b = 2 }" of TOML.
std::string inline_table(const Members& members) {
  std::string out;
  for (const auto& [name, value] : members)
    out += (out.empty() ? "{ " : ", ") + name + " = " + value;
  return (out.empty() ? "{" : out) + " }";
}
// Nothing, where there are none: a line that is not written.
std::string line_of(const Members& members) {
  return members.empty() ? std::string() : inline_table(members);
}

// All of them where one is felt: an architecture that is not named is as the default. Times in a
// file are above zero.
std::string layer_text(const Engine& engine) {
  const auto& layer = engine.layer;
  if (std::none_of(layer.begin(), layer.end(),
                   [](const auto& each) { return is_felt(each.second); })) {
    return {};
  }
  Members out;
  for (const auto& [architecture, time] : layer) {
    out.emplace_back(architecture, toml_text(time_text(std::max(time, Seconds(0.01e-6)))));
  }
  return line_of(out);
}

std::string starts_text(const Engine& engine) {
  Members out;
  for (const auto& [release, start] : engine.starts) {
    Members times;
    if (is_felt(start.first)) times.emplace_back("first", toml_text(time_text(start.first)));
    if (is_felt(start.full)) times.emplace_back("full", toml_text(time_text(start.full)));
    out.emplace_back(toml_text(release), inline_table(times));
  }
  return line_of(out);
}

std::string untuned_text(const Engine& engine) {
  Members out;
  for (const auto& [architecture, of] : engine.untuned) {
    Members shares;
    const auto add = [&](const char* what, double share) {
      if (share > 0) shares.emplace_back(what, formatted("%.3g", share));
    };
    add("products", of.products);
    add("attention", of.attention);
    add("weights", of.weights);
    add("blocks", of.blocks);
    add("exchanged", of.exchanged);
    out.emplace_back(architecture, inline_table(shares));
  }
  return line_of(out);
}

}  // namespace

double residual_error(const ServedResidual& residual, double predicted) {
  const bool rate = kServedQuantities[residual.quantity].starts_with("throughput");
  return rate ? residual.measured / predicted - 1 : predicted / residual.measured - 1;
}

UnitTable host_table(const HostFit& fit, const std::vector<ServedCase>& cases) {
  using Key = std::pair<std::string, std::size_t>;
  using Errors = std::array<std::vector<double>, 3>;
  std::map<Key, Errors> groups;
  std::array<Errors, kServedQuantities.size()> all;
  for (const ServedResidual& each : fit.residuals) {
    const std::string& source = cases[each.of].row.source_key;
    for (Errors* errors : {&groups[{source, each.quantity}], &all[each.quantity]}) {
      (*errors)[0].push_back(residual_error(each, each.fitted));
      if (!fit.left_out) continue;
      (*errors)[1].push_back(residual_error(each, each.without_model));
      (*errors)[2].push_back(residual_error(each, each.without_source));
    }
  }
  UnitTable table = {{"source", "quantity", "rows", "median", "p90", "bias"},
                     {"", "", "", "%", "%", "%"}};
  if (fit.left_out) {
    for (const char* what : {"no model", "no source"}) {
      table[0].insert(table[0].end(), {what, "p90", "bias"});
      table[1].insert(table[1].end(), {"%", "%", "%"});
    }
  }
  const auto add = [&](const std::string& source, std::size_t quantity, const Errors& errors) {
    std::vector<std::string> row = {source, std::string(kServedQuantities[quantity]),
                                    std::to_string(errors[0].size())};
    for (const auto& each : errors) {
      if (each.empty()) continue;
      const ErrorSummary error = summarise(each);
      row.push_back(in_percent(error.median));
      row.push_back(in_percent(error.p90));
      row.push_back(in_percent(error.bias, "%+.1f"));
    }
    table.push_back(std::move(row));
  };
  for (const auto& [key, errors] : groups) add(printable(key.first, 30), key.second, errors);
  for (std::size_t q = 0; q < all.size(); ++q) {
    if (!all[q][0].empty()) add("all", q, all[q]);
  }
  return table;
}

std::string to_text(const HostFit& fit, const std::vector<ServedCase>& cases) {
  std::vector<std::vector<std::string>> constants = {{"engine", "rows", "step", "sequence",
                                                      "request", "prompt", "token", "launch",
                                                      "experts", "starts", "layer", "untuned"}};
  for (const Engine& engine : fit.engines) {
    const auto rows = fit.rows.find(engine.name);
    if (rows == fit.rows.end()) continue;
    constants.push_back({engine.name, std::to_string(rows->second), time_text(engine.step),
                         time_text(engine.sequence), time_text(engine.request),
                         time_text(engine.prompt), time_text(engine.token),
                         time_text(engine.launch), time_text(engine.experts), starts_text(engine),
                         layer_text(engine), untuned_text(engine)});
  }
  return aligned(host_table(fit, cases), 2) + "\n" + aligned(constants);
}

std::string renewed_engines(const std::string& current, const HostFit& fit,
                            const std::vector<ServedCase>& cases, const std::string& date) {
  std::map<std::string, std::vector<double>> errors;
  for (const ServedResidual& each : fit.residuals) {
    errors[cases[each.of].row.engine].push_back(std::abs(residual_error(each, each.fitted)));
  }
  std::string out = current;
  for (const Engine& engine : fit.engines) {
    const auto rows = fit.rows.find(engine.name);
    if (rows == fit.rows.end()) continue;
    const auto time = [](Seconds value) {
      return is_felt(value) ? toml_text(time_text(value)) : std::string();
    };
    const std::string source = std::to_string(rows->second) + " rows of " +
                               join(fit.sources.at(engine.name), ", ") + " on " +
                               join(fit.machines.at(engine.name), ", ") + ": median error " +
                               in_percent(quantile(errors[engine.name], 0.5).value_or(0)) + " %";
    out = renewed_table(out, engine.name,
                        {{"host", ""},  // its own, from now on
                         {"step", time(engine.step)},
                         {"sequence", time(engine.sequence)},
                         {"layer", layer_text(engine)},
                         {"request", time(engine.request)},
                         {"prompt", time(engine.prompt)},
                         {"token", time(engine.token)},
                         {"launch", time(engine.launch)},
                         {"experts", time(engine.experts)},
                         {"starts", starts_text(engine)},
                         {"untuned", untuned_text(engine)},
                         {"source", toml_text(source)},
                         {"kind", "\"fitted\""},
                         {"date", toml_text(date)}});
  }
  return out;
}

}  // namespace headway
