// The engine in WebAssembly: who has loaded it hands it a request and is handed an answer, both as
// texts in its memory. The door that HTTP is (apps/server/site.cpp), without a server. The page's
// side is web/src/engine/.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/answer.hpp"
#include "base/text.hpp"

#define HEADWAY_IMPORT(name) __attribute__((import_module("headway"), import_name(name)))
#define HEADWAY_EXPORT(name) __attribute__((export_name(name)))

// Told of how far long work is, and what it counts ("layouts"); answers whether to go on.
extern "C" HEADWAY_IMPORT("progress") bool headway_progress(double done, double of,
                                                            const char* what, std::size_t bytes);
// Told of a first document, which holds less than the whole.
extern "C" HEADWAY_IMPORT("first") void headway_first(const char* text, std::size_t bytes);

namespace headway {
namespace {

/// What stands in memory for the other side to read: four words.
struct Reply {
  std::uint32_t status = 200;  // as HTTP has it: 400 problems, 404 no such thing, 500 no memory
  std::int32_t exit_code = 0;  // as the command line has it
  const char* text = nullptr;  // a JSON document
  std::size_t bytes = 0;
};

Reply reply;
std::string reply_text;

// "schema" and "schema/COMMAND" are what GET /api/schema has; all else are commands.
CommandOutput asked(std::string_view what, std::string_view request, std::string_view files) {
  constexpr std::string_view kSchema = "schema", kSchemaOf = "schema/";
  if (what == kSchema) return {.text = schemas_json()};
  if (what.starts_with(kSchemaOf)) {
    if (auto schema = schema_json(what.substr(kSchemaOf.size()))) return {.text = *schema};
    reply.status = 404;
    return {.problems = {{"path", "'" + printable(what) + "' is not there"}}};
  }
  AnswerOptions options{.threads = 1};
  while (!files.empty()) {
    const std::size_t end = files.find('\n');
    options.traces.emplace_back(files.substr(0, end));
    files = end == std::string_view::npos ? std::string_view() : files.substr(end + 1);
  }
  options.progress = [unit = progress_unit(what)](std::size_t done, std::size_t of) {
    return headway_progress(static_cast<double>(done), static_cast<double>(of), unit.data(),
                            unit.size());
  };
  options.begun = [](const std::string& text) { headway_first(text.data(), text.size()); };
  CommandOutput out = answer(what, request, options);
  if (!out.problems.empty()) reply.status = 400;
  return out;
}

}  // namespace
}  // namespace headway

/// Room for a text of so many bytes, which headway_answer() gives back.
extern "C" HEADWAY_EXPORT("room") char* headway_room(std::size_t bytes) {
  return new char[bytes];
}

/// Answers `request` of the command `what`; `files`: paths of traces, a line each. All three were
/// made by headway_room(). The reply holds until the next question.
extern "C" HEADWAY_EXPORT("answer") const headway::Reply* headway_answer(
    char* what, std::size_t what_bytes, char* request, std::size_t request_bytes, char* files,
    std::size_t files_bytes) {
  using namespace headway;
  reply = {};
  try {
    CommandOutput output =
        asked({what, what_bytes}, {request, request_bytes}, {files, files_bytes});
    reply.exit_code = output.exit_code;
    reply_text = output.problems.empty() ? std::move(output.text) : problems_json(output.problems);
  } catch (const std::exception&) {  // no memory, as it is
    reply.status = 500;
    reply_text = R"({"problems": [{"where": "engine", "message": "failed at this request"}]})";
  }
  delete[] what;
  delete[] request;
  delete[] files;
  reply.text = reply_text.data();
  reply.bytes = reply_text.size();
  return &reply;
}
