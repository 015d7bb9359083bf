#include "study/lifetime/whole_run.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "forecast/predict/predict.hpp"
#include "model/count.hpp"

namespace headway {
namespace {

// The most that a field of a run may count, and the most tokens.
constexpr std::int64_t kMostCounted = 1'000'000'000'000;
constexpr double kMostTokens = 1e18;

// The run with `dp` data-parallel ranks and a batch of `sequences`, on `tokens`; or the first thing
// that speaks against it.
Result<WholeRun> with_ranks(const WholeRun& base, std::int64_t dp, std::int64_t sequences,
                            double tokens) {
  if (sequences < 1 || sequences > kMostCounted) {
    return Problem{{}, "is " + std::to_string(sequences) + "; must be from 1 to 10^12"};
  }
  RequestedRun run = base.run;
  run.layout.dp = dp;
  run.job.global_batch = sequences;
  if (Problems wrong = check(run); !wrong.empty()) {
    return wrong;
  }
  if (!(tokens <= kMostTokens)) return Problem{{}, "takes more than 10^18 tokens"};
  GivenAssumptions given = base.given;
  given.tokens = tokens;
  return whole_run(std::move(run), std::move(given));
}

}  // namespace

Result<WholeRun> whole_run(RequestedRun run, GivenAssumptions given) {
  const auto& constants = step_constants();
  if (!constants) return constants.problems();
  auto forecast = predict(run);
  if (!forecast) return forecast.problems();
  auto assumed = assumptions_for(given, run.cluster, run.layout.ranks());
  if (!assumed) return assumed.problems();
  auto values = assumed_values(given, *assumed, run.cluster);
  if (!values) return values.problems();
  WholeRun out{.run = std::move(run),
               .forecast = std::move(forecast).value(),
               .given = std::move(given),
               .assumed = std::move(assumed).value(),
               .values = std::move(values).value(),
               .cost = {}};
  out.cost = run_cost(out.run, out.forecast, out.assumed, constants->power);
  const double held = static_cast<double>(parameters(out.run.model).active);
  out.loss = loss_reached(out.given, held);
  out.critical_batch = critical_batch_of(out.given, out.loss, out.run.job.sequence);
  out.providers = provider_rates(out.run.cluster.accelerator.name);
  out.batch =
      static_cast<double>(out.run.job.global_batch) * static_cast<double>(out.run.job.sequence);
  return out;
}

Result<WholeRun> whole_run(const RunRequest& request) {
  SplitRequest parts = split(request);
  Problems problems;
  refuse_unknown(parts.run, {}, problems);
  auto run = make_run(parts.run);
  if (!run) append(problems, run.problems());
  auto given = read_assumptions(parts.scale);
  if (!given) append(problems, given.problems());
  if (!problems.empty()) return problems;
  return whole_run(std::move(run).value(), std::move(given).value());
}

ScaledRuns by_accelerators(const WholeRun& base) {
  ScaledRuns out;
  const Layout& layout = base.run.layout;
  const std::int64_t model_ranks = layout.ranks() / layout.dp;
  for (const bool grown : {false, true}) {
    for (const double factor : {0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0}) {
      const auto scaled = [&](std::int64_t value) {
        return static_cast<std::int64_t>(std::llround(static_cast<double>(value) * factor));
      };
      const std::int64_t dp = scaled(layout.dp);
      if (static_cast<double>(dp) != static_cast<double>(layout.dp) * factor || dp < 1) continue;
      if (dp * model_ranks > base.run.cluster.accelerators) continue;
      std::int64_t sequences = base.run.job.global_batch;
      double tokens = base.assumed.tokens;
      if (grown) {
        sequences = scaled(sequences);
        tokens *= token_factor(base.batch * factor, base.critical_batch) /
                  token_factor(base.batch, base.critical_batch);
      }
      auto whole = with_ranks(base, dp, sequences, tokens);
      const std::string which = short_count_text(static_cast<double>(dp * model_ranks)) +
                                " accelerators" +
                                (grown ? " with a grown batch " : " with the same batch ");
      if (!whole) {
        const Problem& first = whole.problems().front();
        out.left_out.push_back(which + "(" + printable(where_text(first)) + " " +
                               printable(first.message, 200) + ")");
      } else if (!whole->forecast.fits) {
        out.left_out.push_back(which + "(do not fit in memory)");
      } else if (whole->cost.hopeless) {
        out.left_out.push_back(which + "(fail before a checkpoint)");
      } else {
        out.runs.push_back({factor, grown, std::move(whole).value()});
      }
    }
  }
  return out;
}

}  // namespace headway
