#include "fit/validation/ranking.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "fit/statistics.hpp"
#include "fit/validation/validation.hpp"

namespace headway {
namespace {

constexpr double kAlike = 1e-9;  // times that differ by rounding alone

}  // namespace

std::vector<Contest> contests_of(const std::vector<const ValidationRow*>& rows) {
  struct Times {
    std::string source_key;
    std::vector<double> measured, predicted;
  };
  std::map<std::string, Times> gathered;
  for (const ValidationRow* row : rows) {
    if (!row->error()) continue;
    Times& times = gathered[row->contest];
    times.source_key = row->source_key;
    times.measured.push_back(*row->measured_step_time);
    times.predicted.push_back(*row->predicted_step_time);
  }
  std::vector<Contest> out;
  for (const auto& [name, times] : gathered) {
    const auto& [source, measured, predicted] = times;
    if (measured.size() < kSmallestContest) continue;
    Contest contest{name, source, measured.size(), spearman(measured, predicted), {}};
    const auto [least, most] = std::minmax_element(predicted.begin(), predicted.end());
    if (*most > *least * (1 + kAlike)) {
      const double best = *std::min_element(measured.begin(), measured.end());
      contest.regret = measured[static_cast<std::size_t>(least - predicted.begin())] / best - 1;
    }
    out.push_back(std::move(contest));
  }
  return out;
}

RankingSummary summarise(const std::vector<Contest>& contests) {
  std::vector<double> correlations, regrets;
  for (const Contest& contest : contests) {
    if (contest.spearman) correlations.push_back(*contest.spearman);
    if (contest.regret) regrets.push_back(*contest.regret);
  }
  return {contests.size(), quantile(correlations, 0.5), quantile(regrets, 0.5),
          contests.size() - regrets.size()};
}

}  // namespace headway
