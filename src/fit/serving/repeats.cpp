// How far measurements of one configuration lie apart.
#include <algorithm>
#include <functional>
#include <map>

#include "base/formatted.hpp"
#include "base/statistics.hpp"
#include "fit/serving/serving.hpp"

namespace headway {
namespace {

using KeyOfRow = std::function<std::string(const ServedRow&)>;

// What the program reads of a row comes to the same.
std::string prediction_of(const ServedRow& row) {
  std::string out;
  for (const auto& value : row.predicted) {
    if (!value) return "";
    out += formatted("%.12g ", *value);
  }
  return out + row.source_key + ' ' + row.machine + ' ' + row.model + ' ' + row.engine;
}

void add(std::vector<ServedRepeats>& out, const std::vector<ServedRow>& rows,
         const std::string& alike, const KeyOfRow& key) {
  for (std::size_t q = 0; q < kServedQuantities.size(); ++q) {
    std::map<std::string, std::vector<double>> configurations;
    for (const ServedRow& row : rows) {
      if (!row.measured[q] || !(*row.measured[q] > 0) || !row.predicted[q]) continue;
      if (std::string of = key(row); !of.empty()) {
        configurations[std::move(of)].push_back(*row.measured[q]);
      }
    }
    ServedRepeats each{alike, std::string(kServedQuantities[q])};
    std::vector<double> spreads;
    for (auto& [name, values] : configurations) {
      // The same to the last digit is one measurement that is listed twice.
      std::sort(values.begin(), values.end());
      values.erase(std::unique(values.begin(), values.end()), values.end());
      if (values.size() < 2) continue;
      spreads.push_back(values.back() / values.front() - 1);
      each.rows += values.size();
    }
    if (spreads.empty()) continue;
    each.configurations = spreads.size();
    each.median = *quantile(spreads, 0.5);
    each.p90 = *quantile(spreads, 0.9);
    out.push_back(std::move(each));
  }
}

}  // namespace

std::vector<ServedRepeats> repeats_of(const std::vector<ServedRow>& rows) {
  std::vector<ServedRepeats> out;
  add(out, rows, "every cell", [](const ServedRow& row) { return row.cells; });
  add(out, rows, "prediction", prediction_of);
  return out;
}

}  // namespace headway
