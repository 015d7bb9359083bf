// The errors of measured serving, by source and quantity.
#include <algorithm>

#include "fit/serving/serving.hpp"

namespace headway {

std::optional<double> ServedRow::error(std::size_t quantity) const {
  if (!measured[quantity] || !predicted[quantity]) return std::nullopt;
  return *predicted[quantity] / *measured[quantity] - 1;
}

std::optional<double> ServedRow::error() const {
  for (const std::size_t quantity : {2, 3, 4, 1, 0}) {
    if (const auto found = error(quantity)) return found;
  }
  return std::nullopt;
}

ServedReport summarise_serving(std::vector<ServedRow> rows) {
  ServedReport out;
  std::map<std::pair<std::string, std::size_t>, std::vector<double>> errors;
  std::array<std::vector<double>, kServedQuantities.size()> all;
  for (const ServedRow& row : rows) {
    if (!row.fits) {
      ++out.skipped[row.skipped_reason];
      continue;
    }
    ++out.predicted;
    ++(row.ran_out ? out.ran_out : out.ran);
    if (row.ran_out && !*row.fits) ++out.ran_out_and_does_not_fit;
    if (!row.ran_out && *row.fits) ++out.ran_and_fits;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto error = row.error(i);
      if (!error) continue;
      errors[{row.source_key, i}].push_back(*error);
      all[i].push_back(*error);
    }
  }
  for (const auto& [key, each] : errors) {
    out.groups.push_back({key.first, std::string(kServedQuantities[key.second]), summarise(each)});
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].empty()) continue;
    out.groups.push_back({"all", std::string(kServedQuantities[i]), summarise(all[i])});
  }
  out.rows = std::move(rows);
  return out;
}

}  // namespace headway
