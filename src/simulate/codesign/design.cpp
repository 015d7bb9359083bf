#include "simulate/codesign/design.hpp"

#include <algorithm>

#include "base/statistics.hpp"
#include "base/text.hpp"
#include "forecast/assembly.hpp"

namespace headway {
namespace {

const FieldName kChoice("choice");

Problem refused(std::string why) {
  return {kChoice, std::move(why), Trouble::unsupported};
}

// What the calls of a rank's gradients take in a step, of the stage that has most of them.
Seconds gradient_time(const Step& step, const Prices& prices) {
  Seconds out(0);
  for (const StageClass& stage : step.stages) {
    Seconds all(0);
    for (const Call& call : only<Call>(stage.items)) {
      if (carries_gradients(call)) all += call_time(call, prices) * call.count;
    }
    out = std::max(out, all);
  }
  return out;
}

// [SIM-53] The share of a step by which ranks wait for the slowest: those of one replica in every
// step, replicas for each other as they agree.
double waiting_share(const Design& design, const Layout& layout, const Calibration& calibration) {
  const std::int64_t replicas = layout.dp, ranks = layout.ranks();
  const double within = expected_maximum(static_cast<double>(ranks / replicas));
  const double all = expected_maximum(static_cast<double>(ranks));
  const double alone = waiting_of({}, replicas);
  const double part = alone > 0 ? waiting_of(design.synchronisation, replicas) / alone : 1;
  return calibration.shared.straggling * (within + part * (all - within));
}

// A level as it might be. Why not; empty: it is.
std::string change_level(Cluster& cluster, const LevelChange& change) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < cluster.levels.size(); ++i) {
    Level& level = cluster.levels[i];
    names.push_back(level.name);
    if (level.name != change.level) continue;
    switch (change.kind) {
      case LevelChange::Kind::reduces:
        if (level.in_network_reduction)
          return "the switches of '" + level.name + "' add up already";
        if (level.topology != Topology::switched) return "'" + level.name + "' has no switches";
        level.in_network_reduction = true;
        break;
      case LevelChange::Kind::full_bisection:
        if (!(level.oversubscription > 1)) {
          return "'" + level.name + "' has the whole bisection already";
        }
        level.oversubscription = 1;
        break;
      case LevelChange::Kind::torus: {
        if (level.topology == Topology::torus) return "'" + level.name + "' is a torus already";
        const std::int64_t children =
            level.size / (i == 0 ? 1 : std::max<std::int64_t>(1, cluster.levels[i - 1].size));
        std::int64_t side = 1;
        for (std::int64_t each = 1; each * each <= children; ++each) {
          if (children % each == 0) side = each;
        }
        level.topology = Topology::torus;
        level.in_network_reduction = false;
        level.dimensions = {children / side, side};
      }
    }
    return {};
  }
  return "level " + not_known(change.level, names);
}

class Evaluation {
 public:
  Evaluation(const Design& design, const Run& run, const Calibration& calibration,
             const Step& changed, const OtherTimes& times)
      : design_(design), run_(run), calibration_(calibration), changed_(changed), times_(times) {}

  DesignedStep step() const {
    switch (design_.synchronisation.by) {
      case Agreement::stale:
        return stale();
      case Agreement::local:
        return local();
      case Agreement::gossip:
        return of(
            simulated([&](Step& step) { to_neighbours(step, design_.synchronisation.number); }));
      case Agreement::synchronous:
        break;
    }
    const SimulatedStep found = simulated([](Step&) {});
    DesignedStep out = of(found);
    if (design_.priority) {
      const Seconds saved = std::min(saved_by_priority(found) * calibration_.own, out.parts.dp);
      out.parts.dp -= saved;
      out.time -= saved;
    }
    return out;
  }

 private:
  template <class Change>
  SimulatedStep simulated(const Change& change) const {
    StepChange of;
    of.times = times_;
    of.program = [&](Step& step) {
      step.stages = changed_.stages;
      change(step);
    };
    if (design_.synchronisation.by != Agreement::synchronous) {
      of.waiting = waiting_share(design_, run_.layout, calibration_);
    }
    return simulate_step(run_, calibration_, of);
  }
  static DesignedStep of(const SimulatedStep& step) { return {step.step_time, step.parts}; }

  // [SIM-53] Calls run beside the whole next steps, kernels slower meanwhile; the longer of both
  // sets the pace.
  DesignedStep stale() const {
    DesignedStep out = of(simulated(without_gradients));
    const Prices prices{run_.job,       run_.layout, run_.cluster, calibration_,
                        changed_.spans, nullptr,     &times_};
    const Seconds travels = gradient_time(changed_, prices) * calibration_.own;
    const Seconds slower = std::min(travels, out.time) * calibration_.shared.interference;
    out.parts.compute += slower;
    out.parts.dp += std::max(Seconds(0), travels - out.time - slower);
    out.time = out.parts.total();
    return out;
  }

  DesignedStep local() const {
    DesignedStep out = of(simulated(without_gradients));
    const DesignedStep with = of(simulated(gradients_behind));
    const auto steps = static_cast<double>(design_.synchronisation.number);
    for (const PartRow& row : kParts) {
      out.parts[row.part] += (with.parts[row.part] - out.parts[row.part]) / steps;
    }
    out.time = out.parts.total();
    return out;
  }

  const Design& design_;
  const Run& run_;
  const Calibration& calibration_;
  const Step& changed_;
  const OtherTimes& times_;
};

// What choices say against each other and against the run.
std::string problem_of(const Design& design, const Run& run, const Step& step) {
  const bool compressed = design.compression.by != Compressor::none;
  const Agreement by = design.synchronisation.by;
  if (std::string problem = synchronisation_problem(design.synchronisation, run, step);
      !problem.empty()) {
    return problem;
  }
  if (compressed && by == Agreement::gossip)
    return "gossip sends weights, not compressed gradients";
  if (!design.priority) return {};
  if (by != Agreement::synchronous) return "priority needs gradients that the next step waits for";
  if (run.layout.zero > 0) {
    return "priority needs states whole on each replica, so that each part is updated when its "
           "gradients come (--zero 0)";
  }
  const bool beside = std::any_of(step.stages.begin(), step.stages.end(), [](const auto& stage) {
    return std::any_of(stage.items.begin(), stage.items.end(), [](const Item& item) {
      const auto* call = std::get_if<Call>(&item.what);
      return call != nullptr && carries_gradients(*call) && call->hidden_by == HiddenBy::backward;
    });
  });
  return beside ? ""
                : "priority needs gradients that travel under the backward pass "
                  "(--overlap-gradients on)";
}

}  // namespace

Result<RequestedRun> run_of(const Design& design) {
  auto run = make_run(design.fields);
  if (!run) return run;
  if (!run->job.method.is_synchronous()) {
    return refused(
        "what is chosen about communication is of synchronous training; leave method out");
  }
  Problems problems;
  for (const LevelChange& change : design.levels) {
    if (std::string problem = change_level(run->cluster, change); !problem.empty()) {
      problems.push_back(refused(std::move(problem)));
    }
  }
  if (!problems.empty()) return problems;
  return run;
}

Result<DesignedStep> step_of(const Design& design) {
  const auto asked = run_of(design);
  if (!asked) return asked.problems();
  const Run& run = *asked;
  Problems problems = simulation_problems(run);
  const auto calibration = calibration_for(run);
  if (!calibration) append(problems, calibration.problems());
  if (!problems.empty()) return problems;

  // What its ranks do.
  Step step = lower(run);
  if (std::string problem = problem_of(design, run, step); !problem.empty())
    return refused(problem);
  if (std::string problem = compress_gradients(step, run, design.compression); !problem.empty()) {
    return refused(problem);
  }
  const HeldMemory memory = held_memory(step.held, run.job, run.cluster, *calibration);
  if (!memory.fits) return refused("does not fit into memory");

  // Calls by their algorithms, then everything in its place.
  auto chosen = chosen_calls(design.calls, run, step, *calibration);
  if (!chosen) return chosen.problems();
  const OtherTimes times = times_of(against_usual(std::move(chosen).value()));
  return Evaluation(design, run, *calibration, step, times).step();
}

}  // namespace headway
