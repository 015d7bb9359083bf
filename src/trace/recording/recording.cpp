#include "trace/recording/recording.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace headway {
namespace {

void count_omission(Recording& recording, std::string_view what, std::int64_t count, bool lost) {
  if (count == 0) return;
  const auto known = std::find_if(recording.omissions.begin(), recording.omissions.end(),
                                  [&](const Omission& omission) { return omission.what == what; });
  if (known != recording.omissions.end()) {
    known->count += count;
  } else {
    recording.omissions.push_back({std::string(what), count, lost});
  }
}

}  // namespace

void reduce_omission(Recording& recording, std::string_view what, std::int64_t count) {
  for (Omission& omission : recording.omissions) {
    if (omission.what == what) omission.count -= std::min(count, omission.count);
  }
  std::erase_if(recording.omissions, [](const Omission& omission) { return omission.count == 0; });
}

void omit(Recording& recording, std::string_view what, std::int64_t count) {
  count_omission(recording, what, count, true);
}

void leave_unsaid(Recording& recording, std::string_view what, std::int64_t count) {
  count_omission(recording, what, count, false);
}

std::uint32_t rank_index(Recording& recording, std::string_view label,
                         std::optional<std::int64_t> number) {
  std::uint32_t index = 0;
  for (RecordedRank& rank : recording.ranks) {
    if (rank.label == label) {
      if (!rank.number) rank.number = number;
      return index;
    }
    ++index;
  }
  recording.ranks.push_back({number, std::string(label), std::nullopt});
  return index;
}

std::uint32_t group_index(Recording& recording, std::string_view id,
                          std::optional<std::int64_t> size) {
  std::uint32_t index = 0;
  for (RecordedGroup& group : recording.groups) {
    if (group.id == id) {
      if (!group.size) group.size = size;
      return index;
    }
    ++index;
  }
  recording.groups.push_back({std::string(id), {}, size, {}});
  return index;
}

std::uint32_t unnamed_group_index(Recording& recording, std::int64_t size) {
  const std::uint32_t index =
      group_index(recording, "unnamed, " + std::to_string(size) + " ranks", size);
  recording.groups[index].named = false;
  return index;
}

std::optional<std::int64_t> group_size(const Recording& recording, const RecordedCall& call) {
  if (!call.group) return std::nullopt;
  return recording.groups[*call.group].size;
}

// The index in `to` of each name of kernels in `more`.
static std::vector<std::uint32_t> merged_names(Recording& to, const Recording& more) {
  if (more.kernel_names.empty()) return {};
  std::map<std::string_view, std::uint32_t> known;
  std::vector<std::string> names = std::move(to.kernel_names);
  for (std::uint32_t i = 0; i < names.size(); ++i) known.emplace(names[i], i);
  std::vector<std::uint32_t> out;
  std::vector<std::string> added;
  for (const std::string& name : more.kernel_names) {
    const auto next = static_cast<std::uint32_t>(names.size() + added.size());
    const auto [at, is_new] = known.emplace(name, next);
    if (is_new) added.push_back(name);
    out.push_back(at->second);
  }
  names.insert(names.end(), added.begin(), added.end());
  to.kernel_names = std::move(names);
  return out;
}

// [RECORD-7] A program that was killed where one file follows another left two that are not ended.
// Both count what was on its way; the one that knows more is right.
static void count_last_moments_once(Recording& to, UnendedFile more) {
  for (UnendedFile& file : to.unended) {
    if (file.rank != more.rank || file.began_ns != more.began_ns) continue;
    const std::int64_t of_both = file.missing() + more.missing();
    file.came = std::max(file.came, more.came);
    file.placed = std::max(file.placed, more.placed);
    return reduce_omission(to, kLastMoments, of_both - file.missing());
  }
  to.unended.push_back(more);
}

void append(Recording& to, const Recording& more) {
  if (to.format.empty()) to.format = more.format;
  if (to.size_advice.empty()) to.size_advice = more.size_advice;
  if (to.source.empty()) to.source = more.source;
  if (to.format.find(more.format) == std::string::npos) to.format += ", " + more.format;
  std::vector<std::uint32_t> rank_of, group_of;
  for (const RecordedRank& rank : more.ranks) {
    const std::uint32_t index = rank_index(to, rank.label, rank.number);
    if (!to.ranks[index].world_size) to.ranks[index].world_size = rank.world_size;
    to.ranks[index].waits += rank.waits;
    to.ranks[index].waited += rank.waited;
    rank_of.push_back(index);
  }
  for (const RecordedGroup& group : more.groups) {
    std::uint32_t index = 0;
    for (; index < to.groups.size(); ++index) {
      const RecordedGroup& other = to.groups[index];
      if (other.id == group.id &&
          (other.ranks == group.ranks || other.ranks.empty() || group.ranks.empty())) {
        break;
      }
    }
    if (index == to.groups.size()) {
      to.groups.push_back(group);
    } else {
      if (to.groups[index].ranks.empty()) to.groups[index].ranks = group.ranks;
      if (!to.groups[index].size) to.groups[index].size = group.size;
      std::vector<std::pair<std::int64_t, std::int64_t>>& members = to.groups[index].members;
      members.insert(members.end(), group.members.begin(), group.members.end());
    }
    group_of.push_back(index);
  }
  const std::size_t calls = to.calls.size(), nodes = to.graph.size();
  for (RecordedNode node : more.graph) {
    node.rank = rank_of[node.rank];
    if (node.call) *node.call += calls;
    for (std::size_t& need : node.needs) need += nodes;
    to.graph.push_back(std::move(node));
  }
  for (RecordedCall call : more.calls) {
    call.rank = rank_of[call.rank];
    if (call.group) call.group = group_of[*call.group];
    to.calls.push_back(call);
  }
  const std::vector<std::uint32_t> name_of = merged_names(to, more);
  const auto products = static_cast<std::uint32_t>(to.products.size());
  to.products.insert(to.products.end(), more.products.begin(), more.products.end());
  for (RecordedCompute compute : more.compute) {
    compute.rank = rank_of[compute.rank];
    if (compute.name != RecordedCompute::kNone) compute.name = name_of[compute.name];
    if (compute.product != RecordedCompute::kNone) compute.product += products;
    to.compute.push_back(compute);
  }
  for (RecordedStep step : more.steps) {
    step.rank = rank_of[step.rank];
    to.steps.push_back(step);
  }
  for (const Omission& omission : more.omissions) {
    count_omission(to, omission.what, omission.count, omission.lost);
  }
  for (UnendedFile file : more.unended) {
    file.rank = rank_of[file.rank];
    count_last_moments_once(to, file);
  }
  to.marked_steps = std::max(to.marked_steps, more.marked_steps);  // of each rank the same
  to.records_read += more.records_read;
}

void set_bytes_from_count(RecordedCall& call, double bytes, std::optional<std::int64_t> ranks) {
  if (!(bytes >= 0)) return;
  if (call.op == Operation::barrier) return;
  if (row_of(call.op).counts_part && ranks && *ranks > 0) {
    call.bytes = Bytes(bytes * static_cast<double>(*ranks));
  } else if (row_of(call.op).counts_part || call.op == Operation::other) {
    call.counted_bytes = Bytes(bytes);
    call.counted_part = row_of(call.op).counts_part;
  } else {
    call.bytes = Bytes(bytes);
  }
}

std::optional<Bytes> whole_from_buffers(Operation op, double input_bytes, double output_bytes) {
  const Whole whole = row_of(op).whole;
  const double bytes = whole == Whole::input    ? input_bytes
                       : whole == Whole::output ? output_bytes
                                                : std::max(input_bytes, output_bytes);
  if (bytes < 0) return std::nullopt;
  return Bytes(bytes);
}

namespace {

std::string name_by_ranks(const std::vector<std::int64_t>& ranks, std::int64_t world) {
  if (ranks.size() < 2) return "self";
  const std::int64_t step = ranks[1] - ranks[0];
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    if (step <= 0 || ranks[i] - ranks[i - 1] != step) return {};
  }
  if (static_cast<std::int64_t>(ranks.size()) == world && ranks.front() == 0) return "world";
  return "by " + std::to_string(step);
}

// [TRACE-2] A call of such a group names its other end, or its root, by the place in the group.
// Where the file of that rank is missing, nobody says which one of the run it is.
void name_ends(Recording& recording) {
  for (RecordedCall& call : recording.calls) {
    if (!call.peer || !call.group) continue;
    const auto& members = recording.groups[*call.group].members;
    if (members.empty()) continue;
    const auto at =
        std::lower_bound(members.begin(), members.end(),
                         std::pair(*call.peer, std::numeric_limits<std::int64_t>::min()));
    const bool known = at != members.end() && at->first == *call.peer;
    call.peer = known ? std::optional(at->second) : std::nullopt;
  }
}

}  // namespace

void complete_groups(Recording& recording) {
  std::int64_t world = 0;
  for (const RecordedRank& rank : recording.ranks) {
    world = std::max(world, rank.world_size.value_or(0));
  }
  std::map<std::vector<std::int64_t>, int> made;  // how many of the same ranks
  for (RecordedGroup& group : recording.groups) {
    std::sort(group.members.begin(), group.members.end());
    group.members.erase(std::unique(group.members.begin(), group.members.end()),
                        group.members.end());
    // A source may not say how many they are: as many as there are in the world are all.
    if (!group.size && world > 0 && static_cast<std::int64_t>(group.members.size()) == world) {
      group.size = world;
    }
    bool all_said = group.ranks.empty() && !group.members.empty() &&
                    group.size == static_cast<std::int64_t>(group.members.size());
    std::int64_t place = 0;
    for (const auto& [said, rank] : group.members) all_said = all_said && said == place++;
    for (const auto& [said, rank] : group.members) {
      if (all_said) group.ranks.push_back(rank);
    }
    const int before = group.ranks.empty() ? 0 : made[group.ranks]++;
    if (group.members.empty() || !group.description.empty()) continue;
    if (all_said) group.description = name_by_ranks(group.ranks, world);
    if (!group.description.empty() && before > 0) {
      group.description += " #" + std::to_string(before + 1);
    } else if (!all_said) {
      group.description = group.size ? "comm of " + std::to_string(*group.size) : "comm";
    }
  }
  name_ends(recording);
  for (RecordedGroup& group : recording.groups) group.members.clear();  // all is said now
}

// [TRACE-8]
void complete_sizes(Recording& recording) {
  std::int64_t completed = 0;
  for (RecordedCall& call : recording.calls) {
    const auto ranks = group_size(recording, call);
    if (call.bytes || !call.counted_part || !ranks || *ranks < 1) continue;
    call.bytes = static_cast<double>(*ranks) * *call.counted_bytes;
    call.counted_bytes.reset();
    call.counted_part = false;
    ++completed;
  }
  reduce_omission(recording, kCallsWithoutWhole, completed);
}

}  // namespace headway
