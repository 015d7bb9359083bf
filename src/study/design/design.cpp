#include "study/design/design.hpp"

#include <algorithm>
#include <cmath>

namespace headway {
namespace {

// A move is found to this part of its value.
constexpr double kNear = 1e-3;

// Whether machines that differ along it differ in what is bought of links or network; a bit's
// energy is no other part.
bool is_of_fabric(const DesignAxis& axis) {
  return (axis.row->of == AxisOf::link || axis.row->of == AxisOf::network) &&
         !axis.row->name.ends_with("-energy");
}

class Designer {
 public:
  explicit Designer(DesignAnswer& design) : design_(design) {}

  Problems run(const Progress& progress) {
    design_.base = point_of({});
    if (problems_.empty() && !design_.base.stands()) {
      design_.would_fit = design_.workload.would_fit();
    }
    std::size_t all = 1;
    for (const DesignAxis& axis : design_.axes) all *= axis.values.size();
    for (std::size_t i = 0; i < all && problems_.empty(); ++i) {
      design_.points.push_back(point_of(place_of(i)));
      if (progress && !progress(i + 1, all)) {
        return {{"design", "was stopped", Trouble::stopped}};
      }
    }
    if (!problems_.empty()) return problems_;
    design_.counts_money = can_count_money();
    mark_front();
    for (std::size_t axis = 0; axis < design_.axes.size(); ++axis) {
      if (design_.axes[axis].row->is_number()) find_moves(axis);
    }
    return problems_;
  }

 private:
  std::vector<std::size_t> place_of(std::size_t i) const {
    std::vector<std::size_t> out(design_.axes.size());
    for (std::size_t axis = out.size(); axis-- > 0;) {
      const std::size_t count = design_.axes[axis].values.size();
      out[axis] = i % count;
      i /= count;
    }
    return out;
  }

  // The machine at a place, with another number on one axis where that is not null.
  MachineChoice choice_at(const std::vector<std::size_t>& at, std::size_t other = 0,
                          const double* number = nullptr) const {
    MachineChoice out;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      const DesignAxis& along = design_.axes[axis];
      const bool here = number != nullptr && axis == other;
      along.row->choose(out, here ? *number : along.values[at[axis]].number, *technologies());
    }
    return out;
  }

  DesignPoint point_of(std::vector<std::size_t> at) {
    const MachineChoice choice = choice_at(at);
    DesignPoint out = timed(choice);
    if (!at.empty() && design_.varies_fabric()) {
      out.fabric = fabric_of(choice, out.machine.cluster);
    }
    out.at = std::move(at);
    return out;
  }

  DesignPoint timed(const MachineChoice& choice) {
    DesignPoint out;
    auto machine = assemble(design_.workload.base, choice);
    if (!machine) return append(problems_, machine.problems()), out;
    out.machine = std::move(machine).value();
    out.why_not = out.machine.impossible;
    if (!out.why_not.empty()) return out;
    const Cluster& cluster = out.machine.cluster;
    const auto measure = design_.workload.with_constants_of(cluster);
    if (!measure) return append(problems_, measure.problems()), out;
    const WorkloadTimes made = (*measure)(cluster);
    out.fits = made.fits;
    out.tokens_per_second = made.tokens_per_second;
    out.why_not = !made.refused.empty() ? made.refused : made.fits ? "" : "does not fit";
    if (!out.why_not.empty()) return out;
    const TimesOn times = [&](const Cluster& on) { return (*measure)(on).times; };
    const std::vector<Elasticities> rates = elasticities(cluster, times);
    for (std::size_t i = 0; i < made.times.size(); ++i) {
      out.times.push_back({made.times[i], bounds_of(made.times[i], rates[i]), rates[i]});
    }
    return out;
  }

  bool is_beaten(const DesignPoint& point, const DesignPoint& by) const {
    const double area = point.machine.area.value_or(0), its = by.machine.area.value_or(0);
    const auto money = [&](const DesignPoint& of) {
      if (!design_.counts_money) return 0.0;
      return of.machine.parts->middle() + (of.fabric ? of.fabric->middle() : 0.0);
    };
    const bool as_good = by.tokens_per_second >= point.tokens_per_second &&
                         by.power() <= point.power() && its <= area && money(by) <= money(point);
    const bool better = by.tokens_per_second > point.tokens_per_second ||
                        by.power() < point.power() || its < area || money(by) < money(point);
    return as_good && better;
  }

  bool can_count_money() const {
    const bool fabric = design_.varies_fabric();
    return std::all_of(design_.points.begin(), design_.points.end(), [&](const DesignPoint& point) {
      return !point.stands() || (point.machine.parts && (!fabric || point.fabric));
    });
  }

  // [DESIGN-11] Numbers in place of links have no price.
  std::optional<PriceRange> fabric_of(const MachineChoice& choice, const Cluster& cluster) const {
    PriceRange out;
    for (const DesignAxis& axis : design_.axes) {
      if (!is_of_fabric(axis)) continue;
      std::optional<PriceRange> price;
      if (axis.row->name == "link" && choice.link->price_domain == cluster.levels.front().size) {
        price = choice.link->price;
      }
      if (axis.row->name == "network") {
        price = price_of_network(*choice.network, design_.workload.accelerators,
                                 cluster.levels.front().size);
      }
      if (!price) return std::nullopt;
      out = out + *price;
    }
    return out;
  }

  void mark_front() {
    for (DesignPoint& point : design_.points) {
      point.on_front =
          point.stands() &&
          std::none_of(design_.points.begin(), design_.points.end(), [&](const DesignPoint& other) {
            return other.stands() && is_beaten(point, other);
          });
    }
  }

  // [DESIGN-8] Between neighbours on an axis of which another bound has most of a time, bisection
  // in the logarithm of the axis.
  void find_moves(std::size_t axis) {
    std::size_t stride = 1;
    for (std::size_t i = axis + 1; i < design_.axes.size(); ++i) {
      stride *= design_.axes[i].values.size();
    }
    for (std::size_t i = 0; i + stride < design_.points.size(); ++i) {
      const DesignPoint &here = design_.points[i], &next = design_.points[i + stride];
      if (here.at[axis] + 1 != next.at[axis] || !here.stands() || !next.stands()) continue;
      for (std::size_t time = 0; time < here.times.size(); ++time) {
        if (here.times[time].bounds.most() == next.times[time].bounds.most()) continue;
        find_move(axis, time, here, next);
      }
    }
  }

  void find_move(std::size_t axis, std::size_t time, const DesignPoint& here,
                 const DesignPoint& next) {
    const std::vector<AxisValue>& values = design_.axes[axis].values;
    BoundMove out{
        axis, time, here.at, 0, here.times[time].bounds.most(), next.times[time].bounds.most()};
    double low = values[here.at[axis]].number, high = values[next.at[axis]].number;
    while (std::abs(high / low - 1) > kNear && problems_.empty()) {
      const double middle = std::sqrt(low * high);
      if (design_.axes[axis].row->whole && std::abs(high - low) <= 1) break;
      const double at = design_.axes[axis].row->whole ? std::round(middle) : middle;
      if (at == low || at == high) break;
      const DesignPoint between = timed(choice_at(here.at, axis, &at));
      const bool before = between.stands() && between.times[time].bounds.most() == out.before;
      (before ? low : high) = at;
      if (!before && between.stands()) out.after = between.times[time].bounds.most();
    }
    out.value = high;
    design_.moves.push_back(std::move(out));
  }

  DesignAnswer& design_;
  Problems problems_;
};

}  // namespace

bool DesignAnswer::varies_fabric() const {
  return std::any_of(axes.begin(), axes.end(), is_of_fabric);
}

Result<DesignAnswer> make_design(DesignWorkload workload, std::vector<DesignAxis> axes,
                                 const Progress& progress) {
  DesignAnswer out{.workload = std::move(workload), .axes = std::move(axes)};
  if (Problems problems = Designer(out).run(progress); !problems.empty()) return problems;
  return out;
}

}  // namespace headway
