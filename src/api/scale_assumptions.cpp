// The assumptions of a whole run: flags over defaults that carry their source.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "api/scale.hpp"
#include "base/document/document.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "platform/files.hpp"
#include "run/request_reader.hpp"
#include "study/lifetime/goodput_stragglers.hpp"

namespace headway {
namespace {

constexpr RunField kFields[] = {
    {"tokens", "N", "tokens to train on: 15T, 300B, 2e12"},
    {"mtbf", "TIME|none", "time between interruptions of one accelerator; default 50677 h"},
    {"hardware-share", "0..1", "of interruptions, those that send a node to repair; default 0.78"},
    {"restart", "TIME", "from an interruption until training goes on; default 10 min"},
    {"repair", "TIME", "until a failed node is back as a spare; default 24 h"},
    {"spares", "N", "spare nodes; default: so many that the run costs least"},
    {"checkpoint-bandwidth", "RATE",
     "of the storage, all ranks together; default 122 MB/s an accelerator"},
    {"checkpoint-size", "BYTES", "default: weights, master copy and optimiser states"},
    {"checkpoint-blocking", "TIME",
     "that a checkpoint stops training, the rest of its write going on beside it; default: all"},
    {"interval", "TIME", "between checkpoints; default: the best"},
    {"step-noise", "X|FILE",
     "spread of one accelerator's step time, as 0.01, or a file of measured times; default 0: the "
     "forecast's mean straggling"},
    {"price", "X", "US dollars for an accelerator's hour; default: the cluster's"},
    {"pue", "X", "power usage effectiveness; default: the cluster's"},
    {"carbon", "X", "kg of CO2 equivalent a kWh; default 0.385"},
    {"loss-law", "NAME", "besiroglu (default) or hoffmann: loss by parameters and tokens"},
    {"critical-batch", "N", "tokens; default: Kaplan's law at the loss that the run reaches"},
};

// 15T, 300B, 2e12, 4_000_000 is not read.
std::optional<double> count_of(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc()) return std::nullopt;
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  const double scale = unit.empty()  ? 1
                       : unit == "K" ? 1e3
                       : unit == "M" ? 1e6
                       : unit == "B" ? 1e9
                       : unit == "T" ? 1e12
                                     : 0;
  value *= scale;
  return value >= 1 && value <= 1e18 ? std::optional(value) : std::nullopt;
}

// Reads one assumption after another and notes each with its source.
class AssumptionReader {
 public:
  AssumptionReader(const RunRequest& request, Problems& problems)
      : reader_(request, problems, kFields), problems_(problems) {}

  template <class Q>
  void quantity(const std::string& name, Q& into) {
    const GivenField* given = reader_.find(name);
    if (given == nullptr) return;
    const Result<Q> parsed = parse_quantity<Q>(given->text, given->where);
    if (!parsed) return append(problems_, parsed.problems());
    if (parsed->value() <= 0) return reader_.fail(name, "must be greater than zero");
    into = *parsed;
  }
  template <class Q>
  void quantity(const std::string& name, std::optional<Q>& into) {
    Q value{};
    const std::size_t before = problems_.size();
    quantity(name, value);
    if (reader_.has(name) && problems_.size() == before) into = value;
  }
  void count(const std::string& name, double& into) {
    const GivenField* given = reader_.find(name);
    if (given == nullptr) return;
    const auto value = count_of(given->text);
    if (!value) {
      return reader_.fail(name, "'" + printable(given->text) +
                                    "' is not a number from 1 to 10^18, as 15T, 300B or 2e12");
    }
    into = *value;
  }
  /// The text in the answer: as it was given, else the default with its source.
  void note(const std::string& name, const std::string& standing, const std::string& source) {
    const GivenField* given = reader_.find(name);
    values.push_back({name, given != nullptr ? given->text : standing,
                      given != nullptr ? "given" : source, given != nullptr});
  }
  RequestReader& reader() { return reader_; }

  std::vector<AssumedValue> values;

 private:
  RequestReader reader_;
  Problems& problems_;
};

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

void read_noise(RequestReader& reader, std::int64_t accelerators, RunAssumptions& out,
                Problems& problems) {
  const GivenField* given = reader.find("step-noise");
  if (given == nullptr) return;
  double spread = 0;
  const char* const end = given->text.data() + given->text.size();
  const auto [rest, status] = std::from_chars(given->text.data(), end, spread);
  if (status == std::errc() && rest == end) {
    if (!(spread >= 0 && spread <= 1)) {
      return reader.fail("step-noise", "must be from 0 to 1, or a file of measured step times");
    }
    out.slowest_share = spread * expected_normal_maximum(accelerators);
    return;
  }
  const auto text = read_file(given->text);
  const auto times = text ? step_times(*text, given->text) : text.problems();
  if (!times) return append(problems, times.problems());
  out.slowest_share = expected_sample_maximum(*times, accelerators) - 1;
}

}  // namespace

std::span<const RunField> scale_run_fields() {
  return kFields;
}

SplitRequest split(const RunRequest& request) {
  SplitRequest out;
  for (const GivenField& given : request) {
    const bool scale = std::any_of(std::begin(kFields), std::end(kFields),
                                   [&](const RunField& field) { return field.name == given.name; });
    (scale ? out.scale : out.run).push_back(given);
  }
  return out;
}

Result<ScaleSettings> scale_settings(const RunRequest& scale, const Cluster& cluster,
                                     std::int64_t accelerators) {
  const auto defaults = default_assumptions(cluster, accelerators);
  const auto sources = default_sources();
  const auto laws = embedded_convergence_laws();
  if (!defaults) return defaults.problems();
  if (!sources) return sources.problems();
  if (!laws) return laws.problems();

  Problems problems;
  AssumptionReader in(scale, problems);
  RequestReader& reader = in.reader();
  ScaleSettings out;
  RunAssumptions& a = out.assumed;
  a = *defaults;
  reader.text("tokens", /*required=*/true);
  in.count("tokens", a.tokens);
  if (const auto text = reader.text("mtbf"); text && *text == "none") {
    a.mtbf = Seconds(0);
  } else {
    in.quantity("mtbf", a.mtbf);
  }
  reader.number("hardware-share", a.hardware_share, 0, 1);
  in.quantity("restart", a.restart);
  in.quantity("repair", a.repair);
  if (reader.has("spares")) {
    std::int64_t spares = 0;
    reader.count("spares", spares, 0);
    a.spares = std::min<std::int64_t>(spares, 1'000'000);
  }
  in.quantity("checkpoint-bandwidth", a.checkpoint_bandwidth);
  in.quantity("checkpoint-size", a.checkpoint_size);
  in.quantity("checkpoint-blocking", a.checkpoint_blocking);
  in.quantity("interval", a.interval);
  read_noise(reader, accelerators, a, problems);
  reader.number("price", a.price, 0, 1e6);
  reader.number("pue", a.pue, 1, 10);
  reader.number("carbon", a.carbon, 0, 100);
  if (reader.has("critical-batch")) {
    double critical = 0;
    in.count("critical-batch", critical);
    out.critical_batch = critical;
  }
  std::vector<std::string> names;
  for (const LossLaw& law : laws->losses) names.push_back(law.name);
  const std::string wanted = reader.text("loss-law").value_or(names.front());
  const auto found = std::find(names.begin(), names.end(), wanted);
  if (found == names.end()) {
    reader.fail("loss-law", "'" + printable(wanted) + "' is not known; legal: " + join(names, ", "),
                Trouble::unknown);
  } else {
    out.loss = laws->losses[static_cast<std::size_t>(found - names.begin())];
  }
  out.critical_law = laws->critical_batch;
  if (!problems.empty()) return problems;

  for (const AssumptionSource& source : *sources) {
    std::string name = source.name;
    std::replace(name.begin(), name.end(), '_', '-');
    std::string value = source.value;
    if (source.name == "checkpoint_bandwidth") value = to_text(a.checkpoint_bandwidth);
    in.note(name, value, source.source);
  }
  if (!a.spares) {
    in.note("spares", "at the least cost", "one more would cost more than the waiting it saves");
  }
  in.note("price", a.price > 0 ? number_text(a.price) : "not known",
          "cluster " + cluster.name + ", US dollars an hour");
  in.note("pue", number_text(a.pue), "cluster " + cluster.name);
  in.note("loss-law", out.loss.name, out.loss.source);
  in.note("critical-batch", "by the loss", out.critical_law.source);
  for (const char* name :
       {"spares", "checkpoint-size", "checkpoint-blocking", "interval", "step-noise"}) {
    if (reader.has(name) && std::none_of(in.values.begin(), in.values.end(),
                                         [&](const AssumedValue& v) { return v.name == name; })) {
      in.note(name, {}, {});
    }
  }
  out.values = std::move(in.values);
  return out;
}

}  // namespace headway
