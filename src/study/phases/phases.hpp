// A run in phases: batch, context, data and precision change, and the layout with them where it
// pays.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "run/run.hpp"
#include "study/lifetime/whole_run.hpp"

namespace headway {

struct PhasesQuestion {
  struct Phase {
    std::string name;
    RunRequest fields;  // of a run and of scale_run_fields(), all of them
  };
  std::vector<Phase> phases;
  bool best = false;  // each phase's best layout is looked for, beside the one it names
};

/// Tables [[phase]] with a name, tokens and fields of a run, which override `base`; `best`. Every
/// problem at once.
Result<PhasesQuestion> read_phases(const Document& document, const RunRequest& base);

/// One phase in one layout.
struct PhaseInLayout {
  std::size_t layout = 0;  // of PhasesAnswer::layouts
  std::optional<WholeRun> whole;
  std::string reason;  // why it is not run so; empty: it is
};

/// A layout with its accelerators.
struct PhaseLayout {
  RequestedRun run;  // of the phase that it is the own or best one of
  std::string from;
};

struct PhaseStep {
  std::string name;
  std::size_t layout = 0;  // that is run in
  WholeRun whole;
  Seconds change;                  // before it: reload or reshard [LAW-24]
  std::optional<Seconds> staying;  // time in the layout of the phase before; nothing: not possible
};

struct PhasesAnswer {
  std::vector<PhaseLayout> layouts;
  std::vector<PhaseStep> steps;       // with the layouts that come to the end soonest
  Seconds time, own_time;             // of these; each phase in its own layout, changes included
  std::optional<Seconds> fixed_time;  // the best single layout of all; nothing: none runs all
  std::size_t fixed_layout = 0;
};
/// All phases with the cheapest sequence of layouts, changing over counted; or why there is none.
Result<PhasesAnswer> answer_phases(const PhasesQuestion& question);

/// What it costs to go on in another layout or on other accelerators: a checkpoint written and
/// read, and a restart [LAW-24]; nothing where both are the same.
Seconds change_over(const WholeRun& before, const WholeRun& after);

}  // namespace headway
