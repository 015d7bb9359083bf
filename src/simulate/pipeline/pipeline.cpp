#include "simulate/pipeline/pipeline.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace headway {
namespace {

// How often a chunk's works have run.
struct Counts {
  std::int64_t forward = 0, input = 0, weight = 0;
};

// What a rank does from slot to slot. Slots of micro-batches that are absent are none.
class RankRow {
 public:
  RankRow(const PipelineQuestion& of, std::int64_t rank)
      : of_(of), rank_(rank), counts_(static_cast<std::size_t>(of.pipeline.chunks())) {
    const RankOrder order = rank_order(of.pipeline, rank);
    order_.reserve(static_cast<std::size_t>(of.pipeline.micro_batches * of.pipeline.chunks()) * 16);
    for (const SlotRun& run : order.runs) {
      for (std::int64_t i = 0; i < run.times; ++i) {
        for (std::size_t at = run.begin; at < run.end; ++at) take(order.slots[at]);
      }
    }
  }

  std::string order() && { return std::move(order_); }
  Seconds busy() const { return Seconds(busy_); }
  std::int64_t peak() const { return peak_; }
  std::int64_t peak_until_input() const { return peak_input_; }

 private:
  void take(const Slot& slot) {
    Counts& counts = counts_[slot.chunk];
    const bool forward = slot.work == SlotWork::forward;
    const bool weight = slot.work == SlotWork::weight_gradient;
    std::int64_t& next = forward ? counts.forward : weight ? counts.weight : counts.input;
    const std::int64_t micro_batch = next;
    if (micro_batch >= of_.pipeline.micro_batches_of_copy()) return;
    ++next;
    if (slot.work == SlotWork::backward) ++counts.weight;
    if (forward) {
      peak_ = std::max(peak_, ++held_);
      peak_input_ = std::max(peak_input_, ++held_input_);
    }
    if (weight || slot.work == SlotWork::backward) --held_;
    if (!forward && !weight) --held_input_;
    add_time(slot);
    add_name(slot, micro_batch);
  }

  // Of a pair that runs together both take their share of its time.
  void add_time(const Slot& slot) {
    const auto chunk = static_cast<std::size_t>(rank_ * of_.pipeline.chunks() + slot.chunk);
    const ChunkTime& time = of_.times.chunks[chunk];
    const Seconds takes = slot.work == SlotWork::forward    ? time.forward
                          : slot.work == SlotWork::backward ? time.backward
                          : slot.work == SlotWork::weight_gradient
                              ? time.weight_gradient
                              : time.backward - time.weight_gradient;
    if (slot.joined) {
      busy_ += (takes.value() + last_) * of_.times.joined - last_;
    } else {
      busy_ += takes.value();
    }
    last_ = takes.value();
  }

  void add_name(const Slot& slot, std::int64_t micro_batch) {
    constexpr std::array<char, 4> kLetters = {'F', 'D', 'B', 'W'};
    if (!order_.empty()) order_ += slot.joined ? '+' : ' ';
    order_ += kLetters[static_cast<std::size_t>(slot.work)];
    if (of_.pipeline.copies() == 2 && slot.chunk == 1) order_ += 'r';
    add_number(of_.pipeline.stage(rank_, slot.chunk));
    order_ += '.';
    add_number(micro_batch);
  }

  void add_number(std::int64_t number) {
    std::array<char, 24> digits{};
    order_.append(digits.data(),
                  std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
  }

  const PipelineQuestion& of_;
  std::int64_t rank_;
  std::vector<Counts> counts_;
  std::string order_;
  double busy_ = 0, last_ = 0;  // seconds
  std::int64_t held_ = 0, held_input_ = 0, peak_ = 0, peak_input_ = 0;
};

}  // namespace

std::string order_text(const Pipeline& pipeline, std::int64_t rank) {
  PipelineQuestion of{pipeline, {}};
  of.times.chunks.resize(static_cast<std::size_t>(pipeline.ranks * pipeline.chunks()));
  return RankRow(of, rank).order();
}

SimulatedPipeline simulate_pipeline(const PipelineQuestion& question) {
  SimulatedPipeline out;
  out.of = question;
  const std::vector<RankSpan> spans = placed_spans(question.pipeline, question.times);
  for (const RankSpan& span : spans) out.makespan = std::max(out.makespan, span.end);
  for (std::int64_t r = 0; r < question.pipeline.ranks; ++r) {
    const RankSpan& span = spans[static_cast<std::size_t>(r)];
    RankRow row(question, r);
    out.spans.push_back(span.end - span.begin);
    // Sums of many terms differ in their last digits: nobody is idle for less than nothing.
    out.idle.push_back(std::max(Seconds(0), out.makespan - row.busy()));
    out.peak_in_flight.push_back(row.peak());
    out.peak_until_input_gradient.push_back(row.peak_until_input());
    out.orders.push_back(std::move(row).order());
  }
  return out;
}

}  // namespace headway
