// The network as the trace has it.
#include <map>

#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "study/advise/parts.hpp"
#include "study/reconcile/verdict.hpp"

namespace headway {
namespace {

struct LongTransfers {
  Seconds transfer, model;
};

// A step's transfers above kLongCall by level, and the model's times of them.
std::map<std::size_t, LongTransfers> long_transfers(const Reconciliation& reconciliation) {
  std::map<std::size_t, LongTransfers> out;
  for (const ReconciledRow& row : reconciliation.rows) {
    const bool told = row.slowdown() && !row.groups.empty() && row.match != Match::small &&
                      row.transfer_kind != TransferKind::whole && row.measured_size() > kLongCall;
    if (!told) continue;
    LongTransfers& level = out[static_cast<std::size_t>(row.level)];
    level.transfer += row.transfer;
    level.model += row.timed_model;
  }
  return out;
}

Fault slow_link(std::size_t index, const Level& said, double slower, const LongTransfers& sums) {
  Fault fault;
  fault.advice.kind = AdviceKind::slow_link;
  fault.advice.what = "the links of level " + printable(said.name, 20) + " are slow";
  fault.advice.says = "messages above 1 MiB take " + formatted("%.1f", slower) +
                      " times what the model has for them: " + to_text(sums.transfer) +
                      " a step for " + to_text(sums.model);
  fault.advice.remedy =
      index == 0 ? "check the links inside a node (errors, peer access)"
                 : "check the network cards: how many are used, their rate, direct access";
  fault.puts_right = [index, said](Run& right) { right.cluster.levels[index] = said; };
  return fault;
}

}  // namespace

std::vector<Fault> fit_links(RequestedRun& run, const Reconciliation& reconciliation,
                             const Recording& recording, const Alignment& alignment,
                             const NetworkOfTrace& network, std::vector<TracedLinks>& links) {
  const Cluster said = run.cluster;
  std::vector<bool> fitted(said.levels.size());
  if (network) fitted = network(run.cluster, recording, alignment);
  const auto sums_of = long_transfers(reconciliation);
  std::vector<Fault> out;
  for (std::size_t index = 0; index < said.levels.size(); ++index) {
    Level& level = run.cluster.levels[index];
    const auto found = sums_of.find(index);
    if (found == sums_of.end()) {
      if (fitted[index]) links.push_back({level.name, std::nullopt, true});
      continue;
    }
    const LongTransfers& sums = found->second;
    const double slower = sums.transfer / sums.model;
    links.push_back({level.name, slower, fitted[index]});
    if (!fitted[index]) {
      level.bandwidth = level.bandwidth / slower;
      level.port_bandwidth = level.port_bandwidth / slower;
    }
    if (slower > 1 + kLongError) out.push_back(slow_link(index, said.levels[index], slower, sums));
  }
  return out;
}

}  // namespace headway
