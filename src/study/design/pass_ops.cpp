// The kernels and calls of a pass of a serving.
#include "base/quantity_text.hpp"
#include "step/program/groups.hpp"
#include "study/design/op_names.hpp"
#include "study/infer/items.hpp"

namespace headway {
namespace {

// Ranks of a call's group in a serving.
std::int64_t ranks_of(const Call& call, const Serving& serving) {
  if (is_of_two(call)) return 2;
  return call.group == Group::ep ? serving.ep : serving.tp;
}

// Of the outermost level that calls of a group cross.
std::string network_of(Group group, const Serving& serving) {
  Layout layout = layout_of(serving, 1, serving.cp);
  layout.pp = serving.pp;
  const GroupSpan span = span_of_group(spans(layout, serving.cluster), group);
  const int level = crossed_level(span, serving.cluster);
  return serving.cluster.levels[static_cast<std::size_t>(level)].network;
}

OpRow row_of(const PassItem& item, const Serving& serving) {
  OpRow out;
  out.part = kServingPartNames[static_cast<std::size_t>(item.part)];
  out.count = item.count;
  out.flops = item.count * item.flops;
  out.bytes = item.count * item.bytes;
  if (const auto* op = std::get_if<Op>(&item.what)) {
    out.name = name_of(*op);
  } else if (const auto* call = std::get_if<Call>(&item.what)) {
    out.name = name_of(*call, ranks_of(*call, serving));
    out.module = to_name(call->module);
    out.network = network_of(call->group, serving);
  } else if (item.part == ServingPart::pp) {
    out.name = "send of " + to_text(item.bytes) + " to the next stage";
    out.network = network_of(Group::pp, serving);
  } else {
    out.name = "host";
  }
  return out;
}

// Sets the modules of the ops of one block, items [begin, end).
void name_modules(std::vector<OpRow>& rows, const std::vector<PassItem>& items, std::size_t begin,
                  std::size_t end) {
  std::vector<Op> ops;
  std::vector<std::size_t> at;
  for (std::size_t i = begin; i < end; ++i) {
    if (const auto* op = std::get_if<Op>(&items[i].what)) {
      ops.push_back(*op);
      at.push_back(i);
    }
  }
  const std::vector<std::string> modules = modules_of(items[begin].block, ops);
  for (std::size_t i = 0; i < at.size(); ++i) rows[at[i]].module = modules[i];
}

}  // namespace

OpTable op_table(const Serving& serving, const ServingConstants& constants, const PassWork& work) {
  std::vector<PassItem> items;
  time_of(serving, constants, work, items);
  const std::vector<BoundTimes> times = bound_times(serving.cluster, [&](const Cluster& cluster) {
    Serving other = serving;
    other.cluster = cluster;
    std::vector<PassItem> again;
    time_of(other, constants, work, again);
    std::vector<Seconds> out;
    for (const PassItem& item : again) out.push_back(item.count * item.each);
    return out;
  });
  std::vector<OpRow> rows;
  for (std::size_t i = 0; i < items.size(); ++i) {
    rows.push_back(row_of(items[i], serving));
    rows.back().times = times[i];
  }
  for (std::size_t begin = 0, end = 0; begin < items.size(); begin = end) {
    end = begin;
    while (end < items.size() && items[end].block == items[begin].block &&
           items[end].kind == items[begin].kind) {
      ++end;
    }
    name_modules(rows, items, begin, end);
  }
  return merged_rows(std::move(rows), {kServingPartNames.begin(), kServingPartNames.end()},
                     serving.cluster);
}

}  // namespace headway
