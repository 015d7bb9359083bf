// Time and memory of many layouts: those of forecast(), of which what layouts share is lowered and
// priced once [PLAN-2].
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "forecast/assembly.hpp"
#include "study/plan/held.hpp"
#include "study/plan/space/fields.hpp"
#include "study/plan/space/space.hpp"

namespace headway {

/// What is planned. All that it refers to must outlive who works on it.
struct PlanQuestion {
  const Run& run;  // its layout gives what is not searched
  const Calibration& calibration;
  const PlanSpace& space;
  double headroom = 0;  // share of the accelerator's memory that stays free
  Shard part = {};      // of the space's places, which alone is searched

  Bytes allowed_memory() const { return run.cluster.accelerator.memory * (1 - headroom); }
  std::vector<PlanCell> cells() const { return space.cells(part); }
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

/// The least time of a cell's layouts by what they compute again; 0: not worked out yet.
using CellTimes = std::array<Seconds, kRecomputeNames.size()>;

/// What becomes of what they find.
struct PlanSought {
  /// A layout, and who looked for it.
  std::function<void(const PlanPoint&, Seekers)> visit;
  /// Those among them to whom layouts of at least that are of interest; none: all.
  std::function<Seekers(const PlanFloor&, Seekers)> worth = {};

  Seekers interested(const PlanFloor& floor, Seekers among) const {
    return worth && among != 0 ? worth(floor, among) : among;
  }
};

/// Prices cells; one for each thread. Cells of one tuple, order and spread of experts share most.
class PlanPricer {
 public:
  /// For those who look among the layouts that pass the limits, each of them a seeker. `facts`, of
  /// the question's model and job, may be those of other pricers.
  PlanPricer(const PlanQuestion& question, std::span<const PlanLimit> limits,
             std::shared_ptr<PlanFacts> facts);
  PlanPricer(const PlanQuestion& question, std::span<const PlanLimit> limits)
      : PlanPricer(question, limits,
                   std::make_shared<PlanFacts>(question.run.model, question.run.job)) {}
  PlanPricer(const PlanPricer&) = delete;
  PlanPricer& operator=(const PlanPricer&) = delete;
  ~PlanPricer();

  /// The layouts of a cell that are sought; those that are of no interest may be skipped. `least`
  /// spares work where it is known, and is told where it is not.
  PlanCounts price(const PlanCell& cell, const PlanSought& sought, CellTimes& least);

  /// Under every layout of a cell [PLAN-3], in little time: of all micro-batches at once.
  PlanFloor quick_floor(const PlanCell& cell);
  /// The same of its own micro-batch: higher.
  Seconds floor(const PlanCell& cell);

 private:
  struct Pipe;
  struct Place;
  struct WholeModel {
    Seconds time, together;  // together: of it, what all stages run at the same time
  };
  struct Sequence {
    WholeModel whole;
    Bytes activations;
  };

  const InnerWanted& wanted(std::uint32_t tuple);
  Place& enter(const PlanCell& cell);
  bool enter(const Place& place, std::size_t at, Pipe& pipe);
  const PricedUpdate& update(Place& place, std::size_t inner, std::size_t stage);
  Bytes with_context(Bytes held) const;
  const std::vector<Bytes>& least_states(const Place& place, const InnerPart& part,
                                         Seekers seekers);
  void hold(const Place& place, Pipe& pipe, const HeldBlocks& blocks);
  void time(const Place& place, Pipe& pipe, const std::vector<PricedBlock>& blocks,
            const PlanSought& sought);
  const Sequence& sequence(Place& place, std::uint32_t split);
  WholeModel whole_model(const Place& place, const std::vector<Seconds>& blocks) const;
  Seconds floor_of(const Place& place, const WholeModel& whole) const;
  Seconds floor_of(Place& place, Recompute recompute);
  Seekers of_cell(const PlanCell& cell) const;
  bool open(Place& place, const InnerGroup& group, const PlanSought& sought, const PlanFloor& floor,
            Seekers seekers, PlanCounts& counts);
  PlanCounts price(Place& place, const InnerGroup& group, std::uint64_t first,
                   const PlanSought& sought, PlanFloor floor, Seekers seekers, Seconds& least);

  const PlanQuestion q_;
  std::vector<PlanLimit> limits_;                     // of each seeker
  std::vector<Bytes> least_states_;                   // room that is used again
  Seekers unlimited_ = 0;                             // those without a limit on inner choices
  Flops model_flops_;                                 // of a step
  std::vector<InnerShape> shapes_;                    // of the lists of inner choices
  std::vector<std::unique_ptr<InnerWanted>> wanted_;  // of each tuple of degrees
  PlanBlockCache blocks_;
  std::vector<std::unique_ptr<Place>> places_;  // by tuple, order and spread of experts
  std::vector<std::size_t> open_;               // those of places_ that are there
  const Place* place_ = nullptr;                // the one entered last
  std::vector<std::size_t> first_place_;        // of each tuple
  Layout layout_;                               // the one in work
  std::uint64_t group_ = 0;                     // counts groups of layouts that share blocks
  std::uint64_t saved_ = 0;  // counts those among them that save other activations
};

/// One for each thread, each made when it is first needed.
using PlanPricers = std::vector<std::unique_ptr<PlanPricer>>;

/// What a search for the same in one part of a space after the other has lowered and priced. The
/// run, the calibration and the space of its question stand where they are.
struct PlanKept {
  std::shared_ptr<PlanFacts> facts;  // of the model and the job
  PlanPricers floors, walk;
};

}  // namespace headway
