#include "study/sweep/axes.hpp"

#include <algorithm>

#include "base/formatted.hpp"
#include "cost/calibration/calibration.hpp"

namespace headway {
namespace {

std::string times(std::int64_t a, std::int64_t b, std::int64_t c) {
  return std::to_string(a) + " x " + std::to_string(b) + " x " + std::to_string(c);
}

Problem one_level(const Cluster& cluster) {
  return {FieldName("cluster"), cluster.name + " has no network beyond its innermost level"};
}

}  // namespace

void settle_sizes(Cluster& cluster) {
  for (std::size_t i = 1; i < cluster.levels.size(); ++i) {
    const std::int64_t below = cluster.levels[i - 1].size;
    std::int64_t& size = cluster.levels[i].size;
    size = std::max<std::int64_t>(2, size / below) * below;
  }
  cluster.accelerators = cluster.levels.back().size;
}

Problems slow_down(Level& level, double factor) {
  const auto known = network_parameters_for(level);
  if (!known) return known.problems();
  Document out = level.constants;
  Node::Table over;
  const auto put = [&](const char* name, Seconds value) {
    const std::string text = formatted("%.17g us", value.value() * factor * 1e6);
    over.emplace_back(name, Node{std::string(text), 0});
  };
  put("base_latency", known->base_latency);
  put("ring_step", known->ring_step);
  put("ring_step_through", known->ring_step_through);
  put("ring_gap", known->ring_gap);
  put("tree_fill", known->tree_fill);
  if (out.root.table() == nullptr) out.root.value = Node::Table();
  overlay(out.root, Node{std::move(over), 0});
  level.constants = std::move(out);
  level.latency *= factor;
  level.slowed *= factor;
  return {};
}

Result<RequestedRun> with_accelerators(const RequestedRun& base, std::int64_t accelerators,
                                       BatchRule rule) {
  RequestedRun out = base;
  const Layout& was = base.layout;
  const std::int64_t copy = was.tp * was.cp * was.pp;  // ranks of one data-parallel rank
  if (accelerators < 1 || accelerators % copy != 0) {
    return Problem{FieldName("gpus"),
                   std::to_string(accelerators) + " is not a multiple of tp x cp x pp = " +
                       times(was.tp, was.cp, was.pp) + " = " + std::to_string(copy)};
  }
  out.layout.dp = accelerators / copy;
  if (rule == BatchRule::of_a_rank) {
    const std::int64_t sequences = base.job.global_batch * out.layout.dp;
    if (sequences % was.dp != 0) {
      return Problem{FieldName("global-batch"), std::to_string(base.job.global_batch) +
                                                    " sequences on dp " + std::to_string(was.dp) +
                                                    " are no whole number on dp " +
                                                    std::to_string(out.layout.dp)};
    }
    out.job.global_batch = sequences / was.dp;
  }
  return out;
}

Result<RequestedRun> with_sequence(const RequestedRun& base, std::int64_t sequence,
                                   bool same_tokens) {
  RequestedRun out = base;
  out.job.sequence = sequence;
  if (!same_tokens) return out;
  const std::int64_t tokens = base.job.global_batch * base.job.sequence;
  if (sequence < 1 || tokens % sequence != 0) {
    return Problem{FieldName("seq"), std::to_string(sequence) + " does not divide the " +
                                         std::to_string(tokens) + " tokens of a step"};
  }
  out.job.global_batch = tokens / sequence;
  return out;
}

Result<RequestedRun> with_degrees(const RequestedRun& base, Degrees degrees) {
  const auto [tp, cp, pp] = degrees;
  RequestedRun out = base;
  const std::int64_t ranks = base.layout.ranks(), copy = tp * cp * pp;
  if (copy < 1 || ranks % copy != 0) {
    return Problem{FieldName("gpus"), std::to_string(ranks) +
                                          " is not a multiple of tp x cp x pp = " +
                                          times(tp, cp, pp) + " = " + std::to_string(copy)};
  }
  out.layout.tp = tp;
  out.layout.cp = cp;
  out.layout.pp = pp;
  out.layout.dp = ranks / copy;
  if (pp == 1) out.layout.vpp = 1;
  settle_experts(out);
  settle_ends(out);
  return out;
}

Result<RequestedRun> with_shard(const RequestedRun& base, std::int64_t ranks) {
  if (base.layout.zero == 0) {
    return Problem{FieldName("zero"), "hybrid sharding needs sharded states: ZeRO 1 to 3"};
  }
  auto out = with_degrees(base, {});
  if (out) out->layout.shard = ranks;
  return out;
}

Result<RequestedRun> with_bandwidth(const RequestedRun& base, double factor) {
  if (base.cluster.levels.size() < 2) return one_level(base.cluster);
  RequestedRun out = base;
  for (std::size_t i = 1; i < out.cluster.levels.size(); ++i) {
    out.cluster.levels[i].bandwidth *= factor;
    out.cluster.levels[i].port_bandwidth *= factor;
  }
  return out;
}

Result<RequestedRun> with_latency(const RequestedRun& base, double factor) {
  if (base.cluster.levels.size() < 2) return one_level(base.cluster);
  RequestedRun out = base;
  for (std::size_t i = 1; i < out.cluster.levels.size(); ++i) {
    if (Problems wrong = slow_down(out.cluster.levels[i], factor); !wrong.empty()) return wrong;
  }
  return out;
}

Result<RequestedRun> with_domain(const RequestedRun& base, std::int64_t size) {
  if (base.cluster.levels.size() < 2) return one_level(base.cluster);
  if (size < 2) return Problem{FieldName("domain"), "must be at least 2"};
  if (base.cluster.levels.front().topology != Topology::switched) {
    return Problem{FieldName("domain"),
                   "the innermost links of " + base.cluster.name +
                       " go from one accelerator to the next: only switches can join "
                       "another number"};
  }
  RequestedRun out = base;
  out.cluster.levels.front().size = size;
  out.cluster.levels.front().usable = 0;
  settle_sizes(out.cluster);
  return out;
}

Result<RequestedRun> with_network_of(const RequestedRun& base, const Cluster& other) {
  if (base.cluster.levels.size() < 2) return one_level(base.cluster);
  if (other.levels.size() < 2) return one_level(other);
  RequestedRun out = base;
  out.cluster.levels.resize(1);
  out.cluster.levels.insert(out.cluster.levels.end(), other.levels.begin() + 1, other.levels.end());
  settle_sizes(out.cluster);
  return out;
}

}  // namespace headway
