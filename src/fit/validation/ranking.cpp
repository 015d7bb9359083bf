#include "fit/validation/ranking.hpp"

#include <algorithm>
#include <map>

#include "fit/statistics.hpp"
#include "fit/validation/validation.hpp"

namespace headway {

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
    const auto taken = std::min_element(predicted.begin(), predicted.end()) - predicted.begin();
    const double best = *std::min_element(measured.begin(), measured.end());
    out.push_back({name, source, measured.size(), spearman(measured, predicted),
                   measured[static_cast<std::size_t>(taken)] / best - 1});
  }
  return out;
}

RankingSummary summarise(const std::vector<Contest>& contests) {
  std::vector<double> correlations, regrets;
  for (const Contest& contest : contests) {
    if (contest.spearman) correlations.push_back(*contest.spearman);
    regrets.push_back(contest.regret);
  }
  return {contests.size(), quantile(correlations, 0.5), quantile(regrets, 0.5)};
}

}  // namespace headway
