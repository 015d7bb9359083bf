// From a reconciliation to what a person should look at, the costliest first.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "study/reconcile/reconcile.hpp"

namespace headway {

enum class FindingKind : std::uint8_t {
  calls,           // other calls than expected
  slow_link,       // transfers of more than kLongCall above the model
  latency,         // shorter ones above the model
  waiting,         // ranks that come late
  small_messages,  // many calls up to kSmallCall, or barriers
  layout,          // the recording is of another layout than the run
};
constexpr std::array<std::string_view, 6> kFindingKindNames = {
    "calls", "slow link", "latency", "waiting", "small messages", "layout"};
constexpr std::string_view to_name(FindingKind kind) {
  return kFindingKindNames[static_cast<std::size_t>(kind)];
}

struct Finding {
  FindingKind kind = FindingKind::calls;
  std::optional<Seconds> lost;       // a step on one rank, more than expected; none: not known
  double exposed = 1;                // of it, what no computation hides, as far as that is recorded
  std::optional<std::size_t> row;    // of the reconciliation, where it is about one
  std::vector<std::uint32_t> ranks;  // that come late: indices into Recording::ranks
  std::string text;
};

struct Verdict {
  std::vector<Finding> findings;  // the costliest first
  std::string line;               // one sentence; "as expected" where nothing is found
};

// Thresholds [REC-7].
constexpr Bytes kLongCall{1024.0 * 1024.0};
constexpr double kLongError = 0.25;   // of the model above kLongCall
constexpr double kShortError = 1.0;   // of the model up to kLongCall
constexpr double kLeastShare = 0.02;  // of the communication's time that is worth a finding
constexpr double kLateShare = 0.5;    // of the waiting that named ranks cause

Verdict verdict_of(const Reconciliation& reconciliation, const Recording& recording,
                   const Cluster& cluster);

/// "tp", "tp/ep"; the recorded group's name where it is none of the layout's; "-" where unknown.
std::string group_text(const ReconciledRow& row, const Recording& recording);

}  // namespace headway
