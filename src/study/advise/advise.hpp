// What would make a run faster, from its own trace: the run is taken as the trace shows it, and
// each change is forecast with the constants that the trace gives it. Formulas:
// docs/models/advise.md.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/forecast.hpp"
#include "run/run.hpp"
#include "study/reconcile/reconcile.hpp"

namespace headway {

enum class AdviceKind : std::uint8_t {
  late_rank,  // ranks whose own work takes longer than that of the others
  slow_link,  // transfers over a level take longer than the model says
  exposed,    // calls that the run means to hide, and that nothing hides
  buckets,    // gradients sent in smaller pieces than the run says
  order,      // ranks numbered so that a group with much to send lies on a slower level
  setting,    // a field of the run that another number makes faster
};
constexpr std::array<std::string_view, 6> kAdviceKindNames = {
    "late rank", "slow link", "not overlapped", "small buckets", "order of ranks", "setting"};
constexpr std::string_view to_name(AdviceKind kind) {
  return kAdviceKindNames[static_cast<std::size_t>(kind)];
}

struct Advice {
  AdviceKind kind = AdviceKind::setting;
  std::string what;                      // "rank 13 is late in every step"
  std::string says;                      // what in the trace says so
  std::vector<std::string> flags;        // to try, as "--overlap-gradients on"
  std::string remedy;                    // where no flag helps
  std::vector<std::int64_t> ranks = {};  // that it is about
  double gain = 0;                       // share of the step's time [ADVISE-1]
  Interval<double> interval{};           // of the gain [ADVISE-2]
  Seconds step_time;                     // with it
};

/// Worth a line: gains below are within what two steps of one run differ by.
constexpr double kLeastGain = 0.01;
constexpr std::size_t kMostAdvice = 3;

struct Advised {
  RequestedRun run;  // as the trace shows it, calibrated to it
  Reconciliation reconciliation;
  std::optional<Seconds> measured;  // a step of the trace; nothing where it has no times
  Forecast forecast;                // of the run, without ranks that are late
  Seconds step_time;                // with them: what gains are shares of
  double factor = 1;                // of every time, by the trace's step [OWN-1]
  std::vector<Advice> advice;       // what brings most first, at most `most`
  std::size_t tried = 0;            // changes that were forecast
};

/// What a measured step says of every time of its setup, ln(measured / predicted) given: own runs
/// know it [OWN-1], fit/own/one_step.hpp.
using OwnOfStep = std::function<OwnSetup(const Setup& setup, double residual)>;

/// Problems: a trace of another run, or a run that cannot be forecast. `steps`: in the trace; 0: to
/// be found out.
Result<Advised> advise(const RequestedRun& run, const Recording& recording, const OwnOfStep& own,
                       double steps = 0, std::size_t most = kMostAdvice);

}  // namespace headway
