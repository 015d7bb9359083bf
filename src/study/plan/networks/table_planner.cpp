#include "study/plan/networks/table_planner.hpp"

#include <algorithm>
#include <vector>

#include "step/forward/tables.hpp"

namespace headway::table_planner {
namespace {

constexpr double kIndex = 8;            // bytes
constexpr double kLeastWidth = 32;      // a look-up of fewer values takes as long
constexpr double kBatchedCopy = 2.455;  // of gathered gradients, over their bytes
constexpr double kDenseUpdate = 9.22;   // of a copied table, over its bytes
constexpr double kWeightedBackward = 1.1;

// Memory from which rows come.
BytesPerSecond rate_of(Kernel kernel, const Machine& machine) {
  switch (kernel) {
    case Kernel::fused:
      return machine.memory;
    case Kernel::dense:
      return 0.5 * machine.memory;
    case Kernel::uvm_caching:
      return (0.2 * machine.memory + 0.8 * machine.host_link) / 10.0;
    case Kernel::uvm:
      return machine.host_link / 10.0;
  }
  return machine.memory;
}

double narrow_penalty(double width) {
  return width >= 128 ? 1 : width >= 64 ? 1.15 : 1.75;
}

}  // namespace

// [PLAN-6] B samples of a rank, W ranks, l of a node, L rows a sample, width D, w and c bytes of a
// value in the table and on the wire, n_in = L·B, n_out = B, h the rate of the memory:
//   table-wise, column-wise  fwd = (8·n_in·W + n_in·W·max(D, 32)·w + n_out·W·D·c)·penalty / h;
//                            calls n_out·W·D·c / all-to-all, the same again backward
//   row-wise, grid's parts   n_in over the ranks that share it, no penalty, no least width; calls
//                            by reduce-scatter, backward gathered and copied, 2.455·out / h
//   data-parallel            no W; all-reduce of the table times (2n - 1)/n, n = min(W/l, 2), twice
//                            that beyond two nodes, and 9.22·table / h
// bwd = 2·fwd, of weighted bags 1.1·fwd more. Source: TorchRec @a48cef7,
// planner/shard_estimators.py and constants.py. Known error: no launches, no clashes of rows.
Cost cost_of(const Table& t, TableScheme scheme, const Machine& machine) {
  const BytesPerSecond memory = rate_of(t.kernel, machine);
  const bool across = t.ranks > t.local;
  const BytesPerSecond wire = across ? machine.across : machine.within;
  const double inputs = t.pooling * t.batch, outputs = t.batch;
  const auto compute = [&](double in, double ranks, double width, double penalty) {
    const double read = in * ranks * kIndex, looked_up = in * ranks * width * t.value_bytes,
                 out = outputs * ranks * t.width * t.output_bytes;
    return Bytes((read + looked_up + out) * penalty) / memory;
  };
  const Bytes out(outputs * t.ranks * t.width * t.output_bytes);
  Cost cost;
  switch (scheme) {
    case TableScheme::spread:
    case TableScheme::table_wise:
    case TableScheme::column_wise:
      cost.forward =
          compute(inputs, t.ranks, std::max(t.width, kLeastWidth), narrow_penalty(t.width));
      cost.forward_calls = cost.backward_calls = out / wire;
      break;
    case TableScheme::row_wise:
      cost.forward = compute(inputs / t.ranks, t.ranks, t.width, 1);
      cost.forward_calls = out / wire;
      cost.backward_calls = out / wire + kBatchedCopy * out / machine.memory;
      break;
    case TableScheme::table_row_wise:
    case TableScheme::grid: {
      const Bytes between(outputs * (t.ranks / t.local) * t.width * t.output_bytes);
      cost.forward = compute(inputs / t.local, t.ranks, t.width, 1);
      cost.forward_calls = out / machine.within + (across ? between / machine.across : Seconds(0));
      cost.backward_calls = cost.forward_calls + kBatchedCopy * out / machine.memory;
      break;
    }
    case TableScheme::data_parallel: {
      const Bytes table(t.rows * t.width * t.value_bytes);
      const double n = std::clamp(t.ranks / t.local, 1.0, 2.0);
      const double times = (2 * n - 1) / n * (t.ranks > 2 * t.local ? 2 : 1);
      cost.forward = compute(inputs, 1, t.width, 1);
      const BytesPerSecond reduce = across ? t.local * machine.across : machine.within;
      cost.backward_calls = times * table / reduce + kDenseUpdate * table / machine.memory;
      break;
    }
  }
  cost.backward = 2.0 * cost.forward;
  if (t.weighted) cost.backward += kWeightedBackward * cost.forward;
  return cost;
}

Seconds fullest_rank(const EmbeddingBags& bags, const LayerSplit& split, double batch,
                     const Machine& machine) {
  std::vector<double> whole, of_nodes;
  Seconds shared;
  const auto local = static_cast<double>(std::max<std::int64_t>(1, split.node_ranks));
  const auto ranks = static_cast<double>(split.ep);
  for (std::size_t i = 0; i < bags.tables.size(); ++i) {
    const EmbeddingTable& each = bags.tables[i];
    const TableScheme scheme = split.tables.of(i, each.rows);
    const bool cut = scheme == TableScheme::column_wise || scheme == TableScheme::grid;
    const std::int64_t slices =
        cut ? std::max<std::int64_t>(1, bags.width / split.tables.columns) : 1;
    Table table{.batch = batch,
                .pooling = each.pooling,
                .rows = static_cast<double>(each.rows),
                .width = static_cast<double>(bags.width / slices),
                .value_bytes = static_cast<double>(bags.value_bytes),
                .ranks = ranks,
                .local = split.node_ranks > 1 ? local : ranks};
    const Cost cost = cost_of(table, scheme, machine);
    for (std::int64_t slice = 0; slice < slices; ++slice) {
      switch (scheme) {
        case TableScheme::table_wise:
        case TableScheme::column_wise:
          whole.push_back(cost.total().value());
          break;
        case TableScheme::table_row_wise:
        case TableScheme::grid:
          of_nodes.push_back(cost.total().value());
          break;
        case TableScheme::spread:  // evenly: an even share of what lies whole
          shared += cost.total() / ranks;
          break;
        default:
          shared += cost.total();
          break;
      }
    }
  }
  const auto fullest = [](const std::vector<double>& costs, std::int64_t holders) {
    double sum = 0;
    for (const double cost : costs) sum += cost;
    return Seconds(sum / static_cast<double>(holders) * fullest_share(costs, holders));
  };
  const std::int64_t nodes =
      std::max<std::int64_t>(1, split.ep / std::max<std::int64_t>(1, split.node_ranks));
  return shared + fullest(whole, std::max<std::int64_t>(1, split.ep)) + fullest(of_nodes, nodes);
}

}  // namespace headway::table_planner
