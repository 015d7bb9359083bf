#include "study/plan/blocks.hpp"

#include <algorithm>

#include "step/frameworks/habits.hpp"
#include "step/passes/passes.hpp"

namespace headway {
namespace {

// About 30 MB.
constexpr std::size_t kMostKept = 8192;
// Prices of sharded weights are of use within a cell only.
constexpr std::size_t kMostSharded = 64;

// Whether a call goes over ranks whose places hang on more degrees than tp and cp.
bool goes_further(const Block& block) {
  for (const Call& call : only<Call>(block.items)) {
    if (call.group != Group::tp && call.group != Group::cp) return true;
  }
  return false;
}

std::int64_t code(const std::array<Dimension, 4>& order) {
  std::int64_t out = 0;
  for (const Dimension dimension : order) out = out * 4 + static_cast<std::int64_t>(dimension);
  return out;
}

// Where the groups lie of ranks whose places hang on more degrees than tp and cp, as far as the
// other fields of a key leave that open.
std::array<std::int64_t, 3> place_of(const Layout& layout) {
  return {layout.dp, layout.pp, code(layout.order)};
}

// Full recomputation of several layers at once does the same work and makes the same calls for any
// number of them, and keeps one input for all: two stand for any more.
constexpr std::int64_t kSeveral = 2;
bool stands_for_several(const Layout& layout) {
  return layout.recompute == Recompute::full && layout.recompute_every >= kSeveral &&
         layout.recompute_one_in == 1 && !layout.offload_activations;
}
std::int64_t lowered_every(const Layout& layout) {
  return stands_for_several(layout) ? kSeveral : layout.recompute_every;
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

PlanBlockCache::PlanBlockCache(const Model& model, const Job& job, const Cluster& cluster,
                               const Calibration& calibration)
    : model_(model),
      job_(job),
      cluster_(cluster),
      calibration_(calibration),
      has_experts_(std::any_of(model.kinds.begin(), model.kinds.end(),
                               [](const Layer& layer) { return layer.experts.has_value(); })) {}

// The kinds of layer come first, then the ends, of which a prediction module is as the last kind.
bool PlanBlockCache::with_experts(std::size_t block) const {
  const std::size_t kinds = model_.kinds.size(), ends = model_.vocabulary > 0 ? 2 : 0;
  if (block < kinds) return model_.kinds[block].experts.has_value();
  return block >= kinds + ends && model_.kinds.back().experts.has_value();
}

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
  return {l.tp, l.cp, l.ep, l.etp, l.micro_batch, lowered_every(l), flags.bits()};
}

void PlanBlockCache::forget() {
  made_.clear();
  last_ = nullptr;
}

PlanBlockCache::Work PlanBlockCache::lower(const Prices& prices, BlockChoice choice) const {
  Work out;
  Layout lowered = prices.layout;
  lowered.recompute_every = lowered_every(lowered);
  const Share share(model_, job_, lowered);
  out.blocks = lower_work(share, lowered, choice).blocks;
  for (Block& block : out.blocks) {
    out.work.push_back(price_work(block, prices));
    std::erase_if(block.items,
                  [](const Item& item) { return !std::holds_alternative<Call>(item.what); });
    block.items.shrink_to_fit();
    overlap(block.items, share, lowered, shares_memory(prices.spans.tp, cluster_));
    if (!stands_for_several(lowered)) continue;
    out.inputs.push_back(static_cast<double>(kSeveral) * block.saved);
  }
  return out;
}

PlanBlockCache::Entry& PlanBlockCache::entry(const Prices& prices) {
  const Key key = key_of(prices.layout);
  if (last_ != nullptr && last_key_ == key) return *last_;
  const auto at = made_.find(key);
  last_key_ = key;
  if (at != made_.end()) return *(last_ = &at->second);
  if (made_.size() >= kMostKept) forget();
  Entry& out = made_[key];
  last_ = &out;
  if (!has_experts_) {
    static_cast<Work&>(out) = lower(prices, BlockChoice::all);
    return out;
  }
  // Those without experts are the same for all degrees of experts.
  static_cast<Work&>(out) = lower(prices, BlockChoice::with_experts);
  Key of_all = key;
  of_all[2] = of_all[3] = 0;
  if (without_experts_.size() >= kMostKept) without_experts_.clear();
  const auto [others, is_new] = without_experts_.try_emplace(of_all);
  if (is_new) others->second = lower(prices, BlockChoice::without_experts);
  for (std::size_t i = 0; i < out.blocks.size(); ++i) {
    if (with_experts(i)) continue;
    out.blocks[i] = others->second.blocks[i];
    out.work[i] = others->second.work[i];
    if (!out.inputs.empty()) out.inputs[i] = others->second.inputs[i];
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

PricedBlock PlanBlockCache::floor_of(const Entry& of, std::size_t block, const Prices& prices) {
  const PricedBlock out = price(of.blocks[block], of.work[block], prices);
  if (!habits(job_).sharding.flat_gradients) return out;
  // Sharded, a weight's gradient is handled otherwise, which may take less.
  Layout sharded = prices.layout;
  sharded.zero = 3;
  const Prices of_sharded{prices.job, sharded, prices.cluster, prices.calibration, prices.spans};
  const Entry& other = entry(of_sharded);
  const PricedBlock less = price(other.blocks[block], other.work[block], of_sharded);
  return less.total() < out.total() ? less : out;
}

const std::vector<PricedBlock>& PlanBlockCache::floor(const Prices& prices) {
  if (made_.size() + 2 > kMostKept) forget();  // there is room for the sharded ones beside it
  Entry& of = entry(prices);
  const std::array<std::int64_t, 3> now = place_of(prices.layout);
  if (of.floor.empty()) {
    for (std::size_t i = 0; i < of.blocks.size(); ++i) {
      of.floor.push_back(floor_of(of, i, prices));
      if (goes_further(of.blocks[i])) of.floor_anew.push_back(i);
    }
  } else if (of.floor_for != now) {
    for (const std::size_t i : of.floor_anew) of.floor[i] = floor_of(of, i, prices);
  }
  of.floor_for = now;
  return of.floor;
}

const HeldBlocks& PlanBlockCache::held(const Prices& prices) {
  Entry& of = entry(prices);
  if (!stands_for_several(prices.layout)) return of.blocks;
  for (std::size_t i = 0; i < of.blocks.size(); ++i) {
    if (!is_layer(of.blocks[i].kind)) continue;
    of.blocks[i].saved = of.inputs[i] / static_cast<double>(prices.layout.recompute_every);
  }
  return of.blocks;
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
  add_shared_calls(sharded_, Share(model_, job_, l), l, weights,
                   shares_memory(prices.spans.tp, cluster_));
  std::vector<PricedBlock>& out = sharded_prices_[full];
  for (std::size_t i = 0; i < sharded_.size(); ++i) {
    out.push_back(price(sharded_[i], of.work[i], prices));
  }
  return out;
}

const std::vector<PricedBlock>& PlanBlockCache::priced(const Prices& prices,
                                                       const std::vector<Weights>& weights) {
  const Layout& l = prices.layout;
  Entry& of = entry(prices);
  if (shards_weights(job_, l)) return priced_sharded(of, prices, weights);
  const std::array<std::int64_t, 3> now = place_of(l);
  if (of.priced.empty()) {
    of.shared = of.blocks;
    add_shared_calls(of.shared, Share(model_, job_, l), l, weights,
                     shares_memory(prices.spans.tp, cluster_));
    for (std::size_t i = 0; i < of.shared.size(); ++i) {
      of.priced.push_back(price(of.shared[i], of.work[i], prices));
      if (goes_further(of.shared[i])) {
        of.anew.push_back(i);
      } else {
        of.shared[i].items = std::vector<Item>();
      }
    }
  } else if (of.priced_for != now) {
    for (const std::size_t i : of.anew) of.priced[i] = price(of.shared[i], of.work[i], prices);
  }
  of.priced_for = now;
  return of.priced;
}

}  // namespace headway
