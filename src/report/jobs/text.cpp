#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "report/jobs/jobs.hpp"

namespace headway {
namespace {

std::string percent(double share) {
  return formatted("%.1f %%", 100 * share);
}

std::string time_cell(const PolicyAtLoad& row, double q) {
  const auto time = row.time_quantile(q);
  return time ? to_text(Seconds(*time)) : "-";
}

std::string rows_table(const JobsAnswer& answer) {
  std::vector<std::vector<std::string>> rows = {
      {"a job each", "policy", "blocked", "10 to 90 %", "busy", "time 10 %", "50 %", "90 %"}};
  for (const PolicyAtLoad& row : answer.rows) {
    rows.push_back(
        {to_text(row.interval), row.policy, percent(row.blocking()),
         formatted("%.1f-%.1f", 100 * row.blocking_quantile(0.1), 100 * row.blocking_quantile(0.9)),
         percent(row.utilisation()), time_cell(row, 0.1), time_cell(row, 0.5),
         time_cell(row, 0.9)});
  }
  return aligned(rows, 2);
}

std::string gains_table(const JobsAnswer& answer) {
  if (answer.gains.empty()) return {};
  std::vector<std::vector<std::string>> rows = {
      {"a job each", "policy", "blocks less than", "by, points", "95 %"}};
  for (const PolicyGain& gain : answer.gains) {
    const bool known = gain.low && gain.high;
    rows.push_back(
        {to_text(gain.interval), gain.policy, gain.than, formatted("%+.1f", 100 * gain.mean),
         known ? formatted("%+.1f to %+.1f", 100 * *gain.low, 100 * *gain.high) : "one seed"});
  }
  return "\non the same streams\n" + aligned(rows, 3);
}

// What jobs take from one another on shared links.
std::string links_table(const JobsAnswer& answer) {
  std::vector<std::vector<std::string>> rows = {{"a job each", "policy", "takes, over alone: mean",
                                                 "50 %", "90 %", "most", "over its limit"}};
  for (const PolicyAtLoad& row : answer.rows) {
    const auto mean = row.slowdown_mean();
    if (!mean) continue;
    const auto times = [](double value) { return formatted("x %.3f", value); };
    rows.push_back({to_text(row.interval), row.policy, times(*mean),
                    times(*row.slowdown_quantile(0.5)), times(*row.slowdown_quantile(0.9)),
                    times(*row.slowdown_quantile(1)), percent(row.late())});
  }
  return rows.size() == 1 ? std::string()
                          : "\njobs that share links of the network\n" + aligned(rows, 2);
}

std::string energy_text(Joules energy) {
  return formatted("%.3g MWh", energy.value() / 3.6e9);
}

// What the fleet draws and costs meanwhile.
std::string fleet_table(const JobsAnswer& answer) {
  if (!answer.costs) return {};
  const FleetCosts& costs = *answer.costs;
  std::vector<std::vector<std::string>> rows = {{"a job each", "policy", "jobs done", "failures",
                                                 "jobs draw", "idle draw", "fleet costs",
                                                 "a job done"}};
  for (const PolicyAtLoad& row : answer.rows) {
    const FleetView view = fleet_view(row, answer.servers, costs);
    const bool priced = view.price > 0;
    rows.push_back(
        {to_text(row.interval), row.policy, formatted("%.0f", row.done()),
         formatted("%.1f", row.failures()), energy_text(view.energy), energy_text(view.idle),
         priced ? "$" + short_count_text(view.price) : "not known",
         priced && row.done() > 0 ? "$" + short_count_text(view.price / row.done()) : "-"});
  }
  const auto all =
      static_cast<double>(answer.servers * static_cast<std::size_t>(costs.accelerators));
  return "\nthe fleet of " + count_text(all) + " accelerators until the last arrival\n" +
         aligned(rows, 2);
}

}  // namespace

std::string jobs_text(const JobsAnswer& answer) {
  std::string out = answer.title + ", " + std::to_string(answer.servers) + " servers, " +
                    std::to_string(answer.seeds) + (answer.seeds == 1 ? " seed" : " seeds") +
                    (answer.published ? ", as published" : "") + "\n\n";
  out += rows_table(answer) + links_table(answer) + fleet_table(answer) + gains_table(answer);
  if (answer.hopeless > 0) {
    out +=
        "\n" + wrapped(percent(answer.hopeless) +
                           " of the jobs have a limit that no policy can hold, even on the empty "
                           "machine.",
                       0, 0);
  }
  return out;
}

std::string replayed_text(const ReplayedStream& stream) {
  std::vector<std::vector<std::string>> rows = {
      {"policy", "graph", "job", "degree", "outcome", "time", "limit"}};
  std::size_t blocked = 0;
  for (const ReplayedJob& job : stream.jobs) {
    const JobOutcome& outcome = job.outcome;
    blocked += outcome.blocked ? 1 : 0;
    rows.push_back({job.policy, job.graph, std::to_string(job.job), std::to_string(outcome.degree),
                    outcome.degree == 0 ? "refused"
                    : outcome.blocked   ? "blocked"
                                        : "runs",
                    outcome.blocked ? "-" : to_text(outcome.time), to_text(job.limit)});
  }
  std::string out = aligned(rows, 2) + "\n" + std::to_string(blocked) + " of " +
                    std::to_string(stream.jobs.size()) + " jobs blocked\n";
  if (stream.compared > 0) {
    out += "the file's own outcomes: " + std::to_string(stream.agreeing) + " of " +
           std::to_string(stream.compared) + " are these, times to 1e-6\n";
  }
  return out;
}

}  // namespace headway
