#include "step/passes/buckets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headway {

void BucketSizes::add(double elements, double count) {
  if (elements <= 0 || count <= 0) return;
  std::size_t nearest = 0;
  double distance = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < static_cast<std::size_t>(size_); ++i) {
    const double apart = std::abs(sizes_[i].elements - elements);
    if (apart < distance) {
      distance = apart;
      nearest = i;
    }
  }
  if (distance > 0 && size_ < kMostBucketSizes) {
    sizes_[static_cast<std::size_t>(size_++)] = {elements, count};
    return;
  }
  Bucket& bucket = sizes_[nearest];
  if (distance > 0) {
    bucket.elements = (bucket.elements * bucket.count + elements * count) / (bucket.count + count);
  }
  bucket.count += count;
}

bool BucketSizes::repeat(const BucketSizes& since, double times) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(since.size_); ++i) {
    if (sizes_[i].elements != since.sizes_[i].elements) return false;  // a mean has moved
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(size_); ++i) {
    const bool known = i < static_cast<std::size_t>(since.size_);
    sizes_[i].count += times * (sizes_[i].count - (known ? since.sizes_[i].count : 0.0));
  }
  return true;
}

double BucketSizes::elements() const {
  double sum = 0;
  for (const Bucket& bucket : *this) sum += bucket.elements * bucket.count;
  return sum;
}

double BucketSizes::count() const {
  double sum = 0;
  for (const Bucket& bucket : *this) sum += bucket.count;
  return sum;
}

void BucketFiller::close() {
  closed_.add(open_);
  open_ = 0;
  next_limit_ = limit_;
}

void BucketFiller::add(double elements, double count) {
  if (limit_ <= 0) {
    open_ += elements * count;
    return;
  }
  while (count > 1e-9) {
    const bool before = closing_ == Closing::before;
    if (before && open_ > 0 && open_ + elements > next_limit_) close();
    // Tensors that this bucket still takes.
    const double room = (next_limit_ - open_) / elements;
    const double takes = std::max(1.0, before ? std::floor(room) : std::ceil(room));
    const double taken = std::min(count, takes);
    open_ += taken * elements;
    count -= taken;
    if (taken < takes || (before && count <= 1e-9)) return;  // room for more, or perhaps
    close();
    // Whole buckets of nothing but these tensors.
    const double each =
        std::max(1.0, before ? std::floor(limit_ / elements) : std::ceil(limit_ / elements));
    const double whole = std::floor(count / each) - (before ? 1 : 0);
    if (whole < 1) continue;
    closed_.add(each * elements, whole);
    count -= whole * each;
  }
}

void BucketFiller::add_layers(const TensorRuns& layer, double layers) {
  constexpr std::size_t kMostRemembered = 8;
  std::array<double, kMostRemembered> open_after;
  std::array<BucketSizes, kMostRemembered> closed_after;
  std::array<double, kMostRemembered> after;  // as many layers
  std::size_t remembered = 0;
  bool skipped = false;
  for (double done = 0; done < layers; ++done) {
    for (int i = layer.size() - 1; i >= 0; --i) add(layer[i].elements, layer[i].count);
    if (limit_ <= 0 || skipped || next_limit_ != limit_) continue;
    // Once the open bucket is as it was after an earlier layer, the layers between repeat.
    for (std::size_t i = 0; i < remembered; ++i) {
      if (open_after[i] != open_) continue;
      const double period = done - after[i];
      const double periods = std::floor((layers - done - 1) / period);
      if (periods < 1 || !closed_.repeat(closed_after[i], periods)) break;
      done += periods * period;
      skipped = true;  // fewer than a period are left
      break;
    }
    if (remembered < kMostRemembered) {
      after[remembered] = done;
      open_after[remembered] = open_;
      closed_after[remembered++] = closed_;
    }
  }
}

const BucketSizes& BucketFiller::finish() {
  close();
  return closed_;
}

}  // namespace headway
