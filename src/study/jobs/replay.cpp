#include "study/jobs/replay.hpp"

#include <cmath>
#include <map>

#include "base/text.hpp"
#include "base/whole_number.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostReplayProblems = 20;
constexpr std::size_t kMostReplayedJobs = 1000000;

struct StreamRow {
  int line = 0;
  std::int64_t job = 0;
  std::string policy_name = {};
  JobPolicy policy = {};
  double bandwidth = 0;
  std::size_t kind = 0;
  double arrival = 0, beta = 0, limit = 0;  // 0: not given
};

struct RowReader {
  const Csv& table;
  const std::vector<ModelProfile>& profiles;
  Problems problems;

  const std::string& cell(const CsvRow& row, std::string_view column) const {
    static const std::string none;
    const auto at = table.column(column);
    return at ? row.cells[*at] : none;
  }

  void fail(const CsvRow& row, std::string_view column, std::string what) {
    if (problems.size() >= kMostReplayProblems) return;
    problems.push_back({Where(table.file, row.line, FieldName(column)), std::move(what)});
  }

  double number(const CsvRow& row, std::string_view column, double least, double most,
                bool required) {
    const std::string& text = cell(row, column);
    if (text.empty() && !required) return 0;
    const auto out = real_number(text);
    if (!out || !(*out >= least && *out <= most)) {
      fail(row, column,
           "'" + printable(text, 40) + "' is not a number from " + csv_number(least) + " to " +
               csv_number(most));
    }
    return out.value_or(0);
  }

  std::size_t kind(const CsvRow& row) {
    const std::string& name = cell(row, "graph");
    std::vector<std::string> names;
    for (std::size_t i = 0; i < profiles.size(); ++i) {
      if (profiles[i].name == name) return i;
      names.push_back(profiles[i].name);
    }
    fail(row, "graph", not_known(printable(name, 40), names));
    return 0;
  }

  JobPolicy policy(const CsvRow& row) {
    const std::string& name = cell(row, "policy");
    const auto out = job_policy_of(name);
    if (!out) {
      fail(row, "policy", not_known(printable(name, 40), job_policy_names()));
      return {};
    }
    if (out->kind == JobPolicyKind::random || out->kind == JobPolicyKind::lookahead ||
        out->kind == JobPolicyKind::rollout) {
      fail(row, "policy",
           "'" + name +
               "' does not follow from the row alone: replay knows none, "
               "min, sipmlCAP, max, acceptable, cheapest and shortest");
    }
    return *out;
  }

  StreamRow read(const CsvRow& row) {
    StreamRow out{.line = row.line};
    const auto job = whole_number(cell(row, "job"));
    if (!job || *job < 0) fail(row, "job", "must be a whole number from 0");
    out.job = job.value_or(0);
    out.policy_name = cell(row, "policy");
    out.policy = policy(row);
    out.bandwidth = number(row, "total_node_bandwidth_B_s", 1, 1e18, true);
    out.kind = kind(row);
    out.arrival = number(row, "arrival", 0, 1e15, true);
    out.beta = number(row, "beta", 1e-6, 1e6, false);
    out.limit = number(row, "limit", 1e-9, 1e15, false);
    if (cell(row, "beta").empty() && cell(row, "limit").empty()) {
      fail(row, "beta", "one of beta and limit must be given");
    }
    return out;
  }
};

bool follows(const StreamRow& row, const StreamRow& before) {
  return row.policy_name == before.policy_name && row.bandwidth == before.bandwidth &&
         row.job > before.job;
}

// Whether the file says the same of the job, as far as it says anything.
struct Compared {
  bool any = false, same = true;
};
Compared compared(RowReader& reader, const CsvRow& row, const JobOutcome& outcome) {
  Compared out;
  if (const std::string& text = reader.cell(row, "degree"); !text.empty()) {
    out.any = true;
    out.same = out.same && whole_number(text) == outcome.degree;
  }
  if (const std::string& text = reader.cell(row, "blocked"); !text.empty()) {
    out.any = true;
    out.same = out.same && (text == "1") == outcome.blocked;
  }
  if (const std::string& text = reader.cell(row, "jct"); !text.empty()) {
    const double time = reader.number(row, "jct", 0, 1e15, true);
    out.any = true;
    out.same = out.same && !outcome.blocked && std::abs(time / outcome.time.value() - 1) < 1e-6;
  }
  return out;
}

}  // namespace

Result<ReplayedStream> replay_stream(const Csv& table, const std::vector<ModelProfile>& profiles,
                                     bool published) {
  Problems missing =
      missing_columns(table, {"policy", "total_node_bandwidth_B_s", "job", "graph", "arrival"});
  if (!missing.empty()) return missing;
  RowReader reader{table, profiles, {}};
  if (table.rows.empty()) return Problem{table.file, "holds no jobs"};
  if (table.rows.size() > kMostReplayedJobs)
    return Problem{table.file, "holds over a million jobs"};

  std::map<double, std::unique_ptr<JobMachine>> machines;  // by bandwidth
  std::vector<StreamRow> rows;
  for (const CsvRow& row : table.rows) {
    rows.push_back(reader.read(row));
    const bool goes_on = rows.size() > 1 && follows(rows.back(), rows[rows.size() - 2]);
    if (goes_on && rows.back().arrival < rows[rows.size() - 2].arrival) {
      reader.fail(row, "arrival", "is before that of the job above");
    }
  }
  if (!reader.problems.empty()) return reader.problems;

  ReplayedStream out;
  std::optional<JobCluster> cluster;
  SplitMix random{0};
  const JobRules rules{.published = published};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const StreamRow& row = rows[i];
    std::unique_ptr<JobMachine>& machine = machines[row.bandwidth];
    if (machine == nullptr) {
      machine = ramp_job_machine(
          {.node_bandwidth = BytesPerSecond(row.bandwidth), .published = published}, profiles);
    }
    if (i == 0 || !follows(row, rows[i - 1])) cluster.emplace(*machine, rules);
    JobArrival job{row.kind, Seconds(row.arrival), Seconds(row.limit)};
    const Seconds alone = machine->alone(row.kind);
    if (row.beta > 0) job.limit = row.beta * alone;
    if (row.limit > 0 && std::abs(row.limit / job.limit.value() - 1) > 1e-6) {
      reader.fail(table.rows[i], "limit",
                  "is not beta times " + csv_number(alone.value()) +
                      ", the time alone: give one of the two");
      continue;
    }
    cluster->advance(job.arrival);
    const int degree = degree_of(row.policy, *machine, job, cluster->degrees(row.kind),
                                 cluster->busy(), rules, random);
    const JobOutcome outcome = cluster->submit(job, degree);
    const Compared own = compared(reader, table.rows[i], outcome);
    out.compared += own.any ? 1 : 0;
    out.agreeing += own.any && own.same ? 1 : 0;
    out.jobs.push_back(
        {row.job, row.policy_name, profiles[row.kind].name, job.limit, outcome, own.same});
  }
  if (!reader.problems.empty()) return reader.problems;
  return out;
}

}  // namespace headway
