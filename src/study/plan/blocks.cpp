#include "study/plan/blocks.hpp"

#include <algorithm>

#include "step/passes/passes.hpp"

namespace headway {
namespace {

// Some thousand bytes each.
constexpr std::size_t kMostWorks = 1 << 13, kMostPrices = 1 << 13;
// Prices of sharded weights are of use within a cell only.
constexpr std::size_t kMostSharded = 1 << 8;
constexpr std::size_t kMostSamples = 1 << 6;

std::uint64_t bit(Group group) {
  return std::uint64_t{1} << static_cast<unsigned>(group);
}

}  // namespace

PlanBlockCache::PlanBlockCache(const Model& model, const Job& job, const Cluster& cluster,
                               const Calibration& calibration, std::shared_ptr<PlanFacts> facts)
    : model_(model),
      job_(job),
      cluster_(cluster),
      calibration_(calibration),
      facts_(std::move(facts)),
      works_(kMostWorks),
      samples_(kMostSamples),
      prices_(kMostPrices),
      sharded_(kMostSharded) {}

// body(key, chosen) for the keys of which the blocks are made that are chosen(block).
template <class Body>
void PlanBlockCache::for_choices(const WorkKey& key, const Body& body) {
  if (!facts_->has_experts()) return body(key, [](std::size_t) { return true; });
  body(key.of(BlockChoice::with_experts),
       [this](std::size_t i) { return facts_->with_experts(i); });
  body(key.of(BlockChoice::without_experts),
       [this](std::size_t i) { return !facts_->with_experts(i); });
}

PlanBlockCache::Work& PlanBlockCache::work(const WorkKey& key) {
  return works_.of(key, [this](const WorkKey& of, Work& out) {
    const std::vector<Block> lowered =
        lower_work(Share(model_, job_, of, of.around), of, of.choice).blocks;
    const Layout none;
    out.blocks.resize(lowered.size());
    out.work.resize(lowered.size());
    for (std::size_t i = 0; i < lowered.size(); ++i) {
      out.work[i] = price_work(lowered[i], {job_, none, cluster_, calibration_, *spans_});
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
    LoweredBlocks made = lower_blocks(Share(model_, job_, of, of.around), of);
    for (Block& block : made.blocks) block.items = std::vector<Item>();
    out = std::make_shared<const LoweredBlocks>(std::move(made));
  };
  return samples_.of(WorkKey::of_weights(layout), make);
}

const HeldBlocks& PlanBlockCache::held(const Layout& layout) {
  facts_->held(layout, held_);
  return held_;
}

void PlanBlockCache::go_to(const Spans& spans) {
  spans_ = &spans;
  ++place_;
  memo_.clear();
}

PricedBlock PlanBlockCache::price(Block& block, const PricedWork& work, const PriceKey& key) {
  const Share share(model_, job_, key.work, key.work.around);
  overlap(block.items, share, key, shares_memory(spans_->tp, cluster_));
  const Layout layout = key.layout();
  calls_.clear();
  return price_block(block, work, {job_, layout, cluster_, calibration_, *spans_, &memo_}, calls_);
}

// body(i, block, work) for the blocks that are priced.
template <class Body>
void PlanBlockCache::for_blocks(const PriceKey& key, Priced& of, const Body& body) {
  const auto each = [&](Work& from, const auto& chosen) {
    for (std::size_t i = 0; i < from.blocks.size(); ++i) {
      if (chosen(i)) body(i, from.blocks[i], from.work[i]);
    }
  };
  if (key.shares) return each(of.shared, [](std::size_t) { return true; });
  for_choices(key.work,
              [&](const WorkKey& work, const auto& chosen) { each(this->work(work), chosen); });
}

void PlanBlockCache::share(const PriceKey& key, Priced& out) {
  for_choices(key.work, [&](const WorkKey& of, const auto& chosen) {
    const Work& from = work(of);
    out.shared.blocks.resize(from.blocks.size());
    out.shared.work.resize(from.blocks.size());
    for (std::size_t i = 0; i < from.blocks.size(); ++i) {
      if (!chosen(i)) continue;
      out.shared.blocks[i] = from.blocks[i];
      out.shared.work[i] = from.work[i];
    }
  });
  const Layout layout = key.layout();
  add_shared_calls(out.shared.blocks, Share(model_, job_, layout), layout, sample(layout)->weights,
                   shares_memory(spans_->tp, cluster_));
}

void PlanBlockCache::make(const PriceKey& key, Priced& out) {
  if (key.shares) share(key, out);
  // Which calls of tensors run under split products hangs on their group in any block.
  out.seen = {{Group::tp, spans_->tp}};
  for_blocks(key, out, [&](std::size_t i, Block& block, const PricedWork& work) {
    const std::size_t size = std::max(out.prices.size(), i + 1);
    out.prices.resize(size);
    out.groups.resize(size);
    out.groups[i] = bit(Group::tp);
    for (const Call& call : only<Call>(block.items)) {
      out.groups[i] |= bit(call.group);
      if (std::none_of(out.seen.begin(), out.seen.end(),
                       [&](const Seen& seen) { return seen.group == call.group; })) {
        out.seen.push_back({call.group, span_of_group(*spans_, call.group)});
      }
    }
    out.prices[i] = price(block, work, key);
  });
  out.place = place_;
}

const PlanBlockCache::Priced& PlanBlockCache::priced(const PriceKey& key) {
  Priced& out = (key.shares && key.work.around.shards_weights ? sharded_ : prices_)
                    .of(key, [this](const PriceKey& of, Priced& made) { make(of, made); });
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
    if ((out.groups[i] & moved) != 0) out.prices[i] = price(block, work, key);
  });
  return out;
}

const std::vector<PricedBlock>& PlanBlockCache::priced(const Layout& layout) {
  return priced(PriceKey(job_, layout)).prices;
}

const std::vector<Seconds>& PlanBlockCache::floor(const Layout& layout) {
  const PriceKey key(job_, layout);
  floor_.clear();
  for (const PricedBlock& block : priced(key.floor(false)).prices) {
    floor_.push_back(block.total());
  }
  if (!habits(job_).sharding.flat_gradients) return floor_;
  // Sharded, a weight's gradient is handled otherwise, which may take less.
  const std::vector<PricedBlock>& sharded = priced(key.floor(true)).prices;
  for (std::size_t i = 0; i < sharded.size(); ++i) {
    floor_[i] = std::min(floor_[i], sharded[i].total());
  }
  return floor_;
}

}  // namespace headway
