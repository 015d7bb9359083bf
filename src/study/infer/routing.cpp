#include "study/infer/routing.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "base/document/document.hpp"
#include "base/random/random.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

constexpr int kOrders = 64;

// What is asked again and again, of the last few questions: a pass asks one for each layer.
struct RoutingAsked {
  Routing routing;
  std::int64_t experts = 0, active = 0, ranks = 0;

  bool operator==(const RoutingAsked&) const = default;
};
template <class T>
class LastAnswers {
 public:
  template <class Make>
  const T& of(const RoutingAsked& asked, const Make& make) {
    for (const auto& [question, answer] : kept_) {
      if (question == asked) return answer;
    }
    if (kept_.size() < kMost) kept_.emplace_back();
    auto& [question, answer] = kept_[next_ % kMost];
    ++next_;
    answer = make();
    question = asked;
    return answer;
  }

 private:
  static constexpr std::size_t kMost = 32;
  std::vector<std::pair<RoutingAsked, T>> kept_;
  std::size_t next_ = 0;
};

double largest_over_mean(const std::vector<double>& of_ranks) {
  const double sum = std::accumulate(of_ranks.begin(), of_ranks.end(), 0.0);
  return *std::max_element(of_ranks.begin(), of_ranks.end()) *
         static_cast<double>(of_ranks.size()) / sum;
}

// Experts on ranks in orders by chance (Fisher and Yates), each rank as many.
double by_chance(std::vector<double> chances, std::int64_t ranks) {
  SplitMix numbers{5};
  const std::size_t each =
      std::max<std::size_t>(1, chances.size() / static_cast<std::size_t>(ranks));
  double sum = 0;
  for (int order = 0; order < kOrders; ++order) {
    for (std::size_t i = chances.size() - 1; i > 0; --i) {
      std::swap(chances[i], chances[numbers.next() % (i + 1)]);
    }
    std::vector<double> of_ranks(static_cast<std::size_t>(ranks), 0.0);
    for (std::size_t i = 0; i < chances.size(); ++i) {
      of_ranks[std::min(i / each, of_ranks.size() - 1)] += chances[i];
    }
    sum += largest_over_mean(of_ranks);
  }
  return sum / kOrders;
}

// One copy more of whichever expert's copies are busiest, `more` times; then each on the emptiest.
double by_load(const std::vector<double>& chances, std::int64_t more, std::int64_t ranks) {
  std::vector<double> copies(chances.size(), 1.0);
  for (std::int64_t i = 0; i < more; ++i) {
    std::size_t busiest = 0;
    for (std::size_t e = 1; e < chances.size(); ++e) {
      if (chances[e] / copies[e] > chances[busiest] / copies[busiest]) busiest = e;
    }
    ++copies[busiest];
  }
  std::vector<double> all;
  for (std::size_t e = 0; e < chances.size(); ++e) {
    all.insert(all.end(), static_cast<std::size_t>(copies[e]), chances[e] / copies[e]);
  }
  std::sort(all.begin(), all.end(), std::greater<>());
  std::vector<double> of_ranks(static_cast<std::size_t>(ranks), 0.0);
  std::vector<std::size_t> places(of_ranks.size(),
                                  (all.size() + of_ranks.size() - 1) / of_ranks.size());
  for (const double busy : all) {
    std::size_t to = of_ranks.size();
    for (std::size_t r = 0; r < of_ranks.size(); ++r) {
      if (places[r] > 0 && (to == of_ranks.size() || of_ranks[r] < of_ranks[to])) to = r;
    }
    of_ranks[to] += busy;
    --places[to];
  }
  return largest_over_mean(of_ranks);
}

}  // namespace

std::vector<double> chances_of(const Routing& routing, std::int64_t experts, std::int64_t active) {
  std::vector<double> weights(static_cast<std::size_t>(experts));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = std::pow(static_cast<double>(i + 1), -routing.power);
  }
  // Of each and those behind it, the smallest first: of the first less what precedes nothing would
  // be left where the first outweighs all.
  std::vector<double> behind(weights.size());
  std::partial_sum(weights.rbegin(), weights.rend(), behind.rbegin());
  // The busiest are chosen by every token; what is left is shared by the others.
  std::vector<double> out(weights.size(), 1.0);
  double left = static_cast<double>(std::min(active, experts));
  for (std::size_t i = 0; i < weights.size(); ++i, left -= 1) {
    if (left > 0 && (left * weights[i] > behind[i] || behind[i] == 0)) continue;
    for (std::size_t k = i; k < weights.size(); ++k) {
      out[k] = left > 0 ? left * weights[k] / behind[i] : 0.0;
    }
    break;
  }
  return out;
}

double chosen_experts(const Routing& routing, std::int64_t experts, std::int64_t active,
                      double tokens) {
  if (tokens <= 0) return 0;
  if (routing.power <= 0) {
    const double count = static_cast<double>(experts);
    return count * (1 - std::pow(1 - static_cast<double>(active) / count, tokens));
  }
  // Of each expert the logarithm of the chance that a token does not choose it.
  static thread_local LastAnswers<std::vector<double>> kept;
  const std::vector<double>& missed = kept.of({routing, experts, active, 1}, [&] {
    std::vector<double> out = chances_of(routing, experts, active);
    for (double& chance : out) chance = std::log1p(-chance);
    return out;
  });
  double out = 0;
  for (const double each : missed) out -= std::expm1(tokens * each);
  return out;
}

double fullest_over_mean(const Routing& routing, std::int64_t experts, std::int64_t active,
                         std::int64_t ranks) {
  if (ranks <= 1 || routing.power <= 0) return 1;
  static thread_local LastAnswers<double> kept;
  return kept.of({routing, experts, active, ranks}, [&] {
    std::vector<double> chances = chances_of(routing, experts, active);
    return routing.redundant > 0 ? by_load(chances, routing.redundant, ranks)
                                 : by_chance(std::move(chances), ranks);
  });
}

double usual_imbalance() {
  static const double read = [] {
    const auto document = embedded_document("serving/routing.toml");
    Problems problems;
    return document ? Fields(*document, problems).number("imbalance") : 0.0;
  }();
  return read;
}

}  // namespace headway
