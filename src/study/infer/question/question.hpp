// What `infer` is asked, as what is served and what is to be said of it.
#pragma once

#include "run/run.hpp"
#include "study/infer/apart.hpp"
#include "study/infer/search/curve.hpp"
#include "study/infer/search/ways.hpp"

namespace headway {

struct ServingQuestion {
  Serving serving;
  Load load;
  bool best = false;                            // the best ways on `gpus` instead of one
  std::int64_t gpus = 0;                        // of the search
  SearchSpace space{};                          // that it goes through
  std::optional<CurveOf> curve;                 // what ever more load gets instead of one
  std::optional<ServingApart> apart;            // prefill and decode on accelerators of their own
  bool disaggregate = false, streamed = false;  // of the best: such ways; the cache layer by layer
  std::optional<double> goodput;  // the highest rate of which such a share keeps to the limits
};

/// Who asks from elsewhere is refused what would take minutes.
enum class Asker : std::uint8_t { whoever_runs_it, another };

/// Files of this machine: of lengths, and of moments; empty: none.
struct ServingFiles {
  std::string requests, arrivals;
};

/// What was asked by the fields of serving_fields(), or everything that is wrong with it.
Result<ServingQuestion> read_serving(const RunRequest& request, Asker asker,
                                     const ServingFiles& files = {});

/// Steps of the engine that the longest placement of requests in time takes at most.
double most_steps(const ServingQuestion& question);
/// Of those that another may ask for: some seconds.
constexpr double kMostStepsOfAnother = 3e8;

}  // namespace headway
