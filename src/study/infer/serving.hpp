// What serving a model takes: one pass in time, the memory of weights and cache, and what a batch
// or a number of clients gets. Formulas: docs/models/infer.md.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cost/calibration/calibration.hpp"
#include "cost/serving/serving.hpp"
#include "model/model.hpp"
#include "study/infer/load/closed.hpp"
#include "study/infer/routing.hpp"

namespace headway {

/// Software that serves (data/serving/engines.toml).
struct Engine {
  std::string name;
  Seconds step;      // of the host, in each pass
  Seconds sequence;  // and for each sequence of a decode pass
  /// Between the kernels of a layer of a decode pass, by the accelerator's architecture; "default"
  /// for others.
  std::map<std::string, Seconds, std::less<>> layer;
  Seconds launch;       // of each kernel that no graph replays
  Seconds request;      // of a client, from its question into the engine and out again
  double memory = 0.9;  // share of an accelerator that the engine takes
  Bytes reserved;       // of it what is neither weights nor cache
  bool own_all_reduce = false;
  Policy policy;
};

/// The next tokens are guessed, and checked in one pass.
struct Speculation {
  Drafting guesses;
  std::optional<Model> draft;  // what guesses them; none: the model's own prediction layers
};

/// dp: copies of attention, each with sequences of its own; experts are spread over `ep` of tp·dp
/// ranks, the rest of tp splits each.
struct ServingSplit {
  std::int64_t tp = 1, pp = 1, ep = 1, dp = 1;

  std::int64_t ranks() const { return tp * pp * dp; }
};

/// A model on accelerators, with its formats and how it is split.
struct Serving : ServingSplit {
  Model model;
  Cluster cluster;
  const Recipe* weights = nullptr;
  Precision cache = Precision::bf16;
  Engine engine;
  Routing routing{};  // of tokens to experts
  std::optional<Speculation> speculation{};
  bool predicts = false;  // a prediction layer of another model: a projection 2h→h comes before it
};

/// [INFER-16] What guesses the next tokens of a serving that has a speculation: on the ranks of one
/// stage.
Serving draft_of(const Serving& serving);

/// One stage of it, in the words of training: `sequences` in one pass of each copy of attention.
Layout layout_of(const Serving& serving, std::int64_t sequences);

struct ServingConstants {
  Benchmarked alone;
  ServingKernels kernels;
};
Result<ServingConstants> serving_constants(const Cluster& cluster);

/// Everything that keeps a serving from being one; empty: legal.
Problems check(const Serving& serving);

/// What each copy of attention works on in one pass: tokens of each sequence, behind those cached.
struct PassWork {
  std::int64_t sequences = 1, tokens = 1, cached = 0;
  bool replayed = true;  // by a graph: the host does not launch its kernels
  bool checks = false;   // decodes: all `tokens` are guesses that go through the head
};

/// Seconds of a pass, in the order in which they are told; they add up.
enum class ServingPart : std::uint8_t { products, attention, passes, tp, ep, pp, host };
constexpr std::array<std::string_view, 7> kServingPartNames = {
    "products", "attention", "passes", "tp", "ep", "pp", "host"};
struct PassTime {
  std::array<Seconds, kServingPartNames.size()> parts{};
  Seconds& operator[](ServingPart part) { return parts[static_cast<std::size_t>(part)]; }
  Seconds total() const {
    Seconds out(0);
    for (const Seconds part : parts) out += part;
    return out;
  }
};

/// All layers of the model, embedding, and the head for the last token of each sequence. Stages of
/// a pipeline work one after another.
PassTime time_of(const Serving& serving, const ServingConstants& constants, const PassWork& work);

/// Of the fullest rank.
struct ServingMemory {
  Bytes weights, reserved, capacity;  // capacity: what the engine takes
  Bytes cache_of_token;
  double cached_tokens = 0;  // that fit, of all ranks that share a copy of attention; below 0: not
                             // even the weights do
};
/// `context`: tokens of a sequence, beyond which layers with a sliding window keep no more.
ServingMemory memory_of(const Serving& serving, std::int64_t context);

/// Of all requests.
struct Quantiles {
  Seconds median, p90, p99;
};

struct Served {
  Seconds first_token, each_token, latency;            // of a request, in the mean
  double output_per_second = 0, total_per_second = 0;  // tokens, of all ranks
  PassTime prefill, decode;                            // one pass of each, at the mean context
  PassWork prefill_work, decode_work;                  // and what it works on
  Seconds draft;                                       // guesses that are made for one of decode
  ServingMemory memory;
  double sequences = 0;  // of each copy of attention at a time, at most
  bool fits = false;
  // Where requests are placed in time, of clients and random ones.
  std::optional<Quantiles> first_quantiles, each_quantiles, latency_quantiles;
  std::optional<double> good;         // share of requests within the limits
  std::optional<double> rate_within;  // random: highest rate of which as many are, of all ranks
  double goodput = 0;                 // and how many a second they are, of all ranks
  double put_back = 0;                // times that a request was computed anew, in the mean
  std::optional<double> capacity;     // random: requests a second of all ranks that can be answered
  std::optional<Fluid> closed;        // [INFER-17] of one copy, without the way in and out
  bool stable() const { return !capacity || first_quantiles; }
};
/// `steps`: of the serving at these lengths, where they are known already.
Served served(const Serving& serving, const ServingConstants& constants, const Load& load,
              const StepTimes* steps = nullptr);

/// [INFER-17] Of one copy of attention, of clients and of random requests.
std::optional<Fluid> in_closed_form(const Serving& serving, const ServingConstants& constants,
                                    const Load& load);

}  // namespace headway
