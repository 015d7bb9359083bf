// Profiles of models and streams of jobs: any text becomes what can be asked, or problems.
#include <cmath>
#include <cstdlib>

#include "base/document/csv.hpp"
#include "base/document/document.hpp"
#include "study/jobs/question.hpp"
#include "study/jobs/replay.hpp"
#include "study/ramp/step_time.hpp"
#include "targets.hpp"

void headway::fuzz::profile(std::string_view text) {
  const auto profile = headway::read_profile(text, "profile.txt");
  if (!profile) {
    if (profile.problems().empty()) std::abort();
    return;
  }
  if (profile->ops.size() > 40) return;  // a step of many parts takes its time
  const headway::RampMachine machine;
  const std::vector<int> split = headway::splits_of(*profile, 4);
  const auto placement = headway::place_first_fit(machine, *profile, split, std::vector<bool>(32));
  if (!placement) return;
  const auto graph = headway::step_graph(*profile, split, false);
  const auto time = headway::ramp_step_time(machine, graph, *placement);
  if (time && !(std::isfinite(time->step.value()) && time->step.value() >= 0)) std::abort();
}

void headway::fuzz::job_stream(std::string_view text) {
  const auto document = headway::parse_toml(text, "stream.toml");
  if (document && document->root.find("machine") == nullptr) {  // of another no forecasts here
    const auto question = headway::read_jobs_question(*document, {});
    if (!question && question.problems().empty()) std::abort();
    if (question && headway::work_of(*question) < 20) {
      const auto answer = headway::answer_jobs(*question, 1, {});
      if (!answer || answer->rows.empty()) std::abort();
    }
  }
  const auto table = headway::parse_csv(text, "stream.csv");
  if (!table || table->rows.size() > 20) return;
  const auto stream = headway::replay_stream(*table, headway::built_in_profiles(), true);
  if (!stream && stream.problems().empty()) std::abort();
  if (stream && stream->jobs.size() != table->rows.size()) std::abort();
}
