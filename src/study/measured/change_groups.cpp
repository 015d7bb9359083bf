#include "study/measured/change_groups.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "trace/analysis/call_table.hpp"

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

using Members = std::vector<std::int64_t>;

// Of each group its ranks, ascending.
std::vector<Members> members_of(const Recording& recording) {
  std::vector<Members> out;
  for (const RecordedGroup& group : recording.groups) {
    out.push_back(group.ranks);
    std::sort(out.back().begin(), out.back().end());
  }
  return out;
}

// Finds for groups of one recording those of the other.
class Partners {
 public:
  Partners(const Recording& a, const Recording& b, const std::vector<bool>& called)
      : a_(a), b_(b), called_(called), in_a_(members_of(a)), in_b_(members_of(b)) {}

  // The group of `b` that is group i of `a` and was not found before: of several of its ranks the
  // one of its name.
  std::optional<std::uint32_t> take(std::uint32_t i) {
    std::optional<std::uint32_t> found;
    for (std::uint32_t j = 0; j < b_.groups.size(); ++j) {
      if (!called_[j] || taken_[j] || !same_group(i, j)) continue;
      if (!found) found = j;
      if (!same_name(i, j)) continue;
      found = j;
      break;
    }
    if (found) taken_[*found] = true;
    return found;
  }

 private:
  bool same_name(std::uint32_t i, std::uint32_t j) const {
    return group_name(a_, i) == group_name(b_, j);
  }
  bool same_group(std::uint32_t i, std::uint32_t j) const {
    if (!in_a_[i].empty() && !in_b_[j].empty()) return in_a_[i] == in_b_[j];
    return a_.groups[i].size == b_.groups[j].size && same_name(i, j);
  }

  const Recording &a_, &b_;
  const std::vector<bool>& called_;
  std::vector<Members> in_a_, in_b_;
  std::vector<bool> taken_ = std::vector<bool>(b_.groups.size());
};

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
  Partners partners(before, after, called_after);
  for (std::uint32_t i = 0; i < before.groups.size(); ++i) {
    if (!called_before[i]) continue;
    const auto j = partners.take(i);
    if (!j) continue;
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
