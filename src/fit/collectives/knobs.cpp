#include "fit/collectives/knobs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headway::detail {
namespace {

double value_of(double constant) {
  return constant;
}
template <class Q>
double value_of(Q constant) {
  return constant.value();
}

std::vector<Knob> knobs_at(const NetworkParameters& start) {
  std::vector<Knob> out;
  for_each_constant(start,
                    [&](const std::string& name, const auto& constant, const NetworkConstant& row) {
                      const double of = row.share_of != nullptr ? *row.share_of : 1;
                      out.push_back({name, row, value_of(constant) / of});
                    });
  return out;
}

}  // namespace

std::vector<Knob> decided_knobs(const NetworkParameters& start,
                                std::span<const CollectiveMeasurement* const> rows,
                                const CollectiveData& data, Exchanges exchanges,
                                std::vector<std::string>& held) {
  constexpr std::size_t kEnough = 10, kSome = 2;
  std::size_t brief = 0, rings = 0, through = 0, trees = 0, summed = 0, all_to_all = 0, others = 0,
              long_exchanges = 0;
  for (const CollectiveMeasurement* row : rows) {
    const Cluster& cluster = data.clusters[row->cluster];
    const auto outer = static_cast<std::size_t>(crossed_level(row->span, cluster));
    const auto& level = cluster.levels[outer];
    const bool reduces = row->op == CollectiveOp::all_reduce;
    const bool ring = row->op == CollectiveOp::all_gather ||
                      row->op == CollectiveOp::reduce_scatter || row->op == CollectiveOp::broadcast;
    rings += ring;
    through += ring && outer > 0 && row->span.members[outer - 1] > 1;
    brief += size_range_of(row->bytes) == SizeRange::up_to_1mib;
    trees += reduces;
    summed += reduces && level.in_network_reduction;
    all_to_all += row->op == CollectiveOp::all_to_all;
    others += row->op != CollectiveOp::all_to_all;
    long_exchanges +=
        row->op == CollectiveOp::all_to_all && size_range_of(row->bytes) != SizeRange::up_to_1mib;
  }
  std::vector<Knob> chosen;
  for (Knob& knob : knobs_at(start)) {
    const bool decided = (knob.row.by == Shown::by_all_but_exchanges && others >= kSome) ||
                         (knob.row.by == Shown::by_short_messages && brief >= kEnough) ||
                         (knob.row.by == Shown::by_rings && rings >= kEnough) ||
                         (knob.row.by == Shown::by_rings_through_domains && through >= kEnough) ||
                         (knob.row.by == Shown::by_trees && trees >= kEnough) ||
                         (knob.row.by == Shown::by_summing_switches && summed >= kEnough) ||
                         (knob.row.by == Shown::by_all_to_all && all_to_all >= kSome) ||
                         (knob.row.by == Shown::by_long_all_to_all && long_exchanges >= kSome);
    const bool as_rings = exchanges == Exchanges::as_rings && knob.name == kExchangeRatio;
    if (decided && !as_rings) {
      chosen.push_back(std::move(knob));
    } else {
      held.push_back(knob.name);
    }
  }
  return chosen;
}

void set(NetworkParameters& parameters, std::span<const Knob> knobs,
         std::span<const double> values) {
  std::size_t next = 0;
  for_each_constant(parameters,
                    [&]<class Q>(const char* name, Q& constant, const NetworkConstant& row) {
                      if (next == knobs.size() || knobs[next].name != name) return;
                      const double of = row.share_of != nullptr ? *row.share_of : 1;
                      constant = Q(values[next++] * of);
                    });
}

double to_scale(const Knob& knob, double value) {
  const double inside = std::clamp(value, knob.row.least, knob.row.most);
  return knob.row.decades ? std::log(inside) : inside;
}

double from_scale(const Knob& knob, double scaled) {
  const double value = knob.row.decades ? std::exp(scaled) : scaled;
  return std::clamp(value, knob.row.least, knob.row.most);
}

}  // namespace headway::detail
