// What the sections of the text on measured communication share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "report/comms_measured.hpp"

namespace headway {

using Rows = std::vector<std::vector<std::string>>;

inline constexpr std::size_t kMostRows = 24;

/// "1,234" or "12.5".
std::string number_text(double value);
/// "12 %", "0.0041 %".
std::string share_text(double share);
/// "1 file", "8 files".
std::string plural(std::size_t count, const std::string& one, const std::string& many);

/// A line of its own, broken at words to 80 columns.
std::string wrapped(const std::string& text, std::size_t indent = 0);

/// Takes out columns from `first` on, at least 1, that say nothing ("-") below the header.
void drop_silent_columns(Rows& rows, std::size_t first);

/// Whether a line of a table is longer than 80 columns.
bool is_wide(const std::string& table);

/// A table with a header, no wider than 80 columns where that can be: names of groups, in the first
/// column, are cut as far as needed. Where that column says the same everywhere it is left out, and
/// so is any silent one behind the second.
std::string fitted(Rows rows);

/// "  and 3 more (--json has all)", where rows are left out.
std::string and_more(std::size_t left_out);

/// The largest rows by `weight`, in the order they had, and how many there are besides.
template <class Row, class Weight>
std::vector<Row> heaviest(const std::vector<Row>& rows, Weight weight, std::size_t& left_out) {
  left_out = rows.size() > kMostRows ? rows.size() - kMostRows : 0;
  if (left_out == 0) return rows;
  std::vector<double> weights;
  for (const Row& row : rows) weights.push_back(weight(row));
  std::vector<std::size_t> order(rows.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  order.resize(kMostRows);
  std::sort(order.begin(), order.end());
  std::vector<Row> out;
  for (const std::size_t i : order) out.push_back(rows[i]);
  return out;
}

/// Waiting against transfer, and what each rank did; empty where nothing is known of it.
std::string waiting_section(const Measured& measured);
std::string ranks_section(const Measured& measured);
/// The steps, who makes the others wait in them; the way that leads to the end; how unequally
/// exchanges load the ranks; kernels and matrix products. Each empty where nothing is known of it.
std::string steps_section(const Measured& measured);
std::string path_section(const Measured& measured);
std::string exchanges_section(const Measured& measured);
std::string kernels_section(const Measured& measured);
/// What the ranks spent in calls that only wait for others.
std::string waits_section(const Measured& measured);

}  // namespace headway
