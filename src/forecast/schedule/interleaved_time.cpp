// [FORECAST-18] All ranks visit their chunks in one order: p micro-batches in the first, as many in
// the next, ...; a visit needs the same visit of the rank before it, on the first rank that of the
// last rank p visits ago. Visit i of rank r is put at tick i + r forward, and at i + turn - r
// backward; what a slot needs lies one tick back then, and a tick has one pair of slots a rank. So
// the state is three times a rank: when it is free, and what it has last made in each direction.
#include "forecast/schedule/interleaved_time.hpp"

#include <algorithm>
#include <cmath>

namespace headway {
namespace {

constexpr std::int64_t kMostPeriods = 8;  // that are tried as one

class Ticks {
 public:
  Ticks(const Pipeline& pipeline, const SlotTimes& times)
      : ranks_(pipeline.ranks),
        chunks_(pipeline.virtual_stages),
        visits_(pipeline.micro_batches * chunks_),
        // Behind all forward slots where there is one group of micro-batches alone.
        turn_((pipeline.micro_batches == ranks_ ? visits_ : (chunks_ - 1) * ranks_) +
              2 * (ranks_ - 1)),
        send_(times.send.value()),
        state_(3 * static_cast<std::size_t>(ranks_)),
        forward_(times.chunks.size()),
        backward_(times.chunks.size()) {
    for (std::int64_t rank = 0; rank < ranks_; ++rank) {
      for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
        const ChunkTime& time = times.chunks[static_cast<std::size_t>(rank * chunks_ + chunk)];
        const auto at = static_cast<std::size_t>(chunk * ranks_ + rank);
        forward_[at] = time.forward.value();
        backward_[at] = time.backward.value();
      }
    }
  }

  Seconds run() {
    const std::int64_t period = ranks_ * chunks_;
    for (std::int64_t tick = 0; tick < visits_ + turn_; ++tick) {
      const bool all_run = tick >= turn_ && tick <= visits_;
      if (all_run && (tick - turn_) % period == 0)
        tick += left_out((visits_ - tick) / period) * period;
      run_forward(tick);
      run_backward(tick - turn_);
    }
    return Seconds(*std::max_element(free(), free() + ranks_));
  }

 private:
  double* free() { return state_.data(); }
  double* activations() { return state_.data() + ranks_; }
  double* gradients() { return state_.data() + 2 * ranks_; }

  // Rank r makes visit tick - r: of one turn of a chunk up to rank tick mod p, beyond of the turn
  // before. Last ranks first: they need what the rank before them made a tick ago.
  void run_forward(std::int64_t tick) {
    const std::int64_t first = std::max<std::int64_t>(0, tick - visits_ + 1);
    const std::int64_t last = std::min(ranks_ - 1, tick);
    const std::int64_t turn = tick / ranks_, parted = tick % ranks_;
    const double around = activations()[ranks_ - 1] + send_;
    if (last > parted) forward(std::max(first, parted + 1), last, (turn - 1) % chunks_);
    forward(std::max<std::int64_t>(first, 1), std::min(last, parted), turn % chunks_);
    if (first > 0) return;
    const bool is_first = turn % chunks_ == 0;
    activations()[0] = free()[0] = (is_first ? free()[0] : std::max(free()[0], around)) +
                                   forward_[static_cast<std::size_t>(turn % chunks_ * ranks_)];
  }
  void forward(std::int64_t first, std::int64_t last, std::int64_t chunk) {
    const double* const takes = forward_.data() + chunk * ranks_;
    for (std::int64_t r = last; r >= first; --r) {
      const double end = std::max(free()[r], activations()[r - 1] + send_) + takes[r];
      free()[r] = activations()[r] = end;
    }
  }

  // Rank r makes visit tick + r, of the last chunk first. The loss of a micro-batch is behind an
  // earlier slot of the last rank, and so needs no looking up.
  void run_backward(std::int64_t tick) {
    const std::int64_t first = std::max<std::int64_t>(0, -tick);
    const std::int64_t last = std::min(ranks_ - 1, visits_ - 1 - tick);
    if (first > last) return;
    const std::int64_t turn = (tick + ranks_) / ranks_ - 1;  // -1 before the first
    const std::int64_t parted = (turn + 1) * ranks_ - tick;  // ranks from here on are a turn ahead
    const auto chunk_of = [&](std::int64_t at) { return chunks_ - 1 - at % chunks_; };
    const double around = gradients()[0] + send_;
    const std::int64_t inner = std::min(last, ranks_ - 2);
    if (first < parted) backward(first, std::min(inner, parted - 1), chunk_of(turn));
    backward(std::max(first, parted), inner, chunk_of(turn + 1));
    if (last < ranks_ - 1) return;
    const std::int64_t chunk = chunk_of(ranks_ - 1 < parted ? turn : turn + 1), r = ranks_ - 1;
    const bool is_first = chunk == chunks_ - 1;
    gradients()[r] = free()[r] = (is_first ? free()[r] : std::max(free()[r], around)) +
                                 backward_[static_cast<std::size_t>(chunk * ranks_ + r)];
  }
  void backward(std::int64_t first, std::int64_t last, std::int64_t chunk) {
    const double* const takes = backward_.data() + chunk * ranks_;
    for (std::int64_t r = first; r <= last; ++r) {
      const double end = std::max(free()[r], gradients()[r + 1] + send_) + takes[r];
      free()[r] = gradients()[r] = end;
    }
  }

  // Of the periods that are left those that take as long as the ones before; the state is what it
  // will be behind them. Every later tick follows from the state: where all of it is later by the
  // same than some periods ago it will be so again.
  std::int64_t left_out(std::int64_t periods) {
    const auto seen = static_cast<std::int64_t>(before_.size() / state_.size());
    for (std::int64_t back = 1; back <= std::min({seen, kMostPeriods, periods}); ++back) {
      const double* const then = before_.data() + (seen - back) * 3 * ranks_;
      const double later = state_[0] - then[0];
      const auto is_later = [&](double now, double past) {
        return std::abs(now - past - later) <= 1e-13 * now;  // sums of thousands of terms
      };
      if (!std::equal(state_.begin(), state_.end(), then, is_later)) continue;
      const std::int64_t times = periods / back;
      for (double& time : state_) time += static_cast<double>(times) * later;
      return times * back;
    }
    before_.insert(before_.end(), state_.begin(), state_.end());
    return 0;
  }

  std::int64_t ranks_, chunks_, visits_, turn_;
  double send_;
  std::vector<double> state_;               // seconds: free, activations, gradients of all ranks
  std::vector<double> before_;              // the states a whole number of periods ago
  std::vector<double> forward_, backward_;  // seconds, chunk after chunk, each with its ranks
};

}  // namespace

bool is_interleaved_evenly(const Pipeline& pipeline, const SlotTimes& times) {
  return pipeline.schedule == Schedule::one_f_one_b && pipeline.virtual_stages > 1 &&
         pipeline.ranks > 1 && pipeline.micro_batches % pipeline.ranks == 0 && !times.blocking;
}

Seconds interleaved_time(const Pipeline& pipeline, const SlotTimes& times) {
  return Ticks(pipeline, times).run();
}

}  // namespace headway
