#include "simulate/step/slot_program.hpp"

#include <algorithm>
#include <string>

namespace headway {
namespace {

using Index = TaskList::Index;

enum class Way : std::uint8_t { forward, again, backward };

// A block in one direction, and a block in all that a slot runs of it: what runs again stands
// before the backward pass, and needs its weights, too.
struct BlockPass {
  std::size_t block;
  Way pass;
};
using BlockPasses = std::vector<BlockPass>;

bool is_weight_gradient(const Op& op) {
  return op.phase == Phase::backward && op.weight_gradient;
}

Way pass_of(const Call& call) {
  if (call.phase == Phase::recompute) return Way::again;
  return call.phase == Phase::forward ? Way::forward : Way::backward;
}

std::string name_of(const Op& op) {
  if (const auto* product = std::get_if<Matmul>(&op.shape)) {
    return (product->batch > 1 ? std::to_string(product->batch) + " products " : "product ") +
           std::to_string(product->m) + " x " + std::to_string(product->n) + " x " +
           std::to_string(product->k);
  }
  return std::holds_alternative<AttentionShape>(op.shape) ? "attention" : "memory pass";
}

// The items of one block in one direction, in order.
std::vector<const Item*> items_of(const Block& block, Way pass, SlotWork work) {
  std::vector<const Item*> out;
  for (const Item& item : block.items) {
    if (const auto* call = std::get_if<Call>(&item.what)) {
      if (pass_of(*call) == pass && work != SlotWork::weight_gradient) out.push_back(&item);
      continue;
    }
    const Op& op = std::get<Op>(item.what);
    const bool backward = op.phase == Phase::backward;
    const bool here = pass == Way::backward  ? backward
                      : pass == Way::forward ? !backward && op.phase != Phase::recompute
                                             : op.recomputed;
    const bool of_weights = is_weight_gradient(op);
    if (work == SlotWork::input_gradient && of_weights) continue;
    if (work == SlotWork::weight_gradient && !of_weights) continue;
    if (here) out.push_back(&item);
  }
  return out;
}

class Builder {
 public:
  Builder(const PricedStep& step, SlotWork work) : step_(step), work_(work) {}

  SlotProgram build(const std::vector<BlockPasses>& blocks) {
    join({});
    // What the last block of the slot before has left to reduce.
    reduce(blocks.back());
    for (const Index task : loose_) list_.is_beyond(task);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      gathered_ = std::move(fetched_);
      fetched_.clear();
      const bool last = i + 1 == blocks.size();
      fetch(blocks[last ? 0 : i + 1]);
      for (const Index task : fetched_) {
        if (last) list_.is_beyond(task);
      }
      for (const BlockPass& part : blocks[i]) add(part);
      if (!last) reduce(blocks[i]);
    }
    std::vector<Index> all = loose_;
    all.insert(all.end(), fetched_.begin(), fetched_.end());
    join(all);
    SlotProgram out;
    out.list = std::move(list_);
    out.products = products_;
    return out;
  }

 private:
  Seconds time_of(const Op& op, const BlockPass& part) const {
    const Seconds each = op_time(op, step_.prices);
    return part.pass == Way::again ? step_.step.blocks[part.block].again * each : each;
  }
  Seconds time_of(const Call& call) const { return call_time(call, step_.prices) * call.count; }

  Index call(const Call& of, Seconds time, std::span<const Index> needs) {
    const Seconds whole = time_of(of);
    const double share = whole > Seconds(0) ? time / whole : 1;
    return list_.add(stream_of(of.group), row_of(of.group).part, time, needs, name_of(of),
                     task_call(of, of.count * share));
  }

  // Everything so far, and these.
  void join(const std::vector<Index>& more) {
    std::vector<Index> needs = waits_;
    needs.insert(needs.end(), for_weights_.begin(), for_weights_.end());
    needs.insert(needs.end(), more.begin(), more.end());
    kernel_ = input_ = list_.add(kKernels, Part::compute, Seconds(0), needs, "");
    waits_.clear();
    for_weights_.clear();
  }

  // Calls of the block that run beside other blocks.
  template <class Each>
  void beside_blocks(const BlockPasses& block, bool gathers, Each&& each) {
    for (const BlockPass& part : block) {
      for (const Item* item : items_of(step_.step.blocks[part.block], part.pass, work_)) {
        const auto* of = std::get_if<Call>(&item->what);
        if (of == nullptr || of->hidden_by != HiddenBy::next_block) continue;
        if ((of->op == CollectiveOp::all_gather) == gathers) each(*of);
      }
    }
  }
  void fetch(const BlockPasses& block) {
    beside_blocks(block, true, [&](const Call& of) {
      fetched_.push_back(call(of, time_of(of), std::vector<Index>{kernel_}));
    });
  }
  void reduce(const BlockPasses& block) {
    beside_blocks(block, false, [&](const Call& of) {
      loose_.push_back(call(of, time_of(of), std::vector<Index>{kernel_}));
    });
  }

  void add(const BlockPass& part) {
    done_rings_.clear();
    done_scatters_.clear();
    const std::vector<const Item*> items =
        items_of(step_.step.blocks[part.block], part.pass, work_);
    std::vector<Index> needs = gathered_;
    needs.push_back(kernel_);
    waits_.insert(waits_.end(), gathered_.begin(), gathered_.end());
    gathered_.clear();
    const Index host = add_host(part, needs);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (const auto* of = std::get_if<Call>(&items[i]->what)) {
        add_call(*of, items[i]->flow);
      } else {
        add_op(std::get<Op>(items[i]->what), part, items, i);
      }
    }
    end_ring();
    std::vector<Index> more;
    if (host != kNone) more.push_back(host);
    join(more);
  }

  // Where the host needs longer to issue and check than the device to run, it sets the pace.
  Index add_host(const BlockPass& part, const std::vector<Index>& needs) {
    if (work_ == SlotWork::weight_gradient) return kNone;
    const PricedBlock& block = step_.blocks[part.block];
    const Direction& direction = part.pass == Way::forward ? block.forward
                                 : part.pass == Way::again ? block.recompute
                                                           : block.backward;
    if (!(direction.host > Seconds(0))) return kNone;
    Seconds time = direction.total();
    if (work_ == SlotWork::input_gradient && part.pass == Way::backward) {
      time -= block.weight_gradient;
    }
    return list_.add(kHost, Part::other, time, needs, "host");
  }

  // `rows`: of a piece of a product; 0: all of it.
  Index kernel(const Op& op, Seconds time, const std::vector<Index>& needs, std::int64_t rows = 0) {
    kernel_ = list_.add(kKernels, Part::compute, time, needs, name_of(op));
    if (const auto* product = std::get_if<Matmul>(&op.shape)) {
      const std::int64_t m = rows > 0 ? rows : product->m;
      list_.multiplies(kernel_, {m, product->n, product->k, product->batch});
    }
    if (std::holds_alternative<AttentionShape>(op.shape)) list_.attends(kernel_);
    if (!is_weight_gradient(op)) input_ = kernel_;
    return kernel_;
  }

  std::vector<Index> take_waits(const Op& op) {
    std::vector<Index> out = std::move(waits_);
    waits_.clear();
    if (is_weight_gradient(op)) {
      out.insert(out.end(), for_weights_.begin(), for_weights_.end());
      for_weights_.clear();
    }
    return out;
  }

  void add_op(const Op& op, const BlockPass& part, const std::vector<const Item*>& items,
              std::size_t at) {
    const Seconds time = time_of(op, part);
    // [FORECAST-6] counts tokens evenly over the experts.
    const double even = op.routed ? step_.prices.job.expert_imbalance : 1.0;
    const double times = part.pass == Way::again ? step_.step.blocks[part.block].again : 1.0;
    products_ += work(op, AttentionFlops::full) * (times / even);
    const bool core = std::holds_alternative<AttentionShape>(op.shape);
    if (core) {
      const Call* ring = ring_ != nullptr ? ring_ : ring_behind(items, at);
      ring_ = nullptr;
      if (ring != nullptr) return add_ring(op, time, *ring);
    }
    const bool product = std::holds_alternative<Matmul>(op.shape) && !is_weight_gradient(op);
    const Call* scatter = product ? scatter_of(items, at) : nullptr;
    const Call* feeds = product ? std::exchange(feeds_, nullptr) : nullptr;
    if (const Call* either = feeds != nullptr ? feeds : scatter) {
      return add_pieces(op, time, feeds, scatter, span_of_call(*either, step_.prices.spans).ranks);
    }
    kernel(op, time, take_waits(op));
  }

  // [FORECAST-8] A ring in `count` turns: the core of attention in a piece more, each but the last
  // beside a turn.
  void add_ring(const Op& op, Seconds time, const Call& ring) {
    const auto turns = static_cast<std::int64_t>(std::max(1.0, ring.count));
    const Seconds turn = time_of(ring) / static_cast<double>(turns);
    const Seconds piece = time / static_cast<double>(turns + 1);
    std::vector<Index> needs = take_waits(op);
    needs.push_back(kernel_);
    for (std::int64_t i = 0; i < turns; ++i) {
      const Index passed = call(ring, turn, needs);
      const Index done = kernel(op, piece, needs);
      needs = {passed, done};
    }
    kernel(op, piece, needs);
    done_rings_.push_back(&ring);
  }
  const Call* ring_behind(const std::vector<const Item*>& items, std::size_t at) const {
    for (std::size_t i = at + 1; i < items.size(); ++i) {
      const auto* of = std::get_if<Call>(&items[i]->what);
      if (of == nullptr) {
        if (std::holds_alternative<AttentionShape>(std::get<Op>(items[i]->what).shape)) break;
      } else if (items[i]->flow == Flow::in_pieces && pass_of(*of) != Way::forward) {
        return of;
      }
    }
    return nullptr;
  }
  // A ring without a core.
  void end_ring() {
    if (ring_ != nullptr) chain(*ring_);
    ring_ = nullptr;
    if (feeds_ != nullptr) chain(*feeds_);
    feeds_ = nullptr;
  }

  // The call that takes what a product makes, piece by piece: behind it, before the next product.
  const Call* scatter_of(const std::vector<const Item*>& items, std::size_t at) const {
    for (std::size_t i = at + 1; i < items.size(); ++i) {
      if (const auto* of = std::get_if<Call>(&items[i]->what)) {
        const bool takes = of->hidden_by == HiddenBy::pieces && items[i]->flow == Flow::chain &&
                           of->op != CollectiveOp::all_gather && of->op != CollectiveOp::broadcast;
        if (takes) return of;
        continue;
      }
      const Op& op = std::get<Op>(items[i]->what);
      if (std::holds_alternative<Matmul>(op.shape) && !is_weight_gradient(op)) break;
    }
    return nullptr;
  }

  static std::int64_t rows_of_piece(const Op& op, std::int64_t pieces, std::int64_t i) {
    const auto* product = std::get_if<Matmul>(&op.shape);
    if (product == nullptr) return 0;
    return std::max<std::int64_t>(1, product->m * (i + 1) / pieces - product->m * i / pieces);
  }

  void add_pieces(const Op& op, Seconds time, const Call* feeds, const Call* scatter,
                  std::int64_t pieces) {
    const double n = static_cast<double>(pieces);
    std::vector<Index> needs = take_waits(op);
    needs.push_back(kernel_);
    std::vector<Index> gathered;
    if (feeds != nullptr) {
      for (std::int64_t i = 0; i < pieces; ++i) {
        gathered.push_back(call(*feeds, time_of(*feeds) / n, needs));
      }
    }
    Index sent = kNone;
    for (std::int64_t i = 0; i < pieces; ++i) {
      std::vector<Index> piece_needs = i == 0 ? needs : std::vector<Index>();
      if (feeds != nullptr) piece_needs.push_back(gathered[static_cast<std::size_t>(i)]);
      const Index done = kernel(op, time / n, piece_needs, rows_of_piece(op, pieces, i));
      if (scatter != nullptr) {
        sent = call(*scatter, time_of(*scatter) / n, std::vector<Index>{done});
      }
    }
    if (sent != kNone) {
      waits_.push_back(sent);
      done_scatters_.push_back(scatter);
    }
  }

  void chain(const Call& of) {
    std::vector<Index> needs = std::move(waits_);
    needs.push_back(kernel_);
    waits_ = {call(of, time_of(of), needs)};
  }

  void add_call(const Call& of, Flow flow) {
    const auto is_in = [&](const std::vector<const Call*>& done) {
      return std::find(done.begin(), done.end(), &of) != done.end();
    };
    if (of.hidden_by == HiddenBy::next_block || is_in(done_scatters_) || is_in(done_rings_)) {
      return;
    }
    std::vector<Index> needs = waits_;
    if (of.hidden_by == HiddenBy::other_batch) {  // other micro-batches fill its time
      loose_.push_back(call(of, time_of(of), std::vector<Index>{0}));
    } else if (flow == Flow::in_pieces && of.hidden_by == HiddenBy::same_block &&
               of.phase == Phase::forward) {
      ring_ = &of;
    } else if (flow == Flow::into_weights && of.hidden_by == HiddenBy::same_block) {
      needs.push_back(kernel_);
      for_weights_.push_back(call(of, time_of(of), needs));
    } else if (flow == Flow::of_input && of.hidden_by == HiddenBy::same_block) {
      needs.push_back(input_);
      waits_.push_back(call(of, time_of(of), needs));
    } else if (of.hidden_by == HiddenBy::pieces && of.op == CollectiveOp::all_gather &&
               flow == Flow::chain) {
      if (feeds_ != nullptr) chain(*feeds_);
      feeds_ = &of;
    } else {
      chain(of);
    }
  }

  static constexpr Index kNone = static_cast<Index>(-1);

  const PricedStep& step_;
  SlotWork work_;
  TaskList list_;
  Flops products_;
  Index kernel_ = 0, input_ = 0;            // the last kernel; the last that is no weight's
  std::vector<Index> waits_, for_weights_;  // calls that what follows, or weights, wait for
  std::vector<Index> fetched_, gathered_;   // weights of the next block, and of this one
  std::vector<Index> loose_;                // calls that only the end of the slot waits for
  const Call *ring_ = nullptr, *feeds_ = nullptr;
  std::vector<const Call*> done_rings_, done_scatters_;
};

}  // namespace

std::string name_of(const Call& call) {
  return std::string(to_name(call.group)) + " " + std::string(to_name(call.op));
}

SlotProgram slot_program(const PricedStep& step, const ChunkBlocks& blocks, SlotWork work) {
  std::vector<BlockPasses> passes;
  if (work == SlotWork::forward) {
    for (const std::size_t block : blocks) passes.push_back({{block, Way::forward}});
  } else {
    for (auto at = blocks.rbegin(); at != blocks.rend(); ++at) {
      BlockPasses& pass = passes.emplace_back();
      const bool again = step.blocks[*at].recompute.total() > Seconds(0);
      if (again && work != SlotWork::weight_gradient) pass.push_back({*at, Way::again});
      pass.push_back({*at, Way::backward});
    }
  }
  if (passes.empty()) return {};
  SlotProgram out = Builder(step, work).build(passes);
  out.placed = run_tasks(out.list, step.prices.calibration.shared.interference);
  out.time = end_of(out.placed);
  out.parts = exposed_parts(out.list, out.placed);
  out.critical = critical_parts(out.list, out.placed);
  return out;
}

}  // namespace headway
