#include "study/infer/summary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/statistics.hpp"

namespace headway {
namespace {

Seconds mean_of(const std::vector<double>& seconds) {
  return Seconds(std::accumulate(seconds.begin(), seconds.end(), 0.0) /
                 static_cast<double>(seconds.size()));
}

// [INFER-7] In which so much was answered. Of random requests that are known to be no more than
// what is answered, in which so many come: what is still under way at the end is as much as was at
// any time. Of clients without end as long as each has a request; of so many requests until all are
// answered.
double seconds_of(const Answered& by, const Load& load, bool keeps_up) {
  const double requests = static_cast<double>(by.latency.size());
  if (load.arrivals == Arrivals::random && keeps_up) return requests / load.rate;
  const bool endless = load.arrivals == Arrivals::clients && load.count == 0;
  return endless ? requests / steady_rate(by) : by.elapsed.value();
}

Quantiles quantiles_of(const std::vector<double>& seconds, Seconds more) {
  const auto at = [&](double q) { return Seconds(quantile(seconds, q).value_or(0)) + more; };
  return {at(0.5), at(0.9), at(0.99)};
}

// Of answers of more than one token; 0 where there is none.
std::vector<double> times_between(const Answered& by) {
  std::vector<double> out;
  for (const double each : by.each_token) {
    if (!std::isnan(each)) out.push_back(each);
  }
  if (out.empty()) out.push_back(0);
  return out;
}

}  // namespace

Drafting drafting_of(const Serving& serving) {
  return serving.speculation ? serving.speculation->guesses : Drafting{};
}

Engined engine_of(const Serving& serving, const StepTimes& steps, const Policy& policy,
                  const ServingMemory& memory, const Load& load, double copies) {
  const double room = memory.room(static_cast<double>(load.input + load.output));
  return {steps, policy, room * copies, drafting_of(serving)};
}

double capacity_of(const Serving& serving, const Engined& engine, const Load& load, double most) {
  const double at_a_time = std::min(
      most, serving.engine.policy.most_at_a_time(engine.steps.ways(), engine.steps.checked));
  Load full = load;
  full.arrivals = Arrivals::clients;
  full.count = 0;
  full.batch = std::max<std::int64_t>(1, static_cast<std::int64_t>(at_a_time));
  return steady_rate(answered(engine, full));
}

double share_within(const Answered& by, const Load& load, Seconds way) {
  std::size_t good = 0;
  for (std::size_t i = 0; i < by.latency.size(); ++i) {
    const Seconds first = Seconds(by.first_token[i]) + way;
    const double each = std::isnan(by.each_token[i]) ? 0 : by.each_token[i];
    if (load.keeps_to_limits(first, Seconds(each))) ++good;
  }
  return static_cast<double>(good) / static_cast<double>(by.latency.size());
}

void summarise(Served& out, const Answered& by, const Load& load, Seconds way, bool keeps_up) {
  const Seconds alone = mean_of(by.latency);
  out.first_token = mean_of(by.first_token) + way;
  const std::vector<double> between = times_between(by);
  out.each_token = mean_of(between);
  out.latency = alone + way;
  const double elapsed = seconds_of(by, load, keeps_up);
  out.output_per_second = by.tokens / elapsed;
  // A client waits for its way in and out, too.
  if (load.arrivals == Arrivals::clients) out.output_per_second *= alone / out.latency;
  out.total_per_second = out.output_per_second * (by.tokens + by.prompts) / by.tokens;
  out.sequences = std::max(1.0, by.most);
  out.put_back = by.put_back / static_cast<double>(by.latency.size());
  out.first_quantiles = quantiles_of(by.first_token, way);
  out.each_quantiles = quantiles_of(between, Seconds(0));
  out.latency_quantiles = quantiles_of(by.latency, way);
  if (load.has_limits()) {
    out.good = share_within(by, load, way);
    out.goodput = *out.good * static_cast<double>(by.latency.size()) / elapsed;
  }
}

void decode_pass(Served& out, const Serving& serving, const ServingConstants& constants,
                 const Load& load, double sequences) {
  const std::int64_t checked = drafting_of(serving).length + 1;
  PassWork& pass = out.decode_work;
  pass = {.sequences = std::max<std::int64_t>(
              1, (static_cast<std::int64_t>(sequences) + serving.pp - 1) / serving.pp),
          .tokens = checked,
          .cached = load.input + load.output / 2,
          .checks = checked > 1};
  out.decode = time_of(serving, constants, pass);
  if (!serving.speculation) return;
  const PassWork guess{.sequences = pass.sequences, .tokens = 1, .cached = pass.cached};
  const PassTime each = time_of(draft_of(serving), constants, guess);
  const double guesses = static_cast<double>(checked - 1);
  out.draft = guesses * each.total();
  out.draft_rated = guesses * each.rated;
}

}  // namespace headway
