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
#include "trace/analysis/align.hpp"

namespace headway {

enum class AdviceKind : std::uint8_t {
  late_rank,  // ranks whose own work takes longer than that of the others
  slow_link,  // transfers over a level take longer than the model says
  exposed,    // calls that the run means to hide, and that nothing hides
  buckets,    // gradients sent in smaller pieces than the run says
  order,      // ranks numbered so that a group with much to send lies on a slower level
  setting,    // a field of the run that another number makes faster
  layout,     // several fields of the layout, planned again
};
constexpr std::array<std::string_view, 7> kAdviceKindNames = {
    "late rank",      "slow link", "not overlapped", "small buckets",
    "order of ranks", "setting",   "layout"};
constexpr std::string_view to_name(AdviceKind kind) {
  return kAdviceKindNames[static_cast<std::size_t>(kind)];
}

/// What is broken, and not what might be chosen otherwise.
constexpr bool is_fault(AdviceKind kind) {
  return kind != AdviceKind::setting && kind != AdviceKind::layout;
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

/// A level's links by the trace [ADVISE-5].
struct TracedLinks {
  std::string level;
  std::optional<double> slower;  // long transfers over the model's times; nothing where none are
  bool fitted = false;           // all constants to the trace's calls; else the bandwidth alone
};

/// By Part: what the trace has of it over what the forecast has [ADVISE-8].
using PartFactors = std::array<double, kParts.size()>;

struct Advised {
  RequestedRun run;                // as the trace shows it, calibrated to it
  std::vector<TracedLinks> links;  // of levels of which it tells
  Reconciliation reconciliation;
  std::optional<Seconds> measured;  // a step of the trace; nothing where it has no times
  Forecast forecast;                // of the run, without ranks that are late
  Seconds step_time;                // measured, else forecast: what gains are shares of
  double late_share = 0;            // of that step, which ranks that are late cost [ADVISE-3]
  PartFactors factors{};            // of the forecast's parts
  Interval<double> spread{1, 1};    // of a part over its forecast, as of steps nobody measured
  double factor = 1;                // of every time, by the trace's step [OWN-1]
  std::vector<Advice> advice;       // what brings most first, at most `most`
  std::size_t tried = 0;            // changes that were forecast
  std::uint64_t layouts = 0;        // among which the best was looked for
};

/// What a measured step says of every time of its setup, ln(measured / predicted) given: own runs
/// know it [OWN-1], fit/own/one_step.hpp.
using OwnOfStep = std::function<OwnSetup(const Setup& setup, double residual)>;

/// Sets the constants of the levels that a trace's calls tell, and says which: fit_network_to() of
/// fit/collectives/traced.hpp.
using NetworkOfTrace =
    std::function<std::vector<bool>(Cluster& cluster, const Recording&, const Alignment&)>;

struct AdviseHow {
  double steps = 0;             // in the trace; 0: to be found out
  NetworkOfTrace network = {};  // none: bandwidths alone are taken from the trace
  bool layouts = true;          // whether other layouts are looked for
  int threads = 1;              // for that; 0: all
  std::size_t most = kMostAdvice;
};

/// Problems: a trace of another run, or a run that cannot be forecast.
Result<Advised> advise(const RequestedRun& run, const Recording& recording, const OwnOfStep& own,
                       const AdviseHow& how = {});

}  // namespace headway
