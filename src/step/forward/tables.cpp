#include "step/forward/tables.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>

namespace headway {
namespace {

// Bytes of one index of a row, and of how many a sample has.
constexpr Bytes kIndex(8);

// Launches each way where ranks send each other which rows they want: lists of indices are split,
// permuted, summed up and checked, backward sorted. As recorded of a step of TorchRec, 29 and 42
// (facebookresearch/param, DLRM on 8 V100); elsewhere one kernel looks all up.
constexpr double kListLaunches = 36;

// The tables of one scheme.
struct Some {
  TableScheme scheme;
  double tables = 0;
  double look_ups = 0;  // of one sample
  double values = 0;
  double distinct = 0;      // rows among the look-ups of all samples that a mean rank reads for
  double fullest = 1;       // of the look-ups of a mean rank, those of the fullest one,
  double fullest_held = 1;  // and of its values
};

// [STEP-31] Rows among so many look-ups of a table of `rows`, each as likely as the others: those
// that are read often, as of real clicks, leave fewer.
double distinct_rows(double look_ups, double rows) {
  return rows * -std::expm1(-look_ups / rows);
}

// Ranks that have parts of their own: of schemes by node its ranks have the same.
std::int64_t holders(TableScheme scheme, const LayerSplit& split) {
  const bool by_node = scheme == TableScheme::table_row_wise || scheme == TableScheme::grid;
  return by_node ? split.ep / split.node_ranks : split.ep;
}

// Slices of the width.
std::int64_t slices(TableScheme scheme, const LayerSplit& split, std::int64_t width) {
  const bool by_width = scheme == TableScheme::column_wise || scheme == TableScheme::grid;
  return by_width ? std::max<std::int64_t>(1, width / split.tables.columns) : 1;
}

bool is_even(TableScheme scheme) {
  return scheme == TableScheme::spread || scheme == TableScheme::row_wise;
}

// Of a rank with `samples`; who holds a whole table reads it for those of all ranks.
Some some_of(const EmbeddingBags& bags, TableScheme scheme, const LayerSplit& split,
             double samples) {
  Some out{.scheme = scheme};
  const double all = static_cast<double>(split.ep);
  const bool here = scheme == TableScheme::data_parallel || split.ep == 1;
  std::vector<double> loads, held;
  const bool whole = !is_even(scheme) && scheme != TableScheme::data_parallel;
  const std::int64_t parts = slices(scheme, split, bags.width);
  for (std::size_t at = 0; at < bags.tables.size(); ++at) {
    const EmbeddingTable& table = bags.tables[at];
    if (split.tables.of(at, table.rows) != scheme) continue;
    const double values = static_cast<double>(table.rows) * static_cast<double>(bags.width);
    out.tables += 1;
    out.look_ups += table.pooling;
    out.values += values;
    const double rows = static_cast<double>(table.rows), read = samples * table.pooling;
    out.distinct += here ? distinct_rows(read, rows) : distinct_rows(all * read, rows) / all;
    if (!whole) continue;
    for (std::int64_t i = 0; i < parts; ++i) {
      loads.push_back(table.pooling);
      held.push_back(values);
    }
  }
  if (!whole || out.tables == 0) return out;
  const std::int64_t ranks = holders(scheme, split);
  out.fullest = fullest_share(loads, ranks);
  out.fullest_held = fullest_share(std::move(held), ranks);
  return out;
}

template <class Body>
void for_schemes(const EmbeddingBags& bags, const LayerSplit& split, double samples,
                 const Body& body) {
  if (split.ep == 1) return body(some_of(bags, TableScheme::spread, LayerSplit(), samples));
  for (std::size_t i = 0; i < kTableSchemeNames.size(); ++i) {
    const Some some = some_of(bags, static_cast<TableScheme>(i), split, samples);
    if (some.tables > 0) body(some);
  }
}

class TableWriter {
 public:
  TableWriter(Writer& writer, const Share& share, const EmbeddingBags& bags)
      : writer_(writer),
        share_(share),
        width_(static_cast<double>(bags.width)),
        value_(static_cast<double>(bags.value_bytes)),
        ranks_(static_cast<double>(share.split.ep)) {}

  void write(const Some& some, std::int64_t parts) {
    const double of_samples = share_.rows * some.look_ups;
    const bool copied = some.scheme == TableScheme::data_parallel;
    const bool routed = share_.split.ep > 1 && !copied;
    const double fullest = routed ? some.fullest * share_.job.expert_imbalance : 1.0;
    const double read = of_samples * fullest;
    const double slices = static_cast<double>(parts);
    const Bytes pooled = share_.rows * some.tables * width_ * share_.element;
    if (some.scheme == TableScheme::spread) {
      writer_.cross(Seam::indices, of_samples * kIndex);
    } else if (routed) {
      // To each rank how much follows in three tensors; of each sample how many; which.
      writer_.cross(Seam::indices, 3 * ranks_ * kIndex);
      writer_.cross(Seam::indices, share_.rows * some.tables * slices * kIndex);
      writer_.cross(Seam::indices, of_samples * slices * kIndex);
    }
    // Rows read, their sums written; backward the sums' gradients are read, the rows read and
    // written with a step for each. Each row once: the cache has what is read again. Of copies
    // gradients as large as the tables are made.
    const double rows = some.distinct * fullest;
    const Bytes dense(copied ? some.values * value_.value() : 0.0);
    const Bytes indices = read * slices * kIndex;
    const Bytes forward = rows * width_ * value_ + indices + fullest * pooled;
    const Bytes backward = rows * 2 * width_ * value_ + indices + fullest * pooled + dense;
    writer_.pass(forward, backward, sends_lists(routed) ? kListLaunches : 1);
    fetch(read);
    if (routed) send(some.scheme, pooled);
    writer_.keep(of_samples * kIndex);
  }

 private:
  // Whether lists are sent, once for the tables of all schemes.
  bool sends_lists(bool routed) {
    const bool now = routed && share_.habit.sharding.sends_indices && !listed_;
    listed_ = listed_ || now;
    return now;
  }

  // Rows that the accelerator does not hold come over the host's link; backward they go back.
  void fetch(double read) {
    const TableSplit& tables = share_.split.tables;
    const double hits = tables.hits >= 0 ? tables.hits : tables.cached;
    writer_.fetch(read * (1 - hits) * width_ * value_);
  }

  // The sums, to the ranks of their samples.
  void send(TableScheme scheme, Bytes pooled) {
    const double node = static_cast<double>(share_.split.node_ranks);
    switch (scheme) {
      case TableScheme::row_wise:
        writer_.cross({.seam = Seam::scattered, .tensor = ranks_ * pooled, .group = Group::ep});
        break;
      case TableScheme::table_row_wise:
      case TableScheme::grid:
        writer_.cross({.seam = Seam::scattered, .tensor = node * pooled, .group = Group::dp_node});
        writer_.cross({.seam = Seam::exchanged, .tensor = pooled, .group = Group::dp_nodes});
        break;
      default:
        writer_.cross(Seam::pooled, pooled);
        break;
    }
  }

  Writer& writer_;
  const Share& share_;
  double width_;
  Bytes value_;  // of one in a table
  double ranks_;
  bool listed_ = false;
};

}  // namespace

double fullest_share(std::vector<double> loads, std::int64_t ranks) {
  const double sum = std::accumulate(loads.begin(), loads.end(), 0.0);
  if (ranks <= 1 || !(sum > 0)) return 1;
  std::sort(loads.begin(), loads.end(), std::greater<>());
  double fullest = loads.front();
  if (static_cast<std::int64_t>(loads.size()) > ranks) {
    std::priority_queue<double, std::vector<double>, std::greater<>> of_ranks(
        std::greater<>(), std::vector<double>(static_cast<std::size_t>(ranks), 0.0));
    for (const double load : loads) {
      const double full = of_ranks.top() + load;
      of_ranks.pop();
      of_ranks.push(full);
      fullest = std::max(fullest, full);
    }
  }
  return fullest * static_cast<double>(ranks) / sum;
}

HeldTables held_tables(const Share& share, const EmbeddingBags& bags) {
  HeldTables out;
  for_schemes(bags, share.split, share.rows, [&](const Some& some) {
    if (share.split.ep > 1 && some.scheme == TableScheme::data_parallel) {
      out.copied += some.values;
    } else {
      out.parted += some.values * some.fullest_held / static_cast<double>(share.split.ep);
    }
  });
  out.parted *= share.split.tables.cached;
  out.value = Bytes(static_cast<double>(bags.value_bytes));
  return out;
}

// [STEP-31] B samples of a rank, W ranks, widths D of tables S. table-wise, column-wise: indices to
// the holders (how many, then which), sums back: B·S·D. row-wise: partial sums of all samples are
// reduced and scattered, W·B·S·D; backward gradients are gathered. table-row-wise, grid: within a
// node scattered, l·B·S·D, between nodes exchanged, B·S·D.
// Source: arXiv 2104.05158 §4, TorchRec's sharding types.
void write_tables(Writer& writer, const Share& share, const EmbeddingBags& bags) {
  TableWriter tables(writer, share, bags);
  writer.serve(Module::embedding);
  for_schemes(bags, share.split, share.rows, [&](const Some& some) {
    tables.write(some, slices(some.scheme, share.split, bags.width));
  });
  writer.serve(Module::other);
}

}  // namespace headway
