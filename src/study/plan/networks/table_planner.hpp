// What TorchRec's planner takes a table of embeddings to cost, with its defaults: another measure
// by which schemes of tables can be compared (headway plan --objective table-planner).
#pragma once

#include "base/quantity.hpp"
#include "layout/parts.hpp"
#include "model/modules.hpp"

namespace headway::table_planner {

/// The machine of the planner's defaults: V100 nodes on 100 Gb/s (planner/constants.py).
struct Machine {
  BytesPerSecond memory{897.0 * 1024 * 1024 * 1024};
  BytesPerSecond host_link{32.0 * 1024 * 1024 * 1024};  // HBM to DDR
  BytesPerSecond within{600.0 * 1024 * 1024 * 1024};    // a node
  BytesPerSecond across{12.5 * 1024 * 1024 * 1024};
};

/// Where a table's rows lie and who reads them: in HBM by fused or plain kernels; in host memory
/// (UVM), with a cache in HBM or without.
enum class Kernel : std::uint8_t { fused, dense, uvm_caching, uvm };

/// One table and the ranks that share it.
struct Table {
  double batch = 1;    // samples of a rank
  double pooling = 1;  // rows of a sample
  double rows = 1, width = 1;
  double value_bytes = 4;       // of a value in the table
  double output_bytes = 4;      // of a value on the wire
  double ranks = 1, local = 1;  // all; of a node
  bool weighted = false;
  Kernel kernel = Kernel::fused;
};

/// Seconds of one shard.
struct Cost {
  Seconds forward, forward_calls, backward, backward_calls;
  Seconds total() const { return forward + forward_calls + backward + backward_calls; }
};

/// [PLAN-6] Of the shard that one rank holds.
Cost cost_of(const Table& table, TableScheme scheme, const Machine& machine = {});

/// Of the fullest rank: the shards of tables that lie whole heaviest first, each on the lightest
/// rank, beside those that every rank has a part of. `batch`: samples of a rank.
Seconds fullest_rank(const EmbeddingBags& bags, const LayerSplit& split, double batch,
                     const Machine& machine = {});

}  // namespace headway::table_planner
