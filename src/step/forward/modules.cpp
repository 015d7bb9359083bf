// Layers of modules: convolutions, norms, recurrent cells, embedding bags. Bytes of each pass and
// what it keeps are listed in docs/workloads.md [STEP-29].
#include <algorithm>
#include <cmath>

#include "model/count.hpp"
#include "step/forward/forward.hpp"
#include "step/forward/writer.hpp"

namespace headway {
namespace {

// Bytes of one index of a row, and of one value in a table.
constexpr Bytes kIndex(8);
constexpr Bytes kTableValue(4);

class ModuleWriter {
 public:
  ModuleWriter(Writer& writer, const Share& share) : writer_(writer), share_(share) {}

  void write(const NetworkModule& module) {
    writer_.repeat(static_cast<double>(module.repeat));
    writer_.freeze(module.frozen);
    enters_ = &module == first_;
    std::visit(*this, module.shape);
    writer_.repeat(1);
    writer_.freeze(false);
  }

  void operator()(const Convolution& c) {
    const std::int64_t samples = share_.tokens;
    const auto entering = static_cast<double>(samples * c.entering) * static_cast<double>(c.in);
    std::int64_t deep = c.in / c.groups * c.taps;
    if (c.transposed) {  // each leaving position is met by its share of the windows
      deep = std::max<std::int64_t>(
          1, std::llround(static_cast<double>(deep) * static_cast<double>(c.entering) /
                          static_cast<double>(c.leaving)));
    }
    product({.shape = {.m = samples * c.leaving,
                       .n = c.out / c.groups,
                       .k = deep,
                       .batch = c.groups,
                       .image = entering,
                       .taps = c.transposed ? 1 : c.taps}});
  }

  void operator()(const Projection& p) {
    const std::int64_t rows = share_.tokens * p.rows;
    product({.shape = {.m = rows,
                       .n = p.out,
                       .k = p.in,
                       .image = static_cast<double>(rows) * static_cast<double>(p.in)},
             .quantised = true});
  }

  void operator()(const Normalisation& n) {
    // Group: read for mean and variance, read again and written; backward what enters and its
    // gradient are read for two sums, and again, and one written. Batch: where kernels are fused
    // the convolutions beside it take the sums as they write. Layer: rows fit the chip. Frozen: in
    // the convolution before it.
    const bool fused = share_.job.fused;
    const double values =
        share_.rows * static_cast<double>(n.channels) * static_cast<double>(n.positions);
    switch (n.over) {
      case NormOver::batch:
        pass(values, fused ? 2 : 3, fused ? 4 : 5);
        break;
      case NormOver::group:
        pass(values, 3, 5);
        break;
      case NormOver::layer:
      case NormOver::scale:
      case NormOver::plain:
        pass(values, 2, 3);
        break;
      case NormOver::frozen:
        if (!fused) pass(values, 2, 2);
        return;
    }
    writer_.keep(values * share_.element);
  }

  void operator()(const Elementwise& e) {
    const bool fused = share_.job.fused;
    pass(share_.rows, fused ? e.fused_forward : e.forward, fused ? e.fused_backward : e.backward);
    writer_.keep(share_.rows * e.kept * share_.element);
  }

  void operator()(const AttentionCore& a) {
    writer_.attention({.batch = share_.tokens,
                       .heads = a.heads,
                       .kv_heads = a.heads,
                       .queries = a.queries,
                       .keys = a.keys,
                       .head_dim = a.head_dim,
                       .value_dim = a.head_dim,
                       .causal = false});
    const double width = static_cast<double>(a.heads * a.head_dim);
    writer_.keep(share_.rows * width * static_cast<double>(2 * a.queries + 2 * a.keys) *
                 share_.element);
  }

  void operator()(const Recurrence& r) {
    const double steps = static_cast<double>(r.steps * r.directions);
    const std::int64_t columns = r.gates * r.hidden;
    product({.shape = {.m = share_.tokens,
                       .n = columns,
                       .k = r.hidden,
                       .image = share_.rows * static_cast<double>(r.hidden),
                       .recurrent = true},
             .steps = steps});
    // The cell: gates and state read, state and result written; in the product's kernel where
    // kernels are fused.
    const double cell = share_.rows * static_cast<double>(columns + 3 * r.hidden) * steps;
    if (!share_.job.fused) pass(cell, 1, 2);
    writer_.keep(cell * share_.element);
  }

  void operator()(const EmbeddingBags& bags) {
    const double width = static_cast<double>(bags.width);
    const double fullest = share_.split.ep > 1 ? share_.job.expert_imbalance : 1.0;
    const double read = share_.rows * bags.look_ups() * fullest;
    const Bytes pooled =
        share_.rows * static_cast<double>(bags.tables.size()) * width * share_.element;
    writer_.serve(Module::embedding);
    writer_.cross(Seam::indices, share_.rows * bags.look_ups() * kIndex);
    // Rows read, their sums written; backward the sums' gradients are read, the rows read and
    // written with a step for each.
    writer_.pass(read * (width * kTableValue + kIndex) + fullest * pooled,
                 read * (2 * width * kTableValue + kIndex) + fullest * pooled, 1);
    writer_.cross(Seam::pooled, pooled);
    writer_.keep(share_.rows * bags.look_ups() * kIndex);
    writer_.serve(Module::other);
  }

  void operator()(const Lookup& l) {
    // Rows read, written behind each other; backward their gradients are added to a table of zeros.
    const double values =
        share_.rows * static_cast<double>(l.positions) * static_cast<double>(l.width);
    const double table = static_cast<double>(l.rows) * static_cast<double>(l.width);
    writer_.pass(2 * values * share_.element, (3 * values + table) * share_.element, 1);
    writer_.keep(share_.rows * static_cast<double>(l.positions) * kIndex);
  }

  void operator()(const Values&) {}

  void operator()(const DotInteraction& d) {
    const double features = static_cast<double>(d.features);
    const double entering = features * static_cast<double>(d.width);
    const double pairs = features * (features - 1) / 2;
    pass(share_.rows * (entering + pairs), 1, 2);
    writer_.keep(share_.rows * entering * share_.element);
  }

 private:
  void product(Writer::ModuleProduct of) {
    of.enters = enters_;
    writer_.module_product(of);
  }
  void pass(double values, double forward, double backward) {
    writer_.pass(values * forward * share_.element, values * backward * share_.element, 1);
  }

  Writer& writer_;
  const Share& share_;
  const NetworkModule* first_ = first_trained_product(share_.model);
  bool enters_ = false;  // what the module reads needs no gradient
};

bool is_frozen(const Layer& layer) {
  return std::all_of(layer.modules.begin(), layer.modules.end(),
                     [](const NetworkModule& module) { return module.frozen; });
}

// Elements of one sample that enter.
double entering(const Layer& layer) {
  for (const NetworkModule& module : layer.modules) {
    if (const auto* c = std::get_if<Convolution>(&module.shape)) {
      return static_cast<double>(c->entering) * static_cast<double>(c->in);
    }
    if (const auto* p = std::get_if<Projection>(&module.shape)) {
      return static_cast<double>(p->rows) * static_cast<double>(p->in);
    }
  }
  return 0;
}

}  // namespace

Program forward_modules(const Share& share, const Layer& layer) {
  Writer writer(share, BlockKind::layer);
  ModuleWriter modules(writer, share);
  HeldParameters held;
  double tables = 0;
  for (const NetworkModule& module : layer.modules) {
    modules.write(module);
    held.dense += module_weights(module);
    tables += table_values(module);
  }
  if (is_frozen(layer)) held.trained = 0;
  held.tables = tables / static_cast<double>(share.split.ep);
  writer.hold(held);
  return writer.finish(share.rows * entering(layer) * share.element);
}

}  // namespace headway
