#include "simulate/codesign/sweep.hpp"

#include <algorithm>

namespace headway {
namespace {

constexpr double kShorter = 1 - 1e-9;  // less than that of a step is rounding

std::string text_of(const Problems& problems) {
  std::string out;
  for (const Problem& problem : problems) {
    out += (out.empty() ? "" : "; ") + problem.message;
  }
  return out;
}

// Of each kind the choice that brings most, the best first; each is kept that makes the step
// shorter beside those before it.
Together together(const Design& base, const DesignedStep& alone,
                  const std::vector<DesignChoice>& choices, const std::vector<TriedChoice>& tried,
                  bool changes_result) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (!tried[i].step || !(tried[i].step->time < alone.time * kShorter)) continue;
    if (tried[i].changes_result && !changes_result) continue;
    order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return tried[a].step->time < tried[b].step->time;
  });
  Together out{.choices = {}, .step = alone};
  Design design = base;
  std::vector<std::string> kinds;
  for (const std::size_t i : order) {
    if (std::find(kinds.begin(), kinds.end(), choices[i].kind) != kinds.end()) continue;
    Design more = design;
    choices[i].apply(more);
    const auto step = step_of(more);
    if (!step || !(step->time < out.step.time * kShorter)) continue;
    kinds.push_back(choices[i].kind);
    out.choices.push_back(choices[i].text);
    out.step = *step;
    design = std::move(more);
  }
  return out;
}

}  // namespace

Result<Codesign> codesign(const RunRequest& fields, const std::vector<CallChoice>& calls,
                          const std::vector<std::string>& texts) {
  // The run as it is, or everything that is wrong with it and with the choices.
  const Design base{.fields = fields, .calls = calls};
  Problems problems;
  auto run = run_of(base);
  if (!run) append(problems, run.problems());
  const auto choices = read_choices(run && texts.empty() ? usual_choices(*run) : texts);
  if (!choices) append(problems, choices.problems());
  if (!problems.empty()) return problems;
  const auto alone = step_of(base);
  if (!alone) return alone.problems();

  // Each choice alone, then those that pay together.
  Codesign out;
  out.run = std::move(run).value();
  out.base = *alone;
  for (const DesignChoice& choice : *choices) {
    Design design = base;
    choice.apply(design);
    TriedChoice& tried = out.tried.emplace_back();
    tried.layer = choice.layer;
    tried.text = choice.text;
    tried.changes_result = choice.changes_result;
    auto step = step_of(design);
    if (step) tried.step = *step;
    if (!step) tried.refused = text_of(step.problems());
  }
  out.keeping_result = together(base, *alone, *choices, out.tried, false);
  out.all = together(base, *alone, *choices, out.tried, true);
  return out;
}

}  // namespace headway
