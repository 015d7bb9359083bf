// A schedule's slots placed in time: what the idle time of a pipeline follows from where stages
// differ, transfers take time or micro-batches are few [FORECAST-3].
#pragma once

#include <cstdint>
#include <vector>

#include "base/quantity.hpp"
#include "step/schedule/order.hpp"

namespace headway {

/// Seconds of one micro-batch in one chunk of a rank.
struct ChunkTime {
  Seconds forward;
  Seconds backward;         // of both gradients, with recomputation
  Seconds weight_gradient;  // part of backward
};

/// What the slots of a pipeline take.
struct SlotTimes {
  std::vector<ChunkTime> chunks;  // rank after rank, each with its chunks
  Seconds send;                   // one transfer between two ranks
  bool blocking = false;          // the sender waits for it; otherwise it runs beside computation
  double joined = 1;              // a forward pass under a backward pass: of the sum of the two
};

/// When a rank starts its first slot and ends its last one.
struct RankSpan {
  Seconds begin, end;
};

/// Every slot as early as its rank, in its order, and what it needs allow. What is not walked slot
/// by slot, because it repeats, is added. `order` of rank r is rank_order(pipeline, r).
std::vector<RankSpan> placed_spans(const Pipeline& pipeline, const SlotTimes& times);

/// Seconds from the first slot of any rank to the end of the last.
Seconds placed_time(const Pipeline& pipeline, const SlotTimes& times);

struct PlacedSlot {
  std::int64_t rank = 0;
  SlotWork work = SlotWork::forward;
  std::int64_t chunk = 0;        // of the rank
  std::int64_t micro_batch = 0;  // of the copy of the model that the chunk belongs to
  Seconds begin, end;
  Seconds free;  // when the rank can go on: later than the end where it waits for a transfer
};

/// Every slot, rank after rank, each in its order.
std::vector<PlacedSlot> placed_slots(const Pipeline& pipeline, const SlotTimes& times);

}  // namespace headway
