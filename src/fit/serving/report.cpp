// The errors of measured serving, by source and quantity.
#include <algorithm>

#include "fit/serving/serving.hpp"

namespace headway {

std::optional<double> ServedRow::error(std::size_t quantity) const {
  if (!measured[quantity] || !predicted[quantity]) return std::nullopt;
  return *predicted[quantity] / *measured[quantity] - 1;
}

std::optional<std::size_t> ServedRow::main() const {
  for (const std::size_t quantity : {kLatency, kOutput, kTotal, kEachToken, kFirstToken}) {
    if (measured[quantity] && predicted[quantity]) return quantity;
  }
  return std::nullopt;
}

std::optional<double> ServedRow::error() const {
  const auto quantity = main();
  return quantity ? error(*quantity) : std::nullopt;
}

std::optional<ServedBounds> ServedRow::interval() const {
  const auto quantity = main();
  return quantity ? intervals[*quantity] : std::nullopt;
}

namespace {

const std::string& group_of(const ServedRow& row, ServedBy by) {
  switch (by) {
    case ServedBy::source:
      return row.source_key;
    case ServedBy::accelerator:
      return row.machine;
    case ServedBy::engine:
      return row.engine;
    case ServedBy::model:
      return row.model;
    case ServedBy::precision:
      return row.precision;
    case ServedBy::load:
      break;
  }
  return row.load;
}

// The rows of a group, of one quantity.
struct GroupRows {
  std::vector<double> errors, widths;
  std::size_t inside = 0;

  void add(const ServedRow& row, std::size_t quantity) {
    errors.push_back(*row.error(quantity));
    const auto& interval = row.intervals[quantity];
    if (!interval) return;
    widths.push_back(interval->high / interval->low);
    const double measured = *row.measured[quantity];
    if (measured >= interval->low && measured <= interval->high) ++inside;
  }
  ServedGroup summary(std::string name, std::size_t quantity) const {
    return {std::move(name),
            std::string(kServedQuantities[quantity]),
            summarise(errors),
            widths.size(),
            inside,
            quantile(widths, 0.5)};
  }
};

}  // namespace

ServedReport summarise_serving(std::vector<ServedRow> rows, ServedBy by) {
  ServedReport out;
  out.by = by;
  std::map<std::pair<std::string, std::size_t>, GroupRows> groups;
  std::array<GroupRows, kServedQuantities.size()> all;
  GroupRows below, others;
  std::vector<double> memory;
  for (const ServedRow& row : rows) {
    if (!row.fits) {
      ++out.skipped[row.skipped_reason];
      continue;
    }
    ++out.predicted;
    ++(row.ran_out ? out.ran_out : out.ran);
    if (row.ran_out && !*row.fits) ++out.ran_out_and_does_not_fit;
    if (!row.ran_out && *row.fits) ++out.ran_and_fits;
    if (row.measured_memory_gb && row.predicted_memory_gb) {
      memory.push_back(*row.predicted_memory_gb / *row.measured_memory_gb - 1);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!row.error(i)) continue;
      groups[{group_of(row, by), i}].add(row, i);
      all[i].add(row, i);
    }
    if (row.of_capacity && row.error(kFirstToken)) {
      (*row.of_capacity < kShortOfFull ? below : others).add(row, kFirstToken);
    }
  }
  for (const auto& [key, each] : groups) {
    out.groups.push_back(each.summary(key.first, key.second));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].errors.empty()) out.groups.push_back(all[i].summary("all", i));
  }
  if (!below.errors.empty()) {
    out.by_capacity.push_back(below.summary("below 80 % of capacity", kFirstToken));
  }
  if (!others.errors.empty()) {
    out.by_capacity.push_back(others.summary("from 80 % on", kFirstToken));
  }
  out.memory = summarise(memory);
  out.repeats = repeats_of(rows);
  out.rows = std::move(rows);
  return out;
}

}  // namespace headway
