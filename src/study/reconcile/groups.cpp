// [REC-2] A recorded group is the layout's group that its name says; else the one whose ranks it
// lists; else the only one of its size; else, of those of its size, the one that expects most of
// its calls by operation and size. What stays open is called ambiguous and compared with the first.
#include "study/reconcile/groups.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace headway {
namespace {

std::string upper_words(std::string_view name) {
  std::string out = "_";
  for (const char c : name.substr(0, 200)) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    out += letter ? static_cast<char>(c & ~0x20) : digit ? c : '_';
  }
  return out + "_";
}

// Longer names stand before those they contain.
constexpr std::pair<std::string_view, Group> kNames[] = {
    {"EXPERT_DATA", Group::expert_dp},
    {"DATA_MODULO_EXPERT", Group::expert_dp},
    {"EXPERT_TENSOR", Group::tp},
    {"EXPERT_MODEL", Group::ep},
    {"EXPERT_PARALLEL", Group::ep},
    {"_EP_", Group::ep},
    {"EMBEDDING", Group::embedding},
    {"COPIES_OF_MODEL", Group::copies},
    {"INTER_PARTIAL_DATA", Group::dp_replica},
    {"INTER_DISTRIBUTED_OPTIMIZER", Group::dp_replica},
    {"DP_REPLICATE", Group::dp_replica},
    {"HSDP_REPLICATE", Group::dp_replica},
    {"SECONDARY_DATA", Group::dp_secondary},
    {"ZERO_PARAM_INTRA", Group::dp_secondary},
    {"ACROSS_NODES_DATA", Group::dp_nodes},
    {"NODE_DATA", Group::dp_node},
    {"DATA_PARALLEL", Group::dp},
    {"FSDP", Group::dp},
    {"DP_SHARD", Group::dp},
    {"_DP_", Group::dp},
    {"TENSOR_MODEL", Group::tp},
    {"TENSOR_PARALLEL", Group::tp},
    {"_TP_", Group::tp},
    {"CONTEXT_PARALLEL", Group::cp},
    {"SEQUENCE_PARALLEL", Group::cp},
    {"_CP_", Group::cp},
    {"PIPELINE", Group::pp},
    {"_PP_", Group::pp},
};

// Groups that span several dimensions of the layout, for norms and flags.
constexpr std::string_view kSpanning[] = {"TENSOR_AND_DATA",
                                          "TENSOR_AND_CONTEXT",
                                          "TENSOR_DATA",
                                          "EXPERT_TENSOR_MODEL_PIPELINE",
                                          "EXPERT_TENSOR_AND",
                                          "TP_DP",
                                          "TP_CP"};

// Calls of one recorded group.
struct Traffic {
  std::map<std::pair<CollectiveOp, double>, double> counts;  // by operation and size
  double calls = 0;
  bool sends = true;  // nothing but sends and receives
};

class Mapper {
 public:
  Mapper(const Recording& recording, const Layout& layout, std::int64_t node,
         const std::vector<Lane>& lanes, const std::vector<ExpectedKind>& expected)
      : recording_(recording), layout_(layout), node_(node), lanes_(lanes), expected_(expected) {}

  LaneMapping map() {
    std::map<std::uint32_t, Traffic> traffic;
    for (const RecordedCall& call : recording_.calls) {
      Traffic& group = traffic[call.group.value_or(kNoGroup)];
      group.calls += call.count;
      const auto op = to_collective(call.op);
      group.sends = group.sends && op == CollectiveOp::send_receive;
      if (op) group.counts[{*op, call.bytes.value_or(Bytes(-1)).value()}] += call.count;
    }
    LaneMapping out;
    std::map<std::uint32_t, std::size_t> lane_of;
    for (const auto& [group, calls] : traffic) {
      GroupMapping mapping;
      if (group != kNoGroup) {
        mapping.recorded = group;
        mapping.size = recording_.groups[group].size;
      }
      mapping.calls = calls.calls;
      const std::size_t lane = lane_for(mapping, calls);
      if (lane != kNoLane) {
        mapping.groups = lanes_[lane].used;
        mapping.layout_size = static_cast<std::int64_t>(lanes_[lane].first.size());
      }
      lane_of[group] = lane;
      out.groups.push_back(std::move(mapping));
    }
    const std::size_t sends = lane_of_sends();
    for (const RecordedCall& call : recording_.calls) {
      std::size_t lane = lane_of[call.group.value_or(kNoGroup)];
      // Transfers run in the group of all ranks, too, or in pairs of their own.
      const bool transfer = to_collective(call.op) == CollectiveOp::send_receive;
      if (transfer && !expects(lane, CollectiveOp::send_receive)) lane = sends;
      out.lane_of_call.push_back(lane);
    }
    return out;
  }

 private:
  bool expects(std::size_t lane, CollectiveOp op) const {
    return std::any_of(expected_.begin(), expected_.end(), [&](const ExpectedKind& kind) {
      return kind.lane == lane && kind.op == op;
    });
  }

  // The lane of transfers that no group tells of: between stages, if there are any.
  std::size_t lane_of_sends() const {
    const std::size_t stages = lane_with(Group::pp);
    if (stages != kNoLane) return stages;
    for (const ExpectedKind& kind : expected_) {
      if (kind.op == CollectiveOp::send_receive) return kind.lane;
    }
    return kNoLane;
  }

  std::size_t lane_with(Group group) const {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      const auto& groups = lanes_[i].groups;
      if (std::find(groups.begin(), groups.end(), group) != groups.end()) return i;
    }
    return kNoLane;
  }

  std::size_t lane_for(GroupMapping& mapping, const Traffic& traffic) const {
    if (mapping.recorded) {
      const RecordedGroup& group = recording_.groups[*mapping.recorded];
      auto named = group_from_name(group.description);
      if (!named) named = group_from_name(group.id);
      // Parts of the replicas in a run that expects none: data parallelism.
      const bool part = named && row_of(*named).along == row_of(Group::dp).along;
      if (part && lane_with(*named) == kNoLane) named = Group::dp;
      if (named) {
        mapping.evidence = GroupEvidence::name;
        return lane_with(*named);
      }
      if (!group.ranks.empty()) {
        const auto by_ranks = lanes_of_ranks(group.ranks);
        if (by_ranks.size() == 1) {
          mapping.evidence = GroupEvidence::ranks;
          return by_ranks.front();
        }
      }
    }
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      const auto size = static_cast<std::int64_t>(lanes_[i].first.size());
      if (!mapping.size || *mapping.size == size) candidates.push_back(i);
    }
    if (candidates.size() == 1 && mapping.size) {
      mapping.evidence = GroupEvidence::size;
      return candidates.front();
    }
    return by_operations(mapping, traffic, candidates);
  }

  // The lanes one of whose groups is made of exactly these ranks.
  std::vector<std::size_t> lanes_of_ranks(std::vector<std::int64_t> ranks) const {
    std::sort(ranks.begin(), ranks.end());
    std::vector<std::size_t> out;
    if (ranks.front() < 0 || ranks.back() >= layout_.ranks()) return out;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (lanes_[i].first.size() != ranks.size()) continue;
      const Group group = lanes_[i].groups.front();
      if (group_ranks(layout_, group, ranks.front(), node_) == ranks) out.push_back(i);
    }
    return out;
  }

  std::size_t by_operations(GroupMapping& mapping, const Traffic& traffic,
                            const std::vector<std::size_t>& candidates) const {
    double best = 0;
    std::vector<std::size_t> winners;
    for (const std::size_t lane : candidates) {
      double score = 0;  // bytes of calls expected there; an operation alone counts little
      for (const auto& [kind, count] : traffic.counts) {
        if (Bytes(kind.second) <= kSmallCall && kind.second >= 0) continue;
        const double weight = count * std::max(kind.second, 1.0);
        for (const ExpectedKind& expected : expected_) {
          if (expected.lane != lane || expected.op != kind.first) continue;
          if (expected.bytes <= kSmallCall) continue;
          if (same_size(Bytes(kind.second), expected.bytes)) {
            score += weight;
            break;
          }
          score += 1e-6 * weight;
        }
      }
      if (score > best) winners.clear();
      if (score > 0 && score >= best) winners.push_back(lane);
      best = std::max(best, score);
    }
    if (winners.empty()) {
      // Nothing that any group expects: a group of the size, if there is one, else none.
      if (mapping.size && !candidates.empty()) {
        mapping.evidence = GroupEvidence::ambiguous;
        return candidates.front();
      }
      return kNoLane;
    }
    mapping.evidence = winners.size() == 1 ? GroupEvidence::operations : GroupEvidence::ambiguous;
    return winners.front();
  }

  const Recording& recording_;
  const Layout& layout_;
  std::int64_t node_;
  const std::vector<Lane>& lanes_;
  const std::vector<ExpectedKind>& expected_;
};

}  // namespace

bool same_size(Bytes measured, Bytes expected) {
  return std::abs((measured - expected).value()) <= kSizeTolerance * expected.value();
}

std::optional<Group> group_from_name(std::string_view name) {
  const std::string words = upper_words(name);
  for (const std::string_view spanning : kSpanning) {
    if (words.find(spanning) != std::string::npos) return std::nullopt;
  }
  for (const auto& [part, group] : kNames) {
    if (words.find(part) != std::string::npos) return group;
  }
  return std::nullopt;
}

LaneMapping map_groups(const Recording& recording, const Layout& layout, std::int64_t node,
                       const std::vector<Lane>& lanes, const std::vector<ExpectedKind>& expected) {
  return Mapper(recording, layout, node, lanes, expected).map();
}

}  // namespace headway
