#include "simulate/live/single.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "step/program/group_ranks.hpp"

namespace headway {
namespace {

// A call of a group: of two ranks alone by its sender and receiver.
struct Single {
  Operation op;
  std::uint32_t group;
  ElementType type;
  std::int64_t from, to;  // or the root, twice
  std::int64_t bytes;
  friend auto operator<=>(const Single& a, const Single& b) {
    return std::tie(a.op, a.group, a.type, a.from, a.to, a.bytes) <=>
           std::tie(b.op, b.group, b.type, b.from, b.to, b.bytes);
  }
};

std::set<Single> singles_of(const LiveList& list) {
  std::set<Single> out;
  for (std::size_t r = 0; r < list.ranks.size(); ++r) {
    for (const LiveItem& item : list.ranks[r]) {
      if (item.kind != LiveItem::Kind::call) continue;
      Single single{item.op, item.group, item.type, item.peer, item.peer, item.bytes};
      if (is_between_two(item.op)) {
        const auto& ranks = list.groups[item.group].ranks;
        const std::int64_t own = place_in(ranks, static_cast<std::int64_t>(r));
        single.op = Operation::send;
        (item.op == Operation::send ? single.from : single.to) = own;
      }
      out.insert(single);
    }
  }
  return out;
}

void add_sizes(std::set<Single>& singles) {
  constexpr std::int64_t kLeast = 256, kLargest = 1024 * 1024;
  std::map<std::tuple<Operation, std::uint32_t, ElementType, std::int64_t, std::int64_t>,
           std::int64_t>
      largest;
  for (const Single& each : singles) {
    if (each.op == Operation::barrier) continue;
    auto& most = largest[{each.op, each.group, each.type, each.from, each.to}];
    most = std::max(most, each.bytes);
  }
  for (const auto& [key, most] : largest) {
    const auto& [op, group, type, from, to] = key;
    for (std::int64_t bytes = kLeast; bytes <= 2 * std::max(most, kLargest); bytes *= 2) {
      singles.insert({op, group, type, from, to, bytes});
      singles.insert({op, group, type, from, to, bytes + bytes / 2});
    }
  }
}

// The ranks of a call meet before it: those of a message are its two ends, whoever else is of the
// group.
class Ends {
 public:
  Ends(const LiveList& list, LiveList& out) : list_(list), out_(out) {}

  void narrow(Single& message) {
    const LiveGroup& group = list_.groups[message.group];
    if (group.ranks.size() <= 2) return;
    const std::int64_t from = group.ranks[static_cast<std::size_t>(message.from)];
    const std::int64_t to = group.ranks[static_cast<std::size_t>(message.to)];
    const auto [low, high] = std::minmax(from, to);
    const auto next = static_cast<std::uint32_t>(out_.groups.size());
    const auto [at, is_new] = made_.try_emplace({message.group, low, high}, next);
    if (is_new) out_.groups.push_back({group.name, {low, high}});
    message.group = at->second;
    message.from = from > to ? 1 : 0;
    message.to = 1 - message.from;
  }

 private:
  const LiveList& list_;
  LiveList& out_;
  std::map<std::tuple<std::uint32_t, std::int64_t, std::int64_t>, std::uint32_t> made_;
};

// By ranks, not by the number of a group: of a message those of its ends, then the bytes and the
// root.
using ByRanks = std::tuple<Operation, ElementType, std::string, std::vector<std::int64_t>,
                           std::int64_t, std::int64_t>;
std::set<ByRanks> by_ranks(const LiveList& list) {
  std::set<ByRanks> out;
  for (const Single& each : singles_of(list)) {
    const auto& [name, ranks] = list.groups[each.group];
    const bool message = each.op == Operation::send;
    const auto rank_at = [&](std::int64_t place) { return ranks[static_cast<std::size_t>(place)]; };
    out.emplace(each.op, each.type, name,
                message ? std::vector{rank_at(each.from), rank_at(each.to)} : ranks, each.bytes,
                message ? 0 : each.to);
  }
  return out;
}

}  // namespace

bool has_single_calls(const LiveList& list, const LiveList& of) {
  const auto all = by_ranks(list), some = by_ranks(of);
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

LiveList single_calls(const LiveList& list, bool sizes) {
  std::set<Single> singles = singles_of(list);
  if (sizes) add_sizes(singles);
  LiveList out;
  out.source = list.source;
  out.groups = list.groups;
  out.ranks.resize(list.ranks.size());
  for (auto& items : out.ranks) items.push_back({.kind = LiveItem::Kind::mark});
  std::vector<std::uint32_t> calls(list.ranks.size(), 0);
  Ends ends(list, out);
  for (Single each : singles) {
    if (each.op == Operation::send) ends.narrow(each);
    const auto& ranks = out.groups[each.group].ranks;
    for (std::size_t place = 0; place < ranks.size(); ++place) {
      const auto at = static_cast<std::int64_t>(place);
      LiveItem item{.kind = LiveItem::Kind::call};
      item.op = each.op;
      item.group = each.group;
      item.type = each.type;
      item.bytes = each.bytes;
      item.peer = each.to;
      if (each.op == Operation::send) {
        if (at != each.from && at != each.to) continue;
        if (at == each.to) {
          item.op = Operation::receive;
          item.peer = each.from;
        }
        item.stream = kBesideStreams;
      }
      const auto rank = static_cast<std::size_t>(ranks[place]);
      out.ranks[rank].push_back(std::move(item));
      LiveItem wait{.kind = LiveItem::Kind::wait};
      wait.awaited = calls[rank]++;
      out.ranks[rank].push_back(std::move(wait));
    }
  }
  return out;
}

}  // namespace headway
