// Waiting against transfer by operation, what each rank did, steps, the critical path, exchanges
// and kernels.
#include <algorithm>
#include <cmath>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/text/comms_measured.hpp"
#include "trace/recording/rank_names.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostLate = 8, kMostParts = 10, kMostKernels = 12;

std::string time_cell(const std::optional<Seconds>& time) {
  return time ? to_text(*time) : "-";
}

// The mean over the ranks of what is known of all of them.
template <class Member>
std::optional<Seconds> mean_over(const StepRow& row, Member member) {
  Seconds sum;
  for (const StepOfRank& rank : row.ranks) {
    const std::optional<Seconds> value = rank.*member;
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum / static_cast<double>(row.ranks.size());
}

std::string stragglers_lines(const Measured& measured, const std::vector<std::string>& names) {
  Rows rows = {{"  rank", "others wait for it", "most in", "own work"}};
  for (const Straggler& rank : measured.stragglers) {
    if (rows.size() > kMostLate || !(rank.causes.value() > 0)) break;
    rows.push_back({"  " + printable(names[rank.rank], 30), to_text(rank.causes) + " a step",
                    std::to_string(rank.last_in) + " of " + std::to_string(rank.steps),
                    formatted("%.2fx", rank.work)});
  }
  if (rows.size() == 1) return {};
  return "\nwho is late (own work: over the median of the ranks)\n" + aligned(rows, 1);
}

void drop_column(Rows& rows, std::string_view head) {
  const auto at = std::find(rows.front().begin(), rows.front().end(), head);
  if (at == rows.front().end()) return;
  const auto column = at - rows.front().begin();
  for (auto& row : rows) row.erase(row.begin() + column);
}

std::string sides_text(const RecordedProduct& product) {
  std::string out =
      product.batch > 1 ? number_text(static_cast<double>(product.batch)) + " of " : "";
  for (const std::int64_t side : {product.m, product.n, product.k}) {
    out += (out.empty() || out.ends_with("of ") ? "" : " x ") + std::to_string(side);
  }
  return out;
}

}  // namespace

std::string waiting_section(const Measured& measured) {
  if (measured.waiting.empty()) return {};
  const Recording& recording = measured.recording();
  const std::vector<std::string> names = rank_names(recording);
  Rows rows = {{"group", "operation", "count", "transfer", "busbw", "waiting", "share", "last"}};
  std::size_t left_out = 0;
  std::int64_t incomplete = 0;
  for (const WaitingRow& row : heaviest(
           measured.waiting, [](const WaitingRow& r) { return r.kernel_time.value(); }, left_out)) {
    const auto collectives = static_cast<double>(row.collectives);
    rows.push_back(
        {group_name(recording, row.group), std::string(to_name(row.op)), number_text(collectives),
         to_text(row.transfer / collectives), row.bus_bandwidth ? to_text(*row.bus_bandwidth) : "-",
         to_text(row.waiting / static_cast<double>(row.kernels)), share_text(row.waiting_share()),
         printable(names[row.last_rank], 12) + ", " + std::to_string(row.times_last) + "x"});
    incomplete += row.incomplete;
  }
  std::string out =
      "\nwaiting against transfer (means); last: whom the others waited for most often\n" +
      fitted(std::move(rows)) + and_more(left_out);
  // The longest wait of all.
  const MatchedCall* worst = nullptr;
  std::size_t at = 0;
  for (const MatchedCall& matched : measured.alignment.matched) {
    const auto longest = std::max_element(matched.waiting.begin(), matched.waiting.end());
    if (worst == nullptr || *longest > worst->waiting[at]) {
      worst = &matched;
      at = static_cast<std::size_t>(longest - matched.waiting.begin());
    }
  }
  if (worst != nullptr && worst->waiting[at].value() > 0) {
    const RecordedCall& call = recording.calls[worst->calls[at]];
    out += wrapped("longest: " + printable(names[call.rank], 30) + " waited " +
                       to_text(worst->waiting[at]) + " for " +
                       printable(names[worst->last_rank], 30) + " in one " +
                       std::string(to_name(call.op)) + ", which took " + to_text(worst->transfer),
                   2);
  }
  if (incomplete > 0) {
    out += "  of " + number_text(static_cast<double>(incomplete)) +
           " collectives not all ranks are recorded: their transfer is an upper bound\n";
  }
  if (measured.alignment.clock_error) {
    out += "  the ranks' clocks, shifted, agree within " +
           to_text(*measured.alignment.clock_error) + " (median)\n";
  }
  return out;
}

std::string waits_section(const Measured& measured) {
  const RecordedRank* longest = nullptr;
  Seconds waited;
  std::int64_t waits = 0, ranks = 0;
  for (const RecordedRank& rank : measured.recording().ranks) {
    if (rank.waits == 0) continue;
    ++ranks;
    waits += rank.waits;
    waited += rank.waited;
    if (longest == nullptr || rank.waited > longest->waited) longest = &rank;
  }
  if (longest == nullptr) return {};
  const auto each = static_cast<double>(ranks);
  std::string out =
      "waits, in which a rank did nothing else: " + number_text(static_cast<double>(waits) / each) +
      " a rank, " + to_text(waited / each);
  if (ranks > 1) {
    out += " (mean); longest " + printable(longest->label, 30) + ", " + to_text(longest->waited);
  }
  return "\n" + wrapped(out);
}

// One row a rank; of many ranks the spread, and the ranks that came last most often.
std::string ranks_section(const Measured& measured) {
  const Recording& recording = measured.recording();
  const bool waits = !measured.alignment.matched.empty();
  if (measured.overlap.empty() && !waits) return {};
  struct Line {
    std::uint32_t rank;
    std::vector<double> seconds;  // span, compute, hidden, exposed, idle, waiting
    double last = 0;
  };
  std::vector<Line> lines;
  for (const std::uint32_t rank : rank_order(recording)) {
    Line line{rank, std::vector<double>(6, std::nan("")), 0};
    for (const Overlap& overlap : measured.overlap) {
      if (overlap.rank != rank) continue;
      line.seconds = {overlap.span.value(),    overlap.compute.value(), overlap.hidden.value(),
                      overlap.exposed.value(), overlap.idle.value(),    std::nan("")};
    }
    if (waits) {
      line.seconds[5] = measured.alignment.ranks[rank].waiting.value();
      line.last = static_cast<double>(measured.alignment.ranks[rank].times_last);
    }
    const bool silent = std::all_of(line.seconds.begin(), line.seconds.end(),
                                    [](double value) { return std::isnan(value); });
    if (!silent) lines.push_back(std::move(line));
  }
  const std::vector<std::string> names = rank_names(recording);
  const std::vector<std::string> columns = {"span",    "compute", "hidden",
                                            "exposed", "idle",    "waiting"};
  Rows rows = {{""}};
  rows.front().insert(rows.front().end(), columns.begin(), columns.end());
  rows.front().push_back("last");
  const auto cells = [&](const std::string& name, const std::vector<double>& seconds, double last) {
    std::vector<std::string> row = {"  " + name};
    for (const double value : seconds) {
      row.push_back(std::isnan(value) ? "-" : to_text(Seconds(value)));
    }
    row.push_back(waits ? number_text(last) + "x" : "-");
    return row;
  };
  constexpr std::size_t kAll = 16;
  if (lines.size() > kAll) {
    for (const auto& [name, share] : {std::pair{"least", 0.0}, {"median", 0.5}, {"most", 1.0}}) {
      std::vector<double> at;
      for (std::size_t column = 0; column <= columns.size(); ++column) {
        std::vector<double> values;
        for (const Line& line : lines) {
          const double value = column < columns.size() ? line.seconds[column] : line.last;
          if (!std::isnan(value)) values.push_back(value);
        }
        std::sort(values.begin(), values.end());
        const auto last = static_cast<double>(values.size()) - 1;
        at.push_back(values.empty() ? std::nan("")
                                    : values[static_cast<std::size_t>(share * last)]);
      }
      rows.push_back(cells(name, {at.begin(), at.end() - 1}, at.back()));
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const Line& a, const Line& b) { return a.last > b.last; });
    lines.resize(8);
  }
  for (const Line& line : lines) {
    rows.push_back(cells(printable(names[line.rank], 20), line.seconds, line.last));
  }
  drop_silent_columns(rows, 1);
  return std::string("\nby rank") +
         (measured.overlap.empty()
              ? ""
              : " (hidden, exposed: communication under computation, and alone)") +
         "\n" + aligned(rows, 1);
}

std::string steps_section(const Measured& measured) {
  if (measured.step_rows.size() < 2) return {};
  const std::vector<std::string> names = rank_names(measured.recording());
  Rows rows = {{"  step", "longest", "compute", "exposed", "idle", "waiting", "last"}};
  std::size_t left_out = 0;
  for (const StepRow& row : heaviest(
           measured.step_rows, [](const StepRow& r) { return r.longest.value(); }, left_out)) {
    rows.push_back({"  " + std::to_string(row.number), to_text(row.longest),
                    time_cell(mean_over(row, &StepOfRank::compute)),
                    time_cell(mean_over(row, &StepOfRank::exposed)),
                    time_cell(mean_over(row, &StepOfRank::idle)),
                    row.last ? time_cell(mean_over(row, &StepOfRank::waits)) : "-",
                    row.last ? printable(names[*row.last], 16) : "-"});
  }
  drop_silent_columns(rows, 1);
  return "\nsteps, by " + std::string(to_name(measured.steps.by)) +
         " (means of the ranks; longest: of one rank)\n" + aligned(rows, 1) + and_more(left_out) +
         stragglers_lines(measured, names);
}

std::string path_section(const Measured& measured) {
  if (!measured.path || measured.recording().ranks.size() < 2) return {};
  const RecordedPath& path = *measured.path;
  const std::vector<std::string> names = rank_names(measured.recording());
  Rows rows = {{"  on", "what", "times", "in all", "share"}};
  for (const PathPart& part : path.parts) {
    if (rows.size() > kMostParts) break;
    std::string what(to_name(part.kind));
    if (part.kind == PathKind::transfer) {
      what = printable(group_name(measured.recording(), part.group), 20) + " " +
             std::string(to_name(part.op));
    }
    rows.push_back({"  " + printable(names[part.rank], 20), std::move(what),
                    number_text(static_cast<double>(part.count)), to_text(part.time),
                    share_text(path.time.value() > 0 ? part.time / path.time : 0)});
  }
  return "\nthe way that leads to the end, over the ranks: " + to_text(path.time) +
         ", from rank to rank " + plural(static_cast<std::size_t>(path.changes), "time", "times") +
         "\n" + aligned(rows, 2) + and_more(path.parts.size() + 1 - rows.size());
}

std::string exchanges_section(const Measured& measured) {
  const std::vector<std::string> names = rank_names(measured.recording());
  Rows rows = {{"  group", "exchanges", "most / mean", "worst", "fullest"}};
  for (const ExchangeRow& row : measured.exchanges) {
    if (row.worst < 1.005) continue;
    rows.push_back(
        {"  " + printable(group_name(measured.recording(), row.group), 30),
         number_text(static_cast<double>(row.exchanges)), formatted("%.2f", row.imbalance),
         formatted("%.2f", row.worst),
         printable(names[row.fullest], 12) + ", " + std::to_string(row.times_fullest) + "x"});
  }
  if (rows.size() == 1) return {};
  return "\nexchanges of unequal load (a run says it by --expert-imbalance)\n" + aligned(rows, 1);
}

std::string kernels_section(const Measured& measured) {
  std::string out;
  const KernelTable& table = measured.kernels;
  if (!table.products.empty()) {
    Rows rows = {
        {"  m x n x k", "type", "times", "each", "FLOP/s", "peak", "roof", "model", "ratio"}};
    for (const ProductRow& row : table.products) {
      if (rows.size() > kMostKernels) break;
      const auto slowdown = row.slowdown();
      rows.push_back({"  " + sides_text(row.product),
                      row.product.type ? std::string(to_name(*row.product.type)) : "-",
                      number_text(static_cast<double>(row.count)),
                      to_text(row.time / static_cast<double>(row.count)), to_text(row.rate()),
                      row.peak_share ? share_text(*row.peak_share) : "-",
                      row.roofline_share ? share_text(*row.roofline_share) : "-",
                      time_cell(row.modelled), slowdown ? formatted("%.2f", *slowdown) : "-"});
    }
    drop_silent_columns(rows, 4);
    // Where lines would be too long, the model's time goes, which the ratio tells, then how often.
    for (const std::string_view less : {"model", "times"}) {
      if (is_wide(aligned(rows, 2))) drop_column(rows, less);
    }
    out += "\nmatrix products, the longest in all first\n" + aligned(rows, 2) +
           and_more(table.products.size() + 1 - rows.size());
  }
  if (table.kernels.empty()) return out;
  Seconds all;
  for (const KernelRow& row : table.kernels) all += row.time;
  Rows rows = {{"  kernel of computation", "times", "each", "in all", "share"}};
  for (const KernelRow& row : table.kernels) {
    if (rows.size() > kMostKernels) break;
    rows.push_back({"  " + printable(row.name, 38), number_text(static_cast<double>(row.count)),
                    to_text(row.time / static_cast<double>(row.count)), to_text(row.time),
                    share_text(all.value() > 0 ? row.time / all : 0)});
  }
  return out + "\n" + aligned(rows, 1) + and_more(table.kernels.size() + 1 - rows.size());
}

}  // namespace headway
