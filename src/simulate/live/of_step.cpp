#include "simulate/live/of_step.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "simulate/live/order.hpp"
#include "step/program/group_ranks.hpp"

namespace headway {
namespace {

ElementType type_of(Precision precision) {
  switch (precision) {
    case Precision::fp16:
      return ElementType::fp16;
    case Precision::bf16:
      return ElementType::bf16;
    case Precision::fp8:
      return ElementType::fp8_e4m3;
    case Precision::fp4:
      return ElementType::uint8;
    default:
      return ElementType::fp32;
  }
}

// Groups of all ranks, each once.
class LiveGroups {
 public:
  explicit LiveGroups(const Run& run)
      : layout_(run.layout), node_(spans(run.layout, run.cluster).node.ranks) {}

  struct Own {
    std::uint32_t number = 0;
    std::int64_t place = 0;  // of the rank in it
  };
  Own of(Group group, std::int64_t rank) {
    std::vector<std::int64_t> ranks = group_ranks(layout_, group, rank, node_);
    const std::int64_t place = std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin();
    const auto [at, is_new] =
        numbers_.try_emplace({group, ranks.front()}, static_cast<std::uint32_t>(groups_.size()));
    if (is_new) groups_.push_back({std::string(to_name(group)), std::move(ranks)});
    return {at->second, place};
  }
  const std::vector<std::int64_t>& ranks(std::uint32_t number) const {
    return groups_[number].ranks;
  }
  std::vector<LiveGroup> take() && { return std::move(groups_); }

 private:
  const Layout& layout_;
  std::int64_t node_;
  std::map<std::pair<Group, std::int64_t>, std::uint32_t> numbers_;
  std::vector<LiveGroup> groups_;
};

// The list of a stage as one of its ranks has it.
class ListOfRank {
 public:
  ListOfRank(const StageOrder& order, const Layout& layout, std::int64_t rank, LiveGroups& groups)
      : order_(order), layout_(layout), rank_(rank), groups_(groups) {}

  std::vector<LiveItem> build() {
    items_.push_back({.kind = LiveItem::Kind::mark, .mark = LiveItem::Mark::step});
    number_.assign(order_.nodes.size(), 0);
    waited_.assign(order_.nodes.size(), false);
    for (const StageOrder::Place& place : order_.places) {
      for (const std::size_t call : place.early) add_call(call);
      if (place.idle > Seconds(0)) items_.push_back({.time = place.idle});
      for (const std::size_t call : place.calls) add_call(call);
      if (place.kernel) add_kernel(*place.kernel);
    }
    for (std::size_t i = 0; i < order_.nodes.size(); ++i) wait(i);
    return std::move(items_);
  }

 private:
  static bool is_call(const WorkloadNode& node) { return is_live_call(node); }

  void wait(std::size_t i) {
    if (!is_call(order_.nodes[i]) || waited_[i]) return;
    waited_[i] = true;
    LiveItem item{.kind = LiveItem::Kind::wait};
    item.awaited = number_[i];
    items_.push_back(std::move(item));
  }

  void add_kernel(std::size_t i) {
    const WorkloadNode& node = order_.nodes[i];
    if (node.micro_batch != micro_batch_ && node.micro_batch >= 0) {
      LiveItem mark{.kind = LiveItem::Kind::mark, .mark = LiveItem::Mark::micro_batch};
      mark.number = node.micro_batch;
      items_.push_back(std::move(mark));
    }
    micro_batch_ = node.micro_batch;
    for (const std::size_t need : order_.needs[i]) wait(need);
    LiveItem item{.time = node.time};
    if (node.product.batch > 0) {
      item.product = {node.product.m, node.product.n, node.product.k, node.product.batch};
    }
    items_.push_back(std::move(item));
  }

  void add_call(std::size_t i) {
    const WorkloadNode& node = order_.nodes[i];
    const LiveGroups::Own& own = own_group(node.group);
    LiveItem item{.kind = LiveItem::Kind::call};
    item.op = node.kind == WorkloadNode::Kind::send      ? Operation::send
              : node.kind == WorkloadNode::Kind::receive ? Operation::receive
                                                         : traced_as(node.op);
    item.group = own.number;
    item.bytes = std::llround(node.bytes.value());
    item.type = type_of(node.dtype);
    item.stream = node.stream == WorkloadNode::kNoStream ? kBesideStreams : node.stream;
    if (node.kind != WorkloadNode::Kind::collective) {
      item.peer = place_of_peer(node, own);
      item.tag = node.tag;
    }
    for (const std::size_t need : order_.needs[i]) {
      const bool in_turn =
          item.stream != kBesideStreams && order_.nodes[need].stream == order_.nodes[i].stream;
      if (is_call(order_.nodes[need]) && !waited_[need] && !in_turn) {
        item.after.push_back(number_[need]);
      }
    }
    number_[i] = calls_++;
    items_.push_back(std::move(item));
  }

  const LiveGroups::Own& own_group(Group group) {
    auto& own = own_groups_[static_cast<std::size_t>(group)];
    if (!own) own = groups_.of(group, rank_);
    return *own;
  }
  std::int64_t place_of_peer(const WorkloadNode& node, const LiveGroups::Own& own) const {
    const auto& ranks = groups_.ranks(own.number);
    if (node.group == Group::pp) {
      const std::int64_t other = at_stage(layout_, rank_, node.peer);
      return std::lower_bound(ranks.begin(), ranks.end(), other) - ranks.begin();
    }
    const auto count = static_cast<std::int64_t>(ranks.size());
    return (own.place + node.peer + count) % count;
  }

  const StageOrder& order_;
  const Layout& layout_;
  std::int64_t rank_;
  LiveGroups& groups_;
  std::array<std::optional<LiveGroups::Own>, kGroups.size()> own_groups_{};
  std::vector<LiveItem> items_;
  std::vector<std::uint32_t> number_;  // of calls
  std::vector<bool> waited_;
  std::uint32_t calls_ = 0;
  std::int64_t micro_batch_ = -1;
};

}  // namespace

LiveList list_of_step(const Workload& workload, const Run& run, std::string source) {
  LiveList out;
  out.source = std::move(source);
  std::vector<StageOrder> orders;
  for (const auto& nodes : workload.stages) orders.push_back(order_of_stage(nodes));
  LiveGroups groups(run);
  for (std::int64_t rank = 0; rank < run.layout.ranks(); ++rank) {
    const auto stage = static_cast<std::size_t>(stage_of(run.layout, rank));
    out.ranks.push_back(ListOfRank(orders[stage], run.layout, rank, groups).build());
  }
  out.groups = std::move(groups).take();
  return out;
}

}  // namespace headway
