// [SIM-53] Replicas whose steps take mu + sigma·x, x normal, drawn anew each step, i of n:
//   synchronous    mu + sigma·E[max n]
//   local-sgd      H steps between averages: mu + sigma·E[max n] / sqrt(H), for sums of H vary by
//                  sqrt(H) sigma
//   stale          step t begins when all have ended step t-1-s: end_i(t) = max(end_i(t-1), max_j
//                  end_j(t-1-s)) + x, over many steps (Ho et al. 2013)
//   gossip         the same with the d neighbours' step before (Lian et al. 2017)
// The last two have no closed form: the mean pace over 384 steps behind 128 of beginning, drawn
// from a fixed seed, within 3 % of sigma.
#include "simulate/codesign/synchronisation.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random/random.hpp"
#include "base/statistics.hpp"
#include "simulate/codesign/compression.hpp"

namespace headway {
namespace {

constexpr std::size_t kBeginning = 128, kSteps = 512;
constexpr std::int64_t kMostDrawn = 4096;  // replicas

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

// What follows of each call of gradients: any number of items.
template <class Change>
void change_gradients(Step& step, const Change& change) {
  for (StageClass& stage : step.stages) {
    std::vector<Item> items;
    for (Item& item : stage.items) {
      const auto* call = std::get_if<Call>(&item.what);
      if (call == nullptr || !carries_gradients(*call)) {
        items.push_back(std::move(item));
      } else {
        change(std::move(item), items);
      }
    }
    stage.items = std::move(items);
  }
}

}  // namespace

std::string synchronisation_problem(const Synchronisation& by, const Run& run, const Step& step) {
  if (by.by == Agreement::synchronous) return {};
  if (run.layout.dp <= 1) return "needs several replicas";
  if (!std::any_of(step.stages.begin(), step.stages.end(), sends_gradients)) {
    return "needs gradients that travel once a step (--zero 0, 1 or 2)";
  }
  if (by.by != Agreement::stale && run.layout.zero > 0) {
    return "needs weights and states whole on each replica; they are shared out (--zero 0)";
  }
  return {};
}

double waiting_of(const Synchronisation& by, std::int64_t replicas) {
  if (replicas <= 1) return 0;
  const double all = expected_maximum(static_cast<double>(replicas));
  const auto number = static_cast<double>(by.number);
  const auto drawn = static_cast<std::size_t>(std::min(replicas, kMostDrawn));
  // Beyond what is drawn the share of the largest stays as it is.
  const double of_drawn = expected_maximum(static_cast<double>(drawn));
  switch (by.by) {
    case Agreement::synchronous:
      break;
    case Agreement::local:
      return all / std::sqrt(number);
    case Agreement::stale:
      return std::clamp(stale_pace(drawn, static_cast<std::size_t>(by.number)) / of_drawn, 0.0,
                        1.0) *
             all;
    case Agreement::gossip:
      return std::clamp(gossip_pace(drawn, static_cast<std::size_t>(by.number)) / of_drawn, 0.0,
                        1.0) *
             all;
  }
  return all;
}

void without_gradients(Step& step) {
  change_gradients(step, [](Item, std::vector<Item>&) {});
}

void gradients_behind(Step& step) {
  change_gradients(step, [](Item item, std::vector<Item>& into) {
    std::get<Call>(item.what).hidden_by = HiddenBy::nothing;
    into.push_back(std::move(item));
  });
}

void to_neighbours(Step& step, std::int64_t neighbours) {
  change_gradients(step, [&](Item item, std::vector<Item>& into) {
    Call& call = std::get<Call>(item.what);
    call.op = CollectiveOp::send_receive;
    call.count *= static_cast<double>(neighbours);
    into.push_back(std::move(item));
  });
}

}  // namespace headway
