// What `infer` is asked, as what is served and what is to be said of it.
#pragma once

#include "run/run.hpp"
#include "study/infer/curve.hpp"

namespace headway {

struct ServingQuestion {
  Serving serving;
  Load load;
  bool best = false;             // the best ways on `gpus` instead of one
  std::int64_t gpus = 0;         // of the search
  std::optional<CurveOf> curve;  // what ever more load gets instead of one
};

/// Who asks from elsewhere is refused what would take minutes.
enum class Asker : std::uint8_t { whoever_runs_it, another };

/// What was asked by the fields of serving_fields(), or everything that is wrong with it.
Result<ServingQuestion> read_serving(const RunRequest& request, Asker asker);

/// Steps of the engine that the longest placement of requests in time takes at most.
double most_steps(const ServingQuestion& question);
/// Of those that another may ask for: some seconds.
constexpr double kMostStepsOfAnother = 3e8;

}  // namespace headway
