#include "study/lifetime/assumptions.hpp"

#include <algorithm>

#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "study/lifetime/assumption_fields.hpp"
#include "study/lifetime/assumption_reader.hpp"
#include "study/lifetime/batch_law.hpp"
#include "study/lifetime/goodput_stragglers.hpp"

namespace headway {
namespace {

std::string number_text(double value) {
  return formatted("%.4g", value);
}

template <class T, class Given>
void take(T& into, const Given& given) {
  if (given) into = *given;
}

}  // namespace

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
  for (const auto& [name, value] : {std::pair("sparse-samples", &out.factors.samples),
                                    std::pair("sparse-steps", &out.factors.steps)}) {
    std::optional<double> given;
    in.number(name, given);
    take(*value, given);
  }
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
  } else if (!given.tokens_law_source.empty()) {
    note("critical-batch", "by the tokens", given.tokens_law_source);
  } else {
    note("critical-batch", "by the loss", given.critical_law.source);
  }
  for (const char* name :
       {"spares", "checkpoint-size", "checkpoint-blocking", "interval", "step-noise", "batch-law",
        "critical-batch-at", "critical-batch-exponent", "sparse-samples", "sparse-steps"}) {
    if (find(name) != given.fields.rend() &&
        std::none_of(out.begin(), out.end(),
                     [&](const AssumedValue& value) { return value.name == name; })) {
      note(name, {}, {});
    }
  }
  return out;
}

}  // namespace headway
