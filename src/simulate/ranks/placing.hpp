// The slots and what follows them, stage after stage, all lanes of each at once. Internal to
// src/simulate/ranks.
#pragma once

#include <map>
#include <vector>

#include "simulate/ranks/cells.hpp"
#include "simulate/ranks/slot_pace.hpp"

namespace headway {

using Times = std::vector<Seconds>;  // of each lane

/// What calls of all lanes take: with the slow network where one of those that take part has it,
/// and not while it is down.
class LaneCalls {
 public:
  LaneCalls(const RanksWork& work, const Cells& cells) : work_(work), cells_(cells) {}

  const LaneSets& lanes_of(Group group) const {
    return work_.lanes[static_cast<std::size_t>(group)];
  }
  /// Ends of a call of the group, of each lane begun at that time or, with others, at the latest.
  void run(Group group, std::size_t stage, Seconds usual, Seconds slow, Times& at) const;
  /// Whose cells' transfer it is: from one stage to another.
  void send(std::size_t from, std::size_t to, Times& at) const;

 private:
  Seconds end(Group group, Seconds begin, Seconds work, bool flaps) const;

  const RanksWork& work_;
  const Cells& cells_;
};

class Placer {
 public:
  Placer(const RanksWork& work, Cells& cells, RankedDetail detail, RankedStep& out);

  /// Every slot; then what is left to reduce.
  void run();
  /// When the lanes of each stage are done with it, and then with what follows.
  std::vector<Times> take_free();

 private:
  struct Arrivals {
    std::vector<bool> there;  // by chunk and micro-batch: of all lanes alike
    std::vector<Seconds> when;
  };
  struct Counts {
    std::int64_t forward = 0, input = 0, weight = 0;
  };
  struct Transit {
    Seconds begin, end;
  };
  struct Stage {
    std::vector<Slot> slots;
    std::size_t at = 0;
    std::int64_t placed = 0;
    std::vector<Counts> counts;  // of each chunk
    Arrivals activations, gradients;
    Times free, reduced;
    std::array<Times, 2> links;                 // to the next stage, and to the one before
    std::vector<std::vector<Transit>> gathers;  // of weights, of each lane
    std::int64_t first = 0, late = 0;           // as of a class
  };
  // A slot of all lanes.
  struct Placed {
    Times begin, end;
    std::vector<Parts> parts;
  };

  const OnceAStep& once(std::size_t s) const { return work_.usual.ranks[s].once; }
  const OnceAStep& slow(std::size_t s) const { return work_.slow.ranks[s].once; }
  Parts& parts(std::size_t s, std::size_t l) { return out_.cells[s * lanes_ + l].parts; }
  std::size_t place_of(std::int64_t chunk, std::int64_t micro_batch) const {
    return static_cast<std::size_t>(chunk * micro_batches_ + micro_batch);
  }
  static std::int64_t& next_of(Stage& stage, const Slot& slot);

  void begin_stage(std::size_t s);
  bool run_stage(std::size_t s);
  const Arrivals* needs(std::size_t s, const Slot& slot) const;
  void place(std::size_t s, const Slot& slot, std::int64_t micro_batch, const Arrivals* needed);
  void run_slot(std::size_t s, const Slot& slot, std::int64_t micro_batch, Placed& out);
  void run_joined(const std::vector<SlotPace*>& paces, const std::vector<TaskPace>& at,
                  Placed& out) const;
  void run_chain(const std::vector<SlotPace*>& paces, const std::vector<TaskPace>& at,
                 std::size_t section, Placed& out) const;
  LaneSets joined_in(const TaskList& list) const;
  void wait_for_gathers(Stage& stage, Placed& slot) const;
  void add_reductions(std::size_t s, Placed& slot);
  void hand_on(std::size_t s, const Slot& slot, std::int64_t micro_batch, const Times& ends);
  void end_stage(std::size_t s);
  void tell(std::size_t s, const CellSpan& like, const Times& begin, const Times& end);
  void tell_beside(std::size_t s, const BesideCalls& calls, const Times& begin, const Times& end);
  void tell_slot(std::size_t s, const Slot& slot, std::int64_t micro_batch);
  const LaneSets& joined_in(const SlotProgram& program);
  SlotPace& pace_of(const SlotProgram& program);

  const RanksWork& work_;
  Cells& cells_;
  LaneCalls calls_;
  RankedDetail detail_;
  RankedStep& out_;
  const Pipeline& pipeline_;
  std::size_t lanes_;
  std::int64_t micro_batches_, chunks_;
  std::vector<Stage> stages_;
  std::map<const SlotProgram*, LaneSets> joined_;
  std::map<const SlotProgram*, SlotPace> paces_;
  Placed slot_;
};

/// Calls and the update behind the slots, of all lanes from those times to those of their ends.
void place_after_slots(const RanksWork& work, const Cells& cells, std::vector<Times>& at,
                       bool with_spans, RankedStep& out);

/// What all lanes of a stage do from those times to those, as `like` says; what takes no time is
/// left out.
void add_spans(std::size_t stage, const CellSpan& like, const Times& begin, const Times& end,
               std::vector<CellSpan>& out);

}  // namespace headway
