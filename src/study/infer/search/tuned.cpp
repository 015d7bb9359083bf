#include "study/infer/search/tuned.hpp"

#include <algorithm>
#include <utility>

#include "study/infer/search/goodput.hpp"
#include "study/infer/search/splits.hpp"
#include "study/infer/steps.hpp"
#include "study/infer/summary.hpp"

namespace headway {
namespace {

constexpr std::int64_t kLeastRequests = 2'000;  // placed in time at each rate
constexpr std::int64_t kRequestsOfSequence = 3;
constexpr std::size_t kTried = 3;  // splits at random, of which the first mostly keeps to limits

struct Candidate {
  Tuned way;
  double rate = 0;  // requests a second of all copies, in closed form
};

// The highest rate whose means keep to the limits, to a hundredth; 0: none does.
double rate_in_closed_form(const Engined& engine, Load load, Seconds way_in) {
  load.arrivals = Arrivals::random;
  const auto keeps = [&](double rate) {
    load.rate = rate;
    const auto closed = in_closed_form(engine, load);
    return closed &&
           load.keeps_to_limits(Seconds(closed->first_token) + way_in, Seconds(closed->each_token));
  };
  double low = 0, high = most_rate(engine, load);
  if (!keeps(high / 100)) return 0;
  while (high - low > high / 100) {
    const double middle = (low + high) / 2;
    (keeps(middle) ? low : high) = middle;
  }
  return low;
}

// What one split makes of the load.
void add_candidates(std::vector<Candidate>& out, Serving serving, const ServingConstants& constants,
                    Load load, const std::vector<std::int64_t>& steps, double share) {
  std::optional<StepTimes> times;  // which do not hang on how many tokens a step has
  for (const std::int64_t tokens : steps) {
    serving.engine.policy.most_tokens = tokens;
    const ServingMemory memory = memory_of(serving, load);
    load.batch = static_cast<std::int64_t>(memory.sequences_that_fit(load.under_way()));
    if (load.batch < 1) continue;
    if (!times) times = step_times(serving, constants, load.input, load.output);
    const Engined engine = engine_of(serving, *times, serving.engine.policy, memory, load);
    const auto closed = in_closed_form(engine, load);
    if (!closed) continue;
    const double of_copy =
        share > 0 ? rate_in_closed_form(engine, load, serving.engine.request) : closed->rate;
    const double rate = of_copy * static_cast<double>(serving.dp);
    if (rate > 0) out.push_back({{serving, load}, rate});
  }
}

}  // namespace

std::optional<Tuned> tuned(const Serving& base, const ServingConstants& constants,
                           const Load& asked, std::int64_t accelerators,
                           const std::vector<std::int64_t>& steps, double share) {
  Load load = asked;
  load.arrivals = Arrivals::clients;
  std::vector<Candidate> candidates;
  for (const ServingSplit& split : legal_splits(base, accelerators)) {
    if (split.cp > 1) continue;  // it shortens prompts, and no rate grows by it
    Serving serving = base;
    static_cast<ServingSplit&>(serving) = split;
    add_candidates(candidates, std::move(serving), constants, load, steps, share);
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.rate > b.rate; });
  candidates.resize(std::min(candidates.size(), kTried));
  for (Candidate& each : candidates) {
    if (share == 0) return each.way;
    Load& at = each.way.load;
    at.count = std::max(kLeastRequests, kRequestsOfSequence * at.batch);
    at.rate = rate_within(each.way.serving, constants, at, share);
    at.arrivals = Arrivals::random;
    if (at.rate > 0) return each.way;
  }
  return std::nullopt;
}

}  // namespace headway
