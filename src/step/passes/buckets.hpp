// Buckets of whole tensors: how a framework cuts what it reduces or gathers into calls [STEP-18].
#pragma once

#include <array>

#include "step/passes/weights.hpp"

namespace headway {

/// Buckets of one size.
struct Bucket {
  double elements = 0;
  double count = 0;
};

/// At most this many sizes are told apart; of more, those nearest to each other become their mean.
constexpr int kMostBucketSizes = 8;

/// Collects buckets by size, in the order in which each size first occurs.
class BucketSizes {
 public:
  void add(double elements, double count = 1);
  /// Adds what has come since an earlier state `times` times more. False, and nothing added, where
  /// sizes of then are no longer told apart.
  bool repeat(const BucketSizes& since, double times);
  double elements() const;
  double count() const;
  int size() const { return size_; }
  const Bucket& operator[](int i) const { return sizes_[static_cast<std::size_t>(i)]; }
  const Bucket* begin() const { return sizes_.data(); }
  const Bucket* end() const { return sizes_.data() + size_; }

 private:
  int size_ = 0;
  std::array<Bucket, kMostBucketSizes> sizes_;
};

/// Fills buckets with tensors in the order in which they come.
class BucketFiller {
 public:
  /// A limit of 0: one bucket for everything. `first`: the limit of the first bucket, where it is
  /// another.
  BucketFiller(double limit, Closing closing, double first = 0)
      : limit_(limit), next_limit_(first > 0 ? first : limit), closing_(closing) {}

  /// `count` tensors of `elements` each.
  void add(double elements, double count = 1);
  /// Layers of these tensors one after another, each from its last tensor to its first.
  void add_layers(const TensorRuns& layer, double layers);
  /// What is still open becomes the last bucket.
  const BucketSizes& finish();

 private:
  void close();

  double limit_;
  double next_limit_;  // of the open bucket
  Closing closing_;
  double open_ = 0;
  BucketSizes closed_;
};

}  // namespace headway
