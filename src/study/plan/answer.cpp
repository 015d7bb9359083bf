#include "study/plan/answer.hpp"

#include <cmath>

#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "study/plan/space/fields.hpp"

namespace headway {
namespace {

// A feature that a layout may use, and the filter that leaves it out.
struct Feature {
  const char* name;
  bool (*used)(const Layout&);
  const char* field;
  const char* value;
};

constexpr Feature kFeatures[] = {
    {"tensor parallelism", [](const Layout& l) { return l.tp > 1; }, "tp", "1"},
    {"context parallelism", [](const Layout& l) { return l.cp > 1; }, "cp", "1"},
    {"pipeline parallelism", [](const Layout& l) { return l.pp > 1; }, "pp", "1"},
    {"virtual stages", [](const Layout& l) { return l.vpp > 1; }, "vpp", "1"},
    {"data parallelism", [](const Layout& l) { return l.dp > 1; }, "dp", "1"},
    {"expert parallelism", [](const Layout& l) { return l.ep > 1; }, "ep", "1"},
    {"micro-batches of several sequences", [](const Layout& l) { return l.micro_batch > 1; },
     "micro-batch", "1"},
    {"sequence parallelism", [](const Layout& l) { return l.tp > 1 && l.sequence_parallel; }, "sp",
     "off"},
    {"sharded states", [](const Layout& l) { return l.zero > 0; }, "zero", "0"},
    {"recomputation", [](const Layout& l) { return l.recompute != Recompute::none; }, "recompute",
     "none"},
    {"offloading",
     [](const Layout& l) {
       return l.offload_optimizer || l.offload_activations || l.offload_parameters;
     },
     "offload", "none"},
    {"overlapped tensor-parallel calls",
     [](const Layout& l) { return l.overlap_tensor == Choice::on; }, "overlap-tensor", "off"},
    {"overlapped gradients", [](const Layout& l) { return l.overlap_gradients == Choice::on; },
     "overlap-gradients", "off"},
    {"overlapped parameters", [](const Layout& l) { return l.overlap_parameters == Choice::on; },
     "overlap-parameters", "off"},
    {"tensor parallelism inside experts", [](const Layout& l) { return l.etp > 1; }, "etp", "1"},
    {"pipelines inside data parallelism",
     [](const Layout& l) { return l.order.back() == Dimension::dp; }, "order", "tp-cp-dp-pp"},
    {"layers spread with the ends in mind", [](const Layout& l) { return l.head_slots > 0; },
     "head-slots", "0"},
    {"a vocabulary split over stages", [](const Layout& l) { return l.split_vocabulary; },
     "split-vocabulary", "off"},
    {"hybrid sharding", [](const Layout& l) { return l.shard > 0; }, "shard", "0"},
    {"a schedule other than 1F1B",
     [](const Layout& l) { return l.schedule != Schedule::one_f_one_b; }, "schedule", "1f1b"},
};
static_assert(std::size(kFeatures) < kMostSeekers);  // each looks for another layout in one walk

// Whether some layout passes, legal or not with its micro-batch.
bool has_any(const PlanSpace& space, const PlanLimit& limit) {
  for (const PlanCell& cell : space.cells()) {
    const std::uint64_t first = space.first_index(cell);
    const std::size_t inner = space.inner(space.tuples()[cell.tuple]).size();
    const std::size_t tried = limit.field->axis == PlanAxis::inner ? inner : 1;
    for (std::size_t i = 0; i < tried; ++i) {
      if (limit.passes(space.layout_at(first + i))) return true;
    }
  }
  return false;
}

PlanLimit limit_of(const Feature& feature, const PlanQuestion& question) {
  const PlanField* field = plan_field(feature.field);
  return limit_to(*field, value_of(*field, feature.value).value(), question.run.job.framework);
}

PlanWithout without(const Feature& feature, const std::optional<PlanPoint>& best,
                    const PlanQuestion& question) {
  PlanWithout out{feature.name, true, best, {}};
  if (best) {
    out.layout = question.space.layout_at(best->index);
  } else {
    out.legal = has_any(question.space, limit_of(feature, question));
  }
  return out;
}

std::string percent(double share) {
  return formatted("%g %%", std::round(share * 1000) / 10);
}

}  // namespace

PlanAlternatives alternatives(const PlanQuestion& question, const PlanFloors& floors,
                              const std::vector<PlanPoint>& best, const PlanSearch& how) {
  const Layout winner = question.space.layout_at(best.front().index);
  PlanWish wish{.limits = {}, .front = true, .known = best};
  for (const Feature& feature : kFeatures) {
    if (feature.used(winner)) wish.limits.push_back(limit_of(feature, question));
  }
  PlanFound found = find(question, floors, wish, how);
  PlanAlternatives out{{}, std::move(found.front)};
  auto at = found.best.begin();
  for (const Feature& feature : kFeatures) {
    if (feature.used(winner)) out.without.push_back(without(feature, *at++, question));
  }
  return out;
}

PlanWish wish_of_part(const PlanQuestion& question, std::vector<PlanPoint> known) {
  PlanWish out{.limits = {}, .front = true, .known = std::move(known)};
  for (const Feature& feature : kFeatures) out.limits.push_back(limit_of(feature, question));
  return out;
}

PlanAlternatives alternatives(const PlanQuestion& question, const PlanPoint& winner,
                              const PlanFound& found) {
  const Layout layout = question.space.layout_at(winner.index);
  PlanAlternatives out{{}, found.front};
  for (std::size_t i = 0; i < std::size(kFeatures); ++i) {
    if (kFeatures[i].used(layout)) {
      out.without.push_back(without(kFeatures[i], found.best[i], question));
    }
  }
  return out;
}

std::vector<PlanChange> small_changes(const Run& run, double share) {
  std::vector<PlanChange> out;
  const std::string lower = " " + percent(share) + " lower";
  const auto change = [&](std::string what, const auto& body) {
    PlanChange made{std::move(what), run};
    body(made.run.cluster);
    out.push_back(std::move(made));
  };
  change("peak rates" + lower, [&](Cluster& c) {
    for (FlopsPerSecond& peak : c.accelerator.peak) peak = peak * (1 - share);
  });
  change("memory bandwidth" + lower, [&](Cluster& c) {
    c.accelerator.memory_bandwidth = c.accelerator.memory_bandwidth * (1 - share);
  });
  change("memory" + lower,
         [&](Cluster& c) { c.accelerator.memory = c.accelerator.memory * (1 - share); });
  for (std::size_t i = 0; i < run.cluster.levels.size(); ++i) {
    change(run.cluster.levels[i].name + " bandwidth" + lower, [&](Cluster& c) {
      c.levels[i].bandwidth = c.levels[i].bandwidth * (1 - share);
      c.levels[i].port_bandwidth = c.levels[i].port_bandwidth * (1 - share);
    });
  }
  return out;
}

std::optional<PlanPoint> same_under(const PlanQuestion& question, const PlanChange& change,
                                    const Calibration& calibration) {
  const PlanQuestion changed{change.run, calibration, question.space, question.headroom};
  const Forecast then = forecast(change.run, calibration);
  const Bytes live = then.memory.total() - then.gaps;
  if (live > changed.allowed_memory()) return std::nullopt;
  return PlanPoint{question.space.index_of(change.run.layout).value_or(0), then.step_time, live,
                   then.energy};
}

PlanFound best_under(const PlanQuestion& question, const PlanFloors& floors,
                     const PlanChange& change, const Calibration& calibration,
                     std::vector<PlanPoint> known, const PlanSearch& how) {
  const PlanQuestion changed{change.run, calibration, question.space, question.headroom,
                             question.part};
  const PlanWish wish{.limits = {PlanLimit{}}, .known = std::move(known)};
  if (change.slower) return find(changed, floors, wish, how);
  return find(changed, PlanFloors(changed, how.threads, how.progress, how.kept), wish, how);
}

std::optional<PlanSensitivity> under_change(const PlanQuestion& question, const PlanFloors& floors,
                                            const PlanChange& change,
                                            const Calibration& calibration, const PlanSearch& how) {
  PlanSensitivity out{change.what, same_under(question, change, calibration), std::nullopt, {}};
  std::vector<PlanPoint> known;
  if (out.winner) known.push_back(*out.winner);
  const PlanFound found = best_under(question, floors, change, calibration, std::move(known), how);
  if (!found.proven) return std::nullopt;
  out.best = found.best.front();
  if (out.best) out.layout = question.space.layout_at(out.best->index);
  return out;
}

std::vector<PlanRemedy> remedies(const PlanQuestion& question,
                                 const std::vector<PlanFilter>& filters, std::int64_t ranks,
                                 const PlanSearch& how) {
  std::vector<PlanRemedy> out;
  PlanSearch one = how;
  one.top = 1;
  const auto attempt = [&](const std::string& what, const Run& run,
                           const std::vector<PlanFilter>& by, std::int64_t accelerators,
                           double headroom) {
    const auto space = PlanSpace::make(run, accelerators, by);
    if (!space) return false;
    const PlanBest best = search({run, question.calibration, *space, headroom}, one);
    if (best.points.empty()) return false;
    const PlanPoint& point = best.points.front();
    out.push_back({what, point, space->layout_at(point.index)});
    return true;
  };
  if (question.headroom > 0) {
    attempt("without headroom", question.run, filters, ranks, 0);
  }
  for (std::size_t i = 0; i < filters.size(); ++i) {
    std::vector<PlanFilter> others = filters;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    attempt("without " +
                (filters[i].where == Where() ? filters[i].field : where_text(filters[i].where)),
            question.run, others, ranks, question.headroom);
  }
  Run small = question.run;
  small.job.optimizer = Optimizer::adam_8bit;
  if (question.run.job.optimizer != small.job.optimizer) {
    attempt("with an optimizer of 8-bit states (--optimizer adam-8bit)", small, filters, ranks,
            question.headroom);
  }
  for (std::int64_t more = 2; more <= 64; ++more) {
    if (more * ranks > question.run.cluster.accelerators) break;
    if (attempt("with " + count_text(static_cast<double>(more * ranks)) + " accelerators",
                question.run, filters, more * ranks, question.headroom)) {
      break;
    }
  }
  return out;
}

}  // namespace headway
