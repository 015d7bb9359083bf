// [SIM-53] Replicas whose steps take mu + sigma·x, x normal, drawn anew each step, i of n:
//   every-step  mu + sigma·E[max n]
//   seldom      H steps between meetings: mu + sigma·E[max n] / sqrt(H), for sums of H vary by
//               sqrt(H) sigma
//   late        step t begins when all have ended step t-1-s: end_i(t) = max(end_i(t-1), max_j
//               end_j(t-1-s)) + x, over many steps (Ho et al. 2013)
//   neighbours  the same with the d neighbours' step before (Lian et al. 2017); nobody waits for
//               them where the exchange runs beside steps (Lian et al. 2018)
//   never       mu
// The two of them that wait each step have no closed form: the mean pace over 384 steps behind 128
// of beginning, drawn from a fixed seed, within 3 % of sigma.
#include "step/methods/waiting.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/random/random.hpp"
#include "base/statistics.hpp"
#include "platform/memo.hpp"

namespace headway {
namespace {

constexpr std::size_t kBeginning = 128, kSteps = 512;
constexpr std::int64_t kMostDrawn = 4096;  // replicas
constexpr std::int64_t kMostBound = 64;    // steps; beyond it next to nobody waits

// Normal numbers, the same everywhere.
class Normal {
 public:
  double next() {
    const double u = uniform();
    return normal_of(u, uniform());
  }

 private:
  double uniform() { return (static_cast<double>(numbers_.next() >> 11U) + 0.5) * 0x1p-53; }
  SplitMix numbers_{20'241'124};
};

// Mean pace over many steps of workers that take a mean of 0 and a deviation of 1. A step waits for
// what `latest(worker, step)` says.
template <class Latest>
double pace(std::size_t workers, std::size_t behind, const Latest& latest) {
  Normal normal;
  std::vector<std::vector<double>> ends(behind + 1, std::vector<double>(workers, 0));
  std::vector<double> now(workers, 0);
  double from = 0;
  for (std::size_t step = 0; step < kSteps; ++step) {
    // The ends of the steps before, the last one first.
    std::rotate(ends.begin(), ends.end() - 1, ends.end());
    ends.front() = now;
    const double all = *std::max_element(ends.back().begin(), ends.back().end());
    for (std::size_t i = 0; i < workers; ++i) {
      now[i] = std::max(ends.front()[i], latest(ends.front(), i, all)) + normal.next();
    }
    const double mean_end = mean(now).value_or(0);
    if (step + 1 == kBeginning) from = mean_end;
    if (step + 1 == kSteps) return (mean_end - from) / static_cast<double>(kSteps - kBeginning);
  }
  return 0;
}

double stale_pace(std::size_t workers, std::size_t bound) {
  return pace(workers, bound,
              [](const std::vector<double>&, std::size_t, double all) { return all; });
}

double gossip_pace(std::size_t workers, std::size_t neighbours) {
  return pace(workers, 0, [&](const std::vector<double>& ends, std::size_t i, double) {
    double out = ends[i];
    for (std::size_t k = 1; k <= std::min(neighbours, workers - 1); ++k) {
      const std::size_t hop = (k + 1) / 2;  // on one side and the other in turn
      out = std::max(out, ends[(i + (k % 2 == 1 ? hop : workers - hop % workers)) % workers]);
    }
    return out;
  });
}

// As a share of the largest of so many. Beyond what is drawn that share stays as it is.
double drawn_share(bool late, std::int64_t number, std::int64_t replicas) {
  static Memo<double> kept;
  const std::int64_t drawn = std::min(replicas, kMostDrawn);
  const std::int64_t bound = std::min(number, kMostBound);
  const std::string name =
      (late ? "late " : "gossip ") + std::to_string(bound) + " of " + std::to_string(drawn);
  return kept.of(name, [&] {
    const auto workers = static_cast<std::size_t>(drawn), of = static_cast<std::size_t>(bound);
    const double found = late ? stale_pace(workers, of) : gossip_pace(workers, of);
    return std::clamp(found / expected_maximum(static_cast<double>(drawn)), 0.0, 1.0);
  });
}

}  // namespace

double waiting_part(const Method& method, std::int64_t replicas) {
  if (replicas <= 1) return 1;
  switch (method.meeting) {
    case Meeting::every_step:
      return 1;
    case Meeting::seldom:
      return 1 / std::sqrt(static_cast<double>(method.every));
    case Meeting::late:
      return method.delay == 0 ? 1 : drawn_share(true, method.delay, replicas);
    case Meeting::neighbours:
      return method.delay > 0 ? 0 : drawn_share(false, method.neighbours, replicas);
    case Meeting::never:
      return 0;
  }
  return 1;
}

}  // namespace headway
