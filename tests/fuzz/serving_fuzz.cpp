// Run files of serving: any text becomes a legal question with finite times, or problems.
#include <cmath>
#include <cstdlib>

#include "base/document/document.hpp"
#include "run/run.hpp"
#include "study/infer/question/question.hpp"
#include "targets.hpp"

void headway::fuzz::serving(std::string_view text) {
  const auto document = headway::parse_toml(text, "serving.toml");
  if (!document) return;
  const auto request = headway::run_request_from(document->root, "serving.toml");
  if (!request) return;
  const auto question = headway::read_serving(*request, headway::Asker::another);
  if (!question) {
    if (question.problems().empty()) std::abort();
    return;
  }
  // Many questions: none of them long.
  if (question->best || headway::most_steps(*question) > 3e5) return;
  const auto constants = headway::serving_constants(question->serving.cluster);
  if (!constants) return;
  if (question->curve) {
    const auto curve =
        headway::load_curve(question->serving, *constants, question->load, *question->curve, 1, {});
    for (const headway::LoadPoint& point : curve->points) {
      if (!std::isfinite(point.served.latency.value())) std::abort();
    }
    return;
  }
  const auto served = headway::served(question->serving, *constants, question->load);
  if (!served.fits || !served.stable()) return;
  const double seconds = served.latency.value();
  if (!std::isfinite(seconds) || seconds <= 0) std::abort();
  if (!(served.output_per_second > 0)) std::abort();
}
