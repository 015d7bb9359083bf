#include <cmath>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/comms/change.hpp"
#include "report/text/comms_measured.hpp"
#include "trace/analysis/call_table.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostChanged = 12;

std::string source_line(const std::string& name, const ChangeRun& run, const ChangeSide& side) {
  const auto& files = run.run.files;
  std::string out = name + (files.size() == 1 ? printable(files.front(), 200)
                                              : plural(files.size(), "file", "files"));
  out += ": " + run.recording().format + ", " +
         plural(static_cast<std::size_t>(side.calls), "call", "calls");
  if (side.steps > 0) {
    out += ", " + number_text(side.steps) + (side.steps == 1 ? " step" : " steps");
  }
  if (side.span.value() > 0) out += ", " + to_text(side.span);
  return wrapped(out);
}

// "+12 %", "new", "gone"; of what neither has, nothing.
template <class Q>
std::string change_cell(const std::optional<Q>& before, const std::optional<Q>& after) {
  if (!before && !after) return "-";
  const double a = before ? before->value() : 0, b = after ? after->value() : 0;
  if (a == b) return "same";
  if (a == 0) return "new";
  if (b == 0) return "gone";
  const double share = b / a - 1;
  if (std::abs(share) < 0.0005) return "same";
  return share > 3 ? formatted("x %.3g", b / a)
                   : formatted(std::abs(share) < 0.0995 ? "%+.1f %%" : "%+.0f %%", 100 * share);
}

template <class Q>
std::string amount_cell(const std::optional<Q>& amount) {
  return amount ? to_text(*amount) : "-";
}

std::string count_cell(double count) {
  return count > 0 ? number_text(count < 10 ? std::round(count * 100) / 100 : std::round(count))
                   : "-";
}

// A count as a quantity, so that its change reads as those of the others.
std::optional<Bytes> count_of(const Amounts& amounts) {
  return Bytes(amounts.count);
}

void add_three(Rows& rows, const std::string& name, const Amounts& a, const Amounts& b) {
  const auto line = [&](const std::string& first, const std::string& what, const Amounts& amounts) {
    rows.push_back({first, what, count_cell(amounts.count), amount_cell(amounts.bytes),
                    amount_cell(amounts.time), amount_cell(amounts.waiting),
                    amount_cell(amounts.exposed)});
  };
  line(name, "before", a);
  line("", "after", b);
  rows.push_back({"", "", change_cell(count_of(a), count_of(b)), change_cell(a.bytes, b.bytes),
                  change_cell(a.time, b.time), change_cell(a.waiting, b.waiting),
                  change_cell(a.exposed, b.exposed)});
}

std::string row_name(const Change& change, const CallsChange& row) {
  const std::string group = row.group_before || row.group_after
                                ? group_name(change.before_run.recording(), row.group_before)
                                : std::string("no group");
  return printable(group, 16) + " " + std::string(to_name(row.op));
}

std::string groups_section(const Change& change) {
  Rows rows = {{"", "", "calls", "bytes", "time", "waiting", "exposed"}};
  const std::size_t shown = std::min(change.by_group.size(), kMostChanged);
  for (std::size_t i = 0; i < shown; ++i) {
    const CallsChange& row = change.by_group[i];
    add_three(rows, row_name(change, row), row.before, row.after);
  }
  if (change.by_group.size() > 1) {
    add_three(rows, "in all", change.whole_before, change.whole_after);
  }
  for (auto& row : rows) row.front() = "  " + row.front();
  drop_silent_columns(rows, 2);
  return "\none rank in one " + std::string(to_name(change.per)) +
         " (mean), what changed most first\n" + aligned(rows, 2) +
         and_more(change.by_group.size() - shown);
}

// Sizes tell of other buckets and of other batches: those whose number or time is not as before.
std::string sizes_section_of(const Change& change) {
  Rows rows = {{"", "size", "calls", "after", "each", "after", "time"}};
  std::size_t left_out = 0;
  const auto each = [](const Amounts& amounts) -> std::optional<Seconds> {
    if (!amounts.time || !(amounts.count > 0)) return std::nullopt;
    return *amounts.time / amounts.count;
  };
  for (const CallsChange& row : change.by_size) {
    const bool as_before = change_cell(count_of(row.before), count_of(row.after)) == "same" &&
                           change_cell(row.before.time, row.after.time) == "same";
    if (as_before) continue;
    if (rows.size() > kMostChanged) {
      ++left_out;
      continue;
    }
    rows.push_back({row_name(change, row), row.size ? to_text(*row.size) : "-",
                    count_cell(row.before.count), count_cell(row.after.count),
                    amount_cell(each(row.before)), amount_cell(each(row.after)),
                    change_cell(row.before.time, row.after.time)});
  }
  if (rows.size() == 1) return {};
  for (auto& row : rows) row.front() = "  " + row.front();
  drop_silent_columns(rows, 4);
  return "\nby size, where number or time changed\n" + aligned(rows, 1) + and_more(left_out);
}

std::string overlap_section_of(const Change& change) {
  const ChangeSide &a = change.before, &b = change.after;
  if (!a.compute || !b.compute) return {};
  const auto line = [](const std::string& name, const ChangeSide& side) {
    return std::vector<std::string>{"  " + name,
                                    amount_cell(side.compute),
                                    amount_cell(side.communication),
                                    amount_cell(side.hidden),
                                    amount_cell(side.exposed),
                                    amount_cell(side.idle)};
  };
  Rows rows = {{"", "compute", "communication", "hidden", "exposed", "idle"}};
  rows.push_back(line("before", a));
  rows.push_back(line("after", b));
  rows.push_back({"", change_cell(a.compute, b.compute),
                  change_cell(a.communication, b.communication), change_cell(a.hidden, b.hidden),
                  change_cell(a.exposed, b.exposed), change_cell(a.idle, b.idle)});
  return "\nwhat a rank does in one " + std::string(to_name(change.per)) + " (mean)\n" +
         aligned(rows, 1);
}

std::string alone_lines(const Change& change) {
  std::string out;
  const auto side = [&](const std::string& name, const ChangeSide& at, const Recording& recording) {
    const auto some = [](std::vector<std::string> names) {
      const std::size_t more = names.size() > kMostChanged ? names.size() - kMostChanged : 0;
      names.resize(names.size() - more);
      for (std::string& one : names) one = printable(one, 40);
      return join(names, ", ") + (more > 0 ? " and " + std::to_string(more) + " more" : "");
    };
    if (!at.only_ranks.empty()) {
      const bool left_out = !change.ranks.empty();
      out += wrapped("recorded " + name + " alone" + (left_out ? ", and left out: " : ": ") +
                     some(at.only_ranks));
    }
    if (at.only_groups.empty()) return;
    std::vector<std::string> names;
    for (const std::uint32_t group : at.only_groups) {
      const auto& found = recording.groups[group];
      names.push_back(group_name(recording, group) +
                      (found.size ? " (" + std::to_string(*found.size) + " ranks)" : ""));
    }
    out += wrapped("groups " + name + " alone, and left out: " + some(std::move(names)));
  };
  side("before", change.before, change.before_run.recording());
  side("after", change.after, change.after_run.recording());
  return out.empty() ? out : "\n" + out;
}

}  // namespace

std::string change_text(const Change& change) {
  std::string out = source_line("before: ", change.before_run, change.before) +
                    source_line("after:  ", change.after_run, change.after);
  out += groups_section(change) + sizes_section_of(change) + overlap_section_of(change) +
         alone_lines(change);
  if (!change.notes.empty()) out += "\n";
  for (const std::string& note : change.notes) out += wrapped("note: " + printable(note, 1000));
  return out;
}

}  // namespace headway
