#include "study/plan/blocks.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "step/passes/passes.hpp"

namespace headway {
namespace {

// Some thousand bytes each.
constexpr std::size_t kMostWorks = 1 << 14, kMostPrices = 1 << 13;
// Prices of sharded weights are of use within a cell only.
constexpr std::size_t kMostSharded = 1 << 8;
constexpr std::size_t kMostSamples = 1 << 6;
constexpr Seconds kNever(std::numeric_limits<double>::infinity());

std::uint64_t bit(Group group) {
  return std::uint64_t{1} << static_cast<unsigned>(group);
}

// Of all that a block does, what the calls of a step are made from: the shapes of its matrices, by
// which gradients are compressed [SIM-52].
void keep_weight_gradients(std::vector<Item>& items) {
  std::erase_if(items, [](const Item& item) {
    const Op* op = std::get_if<Op>(&item.what);
    return op == nullptr || !op->weight_gradient;
  });
  items.shrink_to_fit();
}

}  // namespace

PlanBlockCache::PlanBlockCache(const Run& run, const Calibration& calibration,
                               std::shared_ptr<PlanFacts> facts)
    : run_(run),
      calibration_(calibration),
      facts_(std::move(facts)),
      works_(kMostWorks),
      samples_(kMostSamples),
      prices_(kMostPrices),
      sharded_(kMostSharded),
      floors_(kMostPrices),
      floors_without_experts_(kMostPrices) {}

std::vector<Block> PlanBlockCache::lowered(const WorkKey& key) {
  for (PlanFacts::Lowered& known : lowered_) {
    if (known.key == key && !known.blocks.empty()) return std::exchange(known.blocks, {});
  }
  return lower_work(Share(run_.model, run_.job, key, key.around), key, key.choice).blocks;
}

PlanBlockCache::Work& PlanBlockCache::work(const WorkKey& key) {
  return works_.of(key, [this](const WorkKey& of, Work& out) {
    const std::vector<Block> lowered = this->lowered(of);
    const Layout none;
    out.blocks.resize(lowered.size());
    out.work.resize(lowered.size());
    for (std::size_t i = 0; i < lowered.size(); ++i) {
      out.work[i] = price_work(lowered[i], {run_.job, none, run_.cluster, calibration_, *spans_});
      std::vector<Item> calls = std::move(out.blocks[i].items);  // room that is used again
      calls.clear();
      for (const Item& item : lowered[i].items) {
        if (std::holds_alternative<Call>(item.what)) calls.push_back(item);
      }
      const auto& [kind, items, held, saved, again, if_kept, working, transfer] = lowered[i];
      out.blocks[i] = {kind, std::move(calls), held, saved, again, if_kept, working, transfer};
    }
  });
}

SampleBlocks PlanBlockCache::sample(const Layout& layout) {
  const auto make = [this](const WorkKey& of, SampleBlocks& out) {
    LoweredBlocks made = lower_blocks(Share(run_.model, run_.job, of, of.around), of);
    for (Block& block : made.blocks) keep_weight_gradients(block.items);
    out = std::make_shared<const LoweredBlocks>(std::move(made));
  };
  return samples_.of(WorkKey::of_weights(layout), make);
}

const HeldBlocks& PlanBlockCache::held(const Layout& layout) {
  facts_->held(layout, held_, lowered_);
  return held_;
}

void PlanBlockCache::go_to(const Spans& spans) {
  spans_ = &spans;
  ++place_;
  memo_.clear();
}

void PlanBlockCache::price(Block& block, const PricedWork& work, const PriceKey& key, Priced& out,
                           std::size_t i) {
  const Share share(run_.model, run_.job, key.work, key.work.around);
  overlap(block.items, share, key, shares_memory(spans_->tp, run_.cluster));
  const Layout layout = key.layout();
  calls_.clear();
  out.prices[i] = price_block(
      block, work, {run_.job, layout, run_.cluster, calibration_, *spans_, &memo_}, calls_);
  if (!key.shares) out.totals[i] = out.prices[i].total();
}

// body(i, block, work) for the blocks that are priced.
template <class Body>
void PlanBlockCache::for_blocks(const PriceKey& key, Priced& of, const Body& body) {
  Work& from = key.shares ? of.shared : work(key.work);
  for (std::size_t i = 0; i < from.blocks.size(); ++i) {
    if (facts_->is_of(key.work.choice, i)) body(i, from.blocks[i], from.work[i]);
  }
}

void PlanBlockCache::share(const PriceKey& key, Priced& out) {
  facts_->for_choices(key.work, [&](const WorkKey& of) {
    const Work& from = work(of);
    out.shared.blocks.resize(from.blocks.size());
    out.shared.work.resize(from.blocks.size());
    for (std::size_t i = 0; i < from.blocks.size(); ++i) {
      if (!facts_->is_of(of.choice, i)) continue;
      out.shared.blocks[i] = from.blocks[i];
      out.shared.work[i] = from.work[i];
    }
  });
  const Layout layout = key.layout();
  add_shared_calls(out.shared.blocks, Share(run_.model, run_.job, layout), layout,
                   sample(layout)->weights, *spans_, shares_memory(spans_->tp, run_.cluster));
}

void PlanBlockCache::make(const PriceKey& key, Priced& out) {
  if (key.shares) share(key, out);
  // Which calls of tensors run under split products hangs on their group in any block.
  out.seen = {{Group::tp, spans_->tp}};
  for_blocks(key, out, [&](std::size_t i, Block& block, const PricedWork& work) {
    const std::size_t size = std::max(out.prices.size(), i + 1);
    out.prices.resize(size);
    out.totals.resize(size);
    out.groups.resize(size);
    out.groups[i] = bit(Group::tp);
    for (const Call& call : only<Call>(block.items)) {
      out.groups[i] |= bit(call.group);
      if (std::none_of(out.seen.begin(), out.seen.end(),
                       [&](const Seen& seen) { return seen.group == call.group; })) {
        out.seen.push_back({call.group, span_of_group(*spans_, call.group)});
      }
    }
    price(block, work, key, out, i);
  });
  out.place = place_;
}

KeptBy<PriceKey, PlanBlockCache::Priced>& PlanBlockCache::kept_for(const PriceKey& key) {
  if (key.shares) return key.work.around.shards_weights ? sharded_ : prices_;
  return key.work.choice == BlockChoice::without_experts ? floors_without_experts_ : floors_;
}

const PlanBlockCache::Priced& PlanBlockCache::priced(const PriceKey& key) {
  Priced& out = kept_for(key).of(key, [this](const PriceKey& of, Priced& made) { make(of, made); });
  if (out.place == place_) return out;
  out.place = place_;
  std::uint64_t moved = 0;  // groups that lie elsewhere
  for (Seen& seen : out.seen) {
    const GroupSpan& span = span_of_group(*spans_, seen.group);
    if (span == seen.span) continue;
    seen.span = span;
    moved |= bit(seen.group);
  }
  if (moved == 0) return out;
  for_blocks(key, out, [&](std::size_t i, Block& block, const PricedWork& work) {
    if ((out.groups[i] & moved) != 0) price(block, work, key, out, i);
  });
  return out;
}

const std::vector<PricedBlock>& PlanBlockCache::priced(const Layout& layout) {
  return priced(PriceKey(run_.job, layout)).prices;
}

const std::vector<Seconds>& PlanBlockCache::floor(const Layout& layout) {
  PriceKey key = PriceKey(run_.job, layout).floor();
  const WorkKey all = key.work;
  floor_.clear();
  const auto add = [&](const WorkKey& work) {
    key.work = work;
    const std::vector<Seconds>& totals = priced(key).totals;
    floor_.resize(std::max(floor_.size(), totals.size()), kNever);
    for (std::size_t i = 0; i < totals.size(); ++i) {
      if (facts_->is_of(work.choice, i)) floor_[i] = std::min(floor_[i], totals[i]);
    }
  };
  facts_->for_choices(all, add);
  if (!habits(run_.job).sharding.flat_gradients) return floor_;
  // Sharded, a weight's gradient is handled otherwise, which may take less.
  WorkKey sharded = all;
  sharded.around.shards_weights = true;
  facts_->for_choices(sharded, add);
  return floor_;
}

}  // namespace headway
