// [INFER-11] 80 % intervals of what serving is predicted to take, from the errors of measured
// serving that the constants did not see: docs/models/infer.md.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "study/infer/serving.hpp"

namespace headway {

/// What tells errors apart: of which quantity, how requests come (all at once, from clients, as
/// many as memory holds), whether rows of the engine and of the accelerator were measured. Empty:
/// any.
struct IntervalClass {
  std::string quantity;  // "ttft_s", "tpot_s", "latency_s", "throughput"
  std::string load;      // "together", "clients", "full"
  std::string engine;    // "known", "unknown"
  std::string accelerator;
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

  std::optional<IntervalFactors> of(const IntervalClass& asked) const;
};

/// Of a first token: the share of its time that its own prompt, and the way in and out, do not
/// explain.
double waiting_share(Seconds first_token, const PassTime& prefill, const Engine& engine);

/// The class of a prediction; `full`: as many clients as memory holds.
IntervalClass interval_class(const ServingIntervals& intervals, const Serving& serving,
                             const Load& load, bool full, std::string_view quantity);

/// data/serving/intervals.toml, or why there is none.
Result<ServingIntervals> serving_intervals_from(const Document& document);
const Result<ServingIntervals>& serving_intervals();

}  // namespace headway
