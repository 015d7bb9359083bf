// Requests in JSON: any text is answered by a document or by problems, each with its place; and no
// progress is needed for the latter.
#include <cstdlib>
#include <string_view>

#include "api/answer.hpp"
#include "base/document/document.hpp"
#include "targets.hpp"

void headway::fuzz::request(std::string_view bytes) {
  if (bytes.empty()) return;
  // The first byte says which command; "study" alone would take seconds.
  const std::string_view command =
      headway::answered_names()[static_cast<unsigned char>(bytes[0]) % 7];
  const std::string_view body = bytes.substr(1);
  if (body.find("study") != std::string_view::npos) return;
  headway::AnswerOptions options;
  options.data = "no-such-folder";
  options.threads = 1;
  options.progress = [](std::size_t, std::size_t) { return false; };
  const headway::CommandOutput output = headway::answer(command, body, options);
  if (output.problems.empty()) {
    if (!headway::parse_json(output.text, "document")) std::abort();
    return;
  }
  if (!output.text.empty()) std::abort();
  for (const headway::Problem& problem : output.problems) {
    if (where_text(problem).empty() || problem.message.empty()) std::abort();
  }
  if (!headway::parse_json(headway::problems_json(output.problems), "problems")) std::abort();
}
