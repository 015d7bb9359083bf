#include "study/measured/change.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "study/measured/change_groups.hpp"
#include "trace/analysis/call_table.hpp"
#include "trace/analysis/steps.hpp"
#include "trace/recording/rank_names.hpp"

namespace headway {
namespace {

using ComparedRanks = std::vector<bool>;  // by index in the recording

// A rank is the same in both by its number; one without, by its label.
std::string rank_key(const RecordedRank& rank) {
  return rank.number ? "rank " + std::to_string(*rank.number) : rank.label;
}

// Ranks that call or compute; a name of two ranks stands for neither.
std::map<std::string, std::uint32_t> ranks_of(const Recording& recording) {
  std::vector<bool> active(recording.ranks.size());
  for (const RecordedCall& call : recording.calls) active[call.rank] = true;
  for (const RecordedCompute& compute : recording.compute) active[compute.rank] = true;
  std::map<std::string, std::uint32_t> out;
  for (const std::uint32_t rank : rank_order(recording)) {
    if (active[rank]) out.emplace(rank_key(recording.ranks[rank]), rank);
  }
  return out;
}

// The ranks of both; all of each where no rank is in both.
void pair_ranks(Change& change, ComparedRanks& before, ComparedRanks& after) {
  const Recording &a = change.before_run.recording(), &b = change.after_run.recording();
  const auto in_a = ranks_of(a), in_b = ranks_of(b);
  before.assign(a.ranks.size(), false);
  after.assign(b.ranks.size(), false);
  for (const std::uint32_t rank : rank_order(a)) {
    const std::string key = rank_key(a.ranks[rank]);
    const auto here = in_a.find(key), there = in_b.find(key);
    if (here == in_a.end() || here->second != rank) continue;
    if (there == in_b.end()) {
      change.before.only_ranks.push_back(key);
      continue;
    }
    before[rank] = after[there->second] = true;
    change.ranks.push_back(key);
  }
  for (const std::uint32_t rank : rank_order(b)) {
    const std::string key = rank_key(b.ranks[rank]);
    const auto here = in_b.find(key);
    if (here != in_b.end() && here->second == rank && !in_a.contains(key)) {
      change.after.only_ranks.push_back(key);
    }
  }
  if (!change.ranks.empty()) return;
  before.assign(a.ranks.size(), true);
  after.assign(b.ranks.size(), true);
  change.notes.emplace_back(
      "no rank is recorded in both: the mean of all on one side stands beside the mean of all on "
      "the other");
}

// From the first start to the last end of what is recorded of a rank.
Seconds span_of_ranks(const Recording& recording, const ComparedRanks& ranks) {
  struct Ends {
    std::int64_t first = 0;
    double last = 0;  // ns behind `first` of the earliest
    bool any = false;
  };
  std::vector<Ends> ends(recording.ranks.size());
  const auto each = [&](auto&& visit) {
    for (const RecordedCall& call : recording.calls) {
      if (call.start_ns) {
        visit(call.rank, *call.start_ns, call.duration.value_or(Seconds()).value() * 1e9);
      }
    }
    for (const RecordedCompute& compute : recording.compute) {
      visit(compute.rank, compute.start_ns, static_cast<double>(compute.duration_ns));
    }
  };
  each([&](std::uint32_t rank, std::int64_t start, double) {
    ends[rank].first = ends[rank].any ? std::min(ends[rank].first, start) : start;
    ends[rank].any = true;
  });
  each([&](std::uint32_t rank, std::int64_t start, double ns) {
    const double from = static_cast<double>(static_cast<std::uint64_t>(start) -
                                            static_cast<std::uint64_t>(ends[rank].first));
    ends[rank].last = std::max(ends[rank].last, from + ns);
  });
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (!ranks[i] || !ends[i].any) continue;
    sum += ends[i].last * 1e-9;
    ++count;
  }
  return count > 0 ? Seconds(sum / count) : Seconds();
}

template <class Q>
void add_to(std::optional<Q>& sum, Q value) {
  sum = sum.value_or(Q()) + value;
}

void add_call(Amounts& to, const Recording& recording, const RecordedCall& call,
              const std::optional<Seconds>& waiting) {
  to.count += call.count;
  if (call.bytes) add_to(to.bytes, call.count * *call.bytes);
  if (const auto wire = wire_bytes(recording, call)) add_to(to.wire_bytes, call.count * *wire);
  if (call.duration && can_mean_transfer(call.time)) add_to(to.time, call.count * *call.duration);
  if (waiting) add_to(to.waiting, *waiting);
}

void divide(Amounts& amounts, double by) {
  amounts.count /= by;
  if (amounts.bytes) *amounts.bytes /= by;
  if (amounts.wire_bytes) *amounts.wire_bytes /= by;
  if (amounts.time) *amounts.time /= by;
  if (amounts.waiting) *amounts.waiting /= by;
  if (amounts.exposed) *amounts.exposed /= by;
}

// Keys of rows: the pair of groups (the first of alike ones), the operation, the size.
using OpKey = std::pair<std::size_t, Operation>;
using SizeKey = std::tuple<std::size_t, Operation, double>;
constexpr double kUnsized = -1;

// [TRACE-10] Of rising sizes the first stands for those up to kSameSize above it.
std::map<SizeKey, double> classes_of(const std::set<SizeKey>& sizes) {
  std::map<SizeKey, double> out;
  OpKey last = {static_cast<std::size_t>(-1), Operation::other};
  double least = 0;
  for (const SizeKey& key : sizes) {  // ascending within group and operation
    const auto& [pair, op, size] = key;
    const bool same = last == OpKey{pair, op} && least >= 0 && size <= least * (1 + kSameSize);
    if (!same) least = size;
    last = {pair, op};
    out[key] = least;
  }
  return out;
}

struct SideRows {
  const ChangeRun* run = nullptr;
  const ComparedRanks* ranks = nullptr;
  const std::vector<std::size_t>* pair_of_group = nullptr;  // kUnpaired: on this side alone
  double per = 1;                                           // compared ranks times steps or seconds

  std::size_t pair_of(const std::optional<std::uint32_t>& group) const {
    return group ? (*pair_of_group)[*group] : pair_of_group->back();
  }
};

// Of each call what it waited for the others, where that is known.
std::vector<std::optional<Seconds>> waits_of_calls(const ChangeRun& run) {
  std::vector<std::optional<Seconds>> out(run.recording().calls.size());
  for (const MatchedCall& matched : run.alignment.matched) {
    for (std::size_t i = 0; i < matched.calls.size(); ++i) {
      out[matched.calls[i]] = matched.waiting[i];
    }
  }
  return out;
}

void add_overlap(const SideRows& side, ChangeSide& to, std::map<OpKey, Amounts>& rows) {
  for (const Overlap& overlap : side.run->overlap) {
    if (!(*side.ranks)[overlap.rank]) continue;
    add_to(to.compute, overlap.compute);
    add_to(to.communication, overlap.communication);
    add_to(to.hidden, overlap.hidden);
    add_to(to.exposed, overlap.exposed);
    add_to(to.idle, overlap.idle);
    for (const ExposedCalls& calls : overlap.by_call) {
      const std::size_t pair = side.pair_of(calls.group);
      if (pair != kUnpaired) add_to(rows[{pair, calls.op}].exposed, calls.exposed);
    }
  }
  for (auto* sum : {&to.compute, &to.communication, &to.hidden, &to.exposed, &to.idle}) {
    if (*sum) **sum /= side.per;
  }
}

struct BothRows {
  std::map<OpKey, Amounts> by_group;
  std::map<SizeKey, Amounts> by_size;
  Amounts whole;
};

BothRows rows_of(const SideRows& side, const std::map<SizeKey, double>& classes, ChangeSide& to) {
  BothRows out;
  const Recording& recording = side.run->recording();
  const auto waits = waits_of_calls(*side.run);
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const RecordedCall& call = recording.calls[i];
    const std::size_t pair = side.pair_of(call.group);
    if (!(*side.ranks)[call.rank] || pair == kUnpaired) continue;
    const double size = call.bytes ? call.bytes->value() : kUnsized;
    add_call(out.by_group[{pair, call.op}], recording, call, waits[i]);
    add_call(out.by_size[{pair, call.op, classes.at({pair, call.op, size})}], recording, call,
             waits[i]);
    add_call(out.whole, recording, call, waits[i]);
  }
  std::map<OpKey, Amounts> exposed;
  add_overlap(side, to, exposed);
  for (auto& [key, row] : out.by_group) {
    row.exposed = exposed[key].exposed;
    if (row.exposed) add_to(out.whole.exposed, *row.exposed);
    divide(row, side.per);
  }
  for (auto& [key, row] : out.by_size) divide(row, side.per);
  divide(out.whole, side.per);
  return out;
}

void collect_sizes(const SideRows& side, std::set<SizeKey>& sizes) {
  for (const RecordedCall& call : side.run->recording().calls) {
    const std::size_t pair = side.pair_of(call.group);
    if (!(*side.ranks)[call.rank] || pair == kUnpaired) continue;
    sizes.insert({pair, call.op, call.bytes ? call.bytes->value() : kUnsized});
  }
}

// By how much a row changed: seconds where both recordings have any, else bytes, else calls.
std::array<double, 3> size_of_change(const CallsChange& row, bool timed) {
  const auto of = [](const auto& value) { return value ? value->value() : 0.0; };
  return {timed ? std::abs(of(row.after.time) - of(row.before.time)) : 0,
          std::abs(of(row.after.bytes) - of(row.before.bytes)),
          std::abs(row.after.count - row.before.count)};
}

void most_changed_first(std::vector<CallsChange>& rows, bool timed) {
  std::stable_sort(rows.begin(), rows.end(), [&](const CallsChange& a, const CallsChange& b) {
    return size_of_change(a, timed) > size_of_change(b, timed);
  });
}

// [TRACE-10] By the step where both know theirs, else by the second where both have times.
void settle_units(Change& change, double steps) {
  bool found = false;  // by what is repeated
  const auto steps_in = [&](const Recording& recording) {
    if (steps > 0) return steps;
    if (recording.marked_steps > 0) return static_cast<double>(recording.marked_steps);
    if (recording.repeated_steps > 0) return static_cast<double>(recording.repeated_steps);
    const RecordedSteps repeated = steps_of(recording);
    if (repeated.by != StepsBy::repetition) return 0.0;
    found = true;
    return static_cast<double>(repeated.repeated->steps);
  };
  change.before.steps = steps_in(change.before_run.recording());
  change.after.steps = steps_in(change.after_run.recording());
  if (change.before.steps > 0 && change.after.steps > 0) {
    change.per = Per::step;
    if (found) {
      change.notes.emplace_back(
          "steps are what all ranks repeat; calls before and behind them are counted with them "
          "(--trace-steps N says how many steps each holds)");
    }
  } else if (change.before.span.value() > 0 && change.after.span.value() > 0) {
    change.per = Per::second;
    change.notes.emplace_back(
        "steps are not known of both: amounts are by the second, which hides a change of the step "
        "as a whole (--trace-steps N says how many steps each holds)");
  } else {
    change.per = Per::recording;
    change.notes.emplace_back(
        "neither steps nor times are known of both: amounts are of the whole recordings, which may "
        "differ in length (--trace-steps N says how many steps each holds)");
  }
}

double units_of(const ChangeSide& side, Per per) {
  return per == Per::step ? side.steps : per == Per::second ? side.span.value() : 1;
}

std::set<TimeKind> time_kinds(const Recording& recording) {
  std::set<TimeKind> out;
  for (const RecordedCall& call : recording.calls) {
    if (call.duration && can_mean_transfer(call.time)) out.insert(call.time);
  }
  return out;
}

void note_time_kinds(Change& change) {
  const auto a = time_kinds(change.before_run.recording());
  const auto b = time_kinds(change.after_run.recording());
  if (a == b) return;
  const auto text = [](const std::set<TimeKind>& kinds) {
    std::string out;
    for (const TimeKind kind : kinds) out += (out.empty() ? "" : ", ") + std::string(to_name(kind));
    return out.empty() ? std::string("none") : out;
  };
  change.notes.push_back("times mean different things: before " + text(a) + ", after " + text(b));
}

std::vector<std::uint32_t> groups_alone(const Recording& recording, const ComparedRanks& ranks,
                                        const std::vector<std::size_t>& pairs) {
  std::set<std::uint32_t> out;
  for (const RecordedCall& call : recording.calls) {
    if (ranks[call.rank] && call.group && pairs[*call.group] == kUnpaired) out.insert(*call.group);
  }
  return {out.begin(), out.end()};
}

}  // namespace

ChangeRun change_run(RunRecording run) {
  ChangeRun out;
  out.run = std::move(run);
  out.alignment = align(out.recording());
  name_whole_group(out.run.recording, out.alignment);
  complete_sizes(out.run.recording);
  // Without computation on record nothing can be said of what it hides.
  if (!out.recording().compute.empty()) out.overlap = overlap_of(out.recording());
  return out;
}

Result<Change> change_between(ChangeRun before, ChangeRun after, double steps) {
  Change out;
  out.before_run = std::move(before);
  out.after_run = std::move(after);
  const Recording &a = out.before_run.recording(), &b = out.after_run.recording();
  out.before.calls = static_cast<std::int64_t>(a.calls.size());
  out.after.calls = static_cast<std::int64_t>(b.calls.size());

  // Which ranks, and which groups of them, are the same in both.
  ComparedRanks ranks_a, ranks_b;
  pair_ranks(out, ranks_a, ranks_b);
  const PairedGroups paired = pair_groups(a, ranks_a, b, ranks_b);
  if (paired.pairs.empty()) return Problem{FieldName("compare"), paired.why_none};
  out.before.only_groups = groups_alone(a, ranks_a, paired.of_before);
  out.after.only_groups = groups_alone(b, ranks_b, paired.of_after);
  out.groups = paired.pairs;

  // What amounts are of: a step of one rank, a second, or all.
  out.before.span = span_of_ranks(a, ranks_a);
  out.after.span = span_of_ranks(b, ranks_b);
  settle_units(out, steps);
  const auto divisor = [&](const ChangeSide& side, const ComparedRanks& ranks) {
    const auto compared = std::count(ranks.begin(), ranks.end(), true);
    return units_of(side, out.per) * static_cast<double>(compared);
  };
  const SideRows side_a{&out.before_run, &ranks_a, &paired.of_before, divisor(out.before, ranks_a)};
  const SideRows side_b{&out.after_run, &ranks_b, &paired.of_after, divisor(out.after, ranks_b)};

  // The rows of both, those of one group, operation and size beside one another.
  std::set<SizeKey> sizes;
  collect_sizes(side_a, sizes);
  collect_sizes(side_b, sizes);
  const auto classes = classes_of(sizes);
  const BothRows rows_a = rows_of(side_a, classes, out.before);
  const BothRows rows_b = rows_of(side_b, classes, out.after);
  out.whole_before = rows_a.whole;
  out.whole_after = rows_b.whole;
  const auto row_of_key = [&](std::size_t pair, Operation op) {
    CallsChange row;
    row.group_before = paired.pairs[pair].before;
    row.group_after = paired.pairs[pair].after;
    row.op = op;
    return row;
  };
  std::map<OpKey, CallsChange> by_group;
  std::map<SizeKey, CallsChange> by_size;
  const auto fill = [&](const BothRows& rows, Amounts CallsChange::*side) {
    for (const auto& [key, amounts] : rows.by_group) {
      auto& row = by_group.emplace(key, row_of_key(key.first, key.second)).first->second;
      row.*side = amounts;
    }
    for (const auto& [key, amounts] : rows.by_size) {
      const auto& [pair, op, size] = key;
      auto& row = by_size.emplace(key, row_of_key(pair, op)).first->second;
      if (size >= 0) row.size = Bytes(size);
      row.*side = amounts;
    }
  };
  fill(rows_a, &CallsChange::before);
  fill(rows_b, &CallsChange::after);
  for (auto& [key, row] : by_group) out.by_group.push_back(std::move(row));
  for (auto& [key, row] : by_size) out.by_size.push_back(std::move(row));
  const bool timed = out.whole_before.time && out.whole_after.time;
  most_changed_first(out.by_group, timed);
  most_changed_first(out.by_size, timed);
  note_time_kinds(out);
  return out;
}

}  // namespace headway
