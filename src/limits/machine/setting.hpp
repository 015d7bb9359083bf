// Everything a curve of the limits study depends on, as one value that can be edited field by
// field.
#pragma once

#include <cstdint>
#include <string>

#include "limits/machine/machine.hpp"

namespace headway::limits {

inline constexpr double kSecondsOfAYear = 3.154e7;  // as the study has it
inline constexpr double kSecondsOfAMonth = kSecondsOfAYear / 12;

/// Layers grow with the width of a block: coefficient (d_model d_ff)^exponent, rounded to the grid.
struct LayerLaw {
  double coefficient = 0.10056;
  double exponent = 0.3751;
};

/// Experts of a layer, of which each token uses one: experts (d_model / width)^exponent at the
/// feed-forward ratio 4, rounded to the grid. Dense: one.
struct SparsityLaw {
  bool sparse = false;
  double experts = 8;
  double width = 12288;
  double exponent = 1;
};

/// The largest batch that still learns as well: tokens (T / flop)^exponent sqrt(experts), rounded
/// to the grid; or always `tokens`.
struct BatchLaw {
  bool constant = false;
  double tokens = 2048 * 2048;
  double flop = 3e23;
  double exponent = 1.0 / 6;
};

/// What runs while the matrix products do. What does not is added to the step.
struct Overlap {
  bool tensor = true;
  bool pipeline = true;  // and experts
  bool data = false;
};

/// How a run departs from synchronous training, and what that costs; by default not at all.
/// [LIMIT-26] to [LIMIT-31], and data/methods for what has been published.
struct Relaxation {
  std::string method;             // its title; empty: synchronous training
  std::string name;               // of data/methods; empty: none of them
  bool altered = false;           // numbers stand for fields that a run's method does not have
  double sync_every = 1;          // steps, of replicas joined at `loose_level` or further out
  std::size_t loose_level = 0;    // replicas joined further inside stay in step
  double compression = 1;         // bytes of gradients over bytes sent, at the same levels
  bool asynchronous = false;      // replicas do not wait for one another
  std::int64_t blocks = 1;        // of layers, each with a loss of its own
  std::int64_t submodels = 1;     // narrow models that are trained apart between exchanges
  bool forward_only = false;      // evolution strategies: no backward pass, only scalars sent
  double sample_penalty = 1;      // data needed against synchronous training
  std::string penalty_statement;  // where that number comes from, and how far it holds
};

struct Setting {
  std::string name;
  Machine machine;
  Precision precision = Precision::bf16;  // of weights, activations, gradients, optimizer words

  // The models of the curve.
  LayerLaw layers;
  SparsityLaw sparsity;
  BatchLaw batch;
  double tokens_per_parameter = 20;  // of all parameters, experts included
  std::int64_t feed_forward_ratio = 4;
  std::int64_t sequence = 2048;
  std::int64_t first_d_model = 12288;
  std::int64_t last_d_model = std::int64_t{12288} * 128;

  // The run.
  Seconds duration{0.25 * kSecondsOfAYear};  // in which a run must end
  double optimizer_words = 4;          // for each parameter, spread over the data-parallel group
  bool recompute_activations = false;  // the forward pass is done twice
  double steps_between_syncs = 1;      // of the data-parallel replicas
  Overlap overlap;
  Relaxation relaxation;
  /// As the published program has it: the latency of a zero-bubble pipeline never binds.
  bool as_published = false;

  // What is reported of the curve.
  double linear_share = 0.8;         // of the sustained peak: the end of linear scaling
  double least_utilization = 0.001;  // where the curve is given up
};

}  // namespace headway::limits
