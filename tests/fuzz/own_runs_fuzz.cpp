// What own runs say, and what was measured of a run: any text becomes numbers within their bounds,
// or problems.
#include <cmath>
#include <cstdlib>

#include "cluster/load.hpp"
#include "fit/own/runs.hpp"
#include "layout/own_runs.hpp"
#include "model/reading/load.hpp"
#include "targets.hpp"

namespace {

const headway::Run& some_run() {
  static const headway::Run run = [] {
    headway::Run out{headway::load_model("llama-2-7b").value(),
                     headway::load_cluster("dgx-h100").value(),
                     {},
                     {}};
    out.job.sequence = 4096;
    out.job.global_batch = 8;
    return out;
  }();
  return run;
}

}  // namespace

void headway::fuzz::own_runs(std::string_view text) {
  const auto document = parse_toml(text, "mine.toml");
  if (!document) return;
  const auto measured = measured_step(*document, some_run());
  if (!measured ? measured.problems().empty() : *measured && !((*measured)->value() > 0)) {
    std::abort();
  }
  const auto own = own_runs_from(*document);
  if (!own) {
    if (own.problems().empty()) std::abort();
    return;
  }
  for (const OwnSetup& setup : own->setups) {
    const bool bounded = setup.factor >= 0.25 && setup.factor <= 4 && setup.interval > 0 &&
                         setup.interval <= 1 && setup.runs > 0;
    if (!bounded || own->of(setup.setup) != &setup) std::abort();
  }
}
