#include "study/infer/load/closed.hpp"

#include <algorithm>
#include <cmath>

namespace headway {
namespace {

// Of lengths: mean, and mean of their squares over that of the mean.
struct Moments {
  double mean = 0, squared = 1;
};
Moments moments_of(const LengthSpread& spread, std::int64_t nominal) {
  return {static_cast<double>(nominal) * spread.mean(), spread.squares()};
}
Moments moments_of(const std::vector<Listed>& listed, std::int64_t Listed::*length) {
  double sum = 0, squares = 0;
  for (const Listed& each : listed) {
    const double tokens = static_cast<double>(each.*length);
    sum += tokens;
    squares += tokens * tokens;
  }
  const double count = static_cast<double>(listed.size());
  return {sum / count, squares * count / (sum * sum)};
}

// The engine with requests of mean lengths.
class Steady {
 public:
  /// `prompts`: they pass here, too; else what decodes has steps to itself.
  Steady(const Engined& engine, const Load& load, bool prompts = true) : engine_(engine) {
    const bool listed = load.lists_lengths();
    const Moments in = listed ? moments_of(*load.listed, &Listed::input)
                              : moments_of(load.input_spread, load.input);
    const Moments out = listed ? moments_of(*load.listed, &Listed::output)
                               : moments_of(load.output_spread, load.output);
    input_ = in.mean;
    hit_ = load.prefix_hit * in.mean;
    // Pairs of a prompt go as its length squared; of answers longer ones are longer in the cache.
    pairs_ = (in.squared - load.prefix_hit * load.prefix_hit * in.squared) * in.mean * in.mean;
    context_ = in.mean + out.mean * out.squared / 2;
    passes_ = std::max(0.0, out.mean - 1) / engine.guesses.made();
    const double held = engine.policy.reserve ? in.mean + out.mean : context_;
    most_ = std::min(engine.policy.most_at_a_time(engine.steps.ways(), engine.steps.checked),
                     engine.room / held);
    // Of the tokens of a step prompts have their share: as many come in as go out answered.
    const double all = static_cast<double>(engine.policy.most_tokens) * engine.steps.ways();
    if (prompts && !engine.policy.prompts_first && !engine.policy.whole_prompts) {
      most_ = std::min(most_, all * passes_ / (computed() + passes_ * engine.steps.checked));
    }
  }

  double computed() const { return input_ - hit_; }  // tokens of a prompt
  double input() const { return input_; }
  double passes() const { return passes_; }  // after the first token
  double most() const { return most_; }      // sequences at a time
  bool prompts_first() const { return engine_.policy.prompts_first; }
  bool has_ways() const { return engine_.steps.ways() > 1; }  // prompts of a step lie in others
  // [INFER-10] Steps until the next look at new requests, in the mean.
  double to_look() const { return static_cast<double>(engine_.policy.polls - 1) / 2; }

  // [INFER-10] Steps that a prompt waits for more of them, in the mean: the first of them until
  // there are enough, or so long, those that come meanwhile half of that.
  double to_gather(double arrivals_a_step, double decoding) const {
    const Policy& policy = engine_.policy;
    if (policy.gathers == 0 || arrivals_a_step <= 0) return 0;
    const double all =
        policy.gathered * static_cast<double>(policy.most_tokens) * engine_.steps.ways();
    const double prompts = (all - decoding * engine_.steps.checked) / computed();
    const double others = std::max(0.0, std::ceil(prompts) - 1);
    const double first = std::min(static_cast<double>(policy.gathers), others / arrivals_a_step);
    const double meanwhile = arrivals_a_step * first;
    return first * (1 + meanwhile / 2) / (1 + meanwhile);
  }

  // A step of so many sequences that decode and so many prompts.
  double step(double decoding, double prompts) const {
    StepLoad load{.decoding = decoding, .cached = decoding * context_};
    if (prompts > 0) {
      load.prompt = prompts * computed();
      load.prompts = prompts;
      load.pairs = prompts * pairs_;
      const double most = engine_.policy.whole_prompts ? computed() : left_in_a_way(decoding);
      load.piece = std::min({load.prompt, computed(), most});
    }
    return engine_.steps.of(load);
  }
  // What one prompt adds to the steps it is in; more than one step has a part each.
  double prompt(double decoding) const {
    const double parts = pieces(decoding);
    if (engine_.policy.prompts_first || decoding == 0) return parts * step(0, 1 / parts);
    // Kernels of a few rows more may take no longer.
    return parts * std::max(0.0, step(decoding, 1 / parts) - step(decoding, 0));
  }
  // [INFER-18] Seconds from the end of these until the last piece of a prompt is through.
  double emptying(double decoding) const {
    const double stages = engine_.steps.stages;
    if (engine_.policy.whole_prompts || stages <= 1) return 0;
    if (engine_.policy.prompts_first) decoding = 0;
    const double passes = std::ceil(computed() / left_in_a_way(decoding));
    if (passes <= 1) return 0;
    const double steps = pieces(decoding), piece = computed() / passes, before = input_ - piece;
    const double last = engine_.steps.of({.decoding = decoding,
                                          .cached = decoding * context_,
                                          .prompt = piece,
                                          .pairs = input_ * input_ - before * before,
                                          .piece = piece});
    const double in_last_step = passes - (steps - 1) * stages;
    return engine_.steps.emptying(step(decoding, 1 / steps), in_last_step, last, last);
  }
  // Seconds of a prompt that nobody is beside.
  double prompt_alone() const { return prompt(0) + emptying(0); }
  // Steps that a prompt takes beside so many that decode, each with pieces in all stages.
  double pieces(double decoding) const {
    if (engine_.policy.whole_prompts) return 1;
    const double most = left_in_a_way(decoding) * engine_.steps.stages;
    return std::max(1.0, std::ceil(computed() / most));
  }
  // Tokens of prompts that a step has room for, of all ways together.
  double tokens_left(double decoding) const {
    const double all = static_cast<double>(engine_.policy.most_tokens) * engine_.steps.ways();
    if (engine_.policy.prompts_first) return all;
    return std::max(1.0, all - decoding * engine_.steps.checked);
  }
  // Prompts of a step that has nothing else.
  double prompts_together() const {
    const double out = tokens_left(0) / computed();
    return engine_.policy.whole_prompts ? std::max(1.0, std::floor(out)) : out;
  }
  double left_in_a_way(double decoding) const {
    return std::max(1.0, tokens_left(decoding) / engine_.steps.ways());
  }
  // The mean step where `rate` prompts come a second: with less than one a step some have none.
  double mean_step(double decoding, double rate) const {
    if (has_ways() && !prompts_first()) return mean_step_of_ways(decoding, rate);
    const double alone = step(decoding, 0), more = prompt(decoding);
    if (rate * more >= 1) return INFINITY;
    const double sparse = alone / (1 - rate * more), parts = pieces(decoding);
    if (rate * parts * sparse <= 1 || prompts_first()) return sparse;
    return settled(sparse,
                   [&](double each) { return step(decoding, std::max(1 / parts, rate * each)); });
  }

 private:
  // [INFER-18] Prompts of one step lie in different micro-batches and take no longer than one: what
  // counts is how many steps have any, of those that come at random moments 1 - exp(-n).
  double mean_step_of_ways(double decoding, double rate) const {
    const double alone = step(decoding, 0), parts = pieces(decoding);
    const double most = tokens_left(decoding) / computed();  // prompts of a step
    const double mean = settled(alone, [&](double each) {
      const double prompts = std::min(most, rate * each);
      const double with = -std::expm1(-prompts * parts);
      if (with <= 0) return alone;
      return (1 - with) * alone + with * step(decoding, std::max(1 / parts, prompts / with));
    });
    return rate * mean < most ? mean : INFINITY;
  }

  // The step that follows from itself: two tries, and where they lead if each goes on by the same
  // part of the one before (Aitken).
  template <class Next>
  static double settled(double step, const Next& next) {
    for (int i = 0; i < 15; ++i) {
      const double once = next(step), twice = next(once);
      if (std::abs(twice - once) <= 1e-9 * twice) return twice;
      const double part = (twice - once) / (once - step);
      step = part < 1 ? twice + (twice - once) * part / (1 - part) : twice;
    }
    return step;
  }

  const Engined& engine_;
  double input_ = 0, hit_ = 0, pairs_ = 0, context_ = 0, passes_ = 0, most_ = 0;
};

// The sequences b, from 0 to `most`, that `wanted(b)` is b of, where it grows; nothing where it is
// more than `most` there. Secants, within what is known to hold it.
template <class Wanted>
std::optional<double> balanced(double most, const Wanted& wanted) {
  double low = 0, high = most, above = wanted(high) - high, below = wanted(low);
  if (!(above <= 0)) return std::nullopt;
  for (int i = 0; i < 60 && high - low > 1e-9 * high; ++i) {
    double at = low + (high - low) * below / (below - above);
    // Where secants come near from one side alone, halves.
    if (i % 3 == 2 || !(at > low && at < high)) at = (low + high) / 2;
    const double more = wanted(at) - at;
    if (std::abs(more) <= 1e-9 * at) return at;
    (more > 0 ? low : high) = at;
    (more > 0 ? below : above) = more;
  }
  return (low + high) / 2;
}

// Steady state at `rate`: sequences that decode and their step; nothing beyond what is answered.
// `others`: of what comes, the share of those that a request meets: all where they come at random,
// of n clients n - 1 of n, as none meets itself.
std::optional<Fluid> at_rate(const Steady& engine, double rate, double others, bool at_random) {
  Fluid out;
  out.rate = rate;
  const auto decoding_at = balanced(engine.most(), [&](double decoding) {
    const double step = engine.mean_step(std::max(1.0, decoding), others * rate);
    return rate * engine.passes() * step;  // Little
  });
  if (!decoding_at) return std::nullopt;
  out.decoding = *decoding_at;
  const double step = engine.mean_step(std::max(1.0, out.decoding), others * rate);
  if (!std::isfinite(step)) return std::nullopt;
  out.each_token = step;
  const double decoding = std::max(1.0, out.decoding);
  const double busy = std::min(1.0, others * out.decoding);
  const double alone = busy > 0 ? engine.step(decoding, 0) : 0, more = engine.prompt(decoding);
  const double parts = engine.pieces(decoding);
  // Each of its pieces is in a step beside what is decoded, or all are before it.
  const double beside = engine.prompts_first() ? 1 : parts;
  const double first = busy * (beside * alone + more + engine.emptying(decoding)) +
                       (1 - busy) * engine.prompt_alone();
  // Of random ones each waits for what is left of a step, beside those that came in that step; of
  // prompts alone for those before it.
  double wait = 0;
  if (at_random && engine.passes() == 0) {
    const auto queued = queue_wait(rate, engine.prompt(0));
    if (!queued) return std::nullopt;
    wait = *queued;
  } else if (at_random) {
    if (const double with = rate * parts * step; with < 1 && !engine.has_ways()) {
      const double each = alone + more / parts;
      const double squares = (1 - with) * alone * alone + with * each * each;
      wait = busy * (squares / step / 2 + rate * squares / step * more);
    } else {
      wait = step / 2 + engine.step(decoding, 1 + rate * step) - first;
    }
  }
  const double gathers = engine.to_gather(rate * alone, decoding);
  out.first_token = first + wait + busy * (engine.to_look() + gathers) * alone;
  return out;
}

// The highest rate of which `holds` is true, between 0 and `high`.
template <class Holds>
double highest_rate(double high, const Holds& holds) {
  double low = 0;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

double most_rate_of(const Steady& engine) {
  const double most = engine.most();
  // Steps have no prompt at best.
  const double high = engine.passes() > 0
                          ? most / (engine.passes() * engine.step(std::max(1.0, most), 0))
                          : 1 / engine.prompt(0);
  return highest_rate(high, [&](double rate) {
    const double decoding =
        rate * engine.passes() * engine.mean_step(std::max(1.0, most), rate);  // Little
    return decoding <= most && rate * engine.prompt(0) < (engine.passes() > 0 ? INFINITY : 1);
  });
}

// Of clients: as many as there are have a request under way.
template <class AtRate>
Fluid of_clients(double clients, double passes, double most, const AtRate& at) {
  const double rate = highest_rate(most, [&](double each) {
    const std::optional<Fluid> now = at(each);
    return now && each * (now->first_token + passes * now->each_token) <= clients;
  });
  Fluid out = at(rate).value_or(Fluid{});
  // Whoever is more waits for his first token.
  if (rate >= most * (1 - 1e-6)) out.first_token = clients / rate - passes * out.each_token;
  return out;
}

double over_tokens(double each_step, const Engined& engine) {
  return each_step / engine.guesses.made();
}

}  // namespace

std::optional<double> queue_wait(double rate, double service, double service_squared) {
  if (rate * service >= 1) return std::nullopt;
  return rate * service_squared / (2 * (1 - rate * service));
}
std::optional<double> queue_wait(double rate, double service) {
  return queue_wait(rate, service, service * service);
}

std::optional<double> prompt_time_of_tensors(double rate, double service, double speedup) {
  const auto wait = queue_wait(rate, service / speedup);
  if (!wait) return std::nullopt;
  return service / speedup + *wait;
}
std::optional<double> prompt_time_of_stages(double rate, double service, double stages) {
  const auto wait = queue_wait(rate, service / stages);
  if (!wait) return std::nullopt;
  return service + *wait;
}

double most_rate(const Engined& engine, const Load& load) {
  return most_rate_of(Steady(engine, load));
}

std::optional<Fluid> in_closed_form(const Engined& engine, const Load& load) {
  const Steady steady(engine, load);
  std::optional<Fluid> out;
  if (load.arrivals == Arrivals::clients) {
    const double clients = static_cast<double>(load.batch), others = (clients - 1) / clients;
    out = of_clients(clients, steady.passes(), most_rate_of(steady),
                     [&](double rate) { return at_rate(steady, rate, others, false); });
  } else {
    out = at_rate(steady, load.rate, 1, true);
  }
  if (out) out->each_token = over_tokens(out->each_token, engine);
  return out;
}

Fluid in_step(const Engined& engine, const Load& load) {
  const Steady steady(engine, load);
  const bool first = steady.prompts_first();
  Fluid out;
  out.decoding = std::min(static_cast<double>(load.batch), std::max(1.0, steady.most()));
  const double groups = std::ceil(out.decoding / steady.prompts_together());
  const double others = first ? 0 : out.decoding * (1 - 1 / groups);
  const double with = steady.step(others, out.decoding / groups);
  const double alone = steady.step(out.decoding, 0);
  // Prompts before all that decode: a group waits for those before it, and then for those behind
  // it. Beside them: groups follow each other by a step, and meet the prompts of all others.
  const double beside = first ? 0 : groups - 1;
  const double left = std::max(0.0, steady.passes() - beside) * alone;
  // The first of its requests all wait for.
  const double began = 1.0 / kRequestsOfClient;
  out.first_token = with * (first ? (groups + 1) / 2 : 1 - began + began * (groups + 1) / 2);
  const double waits = first ? (groups - 1) / 2 : groups - 1;
  if (steady.passes() > 0) {
    out.each_token = over_tokens((waits * with + left) / steady.passes(), engine);
  }
  out.rate = out.decoding / (groups * with + left);
  // Whoever is more waits for his first token.
  const double clients = static_cast<double>(load.batch);
  if (clients > out.decoding) out.first_token = clients / out.rate - (waits * with + left);
  return out;
}

double ApartRates::least() const {
  return std::min({prefill, move, decode});
}

PromptTimes prompt_times(const Engined& engine, const Load& load) {
  const Steady prefill(engine, load);
  const double together = prefill.prompts_together();
  return {prefill.prompt_alone(), prefill.step(0, together) / together};
}

double most_decoding(const Engined& engine, const Load& load) {
  return Steady(engine, load, false).most();
}

ApartRates rates_of(const Apart& apart, const Load& load) {
  const Steady prefill(apart.prefill, load), decode(apart.decode, load, false);
  ApartRates out;
  const double copies = static_cast<double>(apart.prefill_copies);
  out.prefill = copies / prompt_times(apart.prefill, load).together;
  const double moving = apart.move_start + apart.move_token * prefill.input();
  out.move = moving > 0 ? copies * static_cast<double>(apart.lanes) / moving : INFINITY;
  const double sequences = std::max(1.0, std::floor(decode.most()));
  out.decode = decode.passes() > 0 ? static_cast<double>(apart.decode_copies) * sequences /
                                         (decode.passes() * decode.step(sequences, 0))
                                   : INFINITY;
  return out;
}

std::optional<Fluid> in_closed_form(const Apart& apart, const Load& load) {
  const Steady prefill(apart.prefill, load), decode(apart.decode, load, false);
  const ApartRates rates = rates_of(apart, load);
  const double of_prefill = static_cast<double>(apart.prefill_copies);
  const double of_decode = static_cast<double>(apart.decode_copies);
  const double moving = apart.move_start + apart.move_token * prefill.input();
  const double service = prefill.prompt(0), alone = prefill.prompt_alone();
  const auto at = [&](double rate) -> std::optional<Fluid> {
    if (rate > rates.least()) return std::nullopt;
    Fluid out;
    out.rate = rate;
    const double each = rate * decode.passes() / of_decode;
    out.decoding = balanced(decode.most(), [&](double decoding) {
                     return each * decode.step(std::max(1.0, decoding), 0);
                   }).value_or(decode.most());
    const double step = decode.step(std::max(1.0, out.decoding), 0);
    out.each_token = step;
    const auto wait = queue_wait(rate / of_prefill, service);
    out.first_token = alone + moving * apart.exposed +
                      (load.arrivals == Arrivals::clients ? 0 : wait.value_or(0)) +
                      std::min(1.0, out.decoding) * step / 2;
    return out;
  };
  std::optional<Fluid> out = load.arrivals == Arrivals::clients
                                 ? std::optional(of_clients(static_cast<double>(load.batch),
                                                            decode.passes(), rates.least(), at))
                                 : at(load.rate);
  if (out) out->each_token = over_tokens(out->each_token, apart.decode);
  return out;
}

}  // namespace headway
