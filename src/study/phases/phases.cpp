#include "study/phases/phases.hpp"

#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "study/sweep/choice.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostPhases = 64;
const Seconds kNever(std::numeric_limits<double>::infinity());

// Whether what ranks hold is the same: micro-batch and recomputation move nothing.
bool same_place(const RequestedRun& a, const RequestedRun& b) {
  Layout other = b.layout;
  other.micro_batch = a.layout.micro_batch;
  other.recompute = a.layout.recompute;
  return a.layout == other && a.cluster.name == b.cluster.name;
}

// The phase in the layout of `from`: its own as it is given, another with the fastest micro-batch
// and recomputation that fit.
Result<RequestedRun> in_layout(const RequestedRun& phase, const RequestedRun& from) {
  if (same_place(phase, from)) return phase;
  RequestedRun out = phase;
  out.layout = from.layout;
  settle_ends(out);
  return fastest_that_fits({.micro_batch = true, .recompute = true})(out);
}

// The phase in a layout, or why it is not run so.
PhaseInLayout phase_in(const WholeRun& own, const PhaseLayout& layout, std::size_t index) {
  PhaseInLayout out{.layout = index, .whole = {}, .reason = {}};
  if (layout.run.layout.ranks() != own.run.layout.ranks()) {
    out.reason = "is on another number of accelerators";
    return out;
  }
  auto run = in_layout(own.run, layout.run);
  const Problems wrong = run ? check(*run) : run.problems();
  if (!wrong.empty()) {
    out.reason = where_text(wrong.front()) + " " + wrong.front().message;
    return out;
  }
  auto whole = whole_run(std::move(run).value(), own.given);
  if (!whole) {
    out.reason = whole.problems().front().message;
  } else if (!whole->forecast.fits) {
    out.reason = "does not fit in memory";
  } else if (whole->cost.hopeless) {
    out.reason = "fails before a checkpoint";
  } else {
    out.whole = std::move(whole).value();
  }
  return out;
}

// The phases as they are asked for, all problems at once.
Result<std::vector<WholeRun>> own_runs(const PhasesQuestion& question) {
  std::vector<WholeRun> out;
  Problems problems;
  for (const PhasesQuestion::Phase& phase : question.phases) {
    auto whole = whole_run(phase.fields);
    if (!whole) {
      for (Problem problem : whole.problems()) {
        problem.message += " (in " + printable(phase.name, 60) + ")";
        problems.push_back(std::move(problem));
      }
    } else if (!out.empty() && out.front().run.model.name != whole->run.model.name) {
      problems.push_back({FieldName("model"), "of phase " + printable(phase.name, 60) +
                                                  " is another than that of the first"});
    } else {
      out.push_back(std::move(whole).value());
    }
  }
  if (!problems.empty()) return problems;
  return out;
}

std::vector<PhaseLayout> layouts_of(const PhasesQuestion& question,
                                    const std::vector<WholeRun>& own) {
  std::vector<PhaseLayout> out;
  const auto add = [&](const RequestedRun& run, std::string from) {
    const bool known = std::any_of(
        out.begin(), out.end(), [&](const PhaseLayout& each) { return same_place(each.run, run); });
    if (!known) out.push_back({run, std::move(from)});
  };
  for (std::size_t i = 0; i < own.size(); ++i) {
    add(own[i].run, "given for " + question.phases[i].name);
  }
  if (!question.best) return out;
  const LayoutChoice best = best_of_all();
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (const auto run = best(own[i].run)) add(*run, "best of " + question.phases[i].name);
  }
  return out;
}

}  // namespace

// [LAW-24] Another layout or other accelerators: a checkpoint is written by the old ones, read by
// the new ones, and they restart. The same layout with another batch, length or precision goes on
// as it is.
Seconds change_over(const WholeRun& before, const WholeRun& after) {
  if (same_place(before.run, after.run)) return {};
  return before.cost.checkpoint / before.assumed.checkpoint_bandwidth +
         after.cost.checkpoint / after.assumed.checkpoint_bandwidth + after.assumed.restart;
}

// [LAW-25] The sequence of layouts with the least time, over all that a phase has of its own or
// that is best for one of them: t(i, l) = min over k of t(i-1, k) + change(k, l) + time(i, l).
Result<PhasesAnswer> answer_phases(const PhasesQuestion& question) {
  const auto own = own_runs(question);
  if (!own) return own.problems();
  PhasesAnswer out;
  out.layouts = layouts_of(question, *own);
  const std::size_t phases = own->size(), layouts = out.layouts.size();
  std::vector<std::vector<PhaseInLayout>> at(phases);
  for (std::size_t i = 0; i < phases; ++i) {
    for (std::size_t l = 0; l < layouts; ++l) {
      at[i].push_back(phase_in((*own)[i], out.layouts[l], l));
    }
  }
  std::vector<std::vector<Seconds>> least(phases, std::vector<Seconds>(layouts, kNever));
  std::vector<std::vector<std::size_t>> before(phases, std::vector<std::size_t>(layouts));
  for (std::size_t i = 0; i < phases; ++i) {
    for (std::size_t l = 0; l < layouts; ++l) {
      if (!at[i][l].whole) continue;
      const WholeRun& run = *at[i][l].whole;
      const Seconds time = run.cost.time.total();
      if (i == 0) least[i][l] = time;
      for (std::size_t k = 0; i > 0 && k < layouts; ++k) {
        if (!at[i - 1][k].whole) continue;
        const Seconds all = least[i - 1][k] + change_over(*at[i - 1][k].whole, run) + time;
        if (all >= least[i][l]) continue;
        least[i][l] = all;
        before[i][l] = k;
      }
    }
  }
  const auto best = std::min_element(least.back().begin(), least.back().end());
  if (!(*best < kNever)) {
    Problems problems;
    for (std::size_t i = 0; i < phases; ++i) {
      const bool runs = std::any_of(at[i].begin(), at[i].end(), [](const PhaseInLayout& each) {
        return each.whole.has_value();
      });
      if (!runs) {
        problems.push_back({FieldName("phase"), printable(question.phases[i].name, 60) +
                                                    " is not run in any layout: " +
                                                    printable(at[i].front().reason, 200)});
      }
    }
    return problems;
  }
  out.time = *best;
  std::vector<std::size_t> chosen(phases);
  chosen.back() = static_cast<std::size_t>(best - least.back().begin());
  for (std::size_t i = phases - 1; i > 0; --i) chosen[i - 1] = before[i][chosen[i]];
  for (std::size_t i = 0; i < phases; ++i) {
    PhaseStep step{.name = question.phases[i].name,
                   .layout = chosen[i],
                   .whole = *at[i][chosen[i]].whole,
                   .change = {},
                   .staying = {}};
    if (i > 0) {
      step.change = change_over(*at[i - 1][chosen[i - 1]].whole, step.whole);
      const PhaseInLayout& stayed = at[i][chosen[i - 1]];
      if (stayed.whole) step.staying = stayed.whole->cost.time.total();
    }
    out.steps.push_back(std::move(step));
  }
  // Each phase in its own layout, and one layout for all.
  for (std::size_t i = 0; i < phases; ++i) {
    out.own_time += (*own)[i].cost.time.total();
    if (i > 0) out.own_time += change_over((*own)[i - 1], (*own)[i]);
  }
  for (std::size_t l = 0; l < layouts; ++l) {
    Seconds time;
    for (std::size_t i = 0; i < phases; ++i) {
      time += at[i][l].whole ? at[i][l].whole->cost.time.total() : kNever;
    }
    if (time < kNever && (!out.fixed_time || time < *out.fixed_time)) {
      out.fixed_time = time;
      out.fixed_layout = l;
    }
  }
  return out;
}

Result<PhasesQuestion> read_phases(const Document& document, const RunRequest& base) {
  Problems problems;
  PhasesQuestion out;
  Fields root(document, problems);
  out.best = root.flag_or("best", false);
  const Node* list = document.root.find("phase");
  const std::size_t count = root.tables("phase").size();
  root.reject_unknown();
  if (count == 0 && problems.empty()) {
    root.fail("phase", "must list the phases", Trouble::missing);
  }
  if (count > kMostPhases) root.fail("phase", "lists more than 64 phases");
  if (!problems.empty()) return problems;
  for (const GivenField& field : base) {
    if (field.name == "tokens") {
      problems.push_back({field.where, "is of each phase, beside which it cannot stand"});
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    PhasesQuestion::Phase phase{.name = "phase " + std::to_string(i + 1), .fields = base};
    Node table = (*list->array())[i];
    auto* members = std::get_if<Node::Table>(&table.value);
    std::erase_if(*members, [&](const Node::Member& member) {
      if (member.first != "name") return false;
      if (const auto* text = std::get_if<std::string>(&member.second.value)) {
        phase.name = printable(*text, 60);
      } else {
        problems.push_back({Where(document.file, member.second.line, FieldName("name")),
                            "must be text", Trouble::malformed});
      }
      return true;
    });
    auto own = run_request_from(table, document.file);
    if (!own) {
      append(problems, own.problems());
    } else {
      phase.fields.insert(phase.fields.end(), own->begin(), own->end());
    }
    out.phases.push_back(std::move(phase));
  }
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway
