// Runs the list of one rank [LIVE-1]: computes, and meanwhile begins calls whose turn it is. Where
// computation is time alone it runs on a clock of its own, as on a device that kernels are handed
// to beforehand: what the core does for calls does not hold it up.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <vector>

#include "compute.hpp"
#include "mpi.hpp"

namespace headway::replay {

class Engine {
 public:
  Engine(const std::vector<LiveItem>& items, MpiTransport& transport, Compute& compute);

  /// The whole list once, until all of its calls are done.
  void step();
  /// Every call by itself: all of its group ready, then until it is done.
  void single();

 private:
  struct Running {
    std::uint32_t call = 0;
    MpiTransport::Handle handle = 0;
  };
  struct Stream {
    std::deque<std::uint32_t> waiting;  // in order
    bool runs = false;                  // the one before them
  };

  using Clock = std::chrono::steady_clock;

  void progress();
  void hand_over(std::uint32_t call);
  bool begin_next(std::int32_t stream);
  bool is_ready(std::uint32_t call, Clock::time_point now) const;

  const std::vector<LiveItem>& items_;
  MpiTransport& transport_;
  Compute& compute_;
  std::vector<const LiveItem*> calls_;
  std::vector<char> done_;
  std::vector<Clock::time_point> from_, ended_;  // of calls: when the kernels before are done
  Clock::time_point device_;                     // when all that was handed to it is
  std::map<std::int32_t, Stream> streams_;
  std::vector<std::uint32_t> beside_;  // sends and receives that cannot begin yet
  std::vector<Running> running_;
};

}  // namespace headway::replay
