// Time and memory of many layouts: those of forecast(), of which what layouts share is lowered and
// priced once [PLAN-2].
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "forecast/assembly.hpp"
#include "study/plan/blocks.hpp"
#include "study/plan/fields.hpp"
#include "study/plan/space.hpp"

namespace headway {

/// What is planned. All of it must outlive who works on it.
struct PlanQuestion {
  const Model& model;
  const Job& job;
  const Cluster& cluster;
  const Calibration& calibration;
  const PlanSpace& space;
  double headroom = 0;                 // share of the accelerator's memory that stays free
  std::optional<PlanLimit> only = {};  // other layouts are left out

  Bytes allowed_memory() const { return cluster.accelerator.memory * (1 - headroom); }
};

/// A legal layout that fits.
struct PlanPoint {
  std::uint64_t index = 0;  // in the space
  Seconds time;             // of a step
  Bytes memory;             // that must fit
  Joules energy;            // of all accelerators for a step
};

struct PlanCounts {
  std::uint64_t illegal = 0, too_large = 0, fitting = 0;
  std::uint64_t skipped = 0;  // left out, or by what could not be beaten
  std::uint64_t total() const { return illegal + too_large + fitting + skipped; }
  PlanCounts& operator+=(const PlanCounts& other);
};

/// Floors are added up in another order than what lies above them.
constexpr double kFloorRounding = 1 - 1e-9;

/// At least what any layout of a set takes.
struct PlanFloor {
  Seconds time;
  Bytes memory;
};

/// Prices cells; one for each thread. Cells of one tuple, order and spread of experts share most.
class PlanPricer {
 public:
  explicit PlanPricer(const PlanQuestion& question);
  PlanPricer(const PlanPricer&) = delete;
  PlanPricer& operator=(const PlanPricer&) = delete;
  ~PlanPricer();

  using Visit = std::function<void(const PlanPoint&)>;
  /// Whether layouts of at least that are of interest.
  using Worth = std::function<bool(const PlanFloor&)>;

  /// Every layout of a cell; those that are not worth it may be skipped.
  PlanCounts price(const PlanCell& cell, const Visit& visit, const Worth& worth = {});

  /// Under every layout of a cell [PLAN-3].
  PlanFloor floor(const PlanCell& cell);

 private:
  struct Pipe;
  struct Place;
  struct Shape;
  struct ShapeGroup;

  Place& enter(const PlanCell& cell);
  void make_stages(const Place& place, Pipe& pipe);
  bool enter(const Place& place, Pipe& pipe);
  const std::vector<HeldStates>& states(Place& place, std::size_t shard, std::size_t pipe);
  const PricedUpdate& update(Place& place, std::size_t shard, std::size_t pipe, std::size_t stage);
  void floor_states(Place& place);
  Bytes least_memory(const Place& place) const;
  Bytes hold(const Place& place, Pipe& pipe, const HeldBlocks& blocks);
  void time(const Place& place, Pipe& pipe, const std::vector<PricedBlock>& blocks,
            const Worth& worth);
  Seconds floor_of(const Place& place, const std::vector<PricedBlock>& blocks) const;
  PlanFloor floor_of(Place& place, const InnerChoice& choice);
  PlanCounts price(Place& place, const ShapeGroup& group, std::uint64_t first, const Visit& visit,
                   const Worth& worth);

  const PlanQuestion& q_;
  Flops model_flops_;          // of a step
  std::vector<Shape> shapes_;  // of the lists of inner choices
  PlanBlockCache blocks_;
  std::vector<std::unique_ptr<Place>> places_;  // by tuple, order and spread of experts
  std::vector<std::size_t> open_;               // those of places_ that are there
  std::vector<std::size_t> first_place_;        // of each tuple
  Layout layout_;                               // the one in work
  std::uint64_t group_ = 0;                     // counts groups of layouts that share blocks
  std::uint64_t saved_ = 0;  // counts those among them that save other activations
};

}  // namespace headway
