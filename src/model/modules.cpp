#include "model/modules.hpp"

#include <algorithm>
#include <numeric>

namespace headway {
namespace {

double as_number(std::int64_t count) {
  return static_cast<double>(count);
}

struct WeightsOf {
  double operator()(const Convolution& c) const {
    return as_number(c.in / c.groups) * as_number(c.out * c.taps) + (c.bias ? as_number(c.out) : 0);
  }
  double operator()(const Projection& p) const {
    return as_number(p.in) * as_number(p.out) + (p.bias ? as_number(p.out) : 0);
  }
  double operator()(const ExpertProjection& p) const {
    return as_number(p.experts) *
           (as_number(p.in) * as_number(p.out) + (p.bias ? as_number(p.out) : 0));
  }
  double operator()(const Normalisation& n) const {
    if (n.over == NormOver::plain) return 0;
    return (n.over == NormOver::scale ? 1 : 2) * as_number(n.channels);
  }
  double operator()(const Lookup& l) const { return as_number(l.rows) * as_number(l.width); }
  double operator()(const Values& v) const { return as_number(v.count); }
  double operator()(const Recurrence& r) const {
    return as_number(r.directions * r.gates) * as_number(r.hidden) * as_number(r.hidden + 1);
  }
  template <class Other>
  double operator()(const Other&) const {
    return 0;
  }
};

struct Products {
  double operator()(const Convolution& c) const {
    const std::int64_t positions = c.transposed ? c.entering : c.leaving;
    return as_number(positions) * as_number(c.in / c.groups) * as_number(c.out * c.taps);
  }
  double operator()(const Projection& p) const {
    return as_number(p.rows) * as_number(p.in) * as_number(p.out);
  }
  double operator()(const ExpertProjection& p) const {
    return as_number(p.rows * p.active) * as_number(p.in) * as_number(p.out);
  }
  double operator()(const AttentionCore& a) const {
    return 2 * as_number(a.heads * a.head_dim) * as_number(a.queries) * as_number(a.keys);
  }
  double operator()(const Recurrence& r) const {
    return as_number(r.directions * r.steps * r.gates) * as_number(r.hidden) * as_number(r.hidden);
  }
  double operator()(const DotInteraction& d) const {
    return as_number(d.features) * as_number(d.features) * as_number(d.width);
  }
  template <class Other>
  double operator()(const Other&) const {
    return 0;
  }
};

}  // namespace

std::int64_t EmbeddingBags::rows() const {
  return std::accumulate(
      tables.begin(), tables.end(), std::int64_t{0},
      [](std::int64_t sum, const EmbeddingTable& table) { return sum + table.rows; });
}

double EmbeddingBags::look_ups() const {
  return std::accumulate(
      tables.begin(), tables.end(), 0.0,
      [](double sum, const EmbeddingTable& table) { return sum + table.pooling; });
}

double module_weights(const NetworkModule& module) {
  if (module.shares_weights) return 0;
  return as_number(module.repeat) * std::visit(WeightsOf(), module.shape);
}

double table_values(const NetworkModule& module) {
  const auto* bags = std::get_if<EmbeddingBags>(&module.shape);
  return bags == nullptr ? 0.0 : as_number(bags->rows()) * as_number(bags->width);
}

Flops module_forward_flops(const NetworkModule& module) {
  return Flops(2 * as_number(module.repeat) * std::visit(Products(), module.shape));
}

}  // namespace headway
