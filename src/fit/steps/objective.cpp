#include "fit/steps/objective.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "fit/corpus/forecast.hpp"
#include "platform/parallel.hpp"

namespace headway {
namespace {

constexpr double kStep = 0.005;    // of the differences, in spreads
constexpr double kWideStep = 0.2;  // of those that measure the curvature
constexpr double kLeastCurvature = 1e-3;
constexpr const char* kDefault = "default";
/// Of a shift a priori, where a deviation has 1: frameworks, architectures and networks differ from
/// each other more than all of them together from the estimate.
constexpr double kShiftVariance = 0.25;

// Moves constants by offsets in spreads: those that may span a decade or more by factors of two,
// others by a fifth of their range.
struct Move {
  std::span<const double> shift, deviation;
  const std::set<std::string>* held;  // may be null
  std::size_t next = 0;

  void operator()(const char* name, double& constant, const Bounds& bounds) {
    constant = moved(name, constant, bounds);
  }
  template <class Q>
  void operator()(const char* name, Q& constant, const Bounds& bounds) {
    constant = Q(moved(name, constant.value(), bounds));
  }

 private:
  double moved(const char* name, double value, const Bounds& bounds) {
    const double offset = shift[next] + (deviation.empty() ? 0 : deviation[next]);
    ++next;
    if (held != nullptr && held->contains(name)) return value;
    const bool decades = bounds.least > 0 && bounds.most / bounds.least >= 10;
    const double factor = bounds.within > 0 ? bounds.within : decades ? 2 : 0;
    const double to = factor > 0 ? value * std::pow(factor, offset)
                                 : value + offset * (bounds.most - bounds.least) / 5;
    return std::clamp(to, bounds.least, bounds.most);
  }
};

// The entries of a section, each visited with its name.
template <class Visit>
void for_each_entry(StepConstants& constants, StepSection section, Visit&& visit) {
  const auto all = [&](auto& entries) {
    for (auto& [name, entry] : entries) visit(name, entry);
  };
  switch (section) {
    case StepSection::shared:
      return visit(std::string(kDefault), constants.shared);
    case StepSection::framework:
      return all(constants.frameworks);
    case StepSection::architecture:
      return all(constants.architectures);
    case StepSection::network:
      return all(constants.networks);
  }
}

// The class of a run in each section; networks: of every level that its ranks cross.
std::vector<std::string> classes_of(const CorpusRun& run, StepSection section) {
  const Cluster& cluster = run.cluster;
  switch (section) {
    case StepSection::shared:
      return {};
    case StepSection::framework:
      return {std::string(name_of(run.job.framework))};
    case StepSection::architecture:
      return {cluster.accelerator.architecture};
    case StepSection::network: {
      std::vector<std::string> out;
      std::int64_t inside = 1;  // ranks that the levels below hold
      for (const Level& level : cluster.levels) {
        if (run.layout.ranks() > inside) out.push_back(level.network);
        inside = level.size;
      }
      return out;
    }
  }
  return {};
}

}  // namespace

bool is_shift(const OffsetStretch& stretch) {
  return stretch.section != StepSection::shared && stretch.name == kDefault;
}

double variance_of(const OffsetStretch& stretch) {
  return is_shift(stretch) ? kShiftVariance : 1;
}

StepObjective::StepObjective(const std::vector<MeasuredRun>& runs, StepConstants estimates,
                             int threads)
    : runs_(runs), estimates_(std::move(estimates)), threads_(threads) {
  find_machines();
  weigh(std::vector<bool>(runs_.size()));
  lay_out();
}

void StepObjective::find_machines() {
  std::map<const Machine*, std::size_t> known;
  for (const MeasuredRun& run : runs_) {
    const auto [found, inserted] = known.emplace(run.run.machine.get(), machines_.size());
    if (inserted) machines_.push_back(run.run.machine);
    machine_of_.push_back(found->second);
  }
}

// The n rows of a source count as the root of n.
void StepObjective::weigh(const std::vector<bool>& left_out) {
  std::map<std::string, double> timed, weighed, judged;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const MeasuredRun& run = runs_[i];
    if (left_out[i]) continue;
    timed[run.source] += run.step_time ? 1 : 0;
    weighed[run.source] += run.memory ? 1 : 0;
    judged[run.source] += 1;
  }
  weights_.assign(runs_.size(), {});
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const MeasuredRun& run = runs_[i];
    if (left_out[i]) continue;
    const auto share = [&](const std::map<std::string, double>& of) {
      return 1 / std::sqrt(std::max(1.0, of.at(run.source)));
    };
    weights_[i] = {{run.step_time ? share(timed) : 0, 0},
                   {share(judged), run.memory ? share(weighed) : 0}};
  }
}

// Every class that a run belongs to gets an entry, and every entry that has runs offsets.
void StepObjective::lay_out() {
  std::vector<std::size_t> everything(runs_.size());
  std::iota(everything.begin(), everything.end(), std::size_t{0});
  for (std::size_t s = 0; s < kStepSectionNames.size(); ++s) {
    const auto section = static_cast<StepSection>(s);
    std::map<std::string, std::vector<std::size_t>> members;
    for (const std::size_t i : everything) {
      for (const std::string& name : classes_of(runs_[i].run, section)) {
        members[name].push_back(i);
        if (section == StepSection::framework) {
          estimates_.frameworks.emplace(name, estimates_.framework(name));
        } else if (section == StepSection::architecture) {
          estimates_.architectures.emplace(name, estimates_.architecture(name));
        } else if (section == StepSection::network) {
          estimates_.networks.emplace(name, estimates_.network(name));
        }
      }
    }
    for_each_entry(estimates_, section, [&](const std::string& name, auto& entry) {
      OffsetStretch stretch{
          section, name, size_, {}, name == kDefault ? everything : members[name]};
      for_each_constant(entry, [&](const char*, const auto&, const Bounds& bounds) {
        stretch.by.push_back(bounds.by);
      });
      size_ += stretch.by.size();
      stretches_.push_back(std::move(stretch));
    });
  }
}

StepConstants StepObjective::constants(std::span<const double> x) const {
  StepConstants out = estimates_;
  for (std::size_t s = 0; s < kStepSectionNames.size(); ++s) {
    const auto section = static_cast<StepSection>(s);
    const auto offsets = [&](const std::string& name) {
      for (const OffsetStretch& stretch : stretches_) {
        if (stretch.section == section && stretch.name == name) {
          return x.subspan(stretch.first, stretch.by.size());
        }
      }
      return std::span<const double>();
    };
    const std::span<const double> shift = offsets(kDefault);
    for_each_entry(out, section, [&](const std::string& name, auto& entry) {
      const auto own = name == kDefault ? std::span<const double>() : offsets(name);
      const auto held = estimates_.held.find(std::string(kStepSectionNames[s]) + "." + name);
      for_each_constant(entry,
                        Move{shift, own, held == estimates_.held.end() ? nullptr : &held->second});
    });
  }
  return out;
}

double StepObjective::loss(Decides part, std::span<const double> x, double* gradient,
                           std::span<const std::size_t> offsets) const {
  const std::vector<Calibration> calibrations = calibrate(constants(x));
  std::vector<double> losses(runs_.size());
  for_each_index(runs_.size(), threads_, [&](std::size_t i, std::size_t) {
    losses[i] = loss_of(part, i, calibrations[machine_of_[i]]);
  });
  double sum = 0;
  for (const double each : losses) sum += each;
  sum += prior(x);
  if (gradient == nullptr) return sum;

  const std::vector<const OffsetStretch*> stretch_of = stretches_by_offset();
  std::fill_n(gradient, size_, 0.0);
  for_each_index(
      offsets.size(), threads_,
      [&](std::size_t i, std::size_t) {
        const OffsetStretch& stretch = *stretch_of[offsets[i]];
        if (!is_shift(stretch))
          gradient[offsets[i]] = around(x, offsets[i], stretch, kStep).slope();
      },
      {}, /*grain=*/1);
  add_shifts(gradient);
  for (const std::size_t k : offsets) gradient[k] += x[k] / variance_of(*stretch_of[k]);
  return sum;
}

double StepObjective::prior(std::span<const double> x) const {
  double sum = 0;
  for (const OffsetStretch& stretch : stretches_) {
    for (const double offset : x.subspan(stretch.first, stretch.by.size())) {
      sum += 0.5 * offset * offset / variance_of(stretch);
    }
  }
  return sum;
}

std::vector<double> StepObjective::curvatures(Decides part, std::span<const double> x) const {
  std::vector<double> out(size_, 0);
  const std::vector<const OffsetStretch*> stretch_of = stretches_by_offset();
  for_each_index(
      size_, threads_,
      [&](std::size_t k, std::size_t) {
        const OffsetStretch& stretch = *stretch_of[k];
        if (is_shift(stretch) || stretch.by[k - stretch.first] != part) return;
        const Around loss = around(x, k, stretch, kWideStep);
        const bool moves = loss.above != loss.here || loss.below != loss.here;
        out[k] = moves ? std::max(loss.curvature(), kLeastCurvature) : 0;
      },
      {}, /*grain=*/1);
  add_shifts(out.data());
  return out;
}

std::vector<const OffsetStretch*> StepObjective::stretches_by_offset() const {
  std::vector<const OffsetStretch*> out;
  for (const OffsetStretch& stretch : stretches_) {
    out.insert(out.end(), stretch.by.size(), &stretch);
  }
  return out;
}

// A shift moves each entry of its section as a deviation does: its slope is the sum of theirs.
void StepObjective::add_shifts(double* values) const {
  for (const OffsetStretch& shift : stretches_) {
    if (!is_shift(shift)) continue;
    for (const OffsetStretch& other : stretches_) {
      if (other.section != shift.section || &other == &shift) continue;
      for (std::size_t i = 0; i < shift.by.size(); ++i) {
        values[shift.first + i] += values[other.first + i];
      }
    }
  }
}

// The loss of the stretch's runs with one of its offsets moved by `step` to both sides, for a
// constant at its bound moves to one side only.
StepObjective::Around StepObjective::around(std::span<const double> x, std::size_t offset,
                                            const OffsetStretch& stretch, double step) const {
  const Decides part = stretch.by[offset - stretch.first];
  const auto loss_at = [&](double to) {
    std::vector<double> moved(x.begin(), x.end());
    moved[offset] = to;
    const std::vector<Calibration> calibrations = calibrate(constants(moved));
    double sum = 0;
    for (const std::size_t i : stretch.runs) {
      sum += loss_of(part, i, calibrations[machine_of_[i]]);
    }
    return sum;
  };
  const double here = step == kStep ? 0 : loss_at(x[offset]);  // no slope needs it
  return {loss_at(x[offset] - step), here, loss_at(x[offset] + step), step};
}

std::vector<std::optional<double>> StepObjective::errors(const StepConstants& constants) const {
  const std::vector<Calibration> calibrations = calibrate(constants);
  std::vector<std::optional<double>> out(runs_.size());
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (!runs_[i].step_time) continue;
    const Forecast f = forecast(runs_[i].run, calibrations[machine_of_[i]]);
    out[i] = f.step_time.value() / *runs_[i].step_time - 1;
  }
  return out;
}

std::vector<Calibration> StepObjective::calibrate(const StepConstants& constants) const {
  std::vector<Calibration> out;
  out.reserve(machines_.size());
  for (const auto& machine : machines_) {
    out.push_back(in_step(machine->alone, constants, machine->cluster, machine->software));
  }
  return out;
}

StepObjective::Errors StepObjective::errors_of(Decides part, std::size_t i,
                                               const Calibration& calibration) const {
  const MeasuredRun& run = runs_[i];
  if (part == Decides::step_time && !run.step_time) return {};
  const Forecast f = forecast(run.run, calibration);
  if (part == Decides::step_time) return {std::log(f.step_time.value() / *run.step_time), 0};
  const Bytes live = f.memory.total() - f.gaps;
  const double over = std::log(live / f.capacity);
  const double wrong = run.ran ? std::max(0.0, over) : std::max(0.0, -over);
  if (!run.memory) return {wrong, 0};
  return {wrong, std::log(reported_memory(run.run, f).value() / *run.memory)};
}

double StepObjective::loss_of(Decides part, std::size_t i, const Calibration& calibration) const {
  if (!weights_[i].any(part)) return 0;
  const Errors errors = errors_of(part, i, calibration);
  double out = 0;
  for (std::size_t e = 0; e < kErrors; ++e)
    out += weights_[i].of(part)[e] * robust(part, errors[e]);
  return out;
}

}  // namespace headway
