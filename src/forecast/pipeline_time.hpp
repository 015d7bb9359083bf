// From the stages' times for one micro-batch to the idle time of the stage that sets the pace.
#pragma once

#include <vector>

#include "forecast/schedule/placement.hpp"
#include "layout/layout.hpp"

namespace headway {

/// One class of pipeline stages: seconds for one micro-batch.
struct StageTime {
  std::int64_t stages = 1;
  Seconds forward;
  Seconds backward;         // with recomputation
  Seconds weight_gradient;  // part of backward
  Seconds transfers{};      // exposed, to and from its neighbours
  double sends = 0;         // of a micro-batch, to its neighbours, that those are of
  Seconds vocabulary{};     // of both: its part of what all stages run at the same time [STEP-26]
  std::vector<ChunkTime> chunks = {};  // of each chunk of a rank, where they differ
  Seconds messages{};                  // part of both: what its hosts need for its transfers beyond
                                       // what they are ahead
  Seconds total() const { return forward + backward; }
  Seconds in_turn() const { return total() - vocabulary; }  // stage after stage
};

/// Whether the slots are placed one by one [FORECAST-18]: those of schedules that have no closed
/// form, and of ranks with chunks that differ. Interleaved in another number of micro-batches than
/// multiples of the ranks, a rank's chunks are taken as alike.
bool places_slots(const Layout& layout, std::int64_t micro_batches, bool chunks_differ);

/// Idle time in one step of a rank of the slowest stage, [FORECAST-1] to [FORECAST-4]. `send` is
/// one transfer between neighbouring stages. The ends of the pipeline are classes of their own.
Seconds bubble_time(const std::vector<StageTime>& stages, const Layout& layout,
                    std::int64_t micro_batches, Seconds send);

/// At least that, without placing slots: a rank waits for the first chunks of those before it, for
/// one micro-batch forward before its own first slot, and backward behind its last. None is known
/// of schedules that fill these waits.
Seconds least_bubble(const std::vector<StageTime>& stages, const Layout& layout,
                     std::int64_t micro_batches);

/// The slots of the same pipeline, rank after rank, of at least two [FORECAST-18]. Where no
/// computation hides the transfers their senders wait for them.
std::vector<PlacedSlot> pipeline_slots(const std::vector<StageTime>& stages, const Layout& layout,
                                       std::int64_t micro_batches, Seconds send);

/// The class with the largest time for one micro-batch, its transfers among it (the first of
/// equals).
std::size_t slowest(const std::vector<StageTime>& stages);

}  // namespace headway
