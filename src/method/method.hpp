// How a run learns, where it is not by gradients of all replicas in every step: when replicas meet,
// what they send then, what of a step is left out or done besides. Knows no model and no machine.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/quantity.hpp"
#include "method/sparsity.hpp"

namespace headway {

/// When replicas agree: in every step; late, the exchange running beside the steps that follow;
/// seldom, once in some steps; in every step with neighbours alone; never.
enum class Meeting : std::uint8_t { every_step, late, seldom, neighbours, never };
constexpr std::array<std::string_view, 5> kMeetingNames = {"every-step", "late", "seldom",
                                                           "neighbours", "never"};

/// Ways to compress what is exchanged.
enum class Compressor : std::uint8_t {
  none,
  fp16,
  bits_8,
  qsgd,
  terngrad,
  bits_1,
  top_k,
  powersgd,
  masked
};

struct CompressorRow {
  Compressor compressor;
  std::string_view name, what;
  double bits;              // of an element on the wire; 0: it hangs on the gradient
  bool feeds_back = false;  // what is lost is added to the next step's gradient
};
constexpr std::array<CompressorRow, 9> kCompressors = {{
    {Compressor::none, "none", "as the run sends them", 0},
    {Compressor::fp16, "fp16", "16 bit, added up on the way", 16},
    {Compressor::bits_8, "8-bit", "8 bit with scales", 8},
    {Compressor::qsgd, "qsgd", "4 bit, rounded at random (QSGD)", 4},
    {Compressor::terngrad, "terngrad", "2 bit: -1, 0, 1 (TernGrad)", 2},
    {Compressor::bits_1, "1-bit", "signs (1-bit SGD, signSGD)", 1, true},
    {Compressor::top_k, "top-k", "the largest, with their places", 0, true},
    {Compressor::powersgd, "powersgd", "factors of low rank (PowerSGD)", 0, true},
    {Compressor::masked, "masked", "those of a mask that all replicas know", 0},
}};
constexpr const CompressorRow& row_of(Compressor compressor) {
  return kCompressors[static_cast<std::size_t>(compressor)];
}

struct Compression {
  Compressor by = Compressor::none;
  double share = 0.01;    // top-k, masked: of the elements
  std::int64_t rank = 4;  // powersgd
};

/// Whose losses train a stage of a pipeline: the model's; a loss of its own behind each stage; that
/// and the one behind the next stage (2012.03837: greedy, overlapping).
enum class Losses : std::uint8_t { model, of_stage, of_pairs };

struct MethodRow;

/// The default is synchronous training: nothing of a step changes.
struct Method {
  const MethodRow* row = nullptr;  // its name and sources; null: synchronous
  Meeting meeting = Meeting::every_step;
  std::int64_t every = 1;       // seldom: steps from one meeting to the next
  std::int64_t replicas = 0;    // that meet so; 0: each data-parallel rank is one
  std::int64_t fragments = 1;   // seldom: of the weights, exchanged in turn within `every` steps
  std::int64_t delay = 0;       // late, seldom: steps beside which an exchange may run; 0: all wait
  std::int64_t neighbours = 1;  // that a replica sends to
  Compression compression = {};
  double kept = 0;  // bytes a parameter held besides: copy of the last meeting, outer momentum
  Losses losses = Losses::model;
  std::int64_t blocks = 1;     // of_stage: in each stage, each with a loss of its own
  std::int64_t parts = 1;      // of the layers, trained one after another to labels at their cuts
  std::int64_t epochs = 1;     // parts: passes over the data, of which what a cut says is made once
  double selected = 1;         // of other ranks' keys and values, the share that attention asks for
  std::int64_t submodels = 1;  // narrow models that share out the neurons between meetings
  std::int64_t population = 0;  // evolution: perturbed models of a step; 0: one for each replica
  bool forward_only = false;    // evolution strategies: no backward pass, only scalars are sent
  Sparsity sparsity = {};       // of the layers' weights: which are zero, and what uses it
  // Of the link that joins the ranks of a replica to the others, all together; 0: as the cluster.
  BytesPerSecond bandwidth{};
  Seconds latency{};

  bool is_synchronous() const { return row == nullptr; }
  /// Whether replicas have weights of their own between meetings.
  bool parts_replicas() const {
    return meeting == Meeting::seldom || meeting == Meeting::neighbours ||
           meeting == Meeting::never;
  }
};

}  // namespace headway
