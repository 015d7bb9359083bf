// The parts of a layout, each what some passes over a step read together: what a pass reads is its
// argument, and the argument is the key of what is kept of it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "layout/job.hpp"
#include "layout/schedule.hpp"
#include "model/modules.hpp"

namespace headway {

/// What runs again: the chosen pieces of a layer; all of it; or of its matrix products every second
/// one with all between them, as torchtitan's selective recomputation by operator has it.
enum class Recompute : std::uint8_t { none, selective, full, every_second };
constexpr std::array<std::string_view, 4> kRecomputeNames = {"none", "selective", "full",
                                                             "every-second-product"};

/// How context parallelism exchanges: keys and values round a ring, or heads against tokens
/// (DeepSpeed-Ulysses, arXiv 2309.14509).
enum class ContextExchange : std::uint8_t { ring, all_to_all };
constexpr std::array<std::string_view, 2> kContextExchangeNames = {"ring", "all-to-all"};

/// How tokens reach their experts: a copy for each expert, or once for each rank, and across slower
/// levels once for each domain, that holds some of them (DeepEP, HybridEP).
enum class Dispatch : std::uint8_t { copies, once };
constexpr std::array<std::string_view, 2> kDispatchNames = {"copies", "once"};

/// Pieces of a layer that selective recomputation computes again (Megatron-Core's
/// recompute_modules): what they produce is not kept.
enum class Piece : std::uint8_t {
  other,         // never
  core,          // of attention: scores or log-sum-exp
  norm,          // results of norms, inputs of the products behind them
  latent_up,     // queries, keys and values of latent attention
  activation,    // of routed experts: input of their second product
  feed_forward,  // of dense layers and shared experts: all between their norm and second product
  experts,       // routed experts with their exchange
};
constexpr std::array<std::string_view, 7> kPieceNames = {
    "other", "core", "norm", "latent-up", "activation", "feed-forward", "experts"};
constexpr std::uint8_t bit(Piece piece) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(piece));
}

/// How a class of a network's layers is split over the ranks of dp. usual: as `zero` says. sharded:
/// weights, gradients and states lie in parts and are gathered (FSDP), over all ranks or those of a
/// node; tensor: products are split by columns and rows, and the ranks of a group work on all their
/// samples; spread: whole experts lie on one rank each, and rows go to theirs.
enum class Strategy : std::uint8_t {
  usual,
  data,            // copies
  sharded,         // over all ranks
  sharded_node,    // within a node, copies across nodes
  tensor,          // over all ranks
  tensor_node,     // within a node, copies across
  tensor_sharded,  // within a node, sharded across
  spread,          // over all ranks
  spread_node,     // within a node, copies across
};
constexpr std::array<std::string_view, 9> kStrategyNames = {"default",
                                                            "data",
                                                            "sharded",
                                                            "sharded-in-node",
                                                            "tensor",
                                                            "tensor-in-node",
                                                            "tensor-in-node-sharded",
                                                            "spread",
                                                            "spread-in-node"};
constexpr bool is_tensor(Strategy strategy) {
  return strategy >= Strategy::tensor && strategy <= Strategy::tensor_sharded;
}
constexpr bool is_spread(Strategy strategy) {
  return strategy >= Strategy::spread;
}
constexpr bool is_in_node(Strategy strategy) {
  using enum Strategy;
  return strategy == sharded_node || strategy == tensor_node || strategy == tensor_sharded ||
         strategy == spread_node;
}

/// Who holds which part of a table of embeddings (TorchRec's words). spread: rows of all tables lie
/// evenly on all ranks, whichever these are, and a row's holder sums what it has of a sample.
enum class TableScheme : std::uint8_t {
  spread,
  table_wise,      // whole tables on one rank each
  column_wise,     // slices of the width on one rank each
  row_wise,        // the rows of each over all ranks
  table_row_wise,  // of each over the ranks of one node
  grid,            // slices of the width, each over the ranks of one node
  data_parallel,   // copies
};
constexpr std::array<std::string_view, 7> kTableSchemeNames = {
    "spread", "table-wise", "column-wise", "row-wise", "table-row-wise", "grid", "data-parallel"};

/// Tables that are named by their place in the network's list, from 0 on, a bit each.
constexpr std::size_t kNamedTables = 52;

/// How the tables of a network lie on the ranks.
struct TableSplit {
  TableScheme scheme = TableScheme::spread;
  std::int64_t copy_below = 0;  // tables of fewer rows are data-parallel
  std::int64_t rows_from = 0;   // tables of so many rows and more are row-wise; 0: none
  std::int64_t columns = 128;   // of a slice (column-wise, grid)
  double cached = 1;            // share of the rows that the accelerators hold, the host all
  double hits = -1;             // share of the look-ups that find their row there; negative: that
  /// By scheme those that are named to lie so, whatever their rows.
  std::array<std::uint64_t, kTableSchemeNames.size()> named = {};
  friend bool operator==(const TableSplit&, const TableSplit&) = default;

  /// Of the table at a place.
  TableScheme of(std::size_t place, std::int64_t rows) const {
    for (std::size_t i = 0; place < kNamedTables && i < named.size(); ++i) {
      if ((named[i] >> place & 1U) != 0) return static_cast<TableScheme>(i);
    }
    if (rows < copy_below) return TableScheme::data_parallel;
    return rows_from > 0 && rows >= rows_from ? TableScheme::row_wise : scheme;
  }
  /// Whether tables may lie so beside what their rows decide.
  bool uses(TableScheme which) const {
    return scheme == which || named[static_cast<std::size_t>(which)] != 0;
  }
};

/// How a layer of one micro-batch is split over ranks: what its kernels' shapes hang on, and which
/// of its tensors travel.
struct LayerSplit {
  std::int64_t tp = 1;
  std::int64_t cp = 1;
  std::int64_t ep = 1;            // ranks of tp·cp·dp over which the experts are spread
  std::int64_t etp = 1;           // tensor degree inside an expert
  std::int64_t micro_batch = 1;   // sequences
  bool sequence_parallel = true;  // norms and residual split over tp
  bool keep_gathered = false;  // sequence parallelism: what enters a column-split product is kept
                               // whole instead of gathered again in the backward pass
  ContextExchange context_exchange = ContextExchange::ring;
  Dispatch dispatch = Dispatch::copies;
  // Of networks of modules.
  TableSplit tables = {};
  std::array<Strategy, kModuleClassNames.size()> classes{};
  std::int64_t node_ranks = 1;  // of dp on one node, where these fill several nodes

  Strategy of(ModuleClass which) const { return classes[static_cast<std::size_t>(which)]; }
  friend bool operator==(const LayerSplit&, const LayerSplit&) = default;
};

/// What of the forward pass runs again before the backward pass.
struct Recomputation {
  Recompute recompute = Recompute::none;
  std::int64_t recompute_every = 1;                  // full: the input of every n-th layer is kept
  std::int64_t recompute_one_in = 1;                 // full: of so many layers one
  Choice recompute_early_stop = Choice::framework;   // full, every second: recomputation of a layer
                                                     // ends once all that its backward pass reads
                                                     // is there
  std::uint8_t recompute_pieces = bit(Piece::core);  // selective: these
  friend bool operator==(const Recomputation&, const Recomputation&) = default;
};

/// Which stages there are, and the order in which they run micro-batches.
struct PipelineSplit {
  std::int64_t pp = 1;
  std::int64_t vpp = 1;  // virtual stages on each rank
  Schedule schedule = Schedule::one_f_one_b;
  std::int64_t first_stage_layers = 0;  // 0: even
  std::int64_t last_stage_layers = 0;
  // Layers that embedding, and head with prediction modules, count as where layers are spread.
  std::int64_t embedding_slots = 0;
  std::int64_t head_slots = 0;
  bool split_vocabulary = false;  // embedding and head on all stages, each with a part of the words
  // As the job's method has it: whose losses train a stage, how many a stage has of its own, and in
  // how many parts the model is trained one after another.
  Losses losses = Losses::model;
  std::int64_t loss_blocks = 1;
  std::int64_t parts = 1;
  friend bool operator==(const PipelineSplit&, const PipelineSplit&) = default;
};

/// Parts of the vocabulary beside those of tensor parallelism.
inline std::int64_t vocabulary_parts(const PipelineSplit& pipeline) {
  return pipeline.split_vocabulary ? pipeline.pp : 1;
}

/// Who holds which weights, gradients and states of those that replicas share.
struct Sharding {
  std::int64_t dp = 1;
  int zero = 0;            // 0..3; 1: optimiser states, 2: and gradients, 3: and weights
  std::int64_t shard = 0;  // ranks that share one copy of sharded states (HSDP); 0: all dp·cp
  bool reshard_after_forward =
      true;                    // ZeRO-3: gathered weights are dropped until the backward pass
  std::int64_t secondary = 0;  // ZeRO-3: ranks that share a second copy of the weights, from which
                               // the backward pass gathers (ZeRO++); 0: there is none
  /// As the job's method has it: parts of dp that have weights of their own between their meetings;
  /// 0: each data-parallel rank.
  std::int64_t replicas = 1;
  friend bool operator==(const Sharding&, const Sharding&) = default;
};

/// Which calls run under computation.
struct OverlapChoices {
  Choice overlap_gradients = Choice::framework;   // gradient reduction under the backward pass
  Choice overlap_parameters = Choice::framework;  // parameter gathering under the forward pass
  Choice overlap_tensor = Choice::framework;      // tensor-parallel calls under split products
  Choice overlap_experts = Choice::framework;     // token exchange under another micro-batch's work
  friend bool operator==(const OverlapChoices&, const OverlapChoices&) = default;
};

/// What waits in the host's memory.
struct Offload {
  bool offload_optimizer = false;
  bool offload_activations = false;
  bool offload_parameters = false;
  friend bool operator==(const Offload&, const Offload&) = default;
};

/// The dimensions of the rank grid, in the order in which ranks are numbered.
enum class Dimension : std::uint8_t { tp, cp, dp, pp };
constexpr std::array<std::string_view, 4> kDimensionNames = {"tp", "cp", "dp", "pp"};

struct Grid {
  std::array<Dimension, 4> order = {Dimension::tp, Dimension::cp, Dimension::dp, Dimension::pp};
  friend bool operator==(const Grid&, const Grid&) = default;
};

}  // namespace headway
