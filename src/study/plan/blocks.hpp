// Blocks that are lowered and priced once for all layouts that share them. Internal to the planner.
#pragma once

#include <array>
#include <span>
#include <unordered_map>
#include <vector>

#include "forecast/price.hpp"
#include "step/pieces.hpp"

namespace headway {

/// The blocks of a step: what they save and hold, without ops and calls.
using HeldBlocks = std::vector<Block>;

class PlanBlockCache {
 public:
  PlanBlockCache(const Model& model, const Job& job, const Cluster& cluster,
                 const Calibration& calibration);

  /// What the blocks of a layout hold. The reference holds until the next call.
  const HeldBlocks& held(const Prices& prices);
  /// Their prices for one micro-batch; until the next call, too. `weights`: of all such blocks.
  const std::vector<PricedBlock>& priced(const Prices& prices, const std::vector<Weights>& weights);
  /// At most these prices, however weights are shared and sharded: without the calls for that.
  const std::vector<PricedBlock>& floor(const Prices& prices);

 private:
  using Key = std::array<std::int64_t, 7>;
  // Of sharded weights besides: how they are sharded and overlapped; dp, pp and order.
  using ShardedKey = std::array<std::int64_t, 11>;
  struct Hash {
    std::size_t operator()(std::span<const std::int64_t> key) const;
  };
  struct Work {
    HeldBlocks blocks;  // with calls of tensors and experts
    std::vector<PricedWork> work;
    std::vector<Bytes> inputs;  // where it stands for any number of layers recomputed at once
  };
  // Blocks whose computation is the same.
  struct Entry : Work {
    HeldBlocks shared;  // with the calls over other ranks of layouts that shard no weights
    std::vector<PricedBlock> priced;           // of those
    std::vector<std::size_t> anew;             // whose price hangs on more degrees than the key
    std::array<std::int64_t, 3> priced_for{};  // dp, pp and order of the last price of those
    std::vector<PricedBlock> floor;            // without those calls
    std::vector<std::size_t> floor_anew;
    std::array<std::int64_t, 3> floor_for{};
  };
  bool with_experts(std::size_t block) const;
  Key key_of(const Layout& layout) const;
  const std::vector<PricedBlock>& priced_sharded(const Entry& of, const Prices& prices,
                                                 const std::vector<Weights>& weights);
  Entry& entry(const Prices& prices);
  Work lower(const Prices& prices, BlockChoice choice) const;
  void forget();
  PricedBlock price(const Block& block, const PricedWork& work, const Prices& prices);
  PricedBlock floor_of(const Entry& of, std::size_t block, const Prices& prices);

  const Model& model_;
  const Job& job_;
  const Cluster& cluster_;
  const Calibration& calibration_;
  bool has_experts_;
  std::unordered_map<Key, Entry, Hash> made_;
  std::unordered_map<Key, Work, Hash> without_experts_;  // their blocks, where others have experts
  Entry* last_ = nullptr;                                // that was asked for, and its key
  Key last_key_{};
  // Room that is used again.
  std::vector<PricedCall> calls_;
  CallMemo memo_;
  std::array<std::int64_t, 7> memo_for_{};  // degrees and order of its spans
  HeldBlocks sharded_;
  std::unordered_map<ShardedKey, std::vector<PricedBlock>, Hash> sharded_prices_;
};

}  // namespace headway
