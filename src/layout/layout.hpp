// How a job is split over the ranks of a run.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "cluster/cluster.hpp"
#include "layout/job.hpp"
#include "layout/placement.hpp"
#include "model/model.hpp"

namespace headway {

enum class Recompute : std::uint8_t { none, selective, full };
constexpr std::array<std::string_view, 3> kRecomputeNames = {"none", "selective", "full"};

/// Pipeline schedules. one_f_one_b becomes interleaved where vpp > 1. zero_bubble and
/// zero_bubble_h2: ZB-H1 and ZB-H2 of arXiv 2401.10241; zero_bubble_v: ZB-V of 2405.15362;
/// dual_pipe: 2412.19437 §3.2.1, dual_pipe_v its half of one model copy; breadth_first: 2211.05953;
/// chimera: 2107.06925.
enum class Schedule : std::uint8_t {
  one_f_one_b,
  gpipe,
  breadth_first,
  zero_bubble,
  zero_bubble_h2,
  zero_bubble_v,
  dual_pipe,
  dual_pipe_v,
  chimera
};
constexpr std::array<std::string_view, 9> kScheduleNames = {
    "1f1b",          "gpipe",     "breadth-first", "zero-bubble", "zero-bubble-h2",
    "zero-bubble-v", "dual-pipe", "dual-pipe-v",   "chimera"};

/// Whether chunks of layers lie on the ranks down and back up again: rank r has the stages r and
/// 2p - 1 - r of 2p.
constexpr bool is_folded(Schedule schedule) {
  return schedule == Schedule::zero_bubble_v || schedule == Schedule::dual_pipe_v;
}
/// 2 where micro-batches enter at both ends of the pipeline, half at each: rank r has the stages r
/// of one copy of the model and p - 1 - r of another.
constexpr std::int64_t copies_of_model(Schedule schedule) {
  return schedule == Schedule::dual_pipe || schedule == Schedule::chimera ? 2 : 1;
}
/// Chunks of layers on each rank of a pipeline, in all copies.
constexpr std::int64_t chunks_of_rank(Schedule schedule, std::int64_t virtual_stages) {
  return is_folded(schedule) || copies_of_model(schedule) == 2 ? 2 : virtual_stages;
}
/// Whether `vpp` is a choice; other schedules place their chunks themselves.
constexpr bool takes_virtual_stages(Schedule schedule) {
  return schedule == Schedule::one_f_one_b || schedule == Schedule::breadth_first;
}
/// Whether the idle time of a schedule is that of its slots, placed in time, delays by transfers
/// among them; of others a closed form says it.
constexpr bool is_placed(Schedule schedule) {
  return schedule != Schedule::one_f_one_b && schedule != Schedule::gpipe;
}
/// Whether a rank waits for less than a pass of all others: what it has besides fills the bubble.
constexpr bool fills_bubble(Schedule schedule) {
  return schedule != Schedule::one_f_one_b && schedule != Schedule::gpipe &&
         schedule != Schedule::breadth_first;
}

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

/// The dimensions of the rank grid, in the order in which ranks are numbered.
enum class Dimension : std::uint8_t { tp, cp, dp, pp };
constexpr std::array<std::string_view, 4> kDimensionNames = {"tp", "cp", "dp", "pp"};

struct Layout {
  std::int64_t dp = 1;
  std::int64_t tp = 1;
  std::int64_t cp = 1;
  std::int64_t pp = 1;
  std::int64_t vpp = 1;          // virtual stages on each rank
  std::int64_t ep = 1;           // ranks of tp·cp·dp over which the experts are spread
  std::int64_t etp = 1;          // tensor degree inside an expert
  std::int64_t micro_batch = 1;  // sequences
  int zero = 0;                  // 0..3; 1: optimiser states, 2: and gradients, 3: and weights
  std::int64_t shard = 0;  // ranks that share one copy of sharded states (HSDP); 0: all dp·cp
  bool reshard_after_forward =
      true;                       // ZeRO-3: gathered weights are dropped until the backward pass
  bool sequence_parallel = true;  // norms and residual split over tp
  bool keep_gathered = false;  // sequence parallelism: what enters a column-split product is kept
                               // whole instead of gathered again in the backward pass
  ContextExchange context_exchange = ContextExchange::ring;
  Recompute recompute = Recompute::none;
  std::int64_t recompute_every = 1;                  // full: the input of every n-th layer is kept
  std::int64_t recompute_one_in = 1;                 // full: of so many layers one
  Choice recompute_early_stop = Choice::framework;   // full: recomputation of a layer ends once all
                                                     // that its backward pass reads is there
  std::uint8_t recompute_pieces = bit(Piece::core);  // selective: these
  Dispatch dispatch = Dispatch::copies;
  Schedule schedule = Schedule::one_f_one_b;
  std::int64_t first_stage_layers = 0;  // 0: even
  std::int64_t last_stage_layers = 0;
  // Layers that embedding, and head with prediction modules, count as where layers are spread.
  std::int64_t embedding_slots = 0;
  std::int64_t head_slots = 0;
  bool offload_optimizer = false;
  bool offload_activations = false;
  bool offload_parameters = false;
  Choice overlap_gradients = Choice::framework;   // gradient reduction under the backward pass
  Choice overlap_parameters = Choice::framework;  // parameter gathering under the forward pass
  Choice overlap_tensor = Choice::framework;      // tensor-parallel calls under split products
  Choice overlap_experts = Choice::framework;     // token exchange under another micro-batch's work
  std::array<Dimension, 4> order = {Dimension::tp, Dimension::cp, Dimension::dp, Dimension::pp};

  std::int64_t ranks() const { return dp * tp * cp * pp; }
  /// Of the model, in its pipelines.
  std::int64_t copies() const { return pp > 1 ? copies_of_model(schedule) : 1; }
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// Different kinds of layer that a step can be lowered for.
constexpr std::size_t kMostLayerKinds = 8;

/// Micro-batches each rank runs in one step.
std::int64_t micro_batches(const Job& job, const Layout& layout);

/// Everything that makes the layout illegal for this model, job and cluster, each with what would
/// be legal, and the fields of the run that it is about.
Problems check(const Model& model, const Job& job, const Layout& layout, const Cluster& cluster);

/// Whether check() finds nothing, in less time.
bool is_legal(const Model& model, const Job& job, const Layout& layout, const Cluster& cluster);

/// The degree of one dimension, and the distance in global ranks between neighbours along it.
std::int64_t degree(const Layout& layout, Dimension dimension);
std::int64_t stride(const Layout& layout, Dimension dimension);

/// Where each group lies on the levels.
struct Spans {
  GroupSpan tp, cp, pp, ep, etp;
  GroupSpan dp;         // the ranks that hold the same dense weights of a copy: dp·cp
  GroupSpan expert_dp;  // the same expert weights of a copy: dp·cp·tp / (ep·etp)
  GroupSpan shard;      // one sharding group inside dp (HSDP); equals dp where not hybrid
  GroupSpan replica;    // across sharding groups
  GroupSpan copies;     // of two copies of the model: half a pipeline apart in the mean
  GroupSpan model;      // the ranks that together hold one copy of the model: tp·pp
  GroupSpan world;      // all ranks
};

Spans spans(const Layout& layout, const Cluster& cluster);

/// The layers on each pipeline stage, chunk after chunk. Layers that do not divide evenly are
/// spread so that earlier chunks hold one more. The first layer of virtual chunk `chunk` (0 ...
/// pp·vpp); chunk_begin(pp·vpp) == layers.
std::int64_t chunk_begin(std::int64_t layers, const Layout& layout, std::int64_t chunk);

/// Pipeline stages balanced by the weights that their products read, the head's among them
/// [STEP-13].
struct BalancedStages {
  std::vector<std::int64_t> begins;  // the first layer of each; at the end the number of layers
  std::int64_t head = 0;             // the stage at which the head's weights come; it may be before
                          // the last where one stage's share is less than a layer or head
};
BalancedStages balanced_stages(const Model& model, std::int64_t stages);

}  // namespace headway
