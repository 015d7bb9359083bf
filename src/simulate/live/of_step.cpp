#include "simulate/live/of_step.hpp"

#include <cmath>
#include <utility>

#include "simulate/live/order.hpp"
#include "simulate/workload/groups.hpp"

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

// The list of a stage as one of its ranks has it.
class ListOfRank {
 public:
  ListOfRank(const StageOrder& order, const Layout& layout, std::int64_t rank,
             WorkloadGroups& groups)
      : order_(order), groups_(groups, layout, rank) {}

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
    LiveItem item{.kind = LiveItem::Kind::call};
    item.op = node.kind == WorkloadNode::Kind::send      ? Operation::send
              : node.kind == WorkloadNode::Kind::receive ? Operation::receive
                                                         : traced_as(node.op);
    item.group = static_cast<std::uint32_t>(groups_.number(node.group));
    item.bytes = std::llround(node.bytes.value());
    item.type = type_of(node.dtype);
    item.stream = node.stream == WorkloadNode::kNoStream ? kBesideStreams : node.stream;
    if (node.kind != WorkloadNode::Kind::collective) {
      item.peer = place_in(groups_.ranks(node.group), groups_.peer_of(node));
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

  const StageOrder& order_;
  GroupsOfRank groups_;
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
  WorkloadGroups groups(run);
  for (std::int64_t rank = 0; rank < run.layout.ranks(); ++rank) {
    const auto stage = static_cast<std::size_t>(stage_of(run.layout, rank));
    out.ranks.push_back(ListOfRank(orders[stage], run.layout, rank, groups).build());
  }
  for (const WorkloadGroups::Named& group : groups.all()) {
    out.groups.push_back({std::string(to_name(group.group)), group.ranks});
  }
  return out;
}

}  // namespace headway
