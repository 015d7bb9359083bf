#include "report/comms_clusters.hpp"

#include "base/draw/table.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "study/traffic/sums.hpp"

namespace headway {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string percentage(double part, double whole) {
  return percent_text(whole > 0 ? part / whole : 0);
}

// Of each level what a port carries in one direction.
std::string levels_of(const Cluster& cluster) {
  std::vector<std::string> out;
  for (const Level& level : cluster.levels) out.push_back(to_text(level.bandwidth));
  return join(out, ", ");
}

}  // namespace

std::string clusters_text(const std::vector<CallsOnCluster>& runs) {
  Rows rows = {{"cluster", "sends", "outside", "calls", "exposed", "of step", "step"}};
  Rows links = {{"cluster", "an accelerator's share of each level, from the inside"}};
  std::string heading, notes;
  for (const CallsOnCluster& run : runs) {
    const std::string name = printable(run.cluster, 40);
    if (!run.calls) {
      for (const Problem& problem : run.calls.problems()) {
        notes += wrapped("left out: " + name + ": " + where_text(problem) + ": " +
                             printable(problem.message, 400),
                         0, 2);
      }
      continue;
    }
    const ExpectedCalls& e = *run.calls;
    const std::vector<TrafficCall> calls = calls_of_mean_rank(e.traffic);
    const TrafficSum all = sum_of(calls);
    Bytes inside;
    for (const TrafficCall& call : calls) inside += call.wire_at[0];
    rows.push_back({name, to_text(all.wire),
                    percentage((all.wire - inside).value(), all.wire.value()), to_text(all.time),
                    to_text(all.exposed),
                    percentage(all.exposed.value(), e.forecast.step_time.value()),
                    to_text(e.forecast.step_time)});
    links.push_back({name, levels_of(e.run.cluster)});
    if (heading.empty()) {
      const Job& job = e.run.job;
      heading = printable(e.run.model.name, 40) + " on " +
                count_text(static_cast<double>(e.run.layout.ranks())) + " accelerators of each, " +
                count_text(static_cast<double>(job.global_batch)) + " sequences of " +
                count_text(static_cast<double>(job.sequence)) + " tokens\n";
    }
    if (!e.forecast.fits) {
      notes += wrapped("note: " + name + ": does not fit: " + to_text(e.forecast.memory.total()) +
                           " of " + to_text(e.forecast.capacity),
                       0, 2);
    }
  }
  if (rows.size() == 1) return notes;
  return heading +
         "what a rank sends in a step (outside: beyond the innermost links); calls: the\ntime of "
         "all, hidden or not\n\n" +
         aligned(rows) + "\n" + aligned(links, 2) + (notes.empty() ? "" : "\n" + notes);
}

}  // namespace headway
