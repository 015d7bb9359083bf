#include "study/jobs/question.hpp"

#include <algorithm>

#include "base/formatted.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "study/jobs/forecast_machine.hpp"
#include "study/jobs/replay.hpp"

namespace headway {
namespace {

constexpr std::int64_t kMostJobs = 1000000, kMostSeeds = 1000, kMostNodes = 20000;
constexpr std::int64_t kMostJobKinds = 64;
constexpr int kMostRampServers = 1024;
constexpr double kMostArrivals = 1e6;

std::int64_t bounded(Fields& fields, std::string_view key, std::int64_t fallback,
                     std::int64_t most) {
  const std::int64_t out = fields.count_or(key, fallback);
  if (out > most) fields.fail(key, "must be at most " + std::to_string(most));
  return std::min(out, most);
}

// interval = "1000 s", or intervals = ["500 s", "1000 s"], a load each.
std::vector<Seconds> read_intervals(Fields& fields, Problems& problems) {
  constexpr std::size_t kMostLoads = 50;
  const std::vector<std::string> texts = fields.texts_or_empty("intervals");
  if (texts.empty()) return {fields.quantity_or<Seconds>("interval", Seconds(1000))};
  if (fields.has("interval")) fields.fail("interval", "cannot stand beside intervals");
  if (texts.size() > kMostLoads) fields.fail("intervals", "lists more than 50 loads");
  std::vector<Seconds> out;
  for (const std::string& text : texts) {
    const auto interval = parse_quantity<Seconds>(text, fields.where("intervals"));
    if (!interval) {
      append(problems, interval.problems());
    } else if (*interval <= Seconds()) {
      fields.fail("intervals", "must each be greater than zero");
    } else {
      out.push_back(*interval);
    }
  }
  return out;
}

// A table of arrivals stands for their law: one load, all of it.
void take_listed(const Csv& table, const std::vector<std::string>& kinds, JobsQuestion& question,
                 Problems& problems) {
  auto listed = read_listed(table, kinds);
  if (!listed) return append(problems, listed.problems());
  question.count = listed->size();
  const Seconds span = listed->back().arrival - listed->front().arrival;
  const auto gaps = static_cast<double>(std::max<std::size_t>(1, listed->size() - 1));
  question.intervals = {span > Seconds() ? span / gaps : Seconds(1)};
  question.law.listed = std::move(listed).value();
}

// [[arrivals.listed]] with arrival_s, job, limit_s: the same table in place.
std::optional<Csv> listed_in_place(Fields& fields) {
  std::vector<Fields> tables = fields.tables("listed");
  if (tables.empty()) return std::nullopt;
  Csv out{"arrivals.listed", 0, {"arrival_s", "job", "limit_s"}, {}};
  for (Fields& each : tables) {
    const std::string limit = each.has("limit_s") ? shortest_text(each.number("limit_s")) : "";
    out.rows.push_back({static_cast<int>(out.rows.size()) + 1,
                        {shortest_text(each.number("arrival_s")), each.text_or("job", ""), limit}});
    each.reject_unknown();
  }
  for (const char* key : {"kind", "interval", "intervals", "jobs", "horizon"}) {
    if (fields.has(key)) fields.fail(key, "cannot stand beside listed arrivals");
  }
  return out;
}

void read_arrivals(Fields fields, JobsQuestion& question, Problems& problems,
                   std::optional<Csv>& listed) {
  listed = listed_in_place(fields);
  const std::string kind = fields.text_or("kind", "fixed");
  if (kind != "fixed" && kind != "poisson") fields.fail("kind", "must be fixed or poisson");
  question.law.arrivals = kind == "poisson" ? ArrivalKind::poisson : ArrivalKind::fixed;
  question.intervals = read_intervals(fields, problems);
  question.count = static_cast<std::size_t>(bounded(fields, "jobs", 200, kMostJobs));
  if (fields.has("horizon")) {
    question.horizon = fields.quantity<Seconds>("horizon");
    if (fields.has("jobs")) fields.fail("jobs", "cannot stand beside horizon: one ends the stream");
    for (const Seconds interval : question.intervals) {
      if (question.horizon > kMostArrivals * interval) {
        fields.fail("horizon", "holds more than a million arrivals");
        break;
      }
    }
  }
  fields.reject_unknown();
}

void read_limits(Fields fields, JobLaw& law) {
  law.least = fields.number_or("least", 0.1);
  law.most = fields.number_or("most", 1);
  law.step = fields.number_or("step", 0.01);
  if (!(law.least > 0)) fields.fail("least", "must be greater than zero");
  if (!(law.most >= law.least && law.most <= 1000))
    fields.fail("most", "must be from least to 1000");
  if (!(law.step > 0) || law.step < (law.most - law.least) * 1e-6) {
    fields.fail("step", "must be greater than zero, and a millionth of the range or more");
    law.step = law.most;
  }
  std::vector<std::optional<double>> laws;
  for (const std::string& name : fields.texts_or_empty("law")) {
    if (name == "uniform") {
      laws.emplace_back(std::nullopt);
    } else if (name == "skew+5" || name == "skew-5" || name == "skew0") {
      laws.emplace_back(name == "skew+5" ? 5.0 : name == "skew-5" ? -5.0 : 0.0);
    } else {
      fields.fail("law",
                  not_known(printable(name, 40),
                            std::vector<std::string>{"uniform", "skew-5", "skew0", "skew+5"}));
    }
  }
  if (!laws.empty()) law.limits = laws;
  fields.reject_unknown();
}

void read_policies(const std::vector<std::string>& names, const Where& where,
                   JobsQuestion& question, Problems& problems) {
  for (const std::string& name : names) {
    const auto policy = job_policy_of(name);
    if (!policy) {
      problems.push_back(
          {where, not_known(printable(name, 40), job_policy_names()), Trouble::unknown});
    } else {
      question.policies.push_back(*policy);
    }
  }
}

// RAMP, with profiles that are built in.
void read_ramp(Fields fields, Fields& root, JobsQuestion& question) {
  RampMachine machine{.published = question.rules.published};
  machine.node_bandwidth =
      fields.quantity_or<BytesPerSecond>("node_bandwidth", machine.node_bandwidth);
  machine.memory = fields.quantity_or<Bytes>("memory", machine.memory);
  machine.groups = static_cast<int>(bounded(fields, "groups", 4, kMostRampGroups));
  machine.racks = static_cast<int>(bounded(fields, "racks", 4, kMostRampGroups));
  machine.places = static_cast<int>(bounded(fields, "places", 2, kMostRampGroups));
  if (machine.servers() > kMostRampServers) {
    fields.fail("groups", "times racks times places must be at most " +
                              std::to_string(kMostRampServers) + " servers");
  }
  const int most = static_cast<int>(bounded(fields, "most_degree", 16, 64));
  std::vector<ModelProfile> profiles;
  for (Fields& job : root.tables("job")) {
    const std::string name = job.text("profile");
    std::vector<std::string> known;
    for (const ModelProfile& profile : built_in_profiles()) {
      known.push_back(profile.name);
      if (profile.name == name) profiles.push_back(profile);
    }
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      job.fail("profile", not_known(printable(name, 40), known), Trouble::unknown);
    }
    question.law.weights.push_back(bounded(job, "weight", 1, 1000));
    job.reject_unknown();
  }
  if (profiles.empty()) {
    profiles = built_in_profiles();
    question.law.weights.assign(profiles.size(), 1);
  }
  const std::int64_t steps = bounded(fields, "steps", 50, 1000000000);
  fields.reject_unknown();
  question.title = "RAMP " + std::to_string(machine.groups) + " x " +
                   std::to_string(machine.racks) + " x " + std::to_string(machine.places);
  question.machine = [machine, profiles, steps, most] {
    return ramp_job_machine(machine, profiles, static_cast<int>(steps), most);
  };
}

ForecastJob read_forecast_job(Fields& fields, const std::string& cluster, std::int64_t nodes,
                              const Node* run, const std::string& file, Problems& problems) {
  ForecastJob out;
  out.name = fields.text("name");
  out.steps = fields.count("steps");
  for (const std::int64_t degree : fields.naturals_or_empty("nodes")) {
    if (degree < 1 || degree > nodes) {
      fields.fail("nodes", "must be from 1 to the machine's " + std::to_string(nodes));
    } else {
      out.degrees.push_back(static_cast<int>(degree));
    }
  }
  std::sort(out.degrees.begin(), out.degrees.end());
  if (out.degrees.empty()) fields.fail("nodes", "must list the nodes that it may run on");
  Fields asked = fields.table("run", true);
  if (run != nullptr) {
    auto request = run_request_from(*run, file);
    if (!request) {
      append(problems, request.problems());
    } else {
      out.fields = std::move(request).value();
    }
  }
  for (const GivenField& field : out.fields) {
    if (field.name == "gpus" || field.name == "cluster") {
      problems.push_back({field.where, "is the machine's: a job's run names neither"});
    }
  }
  out.fields.emplace_back("cluster", cluster);
  return out;
}

// leaf = 16: nodes below each switch, which sends upwards what they send, over oversubscription.
LeafSwitches read_leaves(Fields& fields, const ForecastNodes& nodes, Problems& problems) {
  const double over = fields.number_or("oversubscription", 1);
  if (!(over >= 1 && over <= 1000)) fields.fail("oversubscription", "must be from 1 to 1000");
  if (!fields.has("leaf")) {
    if (fields.has("oversubscription")) {
      fields.fail("leaf", "is missing; oversubscription is of switches with so many nodes below",
                  Trouble::missing);
    }
    fields.natural_or("leaf", 0);
    return {};
  }
  const auto leaf = bounded(fields, "leaf", 1, kMostNodes);
  const auto stream = node_bandwidth(nodes);
  if (!stream) {
    append(problems, stream.problems());
    return {};
  }
  return {static_cast<std::size_t>(leaf), (static_cast<double>(leaf) / over) * *stream, *stream};
}

// A cluster of Headway's, with its forecasts.
void read_cluster(Fields fields, Fields& root, const Document& document, JobsQuestion& question,
                  Problems& problems) {
  const std::string cluster = fields.text("cluster");
  const std::int64_t nodes = bounded(fields, "nodes", 16, kMostNodes);
  ForecastNodes each{cluster, bounded(fields, "gpus_per_node", 8, 1024), {}};
  // failures = true: as often as usual; mtbf = "30000 h": of one accelerator.
  const bool fails = fields.flag_or("failures", fields.has("mtbf"));
  if (fails) {
    const auto usual = usual_mtbf();
    if (!usual) append(problems, usual.problems());
    each.mtbf = fields.quantity_or<Seconds>("mtbf", usual ? *usual : Seconds(1));
  } else if (fields.has("mtbf")) {
    fields.fail("mtbf", "cannot stand beside failures = false");
  }
  const LeafSwitches leaves = read_leaves(fields, each, problems);
  fields.reject_unknown();
  const Node* array = document.root.find("job");
  std::vector<ForecastJob> jobs;
  std::size_t at = 0;
  for (Fields& job : root.tables("job")) {
    const Node* own =
        array != nullptr && array->array() != nullptr ? &(*array->array())[at] : nullptr;
    jobs.push_back(read_forecast_job(
        job, cluster, nodes, own == nullptr ? nullptr : own->find("run"), document.file, problems));
    question.law.weights.push_back(bounded(job, "weight", 1, 1000));
    job.reject_unknown();
    ++at;
  }
  if (jobs.empty()) root.fail("job", "must list the kinds of jobs", Trouble::missing);
  if (!problems.empty()) return;
  auto times = forecast_times(jobs, each);
  auto costs = fleet_costs(each);
  if (!times) append(problems, times.problems());
  if (!costs) append(problems, costs.problems());
  if (!problems.empty()) return;
  question.title = std::to_string(nodes) + " nodes of " + cluster;
  question.machine = [nodes, all = *times, of = *costs, leaves] {
    return forecast_job_machine(static_cast<std::size_t>(nodes), all, of, leaves);
  };
}

}  // namespace

Result<std::vector<ListedArrival>> read_listed(const Csv& table,
                                               const std::vector<std::string>& kinds) {
  Problems problems = missing_columns(table, {"arrival_s"});
  if (!problems.empty()) return problems;
  for (const std::string& name : table.header) {
    if (name == "arrival_s" || name == "job" || name == "limit_s") continue;
    problems.push_back({Where(table.file, table.header_line, FieldName(name)),
                        "is not known; known: arrival_s, job, limit_s", Trouble::unknown});
  }
  if (table.rows.empty()) problems.push_back({Where(table.file, 1), "lists no arrival"});
  if (table.rows.size() > static_cast<std::size_t>(kMostJobs)) {
    problems.push_back({Where(table.file, 1), "lists more than a million arrivals"});
    return problems;
  }
  const auto job = table.column("job"), limit = table.column("limit_s");
  std::vector<ListedArrival> out;
  for (const CsvRow& row : table.rows) {
    const auto seconds = [&](std::size_t at, const char* name, double least) {
      const std::string& text = row.cells[at];
      const auto value = real_number(text);
      if (value && *value >= least && *value <= 1e12) return *value;
      problems.push_back({Where(table.file, row.line, FieldName(name)),
                          "'" + printable(text, 40) + "' is no number of seconds"});
      return 1.0;
    };
    ListedArrival each{Seconds(seconds(*table.column("arrival_s"), "arrival_s", 0)), {}, {}};
    if (limit && !row.cells[*limit].empty()) {
      each.limit = Seconds(seconds(*limit, "limit_s", 1e-9));
    }
    if (job && !row.cells[*job].empty()) {
      const auto at = std::find(kinds.begin(), kinds.end(), row.cells[*job]);
      if (at == kinds.end()) {
        problems.push_back({Where(table.file, row.line, FieldName("job")),
                            not_known(printable(row.cells[*job], 40), kinds), Trouble::unknown});
      } else {
        each.kind = static_cast<std::size_t>(at - kinds.begin());
      }
    }
    if (!out.empty() && each.arrival < out.back().arrival) {
      problems.push_back({Where(table.file, row.line, FieldName("arrival_s")),
                          "comes before the row above: arrivals stand in their order"});
    }
    out.push_back(each);
    constexpr std::size_t kMostShown = 50;
    if (problems.size() > kMostShown) break;
  }
  if (!problems.empty()) return problems;
  return out;
}

Result<JobsQuestion> read_jobs_question(const Document& document, const JobsOverrides& overrides) {
  Problems problems;
  Fields root(document, problems);
  JobsQuestion out;
  out.rules.published = root.flag_or("as_published", false) || overrides.as_published;
  out.seeds = static_cast<std::size_t>(bounded(root, "seeds", 3, kMostSeeds));
  if (overrides.seeds > 0) out.seeds = static_cast<std::size_t>(overrides.seeds);
  std::vector<std::string> names = root.texts_or_empty("policies");
  const bool asked = !overrides.policies.empty();
  if (names.empty()) names = {"min", "max", "acceptable", "cheapest", "lookahead4", "rollout"};
  read_policies(asked ? overrides.policies : names,
                asked ? Where(FieldName("policy")) : root.where("policies"), out, problems);
  std::optional<Csv> listed;
  read_arrivals(root.table("arrivals"), out, problems, listed);
  read_limits(root.table("limits"), out.law);
  Fields machine = root.table("machine");
  if (root.tables("job").size() > static_cast<std::size_t>(kMostJobKinds)) {
    root.fail("job", "lists more than 64 kinds");
  } else if (machine.has("cluster")) {
    if (out.rules.published) {
      root.fail("as_published", "is of PAC-ML's own machine, and this is another");
    }
    read_cluster(std::move(machine), root, document, out, problems);
  } else {
    read_ramp(std::move(machine), root, out);
  }
  root.reject_unknown();
  if (overrides.arrivals) {
    if (root.has("arrivals")) {
      root.fail("arrivals",
                "cannot stand beside a table of arrivals: one of them says when jobs come");
    }
    listed = overrides.arrivals;
  }
  if (listed && problems.empty()) take_listed(*listed, out.machine()->kinds(), out, problems);
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway
