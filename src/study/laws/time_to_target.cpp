#include "study/laws/time_to_target.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "platform/embedded.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostTargetRows = 100'000;

struct Epoch {
  std::string name, from, until;
  double samples = 0;
};

Result<std::vector<Epoch>> epochs() {
  const auto document = embedded_document("laws/benchmarks.toml");
  if (!document) return document.problems();
  Problems problems;
  Fields root(*document, problems);
  std::vector<Epoch> out;
  for (Fields& each : root.tables("benchmark")) {
    out.push_back({each.text("name"), each.text_or("from", ""), each.text_or("until", ""),
                   each.number("samples_per_epoch")});
  }
  if (!problems.empty()) return problems;
  return out;
}

// Samples of one of the law's units of progress; 0: not known.
double samples_of_unit(const std::string& unit, const std::string& benchmark,
                       const std::string& round, const std::vector<Epoch>& known) {
  if (unit == "epochs") {
    for (const Epoch& epoch : known) {
      const bool in = (epoch.from.empty() || round >= epoch.from) &&
                      (epoch.until.empty() || round <= epoch.until);
      if (epoch.name == benchmark && in) return epoch.samples;
    }
    return 0;
  }
  if (unit.starts_with("tokens")) return 0;
  return 1;
}

// The rows of the public points that a round lists, as the series of that round alone.
Result<std::map<std::string, StepsLaw>> laws_of_round(const Csv& points, const std::string& round) {
  Csv own = points;
  const std::size_t column = *points.column("rounds");
  std::erase_if(own.rows, [&](const CsvRow& row) {
    std::istringstream in(row.cells[column]);
    for (std::string word; in >> word;) {
      if (word == round) return false;
    }
    return true;
  });
  for (CsvRow& row : own.rows) row.cells[column] = round;
  std::map<std::string, StepsLaw> out;
  if (own.rows.empty()) return out;
  const auto series = read_steps_points(own);
  if (!series) return series.problems();
  for (const StepsSeries& each : *series) {
    if (const auto law = fit_steps_law(each)) out.emplace(each.name, *law);
  }
  return out;
}

// The laws of a round; of a benchmark of which it lists fewer than three batches, the law of the
// next round that lists more.
Result<std::map<std::string, StepsLaw>> laws_from_round(const Csv& points,
                                                        const std::set<std::string>& rounds,
                                                        const std::string& round) {
  std::map<std::string, StepsLaw> out;
  for (auto at = rounds.lower_bound(round); at != rounds.end(); ++at) {
    auto laws = laws_of_round(points, *at);
    if (!laws) return laws.problems();
    for (auto& [name, law] : laws.value()) {
      if (*at != round && !out.contains(name)) continue;
      StepsLaw& kept = out.try_emplace(name, law).first->second;
      if (!kept.kept_aside_error && law.kept_aside_error) kept = law;
    }
  }
  return out;
}

// What evaluation and the rest add to training, of the rows of other submitters.
double evaluation_of(const std::vector<TargetRun>& runs, const TargetRun& of) {
  std::vector<double> shares;
  for (const TargetRun& run : runs) {
    if (run.benchmark != of.benchmark || run.submitter == of.submitter || !(run.samples > 0)) {
      continue;
    }
    shares.push_back(run.time.value() * run.throughput / run.samples - 1);
  }
  if (shares.empty()) return 0;
  const auto middle = shares.begin() + static_cast<std::ptrdiff_t>(shares.size() / 2);
  std::nth_element(shares.begin(), middle, shares.end());
  return std::max(0.0, *middle);
}

}  // namespace

Result<std::vector<TargetRun>> read_target_runs(const Csv& table) {
  const std::vector<std::string> needed = {"id",
                                           "benchmark",
                                           "round",
                                           "submitter",
                                           "global_batch",
                                           "throughput",
                                           "time_to_target_s",
                                           "samples_to_target"};
  Problems problems = missing_columns(table, needed);
  if (!problems.empty()) return problems;
  if (table.rows.size() > kMostTargetRows) {
    return Problem{Where(table.file, table.header_line), "has more than 100,000 rows"};
  }
  std::vector<TargetRun> out;
  for (const CsvRow& row : table.rows) {
    const auto cell = [&](const char* name) -> const std::string& {
      return row.cells[*table.column(name)];
    };
    TargetRun run{printable(cell("id")),
                  printable(cell("benchmark")),
                  printable(cell("round")),
                  printable(cell("submitter")),
                  real_number(cell("global_batch")).value_or(0),
                  real_number(cell("throughput")).value_or(0),
                  Seconds(real_number(cell("time_to_target_s")).value_or(0)),
                  real_number(cell("samples_to_target")).value_or(0)};
    const bool whole = !run.benchmark.empty() && !run.round.empty() && run.batch > 0 &&
                       run.throughput > 0 && run.time > Seconds();
    if (whole) out.push_back(std::move(run));
  }
  if (out.empty()) {
    return Problem{Where(table.file, table.header_line),
                   "has no row with a benchmark, a round, a batch, a throughput and a time to its "
                   "target"};
  }
  return out;
}

// [LAW-22] T = E(B)/throughput · (1 + evaluation), E by the points that the round lists (fewer than
// three batches: of the next round with more), evaluation the median over other submitters of what
// their runs took beyond training. Known error: the spread of single runs about the mean of many, 1
// to 25 %, and closed and open rules alike.
Result<std::vector<TimedTarget>> times_to_target(const std::vector<TargetRun>& runs) {
  constexpr std::string_view kPoints = "measurements/steps_to_target.csv";
  const auto text = embedded_file(kPoints);
  if (!text) return Problem{"laws", "data/" + std::string(kPoints) + " is missing"};
  const auto points = parse_csv(*text, "data/" + std::string(kPoints));
  if (!points) return points.problems();
  const auto known = epochs();
  if (!known) return known.problems();
  std::set<std::string> rounds;
  for (const CsvRow& row : points->rows) {
    std::istringstream in(row.cells[*points->column("rounds")]);
    for (std::string word; in >> word;) rounds.insert(word);
  }
  std::map<std::string, std::map<std::string, StepsLaw>> laws;
  std::vector<TimedTarget> out;
  for (const TargetRun& run : runs) {
    TimedTarget timed{.run = run, .reason = {}, .time = {}};
    const std::string version = run.round.starts_with('v') ? run.round.substr(1) : run.round;
    const std::string round = "training_" + version + ".0";
    if (!laws.contains(round)) {
      auto made = laws_from_round(*points, rounds, round);
      if (!made) return made.problems();
      laws[round] = std::move(made).value();
    }
    const auto law = laws[round].find(run.benchmark);
    const double unit = law == laws[round].end()
                            ? 0
                            : samples_of_unit(law->second.unit, run.benchmark, version, *known);
    if (law == laws[round].end()) {
      timed.reason = "no two batches of " + run.benchmark + " are published for " + run.round;
    } else if (!(unit > 0)) {
      timed.reason = "samples of its unit are not known";
    } else {
      timed.samples = law->second.progress_at(run.batch) * unit;
      timed.outside = run.batch < law->second.least_batch || run.batch > law->second.most_batch;
      timed.evaluation = evaluation_of(runs, run);
      timed.time = Seconds(timed.samples / run.throughput * (1 + timed.evaluation));
    }
    out.push_back(std::move(timed));
  }
  return out;
}

}  // namespace headway
