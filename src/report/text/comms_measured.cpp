// The answer for a terminal of 80 columns. A section is there where the source has data for it.
#include "report/text/comms_measured.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "base/draw/table.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"

namespace headway {
namespace {

std::string ranks_read(const Recording& recording) {
  std::vector<std::int64_t> numbers;
  std::int64_t world = 0;
  for (const RecordedRank& rank : recording.ranks) {
    if (rank.number) numbers.push_back(*rank.number);
    world = std::max(world, rank.world_size.value_or(0));
  }
  std::string out = plural(recording.ranks.size(), "rank", "ranks");
  if (recording.ranks.size() == 1 && recording.ranks.front().label == "all ranks") {
    return "all ranks together";
  }
  if (numbers.size() == recording.ranks.size() && !numbers.empty()) {
    const auto [first, last] = std::minmax_element(numbers.begin(), numbers.end());
    const bool all = *last - *first + 1 == static_cast<std::int64_t>(numbers.size());
    if (numbers.size() == 1) {
      out = "rank " + std::to_string(*first);
    } else if (all) {
      out += " (" + std::to_string(*first) + " to " + std::to_string(*last) + ")";
    }
    if (world > static_cast<std::int64_t>(numbers.size())) out += " of " + std::to_string(world);
  }
  return out;
}

// "2 groups (tp, dp)"; alike groups are one name, and of many there is only the number.
std::string groups_read(const Recording& recording) {
  std::vector<std::string> names;
  const std::vector<std::uint32_t> alike = alike_groups(recording);
  for (std::uint32_t i = 0; i < alike.size(); ++i) {
    if (alike[i] == i) names.push_back(printable(group_name(recording, i), 16));
  }
  std::string out = plural(recording.groups.size(), "group", "groups");
  if (!names.empty() && names.size() <= 2) out += " (" + join(names, ", ") + ")";
  return out;
}

std::string what_was_read(const Measured& measured) {
  const Recording& recording = measured.recording();
  std::string out = measured.run.files.size() == 1
                        ? printable(measured.run.files.front(), 200)
                        : plural(measured.run.files.size(), "file", "files");
  out += ": " + recording.format + "\n";
  std::string held = ranks_read(recording) + ", " + groups_read(recording) + ", " +
                     plural(recording.calls.size(), "call", "calls");
  if (!recording.compute.empty()) {
    held += ", " + plural(recording.compute.size(), "kernel", "kernels") + " of computation";
  }
  return out + wrapped(held);
}

std::string ranks_cell(const std::optional<std::int64_t>& ranks) {
  return ranks ? std::to_string(*ranks) : "-";
}

// Bytes and counts: of one rank, the mean over those that have such calls.
std::string volume_section(const Measured& measured) {
  std::vector<CallTableRow> calls;  // what a step does; benchmarks repeat a call at their pleasure
  std::copy_if(measured.calls.begin(), measured.calls.end(), std::back_inserter(calls),
               [](const CallTableRow& row) { return row.time_kind != TimeKind::benchmark; });
  if (calls.empty()) return {};
  Rows rows = {{"group", "operation", "ranks", "calls", "bytes", "mean size", "on wire"}};
  std::size_t left_out = 0;
  for (const CallTableRow& row : heaviest(
           measured.calls, [](const CallTableRow& r) { return r.bytes.value(); }, left_out)) {
    const auto callers = static_cast<double>(std::max<std::int64_t>(1, row.callers));
    const bool sized = row.sized > 0;
    rows.push_back({group_name(measured.recording(), row.group), std::string(to_name(row.op)),
                    ranks_cell(row.ranks), number_text(row.count / callers),
                    sized ? to_text(row.bytes / callers) : "-",
                    sized ? to_text(row.bytes / row.sized) : "-",
                    row.wire_bytes ? to_text(*row.wire_bytes / callers) : "-"});
  }
  const bool several = measured.recording().ranks.size() > 1;
  return std::string("\ncalls") + (several ? " of one rank (mean)" : "") +
         "; on wire: what it sends if the algorithm is a ring\n" + fitted(std::move(rows)) +
         and_more(left_out);
}

std::string_view meaning_of(TimeKind kind) {
  constexpr std::array<std::string_view, 5> meanings = {
      "", "on the GPU, waiting for other ranks included", "on the host, until the call was done",
      "on the host, to put the call into a queue", ""};
  return meanings[static_cast<std::size_t>(kind)];
}

std::string time_section(const Measured& measured) {
  std::vector<CallTableRow> timed;
  std::vector<TimeKind> kinds;
  for (const CallTableRow& row : measured.calls) {
    if (row.timed == 0 || row.time_kind == TimeKind::benchmark) continue;
    timed.push_back(row);
    if (std::find(kinds.begin(), kinds.end(), row.time_kind) == kinds.end()) {
      kinds.push_back(row.time_kind);
    }
  }
  if (timed.empty()) return {};
  Rows rows = {{"group", "operation", "timed", "mean", "shortest", "a rank", "busbw"}};
  if (kinds.size() > 1) rows.front().push_back("time is");
  std::size_t left_out = 0;
  for (const CallTableRow& row : heaviest(
           timed, [](const CallTableRow& r) { return r.time.value(); }, left_out)) {
    const auto callers = static_cast<double>(std::max<std::int64_t>(1, row.callers));
    rows.push_back({group_name(measured.recording(), row.group), std::string(to_name(row.op)),
                    number_text(row.timed), to_text(row.time / row.timed), to_text(row.shortest),
                    to_text(row.time / callers),
                    row.bus_bandwidth ? to_text(*row.bus_bandwidth) : "-"});
    if (kinds.size() > 1) rows.back().emplace_back(to_name(row.time_kind));
  }
  std::string out = "times";
  for (const TimeKind kind : kinds) {
    out += std::string(kind == kinds.front() ? ": " : "; ") +
           (kinds.size() > 1 ? std::string(to_name(kind)) + ": " : std::string()) +
           std::string(meaning_of(kind));
  }
  return "\n" + wrapped(out) + fitted(std::move(rows)) + and_more(left_out);
}

// One row of a benchmark; `in_place` is the same call in place, where it was measured.
std::vector<std::string> benchmark_row(const Recording& recording, const RecordedCall& call,
                                       const RecordedCall* in_place) {
  const auto rate_of = [&](const RecordedCall& one) {
    const auto rate = bus_bandwidth(recording, one);
    return rate ? to_text(*rate) : std::string("-");
  };
  const auto size = call.bytes ? call.bytes : call.counted_bytes;
  return {"  " + std::string(to_name(call.op)),
          size ? to_text(*size) : "-",
          ranks_cell(group_size(recording, call)),
          to_text(*call.duration),
          rate_of(call),
          in_place ? to_text(*in_place->duration) : "-",
          in_place ? rate_of(*in_place) : "-"};
}

// Benchmarks say busbw at each size. Of many sizes every n-th from the largest down is shown.
std::string benchmark_section(const Measured& measured) {
  const Recording& recording = measured.recording();
  const std::vector<RecordedCall>& calls = recording.calls;
  std::map<Operation, Rows> tables;
  bool paired = false;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].time != TimeKind::benchmark || calls[i].bytes == Bytes(0)) continue;
    const bool pair = i + 1 < calls.size() && calls[i].in_place == false &&
                      calls[i + 1].in_place == true && calls[i + 1].bytes == calls[i].bytes &&
                      calls[i + 1].op == calls[i].op;
    tables[calls[i].op].push_back(
        benchmark_row(recording, calls[i], pair ? &calls[i + 1] : nullptr));
    paired = paired || pair;
    i += pair ? 1 : 0;
  }
  if (tables.empty()) return {};
  Rows rows = {{"  operation", "size", "ranks", "time", "busbw", "in place", "busbw"}};
  std::size_t left_out = 0;
  for (const auto& [op, table] : tables) {
    const std::size_t most = std::max<std::size_t>(4, 36 / tables.size());
    const std::size_t every = (table.size() + most - 1) / most;
    for (std::size_t i = (table.size() - 1) % every; i < table.size(); i += every) {
      rows.push_back(table[i]);
    }
    left_out += table.size() - (table.size() + every - 1) / every;
  }
  if (!paired) {
    for (auto& row : rows) row.resize(5);
  }
  return "\nbenchmark, mean of a loop of equal calls\n" + aligned(rows, 1) +
         (left_out == 0 ? ""
                        : "  and " + number_text(static_cast<double>(left_out)) +
                              " more sizes (--csv has all)\n");
}

std::string bar(double share) {
  return std::string(static_cast<std::size_t>(std::lround(24 * std::clamp(share, 0.0, 1.0))), '#');
}

std::string sizes_section(const Measured& measured) {
  const SizeHistogram::Bin all = measured.sizes.all();
  if (all.count == 0 && measured.sizes.empty() == 0) return {};
  Rows rows = {{"  from", "calls", "share", "bytes", "share"}};
  std::vector<double> shares = {0};
  if (measured.sizes.empty() > 0) {
    rows.push_back({"  0 B", number_text(measured.sizes.empty()), "-", "0 B", "-"});
    shares.push_back(0);
  }
  for (const SizeHistogram::Bin& bin : measured.sizes.bins()) {
    if (bin.count == 0) continue;
    rows.push_back({"  " + to_text(bin.from), number_text(bin.count),
                    share_text(bin.count / all.count), to_text(bin.bytes),
                    share_text(bin.bytes / all.bytes)});
    shares.push_back(bin.count / all.count);
  }
  const std::string table = aligned(rows, 1);
  std::string out = "\nmessage sizes, all calls of known size\n";
  std::size_t begin = 0;
  for (const double share : shares) {
    const std::size_t end = table.find('\n', begin);
    out += table.substr(begin, end - begin) + (share > 0 ? "  " + bar(share) : std::string());
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
    begin = end + 1;
  }
  for (const Bytes limit : {Bytes(8192), 1_MiB}) {
    const SizeHistogram::Bin small = measured.sizes.below(limit);
    if (small.count == 0 || all.count == 0) continue;
    out += "  below " + to_text(limit) + ": " + number_text(small.count) + " of " +
           number_text(all.count) + " calls (" + share_text(small.count / all.count) + ") with " +
           share_text(small.bytes / all.bytes) + " of the bytes\n";
  }
  return out;
}

}  // namespace

std::string measured_text(const Measured& measured) {
  std::string out = what_was_read(measured);
  out += volume_section(measured) + time_section(measured) + waits_section(measured);
  out += benchmark_section(measured);
  out += waiting_section(measured) + ranks_section(measured) + steps_section(measured);
  out += path_section(measured) + exchanges_section(measured) + kernels_section(measured);
  out += sizes_section(measured);
  if (!measured.notes.empty()) out += "\n";
  for (const std::string& note : measured.notes) out += wrapped("note: " + printable(note, 1000));
  return out;
}

}  // namespace headway
