#include "study/infer/search/best_apart.hpp"

#include <algorithm>
#include <cmath>

#include "base/divisors.hpp"
#include "study/infer/search/binding.hpp"
#include "study/infer/search/front.hpp"
#include "study/infer/search/splits.hpp"
#include "study/infer/summary.hpp"

namespace headway {
namespace {

// One copy, with what is asked of it again and again.
struct Copy {
  Serving serving;
  ServingMemory memory;
  StepTimes steps;
  Policy policy;
  // Of prefill and of decode: one that no other of as many accelerators is as good as in all of
  // these, less being better.
  std::vector<double> as_prefill, as_decode;
  bool prefills = false, decodes = false;  // it holds a prompt, a whole sequence

  // As its requests see it.
  Engined engine(const Load& load) const {
    return engine_of(serving, steps, policy, memory, load, static_cast<double>(serving.dp));
  }
};

void add_metrics(Copy& copy, const Load& load) {
  const Engined engine = copy.engine(load);
  const Serving& serving = copy.serving;
  const PromptTimes prompts = prompt_times(engine, load);
  // Of ranks that send or take a cache more are better, and less of it.
  const double ranks = static_cast<double>(ranks_of_attention(serving));
  copy.as_prefill = {prompts.alone, prompts.together, -ranks, -static_cast<double>(serving.dp)};
  const double context = static_cast<double>(load.input) + static_cast<double>(load.output) / 2;
  const double most = std::max(1.0, most_decoding(engine, load));
  copy.as_decode = {-most, -ranks, ranks * copy.memory.cache_of_token.value(),
                    ranks * copy.memory.state_of_sequence.value()};
  for (const double sequences : copy.steps.tokens) {
    copy.as_decode.push_back(
        sequences <= most ? copy.steps.of({.decoding = sequences, .cached = sequences * context})
                          : INFINITY);
  }
}

// One split with steps of every size, where at least a prompt has room.
std::vector<Copy> copies_of(const Serving& base, const ServingConstants& constants,
                            const Load& load, const SearchSpace& space) {
  std::vector<Copy> out;
  Copy copy{base, {}, {}, {}, {}, {}};
  for (const std::int64_t tokens : step_sizes(base, space, load)) {
    copy.serving.engine.policy.most_tokens = tokens;
    copy.memory = memory_of(copy.serving, load);
    copy.prefills = holds_prompt(copy.memory, load);
    copy.decodes = holds_sequence(copy.memory, load);
    if (!copy.prefills) continue;
    if (copy.steps.tokens.empty()) copy.steps = steps_of_copy(base, constants, load);
    copy.policy = policy_of_copy(copy.serving);
    add_metrics(copy, load);
    out.push_back(copy);
  }
  return out;
}

// Of those that fit the ones that no other of as many accelerators is as good as in all and better
// in one.
std::vector<const Copy*> not_beaten(const std::vector<Copy>& all, bool Copy::*fits,
                                    std::vector<double> Copy::*metrics) {
  std::vector<const Copy*> out;
  for (const Copy& each : all) {
    if (!(each.*fits)) continue;
    const std::vector<double>& own = each.*metrics;
    const auto beats = [&](const Copy& other) {
      if (!(other.*fits) || other.serving.ranks() != each.serving.ranks()) return false;
      bool better = false;
      for (std::size_t i = 0; i < own.size(); ++i) {
        if ((other.*metrics)[i] > own[i]) return false;
        better = better || (other.*metrics)[i] < own[i];
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
  constexpr double kMostOfAll = 1 << 20;
  const double way_in = p.serving.engine.request.value();
  for (const ClientsApart& each : clients_apart(apart, asked, way_in, kMostOfAll)) {
    way.clients = each.clients;
    const double output = static_cast<double>(asked.output);
    const double first = each.closed.first_token + way_in;
    way.user = 1 / (asked.output > 1 ? each.closed.each_token : first);
    way.accelerator = each.rate * output / static_cast<double>(serving.ranks());
    way.within = asked.keeps_to_limits(Seconds(first), Seconds(each.closed.each_token));
    out.push_back(way);
  }
  return out;
}

// Copies of every size and split in one format, that fit; nothing where it was stopped.
std::optional<std::vector<Copy>> all_copies(const Serving& base, const ServingConstants& constants,
                                            const Load& asked, const SearchSpace& space,
                                            std::int64_t accelerators, int threads,
                                            const Progress& progress) {
  std::vector<ServingSplit> splits;
  for (const std::int64_t size : divisors(accelerators)) {
    if (size == accelerators) continue;
    const std::vector<ServingSplit> more = legal_splits(base, size);
    splits.insert(splits.end(), more.begin(), more.end());
  }
  std::vector<std::vector<Copy>> found(splits.size());
  const bool whole = for_each_index(
      splits.size(), threads,
      [&](std::size_t i, std::size_t) {
        Serving serving = base;
        static_cast<ServingSplit&>(serving) = splits[i];
        found[i] = copies_of(serving, constants, asked, space);
      },
      progress, 1);
  if (!whole) return std::nullopt;
  std::vector<Copy> out;
  for (std::vector<Copy>& each : found) {
    std::move(each.begin(), each.end(), std::back_inserter(out));
  }
  return out;
}

// Every pair of copies, and every number of each that makes so many.
std::vector<Way> pairs_of(const std::vector<Copy>& copies, std::int64_t accelerators) {
  const std::vector<const Copy*> of_decode = not_beaten(copies, &Copy::decodes, &Copy::as_decode);
  std::vector<Way> out;
  for (const Copy* prefill : not_beaten(copies, &Copy::prefills, &Copy::as_prefill)) {
    for (const Copy* decode : of_decode) {
      const std::int64_t p = prefill->serving.ranks(), d = decode->serving.ranks();
      for (std::int64_t count = 1; count * p < accelerators; ++count) {
        if ((accelerators - count * p) % d != 0) continue;
        out.push_back({prefill, decode, count, (accelerators - count * p) / d, 1, 0, 0, true});
      }
    }
  }
  return out;
}

}  // namespace

std::vector<ClientsApart> clients_apart(const Apart& apart, const Load& asked, double way,
                                        double most) {
  constexpr double kNearly = 0.99;
  Load load = asked;
  load.arrivals = Arrivals::clients;
  const double can = rates_of(apart, load).least();
  std::vector<ClientsApart> out;
  for (load.batch = 1; static_cast<double>(load.batch) <= most; load.batch *= 2) {
    const auto closed = in_closed_form(apart, load);
    if (!closed || !(closed->rate > 0)) break;
    const double rate = rate_with_way(static_cast<double>(load.batch), closed->rate, way);
    out.push_back({load.batch, *closed, rate});
    if (rate >= kNearly * can) break;
  }
  return out;
}

Result<BestApart> best_apart(const Serving& base, const ServingConstants& constants,
                             const Load& asked, const SearchSpace& space, std::int64_t accelerators,
                             bool streamed, const Division& division, int threads,
                             const Progress& progress) {
  const Problem stopped{"infer", "was stopped", Trouble::stopped};
  const std::vector<ServingFormats> formats = space.formats_of_all(base);
  std::vector<std::vector<Copy>> copies;  // of each format; ways refer to them
  std::vector<Way> pairs;
  for (const ServingFormats& each : formats) {
    Serving serving = base;
    set_formats(serving, each);
    auto made = all_copies(serving, constants, asked, space, accelerators, threads, progress);
    if (!made) return stopped;
    copies.push_back(std::move(*made));
    const std::vector<Way> more = pairs_of(copies.back(), accelerators);
    pairs.insert(pairs.end(), more.begin(), more.end());
  }
  std::vector<std::vector<Way>> found(pairs.size());
  if (!for_each_index(
          pairs.size(), threads,
          [&](std::size_t i, std::size_t) {
            found[i] = ways_of(pairs[i], constants, asked, streamed);
          },
          progress, 1)) {
    return stopped;
  }
  BestApart out;
  std::vector<Way> all;
  for (const std::vector<Way>& each : found) all.insert(all.end(), each.begin(), each.end());
  out.tried = all.size();
  if (all.empty()) out.would_fit = enough_accelerators_apart(base, asked, space, accelerators);
  std::erase_if(all, [](const Way& way) { return !way.within; });

  // The best of them placed in time.
  const std::vector<Way> front = front_of(
      all, [](const Way& way) { return way.user; }, [](const Way& way) { return way.accelerator; });
  const auto place = [&](std::size_t i) -> std::optional<ApartOffer> {
    ApartOffer offer{.apart = apart_of_way(front[i], streamed), .load = asked};
    offer.load.arrivals = Arrivals::clients;
    offer.load.batch = front[i].clients;
    offer.served = served(offer.apart, constants, offer.load);
    const Served& by = offer.served.all;
    const bool held = by.fits && keeps_to_limits(asked, by);
    return held ? std::optional(std::move(offer)) : std::nullopt;
  };
  auto placed = placed_front<ApartOffer>(front.size(), place, division, threads, progress);
  if (!placed) return placed.problems();
  out.placed = front.size();
  out.front = std::move(placed).value();
  for (ApartOffer& offer : out.front) {
    offer.intervals = intervals_of(offer.apart, constants, offer.load, offer.served.all);
    offer.bounds = bound_shares(offer.apart, constants, offer.load, offer.served);
  }
  return out;
}

}  // namespace headway
