#include "study/infer/search/best_apart.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/divisors.hpp"
#include "study/infer/search/front.hpp"
#include "study/infer/search/splits.hpp"

namespace headway {
namespace {

// One copy, with what is asked of it again and again.
struct Copy {
  Serving serving;
  ServingMemory memory;
  StepTimes steps;
  Policy policy;
  // Of prefill and of decode: none that is as small is better in all of these, seconds.
  std::array<double, 2> as_prefill{};
  std::array<double, 5> as_decode{};
};

Copy copy_of(const Serving& serving, const ServingConstants& constants, const Load& load) {
  Copy out{serving, memory_of(serving, load.input + load.output), {}, policy_of_copy(serving)};
  const double prompt = static_cast<double>(load.input);
  if (!(out.memory.sequences_that_fit(prompt) >= 1)) return out;
  out.steps = steps_of_copy(serving, constants, load);
  const double many = std::max(
      1.0, std::floor(static_cast<double>(out.policy.most_tokens) * out.steps.ways / prompt));
  const auto prefill = [&](double prompts) {
    return out.steps.of(
               {.prompt = prompts * prompt, .pairs = prompts * prompt * prompt, .piece = prompt}) /
           prompts;
  };
  out.as_prefill = {prefill(1), prefill(many)};
  const double context = prompt + static_cast<double>(load.output) / 2;
  const double room = out.memory.sequences_that_fit(context) * static_cast<double>(serving.dp);
  double sequences = 1;
  for (double& step : out.as_decode) {
    step = sequences <= std::max(1.0, room)
               ? out.steps.of({.decoding = sequences, .cached = sequences * context})
               : INFINITY;
    sequences *= 8;
  }
  return out;
}

// Those that no other of as many accelerators is as good as in all and better in one.
template <std::size_t kCount>
std::vector<const Copy*> not_beaten(const std::vector<Copy>& all,
                                    std::array<double, kCount> Copy::*metrics) {
  std::vector<const Copy*> out;
  for (const Copy& each : all) {
    const auto beats = [&](const Copy& other) {
      if (other.serving.ranks() != each.serving.ranks()) return false;
      bool better = false;
      for (std::size_t i = 0; i < kCount; ++i) {
        if ((other.*metrics)[i] > (each.*metrics)[i]) return false;
        better = better || (other.*metrics)[i] < (each.*metrics)[i];
      }
      return better || &other < &each;  // of equals the first
    };
    if (std::none_of(all.begin(), all.end(), beats)) out.push_back(&each);
  }
  return out;
}

// A way in closed form.
struct Way {
  const Copy *prefill, *decode;
  std::int64_t prefill_copies, decode_copies, clients;
  double user, accelerator;  // tokens/s
  bool within;               // the limits
};

ServingApart apart_of_way(const Way& way, bool streamed) {
  return {way.prefill->serving, way.decode->serving, way.prefill_copies, way.decode_copies,
          streamed};
}

// One pair of pools with ever more clients, until as many are answered as can be.
std::vector<Way> ways_of(Way way, const ServingConstants& constants, const Load& asked,
                         bool streamed) {
  std::vector<Way> out;
  const ServingApart serving = apart_of_way(way, streamed);
  const Copy &p = *way.prefill, &d = *way.decode;
  const Apart apart = apart_of(serving, {p.steps, d.steps, p.policy, d.policy, p.memory, d.memory},
                               constants, asked);
  Load load = asked;
  load.arrivals = Arrivals::clients;
  const double most = rates_of(apart, load).least();
  constexpr std::int64_t kMostOfAll = 1 << 20;
  for (load.batch = 1; load.batch <= kMostOfAll; load.batch *= 2) {
    const auto closed = in_closed_form(apart, load);
    if (!closed) break;
    way.clients = load.batch;
    const double output = static_cast<double>(asked.output);
    way.user = 1 / (asked.output > 1 ? closed->each_token : closed->first_token);
    way.accelerator = closed->rate * output / static_cast<double>(serving.ranks());
    const Seconds first = Seconds(closed->first_token) + p.serving.engine.request;
    way.within = keeps_to_limits(asked, first, Seconds(closed->each_token));
    out.push_back(way);
    if (closed->rate >= 0.99 * most) break;
  }
  return out;
}

}  // namespace

std::optional<BestApart> best_apart(const Serving& base, const ServingConstants& constants,
                                    const Load& asked, std::int64_t accelerators, bool streamed,
                                    int threads, const Progress& progress) {
  // Copies of every size and split that fit.
  std::vector<ServingSplit> splits;
  for (const std::int64_t size : divisors(accelerators)) {
    if (size == accelerators) continue;
    const std::vector<ServingSplit> more = legal_splits(base, size);
    splits.insert(splits.end(), more.begin(), more.end());
  }
  std::vector<Copy> copies(splits.size());
  const bool whole = for_each_index(
      splits.size(), threads,
      [&](std::size_t i, std::size_t) {
        Serving serving = base;
        static_cast<ServingSplit&>(serving) = splits[i];
        copies[i] = copy_of(serving, constants, asked);
      },
      progress, 1);
  if (!whole) return std::nullopt;
  std::erase_if(copies, [](const Copy& copy) { return copy.steps.tokens.empty(); });

  // Every pair of them, and every number of each that makes so many.
  const std::vector<const Copy*> of_decode = not_beaten(copies, &Copy::as_decode);
  std::vector<Way> ways;
  for (const Copy* prefill : not_beaten(copies, &Copy::as_prefill)) {
    for (const Copy* decode : of_decode) {
      const std::int64_t p = prefill->serving.ranks(), d = decode->serving.ranks();
      for (std::int64_t count = 1; count * p < accelerators; ++count) {
        if ((accelerators - count * p) % d != 0) continue;
        ways.push_back({prefill, decode, count, (accelerators - count * p) / d, 1, 0, 0, true});
      }
    }
  }
  std::vector<std::vector<Way>> found(ways.size());
  if (!for_each_index(
          ways.size(), threads,
          [&](std::size_t i, std::size_t) {
            found[i] = ways_of(ways[i], constants, asked, streamed);
          },
          progress, 1)) {
    return std::nullopt;
  }
  BestApart out;
  std::vector<Way> all;
  for (const std::vector<Way>& each : found) all.insert(all.end(), each.begin(), each.end());
  out.tried = all.size();
  std::erase_if(all, [](const Way& way) { return !way.within; });

  // The best of them placed in time.
  for (const Way& way : front_of(
           all, [](const Way& w) { return w.user; }, [](const Way& w) { return w.accelerator; })) {
    ApartOffer offer{apart_of_way(way, streamed), asked, {}};
    offer.load.arrivals = Arrivals::clients;
    offer.load.batch = way.clients;
    offer.served = served(offer.apart, constants, offer.load);
    const Served& by = offer.served.all;
    if (by.fits && keeps_to_limits(asked, by.first_token, by.each_token))
      out.front.push_back(std::move(offer));
  }
  out.front = front_of(std::move(out.front));
  return out;
}

}  // namespace headway
