// Every layout of a model on a number of accelerators, counted: an index stands for each, and what
// it stands for is found without a list of them [PLAN-1].
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "layout/ends.hpp"
#include "layout/run.hpp"
#include "platform/shard.hpp"
#include "study/plan/space/offers.hpp"

namespace headway {

/// Narrows the space: `field` stands at `value`, or is at most that. `where` is shown in messages.
struct PlanFilter {
  std::string field, value;
  bool most = false;
  Where where;
};

/// Where the routed experts are.
struct ExpertChoice {
  std::int64_t ep = 1, etp = 1;
  Dispatch dispatch = Dispatch::copies;
  friend bool operator==(const ExpertChoice&, const ExpertChoice&) = default;
};

/// How a layer is split besides the degrees.
struct SplitChoice {
  bool sequence_parallel = true;
  Choice overlap_tensor = Choice::framework;
  ContextExchange exchange = ContextExchange::ring;
  friend bool operator==(const SplitChoice&, const SplitChoice&) = default;
};

/// All other fields. What blocks are made of is the same for neighbours in a list.
struct InnerChoice {
  Recompute recompute = Recompute::none;
  std::int64_t recompute_every = 1;
  bool offload_activations = false;
  int zero = 0;
  bool reshard = true;
  Choice overlap_gradients = Choice::framework;
  Choice overlap_parameters = Choice::framework;
  Choice overlap_experts = Choice::framework;
  bool offload_parameters = false;
  bool offload_optimizer = false;
  Schedule schedule = Schedule::one_f_one_b;
  std::int64_t vpp = 1;
  EndSlots ends = {};
  friend bool operator==(const InnerChoice&, const InnerChoice&) = default;
};

void apply(const Order& order, Layout& layout);
void apply(const ExpertChoice& choice, Layout& layout);
void apply(std::int64_t micro_batch, Layout& layout);
void apply(const SplitChoice& choice, Layout& layout);
void apply(const InnerChoice& choice, Layout& layout);

/// The layouts of one tuple of degrees: the product of the lists at these places.
struct DegreeTuple {
  std::int64_t tp = 1, cp = 1, pp = 1, dp = 1;
  std::int64_t shard = 0;  // 0: states are shared by all that hold the same weights, if at all
  bool split_vocabulary = false;
  std::uint32_t orders = 0, experts = 0, micro_batches = 0, splits = 0, inner = 0;
  std::uint64_t first = 0;  // index of its first layout
  std::size_t kind = 0;     // the first tuple with the same degrees
};

/// The layouts that differ in inner choices only, by places in PlanSpace::tuples() and in the lists
/// of a tuple.
struct PlanCell {
  std::uint32_t tuple = 0, order = 0, expert = 0, micro_batch = 0, split = 0;
};

/// Filters of unknown fields, and values that no field has.
Problems filter_problems(const std::vector<PlanFilter>& filters);

/// What the cluster and the job of a run allow its model to be split into. All but the pairs of a
/// micro-batch with virtual stages or a schedule is legal by construction; of layouts that mean the
/// same one stands for all (docs/plan.md).
class PlanSpace {
 public:
  /// The space for `ranks` accelerators, or everything that is wrong with the filters. The run's
  /// layout gives the fields that are not searched.
  static Result<PlanSpace> make(const Run& run, std::int64_t ranks,
                                const std::vector<PlanFilter>& filters = {});

  std::uint64_t size() const { return size_; }
  Layout layout_at(std::uint64_t index) const;
  /// Nothing for a layout that is not in the space.
  std::optional<std::uint64_t> index_of(const Layout& layout) const;

  /// Sorted by tp, cp, pp; those that differ in `shard` alone follow each other.
  const std::vector<DegreeTuple>& tuples() const { return tuples_; }
  const std::vector<Order>& orders(const DegreeTuple& t) const { return orders_[t.orders]; }
  const std::vector<ExpertChoice>& experts(const DegreeTuple& t) const {
    return experts_[t.experts];
  }
  const std::vector<std::int64_t>& micro_batches(const DegreeTuple& t) const {
    return micro_batches_[t.micro_batches];
  }
  const std::vector<SplitChoice>& splits(const DegreeTuple& t) const { return splits_[t.splits]; }
  const std::vector<InnerChoice>& inner(const DegreeTuple& t) const { return inner_[t.inner]; }
  /// All lists of inner choices, by DegreeTuple::inner.
  const std::vector<std::vector<InnerChoice>>& inner_lists() const { return inner_; }

  /// The cells of a part, of all where none is named, in the order of the layouts. Those of a
  /// place, (tuple, order, expert), are in one part.
  std::vector<PlanCell> cells(const Shard& part = {}) const;
  /// The index of the first layout of a cell; the others follow.
  std::uint64_t first_index(const PlanCell& cell) const;
  /// The cell of a layout.
  PlanCell cell_at(std::uint64_t index) const;

  /// The layouts of a tuple.
  std::uint64_t size_of(const DegreeTuple& t) const;
  /// The fields of a tuple and of those that are not searched.
  Layout layout_of(const DegreeTuple& t) const;

 private:
  friend class SpaceBuilder;
  const DegreeTuple& tuple_of(std::uint64_t index) const;

  Layout base_;
  std::uint64_t size_ = 0;
  std::vector<DegreeTuple> tuples_;
  std::vector<std::vector<Order>> orders_;
  std::vector<std::vector<ExpertChoice>> experts_;
  std::vector<std::vector<std::int64_t>> micro_batches_;
  std::vector<std::vector<SplitChoice>> splits_;
  std::vector<std::vector<InnerChoice>> inner_;
};

}  // namespace headway
