// Whether the predicted best layout is a good one: layouts of the same training held against each
// other.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace headway {

struct ValidationRow;

/// Fewer layouts than this are no contest.
constexpr std::size_t kSmallestContest = 5;

/// Layouts of the same training on the same machine.
struct Contest {
  std::string name, source_key;
  std::size_t layouts = 0;
  std::optional<double> spearman;  // of predicted and measured time; nothing where one is constant
  // Measured time of the predicted best over the measured best, -1; nothing where all are predicted
  // alike, which is no choice.
  std::optional<double> regret;
};

/// The contests among the rows, by name.
std::vector<Contest> contests_of(const std::vector<const ValidationRow*>& rows);

struct RankingSummary {
  std::size_t contests = 0;
  std::optional<double> spearman;  // median over the contests that have one
  std::optional<double> regret;    // likewise
  std::size_t undecided = 0;       // contests of layouts that are all predicted alike
};
RankingSummary summarise(const std::vector<Contest>& contests);

}  // namespace headway
