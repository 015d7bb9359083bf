#include "study/infer/search/ways.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "study/infer/search/splits.hpp"
#include "study/infer/steps.hpp"
#include "study/infer/summary.hpp"

namespace headway {
namespace {

constexpr std::int64_t kMostClients = 1024;
constexpr std::int64_t kSmallestStep = 256, kLargestStep = 16'384;

// How many clients a way can have: half of them at least inside.
std::int64_t most_clients(const Serving& serving, const ServingMemory& memory, const Load& load) {
  const Policy& policy = serving.engine.policy;
  const double output = static_cast<double>(load.output);
  const double held = static_cast<double>(load.input) + (policy.reserve ? output : output / 2);
  const double most =
      std::min(policy.most_at_a_time(static_cast<double>(serving.pp),
                                     static_cast<double>(drafting_of(serving).length + 1)),
               memory.sequences_that_fit(held));
  if (most < 1 || !holds_sequence(memory, load)) return 0;
  return std::min(kMostClients, static_cast<std::int64_t>(2 * most));
}

WaySpeeds speeds_of(const Fluid& by, const ServingWay& way, const Load& asked, double way_in) {
  WaySpeeds out{.first_token = Seconds(by.first_token + way_in),
                .each_token = Seconds(by.each_token)};
  out.user = 1 / (asked.output > 1 ? out.each_token : out.first_token).value();
  const double rate = rate_with_way(static_cast<double>(way.clients), by.rate, way_in);
  out.accelerator = rate * static_cast<double>(asked.output * way.split.dp) /
                    static_cast<double>(way.split.ranks());
  return out;
}

// The more of each, or the less.
WaySpeeds faster_of(const WaySpeeds& a, const WaySpeeds& b) {
  return {std::max(a.user, b.user), std::max(a.accelerator, b.accelerator),
          std::min(a.first_token, b.first_token), std::min(a.each_token, b.each_token)};
}
WaySpeeds slower_of(const WaySpeeds& a, const WaySpeeds& b) {
  return {std::min(a.user, b.user), std::min(a.accelerator, b.accelerator),
          std::max(a.first_token, b.first_token), std::max(a.each_token, b.each_token)};
}

// [INFER-30] Between powers of two, where limits decide how many there are: as fast for a user as
// the fewer, with as much made as by twice as many.
std::vector<ServingWay> between(const std::vector<ServingWay>& ways) {
  std::vector<ServingWay> out;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (ways[i].clients == 1 || ways[i].clients == kMostClients) continue;
    ServingWay way = ways[i];
    way.fills = true;
    way.slow = {};
    way.fast.accelerator = i + 1 < ways.size() && ways[i + 1].clients > way.clients
                               ? ways[i + 1].fast.accelerator
                               : 2 * way.fast.accelerator;
    out.push_back(std::move(way));
  }
  return out;
}

// One split in one format.
std::vector<ServingWay> ways_of_split(Serving serving, const ServingConstants& constants,
                                      const Load& asked, const SearchSpace& space) {
  std::vector<ServingWay> out;
  std::shared_ptr<const StepTimes> steps;  // which do not hang on how many tokens a step has
  for (const std::int64_t tokens : step_sizes(serving, space, asked)) {
    serving.engine.policy.most_tokens = tokens;
    const ServingMemory memory = memory_of(serving, asked);
    const std::int64_t most = most_clients(serving, memory, asked);
    if (most == 0) continue;
    if (steps == nullptr) {
      steps = std::make_shared<const StepTimes>(
          step_times(serving, constants, asked.input, asked.output));
    }
    const Engined engine = engine_of(serving, *steps, serving.engine.policy, memory, asked);
    ServingWay way{.split = serving, .formats = formats_of(serving), .step_tokens = tokens};
    way.steps = steps;
    const double way_in = serving.engine.request.value();
    way.least_first = Seconds(prompt_times(engine, asked).alone + way_in);
    for (way.clients = 1; way.clients <= most; way.clients *= 2) {
      const Load load = load_of_way(asked, way);
      const auto closed = in_closed_form(engine, load);
      if (!closed || !(closed->rate > 0)) break;
      way.drawn = way.slow = way.fast = speeds_of(*closed, way, asked, way_in);
      if (asked.is_alike()) {
        const WaySpeeds together = speeds_of(in_step(engine, load), way, asked, way_in);
        way.slow = slower_of(way.drawn, together);
        way.fast = faster_of(way.drawn, together);
      }
      out.push_back(way);
    }
  }
  if (asked.has_limits()) {
    const std::vector<ServingWay> more = between(out);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

}  // namespace

ServingFormats formats_of(const Serving& serving) {
  return {serving.weights, serving.stored, serving.cache};
}

void set_formats(Serving& serving, const ServingFormats& formats) {
  serving.weights = formats.weights;
  serving.stored = formats.stored;
  serving.cache = formats.cache;
}

std::vector<std::int64_t> step_sizes(const Serving& serving, const SearchSpace& space,
                                     const Load& load) {
  const Policy& policy = serving.engine.policy;
  std::vector<std::int64_t> out = {policy.most_tokens};
  if (!space.step_tokens) return out;
  for (std::int64_t tokens = kSmallestStep; tokens <= kLargestStep; tokens *= 2) {
    if (tokens == policy.most_tokens || (policy.whole_prompts && tokens < load.input)) continue;
    out.push_back(tokens);
  }
  return out;
}

Serving serving_of_way(const Serving& base, const ServingWay& way) {
  Serving out = base;
  static_cast<ServingSplit&>(out) = way.split;
  set_formats(out, way.formats);
  out.engine.policy.most_tokens = way.step_tokens;
  return out;
}

Load load_of_way(const Load& asked, const ServingWay& way) {
  Load out = asked;
  out.arrivals = Arrivals::clients;
  out.batch = way.clients;
  return out;
}

std::optional<std::vector<ServingWay>> ways_of_serving(const Serving& base,
                                                       const ServingConstants& constants,
                                                       const Load& asked, const SearchSpace& space,
                                                       std::int64_t accelerators, int threads,
                                                       const Progress& progress) {
  const std::vector<ServingFormats> formats = space.formats_of_all(base);
  Serving first = base;
  set_formats(first, formats.front());
  const std::vector<ServingSplit> splits = legal_splits(first, accelerators);
  std::vector<std::vector<ServingWay>> found(splits.size() * formats.size());
  const bool whole = for_each_index(
      found.size(), threads,
      [&](std::size_t i, std::size_t) {
        Serving serving = base;
        static_cast<ServingSplit&>(serving) = splits[i / formats.size()];
        set_formats(serving, formats[i % formats.size()]);
        found[i] = ways_of_split(std::move(serving), constants, asked, space);
      },
      progress, 1);
  if (!whole) return std::nullopt;
  std::vector<ServingWay> out;
  for (const std::vector<ServingWay>& each : found) out.insert(out.end(), each.begin(), each.end());
  return out;
}

std::optional<std::int64_t> enough_accelerators(const Serving& base, const Load& asked,
                                                const SearchSpace& space,
                                                std::int64_t accelerators) {
  const std::vector<ServingFormats> formats = space.formats_of_all(base);
  const auto fits = [&](Serving each) {
    for (const std::int64_t tokens : step_sizes(each, space, asked)) {
      each.engine.policy.most_tokens = tokens;
      if (most_clients(each, memory_of(each, asked), asked) > 0) return true;
    }
    return false;
  };
  const std::int64_t most = std::min(kMostEnough, base.cluster.accelerators);
  for (std::int64_t more = 2 * accelerators; more <= most; more *= 2) {
    for (const ServingFormats& format : formats) {
      Serving each = base;
      set_formats(each, format);
      for (const ServingSplit& split : legal_splits(each, more)) {
        static_cast<ServingSplit&>(each) = split;
        if (fits(each)) return more;
      }
    }
  }
  return std::nullopt;
}

// [INFER-30] Both speeds of the closed form are within a fifth of those placed in time for most
// ways; of pipelines, whose stages share prompts that come together, down to two thirds. Where
// requests are alike, clients may stay in step or be drawn apart: a way is as fast as the better of
// both, and beats others by the worse. The first token of clients that began together may take
// three times as long, and where more wait than it thinks, less. Ways that may miss a limit hide
// none that may keep to it.
std::vector<std::size_t> worth_placing(const std::vector<ServingWay>& ways, const Load& asked) {
  constexpr double kSpeeds = 1.2, kOfPipelines = 1.5, kTogether = 3, kEach = 1.5;
  constexpr std::size_t kMostPlaced = 3000;
  const auto order_by = [&](WaySpeeds ServingWay::*of) {
    std::vector<std::size_t> out(ways.size());
    std::iota(out.begin(), out.end(), std::size_t{0});
    std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
      return (ways[a].*of).user > (ways[b].*of).user;
    });
    return out;
  };
  const std::vector<std::size_t> order = order_by(&ServingWay::fast),
                                 slowest = order_by(&ServingWay::slow);
  // The most that ways make which are faster by a factor than the one that is looked at.
  struct Faster {
    const std::vector<std::size_t>& order;
    WaySpeeds ServingWay::*of;
    double factor = 1, most = 0;
    std::size_t seen = 0;
  };
  Faster faster{slowest, &ServingWay::slow, kSpeeds};
  Faster than_pipelines{slowest, &ServingWay::slow, kOfPipelines};
  Faster as_fast{order, &ServingWay::fast};
  const auto look = [&](Faster& at, double user, double first, double each) {
    for (; at.seen < ways.size(); ++at.seen) {
      const WaySpeeds& way = ways[at.order[at.seen]].*at.of;
      if (way.user < at.factor * user) return;
      if (!asked.keeps_to_limits(first * way.first_token, each * way.each_token)) continue;
      at.most = std::max(at.most, way.accelerator);
    }
  };
  struct Candidate {
    std::size_t place;
    double from_front;  // of the closed form, in the logarithm of what is made
  };
  std::vector<Candidate> kept;
  for (const std::size_t place : order) {
    const ServingWay& way = ways[place];
    const WaySpeeds& speeds = way.fast;
    look(faster, speeds.user, kTogether, kEach);
    look(than_pipelines, speeds.user, kTogether, kEach);
    look(as_fast, speeds.user, 1, 1);
    const Faster& by = way.split.pp > 1 ? than_pipelines : faster;
    if (!asked.keeps_to_limits(way.least_first, speeds.each_token / kEach)) continue;
    if (by.most >= by.factor * speeds.accelerator) continue;
    kept.push_back({place, std::abs(std::log(as_fast.most / speeds.accelerator))});
  }
  std::stable_sort(kept.begin(), kept.end(), [](const Candidate& a, const Candidate& b) {
    return a.from_front < b.from_front;
  });
  kept.resize(std::min(kept.size(), kMostPlaced));
  std::vector<std::size_t> out;
  for (const Candidate& each : kept) out.push_back(each.place);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace headway
