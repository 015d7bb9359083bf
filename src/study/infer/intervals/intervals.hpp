// [INFER-11] 80 % intervals of what serving is predicted to take, from the errors of measured
// serving that the constants did not see: docs/models/infer.md.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "study/infer/apart.hpp"

namespace headway {

/// What tells errors apart: of which quantity, how requests come (all at once, from clients, as
/// many as memory holds, to prefill and decode apart), whether rows of the engine and of the
/// accelerator were measured. Empty: any.
struct IntervalClass {
  std::string quantity;  // "ttft_s", "tpot_s", "latency_s", "throughput"
  std::string load;      // "together", "clients", "full", "apart"
  std::string engine;    // "known", "unknown"
  std::string accelerator;

  /// Whether `other`, which says all of them, is of this class.
  bool holds(const IntervalClass& other) const;
  friend bool operator==(const IntervalClass&, const IntervalClass&) = default;
};

/// A tenth of what was measured lies below low times the prediction, a tenth above high times. Of a
/// first token that waited for others these grow with the share w of its time that is waiting, as
/// errors of two causes do: ln factor = sqrt(ln(low)² + (w·ln(waiting_low))²) (variances add).
struct IntervalFactors {
  double low = 1, high = 1;
  double waiting_low = 1, waiting_high = 1;

  IntervalFactors at(double share) const;
};

struct ServingIntervals {
  struct Entry {
    IntervalClass of;
    IntervalFactors factors;
    std::size_t rows = 0, sources = 0;  // that decide it
  };
  std::vector<Entry> entries;                   // the most special first: the first that holds
  std::set<std::string> engines, accelerators;  // that were measured

  /// Null: none holds.
  const Entry* entry_of(const IntervalClass& asked) const;
  std::optional<IntervalFactors> of(const IntervalClass& asked) const;
};

/// Of a first token: the share of its time that its own prompt, and the way in and out, do not
/// explain.
double waiting_share(Seconds first_token, const Serving& serving, const ServingConstants& constants,
                     const Load& load);

/// The class of a prediction; `full`: as many clients as memory holds.
IntervalClass interval_class(const ServingIntervals& intervals, const Serving& serving,
                             const Load& load, bool full, std::string_view quantity);

/// From, to; and how many measurements, of how many sources, tell it.
struct ServedRange {
  double low = 0, high = 0;
  std::size_t rows = 0, sources = 0;
};

/// Of what requests get; nothing of a token that there is not, and of what has no class.
struct ServedIntervals {
  std::optional<ServedRange> first_token, each_token, latency;  // seconds
  std::optional<ServedRange> output;                            // tokens a second
  // Whether the engine, and the accelerator, were measured at all.
  bool engine_known = false, accelerator_known = false;
};

/// Four of five measured ones lie there. Each holds its prediction, and none is better than
/// peaks of arithmetic and memory allow [INFER-29]. An answer is no longer and no shorter than its
/// parts may be. `full` as for interval_class(); not said: where not all clients are inside, and
/// requests that come of themselves have no interval of output.
ServedIntervals intervals_of(const Serving& serving, const ServingConstants& constants,
                             const Load& load, const Served& served, std::optional<bool> full = {});
/// Of prefill and decode apart, whose errors are classes of their own: those of whole answers
/// follow from their tokens'.
ServedIntervals intervals_of(const ServingApart& apart, const ServingConstants& constants,
                             const Load& load, const Served& served);

/// data/serving/intervals.toml, or why there is none.
Result<ServingIntervals> serving_intervals_from(const Document& document);
const Result<ServingIntervals>& serving_intervals();

}  // namespace headway
