#include "report/simulate/ranks.hpp"

#include <algorithm>
#include <numeric>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "report/predict.hpp"
#include "report/simulate/lists.hpp"
#include "report/simulate/replay.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostShownRanks = 8;

// Those that the others wait for first.
std::vector<std::size_t> waiting_least(const std::vector<RankTime>& ranks) {
  std::vector<std::size_t> out(ranks.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  const std::size_t shown = std::min(out.size(), kMostShownRanks);
  std::partial_sort(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(shown), out.end(),
                    [&](std::size_t a, std::size_t b) {
                      return std::pair(ranks[a].waits, a) < std::pair(ranks[b].waits, b);
                    });
  out.resize(shown);
  return out;
}

std::string drawn_text(const RanksQuestion& asked, const RanksSummary& drawn) {
  std::string out;
  if (drawn.step_times.size() > 1) {
    out += "\nstep time over " + std::to_string(drawn.step_times.size()) + " seeds\n" +
           aligned({{"  10 % below", to_text(drawn.p10)},
                    {"  half below", to_text(drawn.p50)},
                    {"  90 % below", to_text(drawn.p90)},
                    {"  99 % below", to_text(drawn.p99)}});
  }
  const std::vector<RankTime>& ranks = drawn.first.ranks;
  out += "\n" + count_text(static_cast<double>(ranks.size())) + " ranks of seed " +
         std::to_string(asked.seed) + ", until " + to_text(drawn.first.placed) +
         "; those that wait least\n";
  std::vector<std::vector<std::string>> rows = {
      {"  rank", "stage", "replica", "ends at", "computes", "waits for others"}};
  for (const std::size_t r : waiting_least(ranks)) {
    const RankTime& rank = ranks[r];
    rows.push_back({"  " + std::to_string(r), std::to_string(rank.stage), std::to_string(rank.lane),
                    to_text(rank.end), to_text(rank.computes),
                    to_text(std::max(Seconds(0), rank.waits))});
  }
  out += aligned(rows);
  if (!drawn.what_if) return out;
  return out + "\nthe pipelines against every pass at its mean: slowdown " +
         formatted("%.3f", drawn.what_if->slowdown) + "\n" + slowdowns_text(*drawn.what_if);
}

}  // namespace

std::string ranks_text(const RanksAnswer& answer) {
  std::string out;
  if (answer.drawn) out += drawn_text(answer.asked, *answer.drawn);
  if (answer.useful) {
    const Failures& failures = *answer.asked.failures;
    out += "\nfailures every " + to_text(failures.every) + ", a checkpoint every " +
           to_text(failures.checkpoint_every) + "\n" +
           aligned({{"  of the time trains", percent_text(*answer.useful)}});
  }
  return out;
}

void ranks_members(JsonWriter& out, const RanksAnswer& answer, const SimulatedStep& alike) {
  if (answer.drawn) {
    const RanksSummary& drawn = *answer.drawn;
    out.key("ranks");
    out.begin_object();
    out.member("seed", answer.asked.seed);
    out.member("seeds", answer.asked.seeds);
    out.member("alike_step_time_s", alike.step_time.value());
    out.member("mean_s", drawn.mean.value());
    out.member("p10_s", drawn.p10.value());
    out.member("p50_s", drawn.p50.value());
    out.member("p90_s", drawn.p90.value());
    out.member("p99_s", drawn.p99.value());
    list(out, "step_times_s", drawn.step_times);
    out.member("placed_s", drawn.first.placed.value());
    out.key("of_first_seed");
    out.begin_array();
    for (const RankTime& rank : drawn.first.ranks) {
      out.begin_object();
      out.member("stage", rank.stage);
      out.member("replica", rank.lane);
      out.member("end_s", rank.end.value());
      out.member("computes_s", rank.computes.value());
      out.member("waits_s", rank.waits.value());
      out.end_object();
    }
    out.end_array();
    if (drawn.what_if) {
      out.key("what_if");
      out.begin_object();
      slowdowns(out, *drawn.what_if);
      out.end_object();
    }
    out.end_object();
  }
  if (answer.useful) {
    const double share = *answer.useful;
    const Seconds step = answer.drawn ? answer.drawn->mean : alike.step_time;
    out.key("failures");
    out.begin_object();
    out.member("useful", share);
    out.member("step_time_with_failures_s", (step / share).value());
    out.end_object();
  }
}

}  // namespace headway
