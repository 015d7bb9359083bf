// [REC-8] What a log says about a cluster: of each operation, size and group the median time. Of
// benchmarks that is the time itself; of traces the shortest kernel of the ranks of one call where
// all ranks of its group are recorded, for else waiting is in it. Ranks lie on nodes as the log's
// rank lines say, or in the fullest nodes possible. In a trace all like groups communicate at once
// and share the links [COLL-1].
#include "fit/collectives/log.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "base/formatted.hpp"
#include "base/text.hpp"
#include "cost/calibration/calibration.hpp"

namespace headway {
namespace {

// Measured the same way: operation, group as it lies on the cluster, size.
using Key = std::tuple<CollectiveOp, std::int64_t, std::array<std::int64_t, kMostLevels>,
                       std::array<std::int64_t, kMostLevels>, double>;

struct Samples {
  CollectiveMeasurement row;
  std::vector<double> seconds;
};

class Gatherer {
 public:
  /// `given`: ranks on each node, whatever the logs list; 0: as they list, else full nodes.
  Gatherer(const Cluster& cluster, std::int64_t given)
      : cluster_(cluster), listed_(given == 0), in_node_(given > 0 ? given : node().size) {}

  void add(const Recording& recording, const Alignment& alignment) {
    std::map<std::size_t, Seconds> transfer;
    for (const MatchedCall& matched : alignment.matched) {
      if (matched.complete) transfer[matched.calls.front()] = matched.transfer;
    }
    for (std::size_t i = 0; i < recording.calls.size(); ++i) {
      const RecordedCall& call = recording.calls[i];
      const auto op = to_collective(call.op);
      if (!op || call.op == Operation::receive) {
        skip(recording, "calls of operations that Headway does not price");
        continue;
      }
      std::optional<Seconds> time;
      if (call.time == TimeKind::benchmark) time = call.duration;
      if (const auto found = transfer.find(i); found != transfer.end()) time = found->second;
      if (!time) {
        kernels_ = kernels_ || call.time == TimeKind::kernel;
        of_host_ = of_host_ || call.time == TimeKind::host;
        continue;
      }
      add(recording, call, *op, *time);
    }
  }

  void finish(LoggedCollectives& out) {
    for (auto& [key, samples] : samples_) {
      samples.row.time = Seconds(*quantile(samples.seconds, 0.5));
      out.data.rows.push_back(samples.row);
    }
    for (const auto& [what, count] : skipped_) {
      out.warnings.push_back(what + " (" + std::to_string(count) + ")");
    }
    if (!samples_.empty()) return;
    if (kernels_) {
      out.warnings.emplace_back(
          "kernel times hold the waiting for other ranks: give the traces of all ranks");
    }
    if (of_host_) {
      out.warnings.emplace_back(
          "times on the host are no transfers: give logs of a benchmark, or traces that hold the "
          "kernels of all ranks");
    }
  }

 private:
  void skip(const Recording& recording, const std::string& what) {
    ++skipped_[printable(recording.source) + ": " + what];
  }

  void add(const Recording& recording, const RecordedCall& call, CollectiveOp op, Seconds time) {
    const auto ranks = op == CollectiveOp::send_receive ? std::optional<std::int64_t>(2)
                                                        : group_size(recording, call);
    if (!ranks) return skip(recording, "calls of a group whose ranks are not said");
    if (!call.bytes) return skip(recording, "calls whose size is not said");
    if (*ranks < 2 || !(call.bytes->value() > 0) || !(time.value() > 0)) return;
    if (*ranks > cluster_.accelerators) {
      return skip(recording, "calls of more ranks than the cluster has");
    }
    CollectiveMeasurement row;
    row.source = recording.source;
    row.system = cluster_.name;
    row.op = op;
    row.bytes = *call.bytes;
    const RecordedGroup* group = call.group ? &recording.groups[*call.group] : nullptr;
    row.nodes = (*ranks + in_node_ - 1) / in_node_;
    // The hosts of a domain of several, the trays of a rack of 72, are no nodes of their own.
    const bool listed = listed_ && node().size <= kMostInAHost;
    if (listed && group != nullptr && group->nodes) row.nodes = *group->nodes;
    row.span = benchmark_span(*ranks, row.nodes, cluster_);
    if (call.time != TimeKind::benchmark && group != nullptr && group->ranks.size() > 1) {
      const auto span = span_of_ranks(*group, recording.ranks[call.rank].world_size);
      if (!span) return skip(recording, "calls of groups that are not evenly spread");
      row.span = *span;
      row.nodes = row.span.ranks / std::max<std::int64_t>(1, row.span.members[node_level()]);
    }
    Samples& samples =
        samples_[{op, row.span.ranks, row.span.members, row.span.sharing, row.bytes.value()}];
    samples.row = row;
    samples.seconds.push_back(time.value());
  }

  std::size_t node_level() const { return cluster_.levels.size() - 2; }
  const Level& node() const { return cluster_.levels[node_level()]; }

  std::optional<GroupSpan> span_of_ranks(const RecordedGroup& group,
                                         std::optional<std::int64_t> world) const {
    const std::int64_t stride = group.ranks[1] - group.ranks[0];
    for (std::size_t i = 1; i < group.ranks.size(); ++i) {
      if (stride < 1 || group.ranks[i] - group.ranks[i - 1] != stride) return std::nullopt;
    }
    const auto count = static_cast<std::int64_t>(group.ranks.size());
    const std::int64_t total = std::max(world.value_or(0), group.ranks.back() + 1);
    if (total > cluster_.accelerators) return std::nullopt;
    return span_of(count, stride, total, cluster_);
  }

  /// The most accelerators of one computer (DGX-2: 16); what joins more joins several computers.
  static constexpr std::int64_t kMostInAHost = 16;

  const Cluster& cluster_;
  bool listed_;  // hosts that a log lists are its nodes
  std::int64_t in_node_;
  std::map<Key, Samples> samples_;
  std::map<std::string, std::size_t> skipped_;
  bool kernels_ = false, of_host_ = false;  // times of which none could be used
};

LoggedSize logged_size(Bytes bytes) {
  if (bytes.value() <= 64 * 1024.0) return LoggedSize::up_to_64kib;
  return bytes.value() <= 16 * 1024.0 * 1024.0 ? LoggedSize::up_to_16mib : LoggedSize::above;
}

std::vector<LoggedError> errors_of(const CollectiveData& data, const NetworkClasses& before,
                                   const NetworkClasses& after) {
  std::map<std::tuple<int, CollectiveOp, LoggedSize>, std::array<std::vector<double>, 2>> gathered;
  const auto errors_before = collective_errors(data, before);
  const auto errors_after = collective_errors(data, after);
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    const auto& row = data.rows[i];
    const int level = crossed_level(row.span, data.clusters.front());
    auto& errors = gathered[{level, row.op, logged_size(row.bytes)}];
    errors[0].push_back(errors_before[i]);
    errors[1].push_back(errors_after[i]);
  }
  std::vector<LoggedError> out;
  for (const auto& [key, errors] : gathered) {
    const auto& [level, op, size] = key;
    out.push_back({data.clusters.front().levels[static_cast<std::size_t>(level)].name, op, size,
                   summarise(errors[0]), summarise(errors[1])});
  }
  return out;
}

// [REC-10] What got worse, with both numbers: one set of constants serves all of a level's rows.
void warn_of_worse(const std::vector<LoggedError>& errors, std::vector<std::string>& warnings) {
  for (const LoggedError& error : errors) {
    if (!error.worse()) continue;
    const std::string numbers =
        formatted("from %.1f to %.1f %% over %zu sizes", 100 * error.before.median,
                  100 * error.after.median, error.after.rows);
    warnings.push_back("the fit makes " + std::string(to_name(error.op)) + " of " +
                       std::string(kLoggedSizeNames[static_cast<std::size_t>(error.size)]) +
                       " across the level " + error.level + " worse: median error " + numbers +
                       "; other sizes and operations share its constants");
  }
}

// [REC-9] What the rows of a level cannot tell.
void warn(const CollectiveData& data, const CollectiveFit& fit,
          std::vector<std::string>& warnings) {
  constexpr std::int64_t kFewNodes = 4;
  const Cluster& cluster = data.clusters.front();
  for (std::size_t i = 0; i < cluster.levels.size(); ++i) {
    const std::string& name = cluster.levels[i].name;
    const auto fitted = fit.classes.find(name);
    const auto few = fit.too_few.find(name);
    if (fitted == fit.classes.end()) {
      warnings.push_back(few == fit.too_few.end()
                             ? "no group of the logs crosses the level " + name +
                                   ": its constants stay as they are"
                             : "only " + std::to_string(few->second) + " sizes cross the level " +
                                   name + ", 20 are needed: its constants stay as they are");
      continue;
    }
    std::vector<std::string> held = fitted->second.held;
    // Where no switch sums, the constant of those that do is not asked for.
    if (!cluster.levels[i].in_network_reduction) std::erase(held, "in_network_efficiency");
    if (!held.empty()) {
      warnings.push_back("nothing in the logs determines " + join(held, ", ") + " of the level " +
                         name + ": kept as they are");
    }
    std::int64_t most = 0;
    bool short_ones = false, long_ones = false;
    for (const auto& row : data.rows) {
      if (outer_class(row, data) != name) continue;
      most = std::max(most, row.nodes);
      short_ones = short_ones || logged_size(row.bytes) == LoggedSize::up_to_64kib;
      long_ones = long_ones || logged_size(row.bytes) == LoggedSize::above;
    }
    const bool outermost = i + 1 == cluster.levels.size();
    if (outermost && most <= kFewNodes) {
      warnings.push_back("measured on at most " + std::to_string(most) +
                         " nodes: bandwidth extrapolates from there, latency of short messages "
                         "only as far as the latency of the level in the cluster file is right");
    }
    if (!short_ones) {
      warnings.push_back("no message up to 64 KiB crosses the level " + name +
                         ": its latency is a guess");
    }
    if (!long_ones) {
      warnings.push_back("no message above 16 MiB crosses the level " + name +
                         ": its bandwidth is a guess");
    }
  }
}

}  // namespace

Result<LoggedCollectives> logged_collectives(std::span<const Recording> recordings,
                                             const Cluster& cluster, std::int64_t gpus_per_node,
                                             const Alignment* known) {
  LoggedCollectives out;
  Problems problems;
  Cluster own = cluster;
  for (Level& level : own.levels) {
    const auto parameters = network_parameters_for(level);
    if (!parameters) {
      append(problems, parameters.problems());
      continue;
    }
    level.network = level.name;  // each level a class of its own
    out.start[level.name] = *parameters;
  }
  if (!problems.empty()) return problems;
  Gatherer gatherer(own, gpus_per_node);
  for (const Recording& recording : recordings) {
    if (known != nullptr) {
      gatherer.add(recording, *known);
    } else {
      gatherer.add(recording, align(recording));
    }
  }
  out.data.clusters.push_back(std::move(own));
  gatherer.finish(out);
  if (out.data.rows.empty()) {
    std::string why = out.warnings.empty() ? "" : ": " + join(out.warnings, "; ");
    return Problem{FieldName("collectives"),
                   "the logs hold no time of a collective that can be used" + why,
                   Trouble::missing};
  }
  return out;
}

LoggedFit fit_logged(const LoggedCollectives& logged) {
  LoggedFit out;
  out.fit = fit_collectives(logged.data, logged.start);
  out.errors = errors_of(logged.data, logged.start, out.fit.all);
  out.warnings = logged.warnings;
  warn_of_worse(out.errors, out.warnings);
  warn(logged.data, out.fit, out.warnings);
  return out;
}

}  // namespace headway
