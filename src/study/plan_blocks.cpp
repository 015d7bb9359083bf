#include "study/plan_blocks.hpp"

#include <algorithm>

#include "step/habits.hpp"

namespace headway {
namespace {

// About 30 MB.
constexpr std::size_t kMostKept = 8192;
// Prices of sharded weights are of use within a cell only.
constexpr std::size_t kMostSharded = 64;

// Whether a call goes over ranks whose places hang on more degrees than tp and cp.
bool goes_further(const Call& call) {
  return call.group != Group::tp && call.group != Group::cp;
}

std::int64_t code(const std::array<Dimension, 4>& order) {
  std::int64_t out = 0;
  for (const Dimension dimension : order) out = out * 4 + static_cast<std::int64_t>(dimension);
  return out;
}

// Full recomputation of several layers at once does the same work and makes the same calls for any
// number of them: two stand for all.
bool priced_as_another(const Layout& layout) {
  return layout.recompute == Recompute::full && layout.recompute_every > 2 &&
         !layout.offload_activations;
}

// Several fields of few values in one number.
class Packed {
 public:
  template <class T>
  Packed& add(T value, int bits) {
    bits_ = bits_ << bits | static_cast<std::int64_t>(value);
    return *this;
  }
  std::int64_t bits() const { return bits_; }

 private:
  std::int64_t bits_ = 0;
};

}  // namespace

std::size_t PlanBlockCache::Hash::operator()(std::span<const std::int64_t> key) const {
  std::uint64_t out = 0;
  for (const std::int64_t field : key) {
    out = (out ^ static_cast<std::uint64_t>(field)) * 0x9E3779B97F4A7C15;  // 2^64 / golden ratio
    out ^= out >> 29;
  }
  return out;
}

// What lower_work() reads, and whether there are other ranks to share with.
PlanBlockCache::Key PlanBlockCache::key_of(const Layout& l) const {
  Packed flags;
  flags.add(l.sequence_parallel, 1)
      .add(l.overlap_tensor, 2)
      .add(l.overlap_experts, 2)
      .add(l.context_exchange, 1)
      .add(l.recompute, 2)
      .add(l.offload_activations, 1)
      .add(l.pp == 1, 1)
      .add(l.dp * l.cp == 1, 1)
      .add(shards_weights(job_, l), 1);
  return {l.tp, l.cp, l.ep, l.etp, l.micro_batch, l.recompute_every, flags.bits()};
}

PlanBlockCache::Entry& PlanBlockCache::entry(const Prices& prices) {
  const Key key = key_of(prices.layout);
  if (last_ != nullptr && last_key_ == key) return *last_;
  const auto at = made_.find(key);
  last_key_ = key;
  if (at != made_.end()) return *(last_ = &at->second);
  if (made_.size() >= kMostKept) made_.clear();
  Entry& out = made_[key];
  last_ = &out;
  out.blocks = lower_work(Slice(model_, job_, prices.layout)).blocks;
  for (Block& block : out.blocks) {
    if (!priced_as_another(prices.layout)) out.work.push_back(price_work(block, prices));
    block.ops = std::vector<Op>();  // room and all
    block.calls.shrink_to_fit();
  }
  return out;
}

PricedBlock PlanBlockCache::price(const Block& block, const PricedWork& work,
                                  const Prices& prices) {
  const Layout& l = prices.layout;
  const std::array<std::int64_t, 7> now = {l.tp, l.cp, l.pp, l.dp, l.ep, l.etp, code(l.order)};
  if (memo_for_ != now) memo_.clear();
  memo_for_ = now;
  Prices with_memo = prices;
  with_memo.memo = &memo_;
  calls_.clear();
  return price_block(block, work, with_memo, calls_);
}

const std::vector<PricedBlock>& PlanBlockCache::floor(const Prices& prices,
                                                      const std::vector<Weights>& weights) {
  if (const Entry& of = entry(prices); !of.floor.empty()) return of.floor;
  floor_ = priced(prices, weights);
  bool experts = false;  // whose spans hang on all degrees
  {
    // The calls that are shared come on top of those of the blocks alone.
    const Entry& of = entry(prices);
    for (const Block& block : of.blocks) {
      experts = experts || std::any_of(block.calls.begin(), block.calls.end(), goes_further);
    }
    for (const std::size_t i : of.anew) floor_[i] = price(of.blocks[i], of.work[i], prices);
  }
  if (habits(job_.framework).flat_gradients) {
    // Sharded, a weight's gradient is handled otherwise, which may take less.
    Layout sharded = prices.layout;
    sharded.zero = 3;
    const Prices of_sharded{prices.job, sharded, prices.cluster, prices.calibration, prices.spans};
    const Entry& other = entry(of_sharded);
    for (std::size_t i = 0; i < floor_.size(); ++i) {
      const PricedBlock block = price(other.blocks[i], other.work[i], of_sharded);
      if (block.total() < floor_[i].total()) floor_[i] = block;
    }
  }
  if (!experts) entry(prices).floor = floor_;
  return floor_;
}

const HeldBlocks& PlanBlockCache::held(const Prices& prices) {
  return entry(prices).blocks;
}

const std::vector<PricedBlock>& PlanBlockCache::priced_sharded(
    const Entry& of, const Prices& prices, const std::vector<Weights>& weights) {
  const Layout& l = prices.layout;
  Packed flags;
  flags.add(l.zero, 2)
      .add(l.reshard_after_forward, 1)
      .add(l.overlap_gradients, 2)
      .add(l.overlap_parameters, 2)
      .add(l.offload_parameters, 1);
  const Key key = key_of(l);
  ShardedKey full{};
  std::copy(key.begin(), key.end(), full.begin());
  full[7] = flags.bits();
  full[8] = l.dp;
  full[9] = l.pp;
  full[10] = code(l.order);
  const auto at = sharded_prices_.find(full);
  if (at != sharded_prices_.end()) return at->second;
  if (sharded_prices_.size() >= kMostSharded) sharded_prices_.clear();
  sharded_ = of.blocks;
  add_shared_calls(sharded_, Slice(model_, job_, l), weights);
  std::vector<PricedBlock>& out = sharded_prices_[full];
  for (std::size_t i = 0; i < sharded_.size(); ++i) {
    out.push_back(price(sharded_[i], of.work[i], prices));
  }
  return out;
}

const std::vector<PricedBlock>& PlanBlockCache::priced(const Prices& prices,
                                                       const std::vector<Weights>& weights) {
  const Layout& l = prices.layout;
  if (priced_as_another(l)) {
    Layout two = l;
    two.recompute_every = 2;
    return priced({prices.job, two, prices.cluster, prices.calibration, prices.spans}, weights);
  }
  Entry& of = entry(prices);
  if (shards_weights(job_, l)) return priced_sharded(of, prices, weights);
  const std::array<std::int64_t, 3> now = {l.dp, l.pp, code(l.order)};
  if (of.priced.empty()) {
    of.shared = of.blocks;
    add_shared_calls(of.shared, Slice(model_, job_, l), weights);
    for (std::size_t i = 0; i < of.shared.size(); ++i) {
      const auto& calls = of.shared[i].calls;
      of.priced.push_back(price(of.shared[i], of.work[i], prices));
      if (std::any_of(calls.begin(), calls.end(), goes_further)) {
        of.anew.push_back(i);
      } else {
        of.shared[i].calls = std::vector<Call>();
      }
    }
  } else if (of.priced_for != now) {
    for (const std::size_t i : of.anew) of.priced[i] = price(of.shared[i], of.work[i], prices);
  }
  of.priced_for = now;
  return of.priced;
}

}  // namespace headway
