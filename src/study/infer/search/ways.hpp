// Ways of serving in closed form: thousands a second, of which the best are then placed in time.
#pragma once

#include <memory>
#include <vector>

#include "platform/parallel.hpp"
#include "study/infer/serving.hpp"

namespace headway {

/// How weights and cache lie in memory, and in what products compute.
struct ServingFormats {
  const Recipe* weights = nullptr;
  const WeightFormat* stored = nullptr;
  const CacheFormat* cache = nullptr;
};
ServingFormats formats_of(const Serving& serving);
void set_formats(Serving& serving, const ServingFormats& formats);

/// What a search goes through beside splits and clients.
struct SearchSpace {
  std::vector<ServingFormats> formats{};  // legal ones; empty: those of the serving
  bool step_tokens = true;                // of a step at most; else those of its engine

  std::vector<ServingFormats> formats_of_all(const Serving& base) const {
    return formats.empty() ? std::vector<ServingFormats>{formats_of(base)} : formats;
  }
};

/// Tokens of a step that are tried: the engine's own first, then powers of two from 256 to 16,384
/// that take in at least a prompt where the engine cuts none.
std::vector<std::int64_t> step_sizes(const Serving& serving, const SearchSpace& space,
                                     const Load& load);

/// Requests a second of so many clients, each of whom waits for its way in and out beside the
/// `closed` rate [INFER-17]; seconds of that way.
inline double rate_with_way(double clients, double closed, double way_in) {
  return clients / (clients / closed + way_in);
}

/// Tokens/s, as Offer has them, and what limits hold for.
struct WaySpeeds {
  double user = 0, accelerator = 0;
  Seconds first_token{}, each_token{};
};

/// One way with so many clients of each copy, in closed form [INFER-17].
struct ServingWay {
  ServingSplit split{};
  ServingFormats formats{};
  std::int64_t step_tokens = 0, clients = 0;
  bool fills = false;  // with the most clients that keep to the limits, from these to twice as many
  WaySpeeds drawn{};   // clients whose beginnings lie apart
  WaySpeeds slow{},
      fast{};  // each of the least and the most of these and of clients that stay in step
  Seconds least_first{};  // of a prompt with nobody beside it
  std::shared_ptr<const StepTimes>
      steps{};  // at these lengths, of all ways of the split and format
};
/// The serving that it is, and the load.
Serving serving_of_way(const Serving& base, const ServingWay& way);
Load load_of_way(const Load& asked, const ServingWay& way);

/// [INFER-30] Every legal split that makes `accelerators`, in every format, with steps of every
/// size and 1, 2, 4, ... clients as long as memory holds half of them (1,024 at most). Nothing
/// where the search was stopped.
std::optional<std::vector<ServingWay>> ways_of_serving(const Serving& base,
                                                       const ServingConstants& constants,
                                                       const Load& asked, const SearchSpace& space,
                                                       std::int64_t accelerators, int threads,
                                                       const Progress& progress);

/// Accelerators that are looked at to say how many would do.
constexpr std::int64_t kMostEnough = 4096;
/// Of twice as many accelerators, four times ... up to what the cluster has, or kMostEnough, the
/// first on which some way fits; nothing where none does.
std::optional<std::int64_t> enough_accelerators(const Serving& base, const Load& asked,
                                                const SearchSpace& space,
                                                std::int64_t accelerators);

/// Places in the list, rising: what may be on the front, were it placed in time. Left out are ways
/// that another beats in both speeds by more than the closed form errs, and those that cannot keep
/// to the limits.
std::vector<std::size_t> worth_placing(const std::vector<ServingWay>& ways, const Load& asked);

}  // namespace headway
