#include "study/measured/change_groups.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.hpp"

namespace headway {
namespace {

// Groups with calls of these ranks; the last entry: calls without a group.
std::vector<bool> groups_called(const Recording& recording, const std::vector<bool>& ranks) {
  std::vector<bool> out(recording.groups.size() + 1);
  for (const RecordedCall& call : recording.calls) {
    if (ranks[call.rank]) out[call.group ? *call.group : recording.groups.size()] = true;
  }
  return out;
}

std::vector<std::int64_t> members_of(const RecordedGroup& group) {
  std::vector<std::int64_t> out = group.ranks;
  std::sort(out.begin(), out.end());
  return out;
}

bool same_name(const Recording& a, std::uint32_t i, const Recording& b, std::uint32_t j) {
  return group_name(a, i) == group_name(b, j);
}

bool same_group(const Recording& a, std::uint32_t i, const Recording& b, std::uint32_t j) {
  const auto in_a = members_of(a.groups[i]), in_b = members_of(b.groups[j]);
  if (!in_a.empty() && !in_b.empty()) return in_a == in_b;
  return a.groups[i].size == b.groups[j].size && same_name(a, i, b, j);
}

// The group of `b` that is group i of `a`: of several of its ranks the one of its name.
std::optional<std::uint32_t> partner(const Recording& a, std::uint32_t i, const Recording& b,
                                     const std::vector<bool>& called,
                                     const std::vector<bool>& taken) {
  std::optional<std::uint32_t> found;
  for (std::uint32_t j = 0; j < b.groups.size(); ++j) {
    if (!called[j] || taken[j] || !same_group(a, i, b, j)) continue;
    if (same_name(a, i, b, j)) return j;
    if (!found) found = j;
  }
  return found;
}

// "groups of 4 and 8 ranks", of those that have calls.
std::string sizes_text(const Recording& recording, const std::vector<bool>& called) {
  std::set<std::int64_t> sizes;
  bool unknown = false;
  for (std::size_t i = 0; i < recording.groups.size(); ++i) {
    if (!called[i]) continue;
    if (recording.groups[i].size) {
      sizes.insert(*recording.groups[i].size);
    } else {
      unknown = true;
    }
  }
  std::vector<std::string> texts;
  for (const std::int64_t size : sizes) texts.push_back(std::to_string(size));
  if (texts.empty()) return unknown ? "groups of unknown size" : "calls without a group alone";
  return "groups of " + join(texts, ", ") + " ranks";
}

}  // namespace

PairedGroups pair_groups(const Recording& before, const std::vector<bool>& ranks_before,
                         const Recording& after, const std::vector<bool>& ranks_after) {
  PairedGroups out;
  out.of_before.assign(before.groups.size() + 1, kUnpaired);
  out.of_after.assign(after.groups.size() + 1, kUnpaired);
  const auto called_before = groups_called(before, ranks_before);
  const auto called_after = groups_called(after, ranks_after);
  if (before.calls.empty() || after.calls.empty()) {
    out.why_none = std::string("nothing to compare: ") +
                   (before.calls.empty() ? "the first" : "the second") +
                   " recording holds no calls";
    return out;
  }
  const std::vector<std::uint32_t> alike = alike_groups(before);
  std::map<std::uint32_t, std::size_t> pair_of_alike;
  std::vector<bool> taken(after.groups.size());
  for (std::uint32_t i = 0; i < before.groups.size(); ++i) {
    if (!called_before[i]) continue;
    const auto j = partner(before, i, after, called_after, taken);
    if (!j) continue;
    taken[*j] = true;
    const auto [at, is_new] = pair_of_alike.emplace(alike[i], out.pairs.size());
    if (is_new) out.pairs.push_back({i, *j});
    out.of_before[i] = out.of_after[*j] = at->second;
  }
  if (called_before.back() && called_after.back()) {
    out.of_before.back() = out.of_after.back() = out.pairs.size();
    out.pairs.emplace_back();
  }
  if (out.pairs.empty()) {
    out.why_none = "nothing to compare: no group of the first (" +
                   sizes_text(before, called_before) + ") has the ranks of one of the second (" +
                   sizes_text(after, called_after) +
                   "); name two recordings of one program on the same ranks";
  }
  return out;
}

}  // namespace headway
