#include "study/live/replayed.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/statistics.hpp"
#include "trace/analysis/align.hpp"
#include "trace/analysis/pairs.hpp"

namespace headway {
namespace {

class Reading {
 public:
  Reading(const LiveList& list, const Recording& recording) : list_(list), recording_(recording) {}

  void read(Replayed& out) {
    add_rows();
    match_collectives();
    match_pairs();
    for (auto& [key, row] : rows_) finish(row, out);
    out.expected *= static_cast<std::int64_t>(out.times.steps.size());
  }

 private:
  using Ranks = std::vector<std::int64_t>;
  struct Row {
    ReplayedCall call;
    double listed = 0;                  // calls of all ranks, in one repeat
    std::map<std::size_t, int> makers;  // ranks that make it
    std::vector<double> transfers;
    double waiting = 0;
    std::int64_t waited = 0;  // calls of which that is the sum
    std::int64_t recorded = 0;
  };
  using Key = std::tuple<std::string, Operation, std::size_t, double>;

  void add_rows() {
    for (std::size_t r = 0; r < list_.ranks.size(); ++r) {
      for (const LiveItem& item : list_.ranks[r]) {
        if (item.kind != LiveItem::Kind::call) continue;
        const LiveGroup& group = list_.groups[item.group];
        const Operation op = item.op == Operation::receive ? Operation::send : item.op;
        const auto bytes = static_cast<double>(elements_of(item) * bytes_of_element(item.type));
        const auto place = places_.try_emplace({group.ranks, op, bytes}, group.name).first;
        Row& row = rows_[{place->second, op, group.ranks.size(), bytes}];
        row.call.group = place->second;
        row.call.op = op;
        row.call.ranks = static_cast<std::int64_t>(group.ranks.size());
        row.call.bytes = Bytes(static_cast<double>(item.bytes));
        ++row.listed;
        ++row.makers[r];
      }
    }
  }
  Row* row_of(const RecordedCall& call) {
    if (!call.group) return nullptr;
    const Operation op = call.op == Operation::receive ? Operation::send : call.op;
    const RecordedGroup& group = recording_.groups[*call.group];
    const double bytes = call.bytes ? call.bytes->value() : 0;
    const auto place = places_.find({group.ranks, op, bytes});
    if (place == places_.end()) return nullptr;
    return &rows_.at({place->second, op, group.ranks.size(), bytes});
  }

  // [LIVE-5] How long the transfer took that these calls of different ranks are; nothing where one
  // of them has no time.
  std::optional<double> transfer_of(const std::vector<std::size_t>& calls) const {
    double shortest = HUGE_VAL, longest = 0;
    bool parts = true;  // into transfer and waiting
    for (const std::size_t i : calls) {
      const RecordedCall& call = recording_.calls[i];
      if (!call.duration) return std::nullopt;
      shortest = std::min(shortest, call.duration->value());
      longest = std::max(longest, call.duration->value());
      // On a device, too, a leaf leaves when its own part is through.
      const bool leaves = call.op == Operation::gather || call.op == Operation::scatter;
      const bool joined = call.time == TimeKind::kernel && !leaves;
      parts = parts && (joined || synchronises(call.op));
    }
    return parts ? shortest : longest;
  }

  void meet(const std::vector<std::size_t>& calls, std::optional<double> transfer) {
    Row* row = row_of(recording_.calls[calls.front()]);
    if (row == nullptr || !transfer) return;
    row->transfers.push_back(*transfer);
    for (const std::size_t i : calls) {
      row->waiting += std::max(0.0, recording_.calls[i].duration->value() - *transfer);
    }
    row->waited += static_cast<std::int64_t>(calls.size());
    row->recorded += static_cast<std::int64_t>(calls.size());
  }

  void sort_by_start(std::vector<std::size_t>& calls) const {
    std::stable_sort(calls.begin(), calls.end(), [&](std::size_t a, std::size_t b) {
      return *recording_.calls[a].start_ns < *recording_.calls[b].start_ns;
    });
  }

  // Of each communicator by the number that the source gives, or else in the order of their starts,
  // where all ranks have as many.
  void match_collectives() {
    std::map<std::uint32_t, std::map<std::uint32_t, std::vector<std::size_t>>> by_group;
    for (std::size_t i = 0; i < recording_.calls.size(); ++i) {
      const RecordedCall& call = recording_.calls[i];
      if (call.group && call.start_ns && !is_between_two(call.op)) {
        by_group[*call.group][call.rank].push_back(i);
      }
    }
    for (auto& [group, ranks] : by_group) {
      if (ranks.size() != recording_.groups[group].ranks.size()) continue;
      bool numbered = true;
      std::size_t least = ranks.begin()->second.size(), most = 0;
      for (auto& [rank, calls] : ranks) {
        sort_by_start(calls);
        least = std::min(least, calls.size());
        most = std::max(most, calls.size());
        for (const std::size_t i : calls) numbered = numbered && recording_.calls[i].sequence;
      }
      if (!numbered && least != most) continue;
      std::map<std::int64_t, std::vector<std::size_t>> met;
      for (const auto& [rank, calls] : ranks) {
        for (std::size_t k = 0; k < calls.size(); ++k) {
          const std::int64_t number =
              numbered ? *recording_.calls[calls[k]].sequence : static_cast<std::int64_t>(k);
          met[number].push_back(calls[k]);
        }
      }
      for (const auto& [number, calls] : met) {
        if (calls.size() == ranks.size()) meet(calls, transfer_of(calls));
      }
    }
  }
  void match_pairs() {
    for (const auto& [ends, pair] : pair_calls(recording_)) {
      for (std::size_t k = 0; k < std::min(pair.sends.size(), pair.receives.size()); ++k) {
        const RecordedCall &send = recording_.calls[pair.sends[k]],
                           &receive = recording_.calls[pair.receives[k]];
        const auto transfer = message_transfer(send, receive);
        if (transfer) meet({pair.sends[k], pair.receives[k]}, transfer->value());
      }
    }
  }

  static void finish(Row& row, Replayed& out) {
    out.expected += static_cast<std::int64_t>(row.listed);
    out.recorded += row.recorded;
    ReplayedCall& call = row.call;
    call.count = row.listed / static_cast<double>(row.makers.size());
    call.samples = static_cast<std::int64_t>(row.transfers.size());
    if (!row.transfers.empty()) {
      call.least = Seconds(*std::min_element(row.transfers.begin(), row.transfers.end()));
      call.median = Seconds(*quantile(row.transfers, 0.5));
      call.p95 = Seconds(*quantile(row.transfers, 0.95));
      call.waiting = Seconds(row.waiting / static_cast<double>(row.waited));
    }
    out.calls.push_back(std::move(call));
  }

  const LiveList& list_;
  const Recording& recording_;
  std::map<std::tuple<Ranks, Operation, double>, std::string> places_;  // names of groups
  std::map<Key, Row> rows_;
};

}  // namespace

Seconds Replayed::step_at(double share) const {
  return Seconds(quantile(times.steps, share).value_or(0));
}

Result<ReplayTimes> read_replay_times(const Document& document) {
  Problems problems;
  Fields fields(document, problems);
  ReplayTimes out;
  if (fields.natural("headway_replay") != 1) {
    fields.fail("headway_replay", "is of another version than 1");
  }
  out.single = fields.text("mode") == "single";
  out.compute = fields.text("compute");
  out.library = fields.text("library");
  out.ranks = fields.count("ranks");
  out.warm = fields.natural("warm");
  const Node* steps = document.root.find("step_s");
  const Node::Array* list = steps == nullptr ? nullptr : steps->array();
  if (list == nullptr || list->empty()) fields.fail("step_s", "is no list of seconds");
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Node& each = (*list)[i];
    const auto* whole = std::get_if<std::int64_t>(&each.value);
    const auto* real = std::get_if<double>(&each.value);
    const double seconds = whole ? static_cast<double>(*whole) : real ? *real : -1;
    if (!(seconds >= 0 && seconds < 1e9)) {
      fields.fail("step_s", "holds what are no seconds");
      break;
    }
    out.steps.push_back(seconds);
  }
  if (!problems.empty()) return problems;
  return out;
}

Replayed replayed(const LiveList& list, const Recording& recording, ReplayTimes times,
                  const std::optional<ReplayForecast>& forecast) {
  Replayed out;
  out.source = list.source;
  out.times = std::move(times);
  Reading(list, recording).read(out);
  if (!forecast) return out;
  if (!out.times.single) out.forecast = forecast->step;
  for (ReplayedCall& call : out.calls) {
    for (const ReplayForecast::Each& each : forecast->calls) {
      const bool same = each.group == call.group && to_collective(call.op) == each.op &&
                        std::abs(each.bytes.value() - call.bytes.value()) <= 1;
      if (same) call.forecast = each.time;
    }
  }
  return out;
}

}  // namespace headway
