#include <algorithm>
#include <array>

#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "method/methods.hpp"
#include "study/convergence/sites.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostValues = 64;
constexpr std::int64_t kMostSites = 100'000;
// Compared where nothing is asked: one of each way to send less.
constexpr std::array<std::string_view, 6> kUsualMethods = {
    "qsgd", "gossip", "ad-psgd", "diloco", "streaming-diloco", "eager-diloco"};
constexpr std::int64_t kPublishedEvery = 30;  // steps, of the losses that are published

// Parts of texts between commas.
std::vector<std::string> parts_of(const std::vector<std::string>& texts, const char* option,
                                  Problems& problems) {
  std::vector<std::string> out;
  for (const std::string& text : texts) {
    std::size_t begin = 0;
    while (begin <= text.size()) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      std::string part = text.substr(begin, end - begin);
      part.erase(0, part.find_first_not_of(' '));
      part.erase(part.find_last_not_of(' ') + 1);
      out.push_back(std::move(part));
      begin = end + 1;
    }
  }
  if (out.size() > kMostValues) {
    problems.push_back({FieldName(option), "lists more than 64 values"});
    out.clear();
  }
  return out;
}

std::optional<double> number_in(const std::string& text, double least, double most) {
  const auto value = real_number(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

void read_sites(const SitesGiven& given, SitesQuestion& out, Problems& problems) {
  for (const std::string& text : parts_of(given.sites, "sites", problems)) {
    const auto value = number_in(text, 1, static_cast<double>(kMostSites));
    const auto whole = static_cast<std::int64_t>(value.value_or(0));
    if (!value || static_cast<double>(whole) != *value) {
      problems.push_back({FieldName("sites"),
                          "'" + printable(text, 40) + "' is not a whole number from 1 to 100,000"});
    } else {
      out.sites.push_back(whole);
    }
  }
  if (given.sites.empty()) out.sites = {1, 2, 4, 8};
  std::sort(out.sites.begin(), out.sites.end());
  out.sites.erase(std::unique(out.sites.begin(), out.sites.end()), out.sites.end());
}

void read_network(const SitesGiven& given, SitesQuestion& out, Problems& problems) {
  std::vector<std::string> texts = given.bandwidths;
  if (texts.empty()) texts = {"1 Gb/s,10 Gb/s,100 Gb/s,1000 Gb/s"};
  for (const std::string& text : parts_of(texts, "bandwidth", problems)) {
    const auto value = parse_quantity<BytesPerSecond>(text, FieldName("bandwidth"));
    if (!value) {
      append(problems, value.problems());
    } else if (!(value->value() > 0)) {
      problems.push_back({FieldName("bandwidth"), "must be greater than zero"});
    } else {
      out.bandwidths.push_back(*value);
    }
  }
  std::sort(out.bandwidths.begin(), out.bandwidths.end());
  const auto latency = parse_quantity<Seconds>(given.latency.empty() ? "10 ms" : given.latency,
                                               FieldName("latency"));
  if (!latency) {
    append(problems, latency.problems());
  } else if (latency->value() < 0) {
    problems.push_back({FieldName("latency"), "must not be below zero"});
  } else {
    out.latency = *latency;
  }
}

// A method as it was written, with the steps between meetings that are asked for where it says
// nothing of them; sites, their number and link say what else it could state.
void read_methods(const SitesGiven& given, SitesQuestion& out, Problems& problems) {
  out.methods = {Method{}};
  std::string every;
  if (given.sync_every) {
    const auto whole = static_cast<std::int64_t>(*given.sync_every);
    if (!(*given.sync_every >= 1 && *given.sync_every <= 1e6) ||
        static_cast<double>(whole) != *given.sync_every) {
      problems.push_back({FieldName("sync-every"), "must be a whole number from 1 to 1,000,000"});
    } else {
      every = std::to_string(whole);
    }
  }
  const bool usual = given.methods.empty();
  const std::vector<std::string> texts =
      usual ? std::vector<std::string>(kUsualMethods.begin(), kUsualMethods.end()) : given.methods;
  if (texts.size() > kMostValues) {
    problems.push_back({FieldName("compare"), "lists more than 64 methods"});
    return;
  }
  for (const std::string& text : texts) {
    const std::string name = text.substr(0, text.find(':'));
    const MethodRow* const row = method_row(name);
    std::string whole = text;
    const auto states = [&](const std::string& field) {
      return text.find(':' + field + '=') != std::string::npos ||
             text.find(',' + field + '=') != std::string::npos;
    };
    for (const char* field : {"replicas", "submodels", "bandwidth", "latency"}) {
      if (!states(field)) continue;
      problems.push_back({FieldName("compare"),
                          "of " + printable(name, 40) + " states " + field +
                              ", which --sites, --bandwidth and --latency say of all methods"});
    }
    const auto reads = [&](const char* field) {
      return row != nullptr &&
             std::find(row->fields.begin(), row->fields.end(), field) != row->fields.end();
    };
    if (reads("every") && !states("every") && (usual || !every.empty())) {
      whole += (text.find(':') == std::string::npos ? ":every=" : ",every=") +
               (every.empty() ? std::to_string(kPublishedEvery) : every);
    }
    auto method = method_from(whole, FieldName("compare"));
    if (!method) {
      append(problems, method.problems());
    } else if (method->is_synchronous()) {
      problems.push_back({FieldName("compare"), "lists synchronous training, which is there"});
    } else {
      out.methods.push_back(std::move(method).value());
    }
  }
}

void read_penalties(const SitesGiven& given, SitesQuestion& out, Problems& problems) {
  std::vector<std::string> names;
  for (const Method& method : out.methods) {
    if (!method.is_synchronous()) names.push_back(method.row->name);
  }
  for (const std::string& text : parts_of(given.penalties, "penalty", problems)) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      problems.push_back(
          {FieldName("penalty"),
           "is of a method that is not compared: " + not_known(printable(name, 40), names),
           Trouble::unknown});
      continue;
    }
    const auto value =
        number_in(equals == std::string::npos ? "" : text.substr(equals + 1), 0.5, 10);
    if (!value) {
      problems.push_back(
          {FieldName("penalty"), "of " + name +
                                     " must be a loss over that of synchronous training, from "
                                     "0.5 to 10, as " +
                                     name + "=1.01"});
      continue;
    }
    out.penalties[name] = *value;
  }
}

}  // namespace

Result<SitesQuestion> read_sites_question(const SitesGiven& given) {
  Problems problems;
  SplitRequest parts = split(given.fields);
  refuse_unknown(parts.run, {}, problems);
  auto run = make_run(parts.run);
  if (!run) append(problems, run.problems());
  auto assumed = read_assumptions(parts.scale);
  if (!assumed) append(problems, assumed.problems());
  SitesQuestion out;
  read_sites(given, out, problems);
  read_network(given, out, problems);
  read_methods(given, out, problems);
  read_penalties(given, out, problems);
  const auto number = [&](const char* name, const std::optional<double>& value, double least,
                          double most, double& into) {
    if (!value) return;
    if (*value >= least && *value <= most) {
      into = *value;
    } else {
      problems.push_back(
          {FieldName(name), "must be from " + shortest_text(least) + " to " + shortest_text(most)});
    }
  };
  if (given.data_exponent) {
    out.data_exponent = 1;
    number("loss-data-exponent", given.data_exponent, 0.001, 10, *out.data_exponent);
  }
  out.extrapolate = given.extrapolate;
  if (run && !run->job.method.is_synchronous()) {
    problems.push_back({FieldName("method"),
                        "is one; methods that are set beside synchronous training: --compare"});
  }
  if (run && run->model.is_network()) {
    problems.push_back({FieldName("model"),
                        "is no language model: loss by parameters and tokens is of these alone"});
  }
  if (!problems.empty()) return problems;
  out.run = std::move(run).value();
  out.given = std::move(assumed).value();
  return out;
}

}  // namespace headway
