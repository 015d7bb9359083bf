// jobs: a stream of jobs on one machine.
#include "report/jobs/jobs.hpp"

#include <memory>

#include "api/commands.hpp"
#include "api/options.hpp"
#include "platform/files.hpp"
#include "platform/output.hpp"
#include "platform/paths.hpp"

namespace headway {
namespace {

constexpr std::size_t kLargestStream = std::size_t{256} << 20U;  // bytes

// The built-in profiles, and one more of a file, which may replace one of them.
Result<std::vector<ModelProfile>> profiles_of(const std::string& file) {
  if (file.empty()) return built_in_profiles();
  auto text = read_file(file, kLargestDocument);
  if (!text) return text.problems();
  auto profile = read_profile(*text, file);
  if (!profile) return profile.problems();
  profile->name = stem_of(file);
  std::vector<ModelProfile> out = built_in_profiles();
  std::erase_if(out, [&](const ModelProfile& each) { return each.name == profile->name; });
  out.push_back(std::move(profile).value());
  return out;
}

CommandOutput run_replayed(const JobsRequest& request) {
  Problems problems;
  if (!request.stream_file.empty() || request.stream) {
    problems.push_back({FieldName("STREAM.toml"),
                        "cannot stand beside replay: a listed stream is "
                        "decided by the policies that it lists"});
  }
  if (!request.arrivals.empty()) {
    problems.push_back({FieldName("arrivals"), "are those of the replayed file"});
  }
  if (!request.policies.empty()) {
    problems.push_back({FieldName("policy"), "is of each row of the replayed file"});
  }
  if (request.seeds) problems.push_back({FieldName("seeds"), "a replayed stream draws nothing"});
  if (!request.plot.empty())
    problems.push_back({FieldName("plot"), "a replayed stream has one load"});
  const auto profiles = profiles_of(request.profile);
  if (!profiles) append(problems, profiles.problems());
  const auto text = read_file(request.replay, kLargestStream);
  const auto table = text ? parse_csv(*text, request.replay) : Result<Csv>(text.problems());
  if (!table) append(problems, table.problems());
  if (!problems.empty()) return {.problems = std::move(problems)};
  const auto stream = replay_stream(*table, *profiles, request.as_published);
  if (!stream) return {.problems = stream.problems()};
  return {.text = request.json ? replayed_json(*stream) : replayed_text(*stream)};
}

Result<Document> stream_document(const JobsRequest& request) {
  if (request.stream) return *request.stream;
  if (!request.stream_file.empty()) return read_document(request.stream_file);
  return parse_toml("", "the built-in stream");
}

}  // namespace

CommandOutput run_jobs(const JobsRequest& request) {
  if (!request.replay.empty()) return run_replayed(request);
  Problems problems;
  if (!request.profile.empty()) {
    problems.push_back({FieldName("profile"), "is of replay, whose file names it"});
  }
  const auto document = stream_document(request);
  if (!document) append(problems, document.problems());
  if (!problems.empty()) return {.problems = std::move(problems)};
  JobsOverrides overrides{request.policies, request.seeds.value_or(0), request.as_published};
  if (!request.arrivals.empty()) {
    const auto text = read_file(request.arrivals, kLargestStream);
    auto table = text ? parse_csv(*text, request.arrivals) : Result<Csv>(text.problems());
    if (!table) return {.problems = table.problems()};
    overrides.arrivals = std::move(table).value();
  }
  const auto question = read_jobs_question(*document, overrides);
  if (!question) return {.problems = question.problems()};
  if (request.bounded && work_of(*question) > kMostBoundedJobs) {
    return {.problems = {{member("stream"),
                          "is too long for a request: " + std::to_string(kMostBoundedJobs) +
                              " decisions at most, those of rollout a thousandfold"}}};
  }
  const auto answer = answer_jobs(*question, request.threads, request.progress);
  if (!answer) return {.problems = answer.problems()};
  if (!request.plot.empty()) {
    Problems written = write_files(jobs_plots(*answer, request.plot), request.plot);
    if (!written.empty()) return {.problems = std::move(written)};
  }
  return {.text = request.json ? jobs_json(*answer) : jobs_text(*answer)};
}

Command jobs_command() {
  auto request = std::make_shared<JobsRequest>();
  Command out{.name = "jobs",
              .help = "a stream of jobs on one machine: what policies block",
              .examples = {"headway jobs --policy max --policy cheapest --seeds 2"},
              .run = running(request, run_jobs),
              .is_long = true,
              .things = "streams"};
  out.options = {
      operand("STREAM.toml", "the stream; without one PAC-ML's, a job each 1000 s",
              &request->stream_file),
      {.name = "stream",
       .help = "the stream in place",
       .target = &request->stream,
       .door = Door::document},
      path("arrivals", "ARRIVALS.csv",
           "jobs come as this table says: arrival_s, and where it has them job and limit_s",
           &request->arrivals),
      path("replay", "STREAM.csv", "decide the jobs of this table anew", &request->replay),
      path("profile", "GRAPH.txt", "with replay: one more model, by the name of its file",
           &request->profile),
      wordless("as-published", "times and rules of PAC-ML's code, quirks and all",
               request->as_published),
      {.name = "policy",
       .value = "NAME",
       .help = "repeatable; none, min, sipmlCAP, max, random, acceptable, cheapest, shortest, "
               "lookaheadDEPTH, rollout",
       .target = &request->policies},
      {.name = "seeds",
       .value = "N",
       .help = "streams that are drawn for each load",
       .target = &request->seeds,
       .range = Range{1, 1000}}};
  add(out.options, {path("plot", "DIR", "draw to this folder", &request->plot)});
  return out;
}

}  // namespace headway
