// scale run --phases: a run in phases.
#include "report/laws/phases.hpp"

#include "api/commands.hpp"
#include "platform/files.hpp"

namespace headway {

CommandOutput run_scale_phases(const ScaleRunRequest& request) {
  Problems problems;
  if (!request.csv.empty()) {
    problems.push_back({FieldName("csv"), "is of one run: phases have none"});
  }
  if (!request.plot.empty()) {
    problems.push_back({FieldName("plot"), "is of one run: phases have none"});
  }
  const auto base = read_run_request(request.run_file, request.fields);
  if (!base) append(problems, base.problems());
  const auto document =
      request.phases_here ? Result<Document>(*request.phases_here) : read_document(request.phases);
  if (!document) append(problems, document.problems());
  if (!problems.empty()) return {.problems = std::move(problems)};
  const auto question = read_phases(*document, *base);
  if (!question) return {.problems = question.problems()};
  const auto answer = answer_phases(*question);
  if (!answer) return {.problems = answer.problems()};
  return {.text = request.json ? phases_json(*answer) : phases_text(*answer)};
}

}  // namespace headway
