// Steps, the critical path, exchanges and kernels of what was measured.
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

std::string sides_text(const RecordedProduct& product) {
  std::string out =
      product.batch > 1 ? number_text(static_cast<double>(product.batch)) + " of " : "";
  for (const std::int64_t side : {product.m, product.n, product.k}) {
    out += (out.empty() || out.ends_with("of ") ? "" : " x ") + std::to_string(side);
  }
  return out;
}

}  // namespace

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
    Rows rows = {{"  m x n x k", "type", "times", "each", "FLOP/s", "model", "ratio"}};
    for (const ProductRow& row : table.products) {
      if (rows.size() > kMostKernels) break;
      const auto slowdown = row.slowdown();
      rows.push_back({"  " + sides_text(row.product),
                      row.product.type ? std::string(to_name(*row.product.type)) : "-",
                      number_text(static_cast<double>(row.count)),
                      to_text(row.time / static_cast<double>(row.count)), to_text(row.rate()),
                      time_cell(row.modelled), slowdown ? formatted("%.2f", *slowdown) : "-"});
    }
    drop_silent_columns(rows, 4);
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
