// Layers of modules: convolutions, norms, recurrent cells, embedding bags. Bytes of each pass and
// what it keeps are listed in docs/workloads.md [STEP-29].
#include <algorithm>
#include <cmath>

#include "model/count.hpp"
#include "step/forward/features.hpp"
#include "step/forward/forward.hpp"
#include "step/forward/parts.hpp"
#include "step/forward/tables.hpp"
#include "step/forward/writer.hpp"

namespace headway {
namespace {

Strategy strategy_of(const Share& share, const NetworkModule& module) {
  return module.frozen ? Strategy::usual : share.split.of(module.of);
}

// [STEP-31] The ranks over which a class with a strategy of its own is split, `over` of them, and
// those that hold the same part.
struct Parts {
  Group over = Group::dp, copies = Group::dp_nodes;
  std::int64_t number = 1, same = 1;
};
Parts parts_of(Strategy strategy, const Share& share) {
  const std::int64_t all = share.around.replicas, node = share.split.node_ranks;
  switch (strategy) {
    case Strategy::usual:
    case Strategy::data:
      return {Group::dp, Group::dp, 1, all};
    case Strategy::sharded:
    case Strategy::tensor:
    case Strategy::spread:
      return {Group::dp, Group::dp, all, 1};
    case Strategy::sharded_node:
    case Strategy::tensor_node:
    case Strategy::tensor_sharded:
    case Strategy::spread_node:
      break;
  }
  return {Group::dp_node, Group::dp_nodes, node, all / std::max<std::int64_t>(1, node)};
}

class ModuleWriter {
 public:
  ModuleWriter(Writer& writer, const Share& share) : writer_(writer), share_(share) {}

  void write(const NetworkModule& module) {
    const Strategy strategy = strategy_of(share_, module);
    const bool parted = is_tensor(strategy) || is_spread(strategy);
    split_ = parted ? parts_of(strategy, share_) : Parts();
    half_ = module.half;
    writer_.repeat(static_cast<double>(module.repeat));
    writer_.freeze(module.frozen);
    enters_ = &module == first_ || module.reads_sample;
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
    if (split_.number > 1) return split_projection(p);
    const std::int64_t rows = share_.tokens * p.rows;
    const std::int64_t in = padded(p.in);
    product({.shape = {.m = rows,
                       .n = padded(p.out),
                       .k = in,
                       .image = static_cast<double>(rows) * static_cast<double>(in)},
             .quantised = true});
  }

  // One product for each expert of the rank; spread ones have the rows of all ranks of the group.
  void operator()(const ExpertProjection& p) {
    const std::int64_t n = split_.number;
    const std::int64_t experts = p.experts / n;
    const double rows = share_.rows * static_cast<double>(p.rows * p.active) *
                        (n > 1 ? share_.job.expert_imbalance : 1.0);
    product({.shape = {.m = std::max<std::int64_t>(
                           1, std::llround(rows / static_cast<double>(experts))),
                       .n = p.out,
                       .k = p.in,
                       .batch = experts,
                       .image = rows * static_cast<double>(p.in)},
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
    const double forward = fused ? e.fused_forward : e.forward;
    const double backward = fused ? e.fused_backward : e.backward;
    writer_.pass(share_.rows * forward * share_.element, share_.rows * backward * share_.element,
                 e.kernels);
    writer_.keep(share_.rows * e.kept * share_.element);
  }

  void operator()(const AttentionCore& a) {
    const std::int64_t heads = a.heads / split_.number;
    writer_.attention({.batch = share_.tokens * split_.number,
                       .heads = heads,
                       .kv_heads = heads,
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

  void operator()(const EmbeddingBags& bags) { write_tables(writer_, share_, bags); }

  void operator()(const NodeFeatures& features) { write_features(writer_, share_, features); }

  void operator()(const Lookup& l) {
    // Rows read, written behind each other; backward their gradients are added to a table of zeros.
    const double values =
        share_.rows * static_cast<double>(l.positions) * static_cast<double>(l.width);
    const double table = static_cast<double>(l.rows) * static_cast<double>(l.width);
    writer_.pass(2 * values * share_.element, (3 * values + table) * share_.element, 1);
    writer_.keep(share_.rows * static_cast<double>(l.positions) * Bytes(8));  // its indices
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
  // The samples of all ranks of the group, against columns of the weight; where it closes, rows,
  // whose results are parts of sums. One that no other closes: its columns go to their samples'
  // ranks.
  void split_projection(const Projection& p) {
    const std::int64_t n = split_.number;
    const std::int64_t rows = share_.tokens * p.rows * n;
    const auto tensor = [&](std::int64_t width) {
      return static_cast<double>(rows) * static_cast<double>(width) * share_.element;
    };
    const bool closes = half_ == Half::last;
    if (!closes) {
      writer_.cross({.seam = Seam::gathered, .tensor = tensor(p.in), .group = split_.over});
      writer_.work(tensor(p.in));
    }
    const std::int64_t in = closes ? p.in / n : p.in;
    product({.shape = {.m = rows,
                       .n = closes ? p.out : p.out / n,
                       .k = in,
                       .image = static_cast<double>(rows) * static_cast<double>(in)},
             .quantised = true});
    if (closes) {
      writer_.cross({.seam = Seam::scattered, .tensor = tensor(p.out), .group = split_.over});
    } else if (half_ == Half::alone) {
      const Bytes own = tensor(p.out) / static_cast<double>(n);
      writer_.cross({.seam = Seam::exchanged, .tensor = own, .group = split_.over});
    }
  }

  // Who fuses kernels makes rows of matrices whole loads, of 16 bytes: the 479 features of a click
  // become 480, 30,522 words 30,528.
  std::int64_t padded(std::int64_t width) const {
    constexpr std::int64_t kWhole = 8;
    if (!share_.job.fused || width < kWhole) return width;
    return (width + kWhole - 1) / kWhole * kWhole;
  }
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
  Parts split_;          // of its class
  Half half_ = Half::alone;
};

// Modules of one class behind each other, whatever passes stand between them: weights that are
// gathered, and whose gradients are summed, at once.
struct Unit {
  std::size_t first, last;
  Strategy strategy;
  double weights = 0;
};

std::vector<Unit> units_of(const Share& share, const Layer& layer) {
  std::vector<Unit> out;
  ModuleClass open = ModuleClass::other;
  for (std::size_t i = 0; i < layer.modules.size(); ++i) {
    const NetworkModule& module = layer.modules[i];
    if (module.of == ModuleClass::other) continue;
    const Strategy strategy = strategy_of(share, module);
    const double weights = module_weights(module);
    if (module.of != open && strategy != Strategy::usual) out.push_back({i, i, strategy});
    open = module.of;
    if (strategy == Strategy::usual) continue;
    out.back().last = i;
    out.back().weights += weights;
  }
  return out;
}

// Bytes of a rank's rows with which experts of a unit begin, and with which they end.
struct ExpertRows {
  Bytes in{}, out{};
};
ExpertRows expert_rows(const Share& share, const Layer& layer, const Unit& unit) {
  ExpertRows rows;
  for (std::size_t i = unit.first; i <= unit.last; ++i) {
    const auto* p = std::get_if<ExpertProjection>(&layer.modules[i].shape);
    if (p == nullptr) continue;
    const auto bytes = [&](std::int64_t width) {
      return share.rows * static_cast<double>(p->rows * p->active) * static_cast<double>(width) *
             share.element;
    };
    if (rows.in == Bytes(0)) rows.in = bytes(p->in);
    rows.out = bytes(p->out);
  }
  return rows;
}

// [STEP-31] The calls before a unit, whose conjugates end its backward pass. What a rank has of it.
double open_unit(Writer& writer, const Share& share, const Layer& layer, const Unit& unit) {
  const Parts parts = parts_of(unit.strategy, share);
  const Bytes element = gathered_bytes(share.job);
  const double here = unit.weights / static_cast<double>(parts.number);
  const auto cross = [&](Seam seam, double weights, Group group, std::int64_t ranks) {
    if (ranks > 1) writer.cross({.seam = seam, .tensor = weights * element, .group = group});
  };
  if (is_spread(unit.strategy)) {
    const Bytes rows = expert_rows(share, layer, unit).in;
    writer.cross({.seam = Seam::exchanged, .tensor = rows, .group = parts.over});
    writer.work(rows);
  } else if (!is_tensor(unit.strategy)) {
    cross(Seam::weights, unit.weights, parts.over, parts.number);
  }
  if (unit.strategy == Strategy::tensor_sharded) {
    cross(Seam::weights, here, parts.copies, parts.same);
    return here / static_cast<double>(parts.same);
  }
  cross(Seam::gradients, here, parts.copies, parts.same);
  return here;
}

void close_unit(Writer& writer, const Share& share, const Layer& layer, const Unit& unit) {
  const Parts parts = parts_of(unit.strategy, share);
  if (is_spread(unit.strategy)) {
    const Bytes rows = expert_rows(share, layer, unit).out;
    return void(writer.cross({.seam = Seam::exchanged, .tensor = rows, .group = parts.over}));
  }
  const bool across = unit.strategy == Strategy::tensor_sharded;
  if (is_tensor(unit.strategy) && !across) return;
  const std::int64_t ranks = across ? parts.same : parts.number;
  if (ranks == 1) return;
  const double whole = across ? unit.weights / static_cast<double>(parts.number) : unit.weights;
  const Bytes gathered = whole * gathered_bytes(share.job);
  writer.cross(
      {.seam = Seam::again, .tensor = gathered, .group = across ? parts.copies : parts.over});
  writer.work(gathered);
}

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
  const std::vector<Unit> units = units_of(share, layer);
  auto unit = units.begin();
  for (std::size_t i = 0; i < layer.modules.size(); ++i) {
    const bool first = unit != units.end() && i == unit->first;
    if (first) held.own += open_unit(writer, share, layer, *unit);
    modules.write(layer.modules[i]);
    if (unit != units.end() && i == unit->last) close_unit(writer, share, layer, *unit++);
    if (strategy_of(share, layer.modules[i]) == Strategy::usual) {
      held.dense += module_weights(layer.modules[i]);
    }
    if (const auto* bags = std::get_if<EmbeddingBags>(&layer.modules[i].shape)) {
      const HeldTables tables = held_tables(share, *bags);
      held.tables += tables.parted;
      held.table_bytes += tables.parted * tables.value;
      held.dense += tables.copied;
    }
    if (const auto* features = std::get_if<NodeFeatures>(&layer.modules[i].shape)) {
      held.table_bytes += held_features(share, *features);
    }
  }
  if (is_frozen(layer)) held.trained = 0;
  // [MODEL-10] The core of attention whose matrices are modules, with the norm behind it.
  if (layer.attention) add_attention(writer, share, layer);
  writer.hold(held);
  return writer.finish(share.rows * entering(layer) * share.element);
}

}  // namespace headway
