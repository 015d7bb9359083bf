// The errors of whole steps and their slopes along each offset.
#include <map>
#include <utility>

#include "fit/steps/objective.hpp"
#include "platform/parallel.hpp"

namespace headway {

std::vector<std::size_t> StepObjective::offsets(Decides part) const {
  std::vector<std::size_t> out;
  for (const OffsetStretch& stretch : stretches_) {
    for (std::size_t i = 0; i < stretch.by.size(); ++i) {
      if (stretch.by[i] == part) out.push_back(stretch.first + i);
    }
  }
  return out;
}

LinearErrors StepObjective::linearised(Decides part, std::span<const double> x, double step) const {
  // Each constant moved alone.
  struct Column {
    const OffsetStretch* stretch;
    std::size_t offset;
    std::vector<Errors> slopes = {};  // of the stretch's runs
  };
  std::vector<Column> columns;
  for (const OffsetStretch& stretch : stretches_) {
    if (is_shift(stretch)) continue;
    for (std::size_t i = 0; i < stretch.by.size(); ++i) {
      if (stretch.by[i] == part) columns.push_back({&stretch, stretch.first + i, {}});
    }
  }
  const std::vector<Calibration> calibrations = calibrate(constants(x));
  std::vector<Errors> here(runs_.size(), Errors{});
  for_each_index(runs_.size(), threads_, [&](std::size_t i, std::size_t) {
    if (weights_[i].any(part)) here[i] = errors_of(part, i, calibrations[machine_of_[i]]);
  });
  for_each_index(
      columns.size(), threads_,
      [&](std::size_t c, std::size_t) {
        Column& column = columns[c];
        const auto calibrated = [&](double offset) {
          std::vector<double> moved(x.begin(), x.end());
          moved[column.offset] += offset;
          return calibrate(constants(moved));
        };
        const auto below = calibrated(-step), above = calibrated(step);
        for (const std::size_t i : column.stretch->runs) {
          Errors& slopes = column.slopes.emplace_back();
          if (!weights_[i].any(part)) continue;
          const std::size_t machine = machine_of_[i];
          const Errors low = errors_of(part, i, below[machine]);
          const Errors high = errors_of(part, i, above[machine]);
          for (std::size_t e = 0; e < kErrors; ++e) slopes[e] = (high[e] - low[e]) / (2 * step);
        }
      },
      {}, /*grain=*/1);

  // A shift moves each entry of its section as a deviation does.
  std::map<StepSection, std::size_t> shifts;
  for (const OffsetStretch& stretch : stretches_) {
    if (is_shift(stretch)) shifts[stretch.section] = stretch.first;
  }
  std::vector<std::array<std::vector<Slope>, kErrors>> slopes(runs_.size());
  for (const Column& column : columns) {
    const auto shift = shifts.find(column.stretch->section);
    for (std::size_t r = 0; r < column.slopes.size(); ++r) {
      for (std::size_t e = 0; e < kErrors; ++e) {
        const double slope = column.slopes[r][e];
        if (slope == 0) continue;
        std::vector<Slope>& row = slopes[column.stretch->runs[r]][e];
        row.push_back({column.offset, slope});
        if (shift == shifts.end()) continue;
        row.push_back({shift->second + column.offset - column.stretch->first, slope});
      }
    }
  }
  LinearErrors out;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    for (std::size_t e = 0; e < kErrors; ++e) {
      out.errors.push_back(here[i][e]);
      out.slopes.push_back(std::move(slopes[i][e]));
    }
  }
  return out;
}

std::vector<double> StepObjective::weights(Decides part) const {
  std::vector<double> out;
  for (const Weights& weights : weights_) {
    out.insert(out.end(), weights.of(part).begin(), weights.of(part).end());
  }
  return out;
}

std::vector<double> StepObjective::variances() const {
  std::vector<double> out;
  for (const OffsetStretch& stretch : stretches_) {
    out.insert(out.end(), stretch.by.size(), variance_of(stretch));
  }
  return out;
}

StepObjective StepObjective::without(const std::vector<bool>& left_out, int threads) const {
  StepObjective out = *this;
  out.threads_ = threads;
  out.weigh(left_out);
  return out;
}

}  // namespace headway
