#include "study/lifetime/assumptions.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "platform/files.hpp"
#include "run/request_reader.hpp"
#include "study/lifetime/goodput_stragglers.hpp"
#include "study/lifetime/step_times.hpp"

namespace headway {
namespace {

constexpr FieldForm kAmount = {.kind = FieldForm::Kind::amount};
constexpr FieldForm number(double least, double most) {
  return {.kind = FieldForm::Kind::number, .least = least, .most = most};
}

// The laws of data/convergence, the first of which stands where none is named.
std::span<const std::string_view> loss_laws() {
  static const std::vector<std::string> kept = [] {
    std::vector<std::string> out;
    const auto laws = embedded_convergence_laws();
    for (const LossLaw& law : laws->losses) out.push_back(law.name);  // a test reads them
    return out;
  }();
  static const std::vector<std::string_view> names(kept.begin(), kept.end());
  return names;
}

// What a critical batch goes by: the loss, the tokens, or public points of language models.
constexpr std::array<std::string_view, 5> kBatchLaws = {"by-loss", "by-tokens", "gpt3",
                                                        "llama31_405b", "llama31_8b"};

std::vector<RunField> table() {
  return {
      {"tokens", "N", "tokens to train on: 15T, 300B, 2e12", kAmount},
      {"mtbf", "TIME|none", "time between interruptions of one accelerator", {}, {}, "50677 h"},
      {"hardware-share",
       "0..1",
       "of interruptions, those that send a node to repair",
       number(0, 1),
       {},
       "0.78"},
      {"restart", "TIME", "from an interruption until training goes on", {}, {}, "10 min"},
      {"repair", "TIME", "until a failed node is back as a spare", {}, {}, "24 h"},
      {"spares",
       "N",
       "spare nodes",
       {.kind = FieldForm::Kind::whole, .least = 0, .most = 1e12},
       {},
       "so many that the run costs least"},
      {"checkpoint-bandwidth",
       "RATE",
       "of the storage, all ranks together",
       {},
       {},
       "122 MB/s an accelerator"},
      {"checkpoint-size",
       "BYTES",
       "of a checkpoint",
       {},
       {},
       "weights, master copy and optimiser states"},
      {"checkpoint-blocking",
       "TIME",
       "that a checkpoint stops training, the rest of its write going on beside it",
       {},
       {},
       "all"},
      {"interval", "TIME", "between checkpoints", {}, {}, "the best"},
      {"step-noise",
       "X|FILE",
       "spread of one accelerator's step time, as 0.01, or a file of measured times",
       {.kind = FieldForm::Kind::number, .least = 0, .most = 1, .or_file = true},
       {},
       "0: the forecast's mean straggling"},
      {"price", "X", "US dollars for an accelerator's hour", number(0, 1e6), {}, "the cluster's"},
      {"pue", "X", "power usage effectiveness", number(1, 10), {}, "the cluster's"},
      {"carbon", "X", "kg of CO2 equivalent a kWh", number(0, 100), {}, "0.385"},
      {"loss-law",
       "NAME",
       "loss by parameters and tokens",
       {.kind = FieldForm::Kind::name, .names = loss_laws()}},
      {"critical-batch",
       "N|LAWS.toml",
       "tokens, or the law that headway calibrate --steps wrote",
       kAmount,
       {},
       "by --batch-law"},
      {"batch-law",
       "NAME",
       "what the critical batch goes by: Kaplan's law of the loss that the run reaches, the tokens "
       "it trains on, or MLPerf's published points of a language model",
       {.kind = FieldForm::Kind::name, .names = kBatchLaws},
       {},
       "by-loss"},
      {"critical-batch-at", "N", "by-tokens: the tokens after which --critical-batch is right",
       kAmount},
      {"critical-batch-exponent", "X",
       "by-tokens: the power of the tokens that it grows with; yours", number(0, 2)},
  };
}

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

// Reads one assumption after another; what is not given stays unset.
class AssumptionReader {
 public:
  AssumptionReader(const RunRequest& fields, Problems& problems)
      : reader_(fields, problems, scale_run_fields()), problems_(problems) {}

  template <class Q>
  void quantity(const std::string& name, std::optional<Q>& into) {
    const GivenField* given = reader_.find(name);
    if (given == nullptr) return;
    const Result<Q> parsed = parse_quantity<Q>(given->text, given->where);
    if (!parsed) return append(problems_, parsed.problems());
    if (parsed->value() <= 0) return reader_.fail(name, "must be greater than zero");
    into = *parsed;
  }
  // In the range of its row.
  void number(std::string_view name, std::optional<double>& into) {
    if (!reader_.has(name)) return;
    const auto fields = scale_run_fields();
    const auto field = std::find_if(fields.begin(), fields.end(),
                                    [&](const RunField& each) { return each.name == name; });
    into = 0;
    reader_.number(name, *into, field->form.least, field->form.most);
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
  // A spread, or a file of measured times.
  void noise(GivenAssumptions& into) {
    const GivenField* given = reader_.find("step-noise");
    if (given == nullptr) return;
    const char* const end = given->text.data() + given->text.size();
    const auto [rest, status] = std::from_chars(given->text.data(), end, into.step_noise);
    if (status == std::errc() && rest == end) {
      if (!(into.step_noise >= 0 && into.step_noise <= 1)) {
        reader_.fail("step-noise", "must be from 0 to 1, or a file of measured step times");
      }
      return;
    }
    const auto text = read_file(given->text);
    auto times = text ? step_times(*text, given->text) : text.problems();
    if (!times) return append(problems_, times.problems());
    into.step_times = std::move(times).value();
  }
  RequestReader& reader() { return reader_; }

 private:
  RequestReader reader_;
  Problems& problems_;
};

std::string number_text(double value) {
  return formatted("%.4g", value);
}

template <class T, class Given>
void take(T& into, const Given& given) {
  if (given) into = *given;
}

// The law of a file that holds one, of sequences or tokens.
void read_law_file(const GivenField& given, Problems& problems, GivenAssumptions& out) {
  const auto document = read_document(given.text);
  auto laws =
      document ? steps_laws_of(*document) : Result<std::vector<StepsLaw>>(document.problems());
  if (!laws) return append(problems, laws.problems());
  if (laws->size() != 1) {
    problems.push_back(
        {given.where, "names a file of " + std::to_string(laws->size()) + " laws; one is needed"});
    return;
  }
  out.batch_law = std::move(laws.value().front());
}

// Tokens of what a law's batch is counted in; nothing of what is no language.
std::optional<double> tokens_of_unit(const std::string& unit, std::int64_t sequence) {
  if (unit == "tokens") return 1;
  if (unit == "sequences" || unit == "samples") return static_cast<double>(sequence);
  const std::size_t of = unit.find("sequences of ");
  if (of == std::string::npos) return std::nullopt;
  double length = 0;
  const char* const begin = unit.data() + of + std::string_view("sequences of ").size();
  std::from_chars(begin, unit.data() + unit.size(), length);
  return length > 0 ? std::optional(length) : std::nullopt;
}

void read_public_law(std::string_view name, Problems& problems, GivenAssumptions& out) {
  const auto points = public_steps_points();
  if (!points) return append(problems, points.problems());
  for (const StepsSeries& series : *points) {
    if (series.name != name) continue;
    auto law = fit_steps_law(series);
    if (!law) return append(problems, law.problems());
    out.batch_law = std::move(law).value();
    out.batch_law->source = "fitted to " + series.source;
  }
}

// What the critical batch is, or goes by.
void read_batch_law(AssumptionReader& in, Problems& problems, GivenAssumptions& out) {
  RequestReader& reader = in.reader();
  std::size_t law = 0;
  reader.choice("batch-law", kBatchLaws, law);
  const GivenField* critical = reader.find("critical-batch");
  // A request names no file of this machine.
  const bool file = critical != nullptr && critical->text.ends_with(".toml") &&
                    critical->where.place.kind != Place::Kind::member;
  if (file) {
    read_law_file(*critical, problems, out);
  } else if (critical != nullptr) {
    out.critical_batch = 0;
    in.count("critical-batch", *out.critical_batch);
  }
  for (const auto& [name, value] : {std::pair("critical-batch-at", &out.critical_at),
                                    std::pair("critical-batch-exponent", &out.critical_exponent)}) {
    const bool given = reader.has(name);
    if (law != 1) {
      if (given) reader.fail(name, "is of --batch-law by-tokens alone");
    } else if (!given) {
      problems.push_back(
          {FieldName(name), "is missing: no published number stands for it", Trouble::missing});
    }
  }
  if (law == 1 && (critical == nullptr || file)) {
    problems.push_back({FieldName("critical-batch"),
                        "is missing: in tokens, at --critical-batch-at", Trouble::missing});
  }
  if (law == 1) {
    if (reader.has("critical-batch-at")) {
      out.critical_at = 1;
      in.count("critical-batch-at", *out.critical_at);
    }
    in.number("critical-batch-exponent", out.critical_exponent);
  }
  if (law > 1) {
    if (critical != nullptr) {
      reader.fail("critical-batch", "cannot stand beside --batch-law " +
                                        std::string(kBatchLaws[law]) + ", which says it");
    } else {
      read_public_law(kBatchLaws[law], problems, out);
    }
  }
  if (out.batch_law && !tokens_of_unit(out.batch_law->unit, 1)) {
    reader.fail("critical-batch", "has a law of " + printable(out.batch_law->unit, 40) +
                                      ": tokens or sequences are needed");
  } else if (out.batch_law && !std::isfinite(out.batch_law->critical)) {
    reader.fail("critical-batch", "has a law that is flat: its points show no critical batch");
  }
}

}  // namespace

// [LAW-23] C of points, in tokens; C₀·(D/D₀)^x of tokens D, x the user's; else [SCALE-11].
double critical_batch_of(const GivenAssumptions& given, double loss, std::int64_t sequence) {
  if (given.batch_law) {
    return given.batch_law->critical * tokens_of_unit(given.batch_law->unit, sequence).value_or(1);
  }
  if (given.critical_batch && given.critical_at && given.critical_exponent) {
    return *given.critical_batch *
           std::pow(given.tokens / *given.critical_at, *given.critical_exponent);
  }
  return given.critical_batch.value_or(critical_batch(given.critical_law, loss));
}

std::span<const RunField> scale_run_fields() {
  static const std::vector<RunField> out = [] {
    std::vector<RunField> fields = table();
    for (RunField& field : fields) {
      field.help = help_text(field, 0);
      field.group = "Whole run";
    }
    return fields;
  }();
  return out;
}

SplitRequest split(const RunRequest& request) {
  SplitRequest out;
  for (const GivenField& given : request) {
    const auto own = scale_run_fields();
    const bool scale = std::any_of(own.begin(), own.end(),
                                   [&](const RunField& field) { return field.name == given.name; });
    (scale ? out.scale : out.run).push_back(given);
  }
  return out;
}

void refuse_unknown(RunRequest& run, std::span<const RunField> more, Problems& problems) {
  std::vector<std::string> names;
  for (const auto fields : {run_fields(), scale_run_fields(), more}) {
    for (const RunField& field : fields) names.emplace_back(field.name);
  }
  std::erase_if(run, [&](const GivenField& given) {
    const bool known = std::find(names.begin(), names.end(), given.name) != names.end();
    if (!known) {
      problems.push_back(
          {given.where, "is not a known field" + suggestion(given.name, names), Trouble::unknown});
    }
    return !known;
  });
}

Result<GivenAssumptions> assume_all_but(double tokens) {
  const auto laws = embedded_convergence_laws();
  if (!laws) return laws.problems();
  GivenAssumptions out;
  out.tokens = tokens;
  out.loss = laws->losses.front();
  out.critical_law = laws->critical_batch;
  return out;
}

Result<GivenAssumptions> read_assumptions(const RunRequest& fields) {
  const auto laws = embedded_convergence_laws();
  if (!laws) return laws.problems();
  Problems problems;
  AssumptionReader in(fields, problems);
  RequestReader& reader = in.reader();
  GivenAssumptions out;
  out.fields = fields;
  reader.text("tokens", /*required=*/true);
  in.count("tokens", out.tokens);
  if (const auto text = reader.text("mtbf"); text && *text == "none") {
    out.mtbf = Seconds(0);
  } else {
    in.quantity("mtbf", out.mtbf);
  }
  in.number("hardware-share", out.hardware_share);
  in.quantity("restart", out.restart);
  in.quantity("repair", out.repair);
  if (reader.has("spares")) {
    std::int64_t spares = 0;
    reader.count("spares", spares, 0);
    out.spares = std::min<std::int64_t>(spares, 1'000'000);
  }
  in.quantity("checkpoint-bandwidth", out.checkpoint_bandwidth);
  in.quantity("checkpoint-size", out.checkpoint_size);
  in.quantity("checkpoint-blocking", out.checkpoint_blocking);
  in.quantity("interval", out.interval);
  in.noise(out);
  in.number("price", out.price);
  in.number("pue", out.pue);
  in.number("carbon", out.carbon);
  read_batch_law(in, problems, out);
  std::size_t law = 0;
  reader.choice("loss-law", loss_laws(), law);
  out.loss = laws->losses[law];
  out.critical_law = laws->critical_batch;
  if (!problems.empty()) return problems;
  return out;
}

Result<RunAssumptions> assumptions_for(const GivenAssumptions& given, const Cluster& cluster,
                                       std::int64_t accelerators) {
  const auto defaults = default_assumptions(cluster, accelerators);
  if (!defaults) return defaults.problems();
  RunAssumptions out = *defaults;
  out.tokens = given.tokens;
  take(out.mtbf, given.mtbf);
  take(out.hardware_share, given.hardware_share);
  take(out.restart, given.restart);
  take(out.repair, given.repair);
  take(out.spares, given.spares);
  take(out.checkpoint_bandwidth, given.checkpoint_bandwidth);
  take(out.checkpoint_size, given.checkpoint_size);
  take(out.checkpoint_blocking, given.checkpoint_blocking);
  take(out.interval, given.interval);
  take(out.price, given.price);
  take(out.pue, given.pue);
  take(out.carbon, given.carbon);
  if (!given.step_times.empty()) {
    out.slowest_share = expected_sample_maximum(given.step_times, accelerators) - 1;
  } else if (given.step_noise > 0) {
    out.slowest_share = given.step_noise * expected_normal_maximum(accelerators);
  }
  return out;
}

Result<std::vector<AssumedValue>> assumed_values(const GivenAssumptions& given,
                                                 const RunAssumptions& assumed,
                                                 const Cluster& cluster) {
  const auto sources = default_sources();
  if (!sources) return sources.problems();
  std::vector<AssumedValue> out;
  const auto find = [&](const std::string& name) {  // flags override the file
    return std::find_if(given.fields.rbegin(), given.fields.rend(),
                        [&](const GivenField& field) { return field.name == name; });
  };
  const auto note = [&](const std::string& name, const std::string& standing,
                        const std::string& source) {
    const auto field = find(name);
    const bool said = field != given.fields.rend();
    out.push_back({name, said ? field->text : standing, said ? "given" : source, said});
  };
  for (const AssumptionSource& source : *sources) {
    std::string name = source.name;
    std::replace(name.begin(), name.end(), '_', '-');
    std::string value = source.value;
    if (source.name == "checkpoint_bandwidth") value = to_text(assumed.checkpoint_bandwidth);
    note(name, value, source.source);
  }
  if (!assumed.spares) {
    note("spares", "at the least cost", "one more would cost more than the waiting it saves");
  }
  note("price", assumed.price > 0 ? number_text(assumed.price) : "not known",
       "cluster " + cluster.name + ", US dollars an hour");
  note("pue", number_text(assumed.pue), "cluster " + cluster.name);
  note("loss-law", given.loss.name, given.loss.source);
  if (given.batch_law && find("critical-batch") == given.fields.rend()) {
    note("critical-batch", "of " + given.batch_law->name, given.batch_law->source);
  } else {
    note("critical-batch", "by the loss", given.critical_law.source);
  }
  for (const char* name :
       {"spares", "checkpoint-size", "checkpoint-blocking", "interval", "step-noise", "batch-law",
        "critical-batch-at", "critical-batch-exponent"}) {
    if (find(name) != given.fields.rend() &&
        std::none_of(out.begin(), out.end(),
                     [&](const AssumedValue& value) { return value.name == name; })) {
      note(name, {}, {});
    }
  }
  return out;
}

}  // namespace headway
