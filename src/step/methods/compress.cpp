// [SIM-52] N elements of g bytes each (as the run sends them) over n ranks become, in bytes:
//   fp16       2N, added up as before
//   8-bit, qsgd, terngrad, 1-bit (b bits)
//              b N / 8 in an all-to-all, each rank its part of all, which it adds up; then as much
//              in an all-gather. Of a reduce-scatter the first alone
//   top-k      a share k with a value and a place of 4 bytes each: n·k·N·8, gathered, for ranks
//              choose other places; of a reduce-scatter k·N·8 in an all-to-all
//   masked     as they are, of a share k of the elements: both sides know which
//   powersgd   4 r (a + b) of each matrix of a x b whose two factors are less than half of it, in
//              two all-reduces, the second of which needs the first; vectors as they are
// Kernels, memory-bound passes over the gradient, what is lost (g a weight, where it is fed back)
// and what is sent; of powersgd three products of a x b with r columns, and its factor made
// orthogonal, r times over. Sources: Seide et al. 2014, Alistarh et al. 2017, Wen et al. 2017,
// Bernstein et al. 2018, Lin et al. 2018, Vogels et al. 2019. Scales of blocks, some permille, and
// what the host needs to issue kernels are not counted.
#include "step/methods/compress.hpp"

#include <algorithm>

#include "step/frameworks/habits.hpp"

namespace headway {
namespace {

constexpr double kPlacedValue = 8;  // bytes: a value and its place
constexpr double kFactor = 4;       // bytes an element

bool is_dense(Group group) {
  return group != Group::expert_dp;
}

// A matrix whose gradient a rank holds, and how many of it.
struct GradientMatrix {
  double rows, columns, count;
  bool is_small(std::int64_t rank) const {
    return 2 * static_cast<double>(rank) * (rows + columns) >= rows * columns;
  }
};

// Those of a stage: of products that make a gradient of weights; the embedding's words by width.
std::vector<GradientMatrix> matrices_of(const StageClass& stage, const std::vector<Block>& blocks,
                                        const Model& model, bool dense) {
  std::vector<GradientMatrix> out;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto count = static_cast<double>(stage.counts[i]);
    if (count == 0) continue;
    const Block& block = blocks[i];
    for (const Op& op : only<Op>(block.items)) {
      const auto* product = std::get_if<Matmul>(&op.shape);
      if (product == nullptr || !op.weight_gradient || op.routed == dense) continue;
      out.push_back({static_cast<double>(product->m), static_cast<double>(product->n),
                     count * static_cast<double>(product->batch)});
    }
    if (block.kind != BlockKind::embedding || !dense) continue;
    const std::int64_t width = model.embedding_width > 0 ? model.embedding_width : model.hidden;
    const double words = block.held.dense * block.held.trained / static_cast<double>(width);
    if (words >= 1) out.push_back({words, static_cast<double>(width), count});
  }
  return out;
}

bool is_of(const Call& call, Group group) {
  return call.phase == Phase::gradient && call.group == group;
}

// What a stage sends of one group, and how.
class GroupGradients {
 public:
  GroupGradients(const StageClass& stage, const Compressed& of, Group group)
      : reduced_(reduced_bytes(of.job)) {
    for (const Call& call : only<Call>(stage.items)) {
      if (!is_of(call, group)) continue;
      elements_ += call.bytes / reduced_ * call.count;
    }
    const bool dense = is_dense(group);
    matrices_ = matrices_of(stage, of.blocks, of.model, dense);
    for (std::size_t i = 0; i < of.blocks.size(); ++i) {
      const HeldParameters& held = of.blocks[i].held;
      held_ +=
          static_cast<double>(stage.counts[i]) * held.trained * (dense ? held.dense : held.experts);
    }
  }

  double elements() const { return elements_; }
  double gradient_bytes() const { return elements_ * reduced_.value(); }

  // Of the elements, those that factors stand for, and the elements of both factors.
  struct Factored {
    double whole = 0, left = 0, right = 0;
  };
  Factored factored(std::int64_t rank) const {
    Factored out;
    const auto r = static_cast<double>(rank);
    for (const GradientMatrix& each : matrices_) {
      if (each.is_small(rank)) continue;
      out.whole += each.count * each.rows * each.columns;
      out.left += each.count * each.rows * r;
      out.right += each.count * each.columns * r;
    }
    return out;
  }
  const std::vector<GradientMatrix>& matrices() const { return matrices_; }
  /// Weights of the stage in this group.
  double held() const { return held_; }

 private:
  Bytes reduced_;
  double elements_ = 0, held_ = 0;
  std::vector<GradientMatrix> matrices_;
};

Item pass(double bytes) {
  return {.what = Op{.shape = Pass{Bytes(bytes)}, .phase = Phase::gradient}};
}

// The calls and kernels that stand for those of a stage.
class Stage {
 public:
  Stage(const Compressed& of, const Compression& compression)
      : of_(of), compression_(compression), row_(row_of(compression.by)) {}

  std::string change(StageClass& stage) {
    std::vector<Item> before, behind;
    for (const Group group : of_.groups) {
      const GroupGradients gradients(stage, of_, group);
      if (!(gradients.elements() > 0)) continue;
      std::string problem = replace(stage, gradients, group);
      if (!problem.empty()) return problem;
      // Sums over replicas follow those within: one pass over the gradient is enough.
      const bool follows = group == Group::dp_replica && made_;
      if (!follows) add_kernels(gradients, ranks_of(group), before, behind);
      made_ = true;
    }
    made_ = false;
    insert(stage, std::move(before), std::move(behind));
    return {};
  }

 private:
  double ranks_of(Group group) const {
    return static_cast<double>(span_of_group(of_.spans, group).ranks);
  }

  std::string replace(StageClass& stage, const GroupGradients& gradients, Group group) const {
    const double reduced = reduced_bytes(of_.job).value();
    const auto factored = gradients.factored(compression_.rank);
    std::vector<Item> items;
    for (Item& item : stage.items) {
      const auto* call = std::get_if<Call>(&item.what);
      if (call == nullptr || !is_of(*call, group)) {
        items.push_back(std::move(item));
        continue;
      }
      const bool all = call->op == CollectiveOp::all_reduce;
      const double elements = call->bytes.value() / reduced;
      const auto put = [&](CollectiveOp op, double bytes, Precision dtype) {
        Item made = item;
        Call& changed = std::get<Call>(made.what);
        changed.op = op;
        changed.bytes = Bytes(bytes);
        changed.dtype = dtype;
        items.push_back(std::move(made));
      };
      switch (compression_.by) {
        case Compressor::none:
          items.push_back(item);
          break;
        case Compressor::fp16:
          put(call->op, 2 * elements, Precision::fp16);
          break;
        case Compressor::top_k: {
          const double sent = compression_.share * elements * kPlacedValue;
          if (all) put(CollectiveOp::all_gather, ranks_of(group) * sent, Precision::fp32);
          if (!all) put(CollectiveOp::all_to_all, sent, Precision::fp32);
          break;
        }
        case Compressor::masked:
          put(call->op, compression_.share * call->bytes.value(), call->dtype);
          break;
        case Compressor::powersgd: {
          if (!all) {
            return "needs whole gradients on each rank; they are scattered (--zero 0)";
          }
          const double share = elements / gradients.elements();
          const double times = gradients.elements() / std::max(1.0, gradients.held());
          const double rest = std::max(0.0, elements - share * times * factored.whole) * reduced;
          put(CollectiveOp::all_reduce, share * times * factored.left * kFactor + rest,
              Precision::fp32);
          put(CollectiveOp::all_reduce, share * times * factored.right * kFactor, Precision::fp32);
          break;
        }
        default: {
          const double bytes = elements * row_.bits / 8;
          const Precision dtype = row_.bits >= 8 ? Precision::fp8 : Precision::fp4;
          put(CollectiveOp::all_to_all, bytes, dtype);
          if (all) put(CollectiveOp::all_gather, bytes, dtype);
        }
      }
    }
    stage.items = std::move(items);
    return {};
  }

  void add_kernels(const GroupGradients& gradients, double ranks, std::vector<Item>& before,
                   std::vector<Item>& behind) const {
    const double whole = gradients.gradient_bytes();
    const double lost = row_.feeds_back ? 2 * whole : 0;  // read and written
    if (compression_.by == Compressor::top_k) {
      const double sent = compression_.share * gradients.elements() * kPlacedValue;
      before.push_back(pass(2 * whole + lost + sent));  // the bound, then those above it
      behind.push_back(pass(whole + ranks * sent));     // added where they belong
    } else if (compression_.by == Compressor::powersgd) {
      add_factors(gradients, lost, before, behind);
    } else if (compression_.by == Compressor::masked) {
      const double sent = compression_.share * whole;
      before.push_back(pass(2 * sent));  // gathered from their places
      behind.push_back(pass(2 * sent));
    } else if (compression_.by == Compressor::fp16) {
      before.push_back(pass(whole + 2 * gradients.elements()));
      behind.push_back(pass(whole + 2 * gradients.elements()));
    } else {
      const double sent = gradients.elements() * row_.bits / 8;
      before.push_back(pass(2 * whole + lost + sent));  // scales, then values
      behind.push_back(pass(whole + 3 * sent));         // parts of all added, then the whole
    }
  }

  // M (with what was lost) times the factor of before; its columns made orthogonal; Mᵀ times those;
  // both multiplied again, for the gradient and for what was lost.
  void add_factors(const GroupGradients& gradients, double lost, std::vector<Item>& before,
                   std::vector<Item>& behind) const {
    const std::int64_t rank = compression_.rank;
    const auto factored = gradients.factored(rank);
    const double share = factored.whole / std::max(1.0, gradients.elements());
    before.push_back(pass(lost * share));
    // Two readings of each column for every one before it.
    before.push_back(pass(factored.left * kFactor * static_cast<double>(rank + 1)));
    for (const GradientMatrix& each : gradients.matrices()) {
      if (each.is_small(rank)) continue;
      const auto a = static_cast<std::int64_t>(each.rows),
                 b = static_cast<std::int64_t>(each.columns);
      for (double i = 0; i < each.count; ++i) {
        before.push_back(product({a, rank, b}));
        before.push_back(product({b, rank, a}));
        behind.push_back(product({a, b, rank}));
      }
    }
  }

  Item product(const Matmul& shape) const {
    return {.what = Op{.shape = shape,
                       .phase = Phase::gradient,
                       .precision = of_.products,
                       .times = of_.times}};
  }

  void insert(StageClass& stage, std::vector<Item> before, std::vector<Item> behind) const {
    const auto is_gradient = [&](const Item& item) {
      const auto* call = std::get_if<Call>(&item.what);
      return call != nullptr && std::any_of(of_.groups.begin(), of_.groups.end(),
                                            [&](Group group) { return is_of(*call, group); });
    };
    auto& items = stage.items;
    const auto first = std::find_if(items.begin(), items.end(), is_gradient);
    if (first == items.end()) return;
    const auto last = std::find_if(items.rbegin(), items.rend(), is_gradient).base();
    items.insert(last, behind.begin(), behind.end());
    items.insert(std::find_if(items.begin(), items.end(), is_gradient), before.begin(),
                 before.end());
  }

  const Compressed& of_;
  const Compression& compression_;
  const CompressorRow& row_;
  bool made_ = false;
};

}  // namespace

bool carries_gradients(const Call& call) {
  return std::any_of(kGradientGroups.begin(), kGradientGroups.end(),
                     [&](Group group) { return is_of(call, group); });
}

bool sends_gradients(const StageClass& stage) {
  return std::any_of(stage.items.begin(), stage.items.end(), [](const Item& item) {
    const auto* call = std::get_if<Call>(&item.what);
    return call != nullptr && carries_gradients(*call);
  });
}

std::string compress(StageClass& stage, const Compressed& of, const Compression& compression) {
  return Stage(of, compression).change(stage);
}

}  // namespace headway
