// How well fitted constants predict what they were not fitted on: systems left out one by one, and
// many nodes from few.
#include <algorithm>
#include <functional>
#include <iterator>

#include "fit/collectives/collectives.hpp"
#include "fit/collectives/gathered.hpp"
#include "platform/parallel.hpp"

namespace headway {
namespace {

using RowTest = std::function<bool(const CollectiveMeasurement&)>;

CollectiveData rows_that(const CollectiveData& data, const RowTest& wanted) {
  CollectiveData chosen;
  chosen.clusters = data.clusters;
  std::copy_if(data.rows.begin(), data.rows.end(), std::back_inserter(chosen.rows), wanted);
  return chosen;
}

}  // namespace

Result<std::vector<double>> left_out_errors(const CollectiveData& data, int threads) {
  const std::set<std::string> named = [&] {
    std::set<std::string> names;
    for (const auto& row : data.rows) names.insert(row.system);
    return names;
  }();
  const std::vector<std::string> systems(named.begin(), named.end());
  std::vector<double> errors(data.rows.size());
  std::vector<Problems> problems(systems.size());
  for_each_index(
      systems.size(), threads,
      [&](std::size_t s, std::size_t) {
        const auto of_system = [&](const auto& row) { return row.system == systems[s]; };
        const auto fit = calibrate_collectives(
            rows_that(data, [&](const auto& row) { return !of_system(row); }));
        if (!fit) {
          problems[s] = fit.problems();
          return;
        }
        const auto all = collective_errors(data, fit->all);
        for (std::size_t i = 0; i < all.size(); ++i) {
          if (of_system(data.rows[i])) errors[i] = all[i];
        }
      },
      {}, /*grain=*/1);
  for (const Problems& each : problems) {
    if (!each.empty()) return each;
  }
  return errors;
}

Result<std::vector<CollectiveErrorLine>> from_few_nodes(const CollectiveData& data) {
  constexpr std::int64_t kFew = 16;
  const auto few = [](const auto& row) { return row.nodes <= kFew; };
  const auto fit = calibrate_collectives(rows_that(data, few));
  if (!fit) return fit.problems();
  const auto errors = collective_errors(data, fit->all);
  detail::Gathered gathered;
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    const auto& row = data.rows[i];
    if (!few(row)) gathered.add(outer_class(row, data), row, errors[i]);
  }
  return gathered.lines();
}

}  // namespace headway
