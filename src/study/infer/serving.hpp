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

namespace headway {

/// How an engine fills its steps [INFER-10].
struct Scheduling {
  std::int64_t step_tokens = 8192;  // in one step, of prompts and decoded
  bool whole_prompts = false;       // none is cut over steps
  bool prompts_apart = false;       // a step with prompts decodes nothing
  std::int64_t polls = 1;           // steps that decode from one look at new requests to the next
};

/// [INFER-12] Kernels of a release that were not made for an architecture, where those that are
/// measured were; 0: they were.
struct Untuned {
  double products = 0;   // of the 16-bit peak that products of a decode pass reach at most
  double attention = 0;  // of the memory bandwidth, where each head of queries reads its own keys
};

/// Software that serves (data/serving/engines.toml).
struct Engine {
  std::string name;
  std::string age;   // of its releases, "2024": what is not known of one is as of others
  Seconds step;      // of the host, in each pass
  Seconds sequence;  // and for each sequence of a decode pass
  /// Between the kernels of a layer of a decode pass, by the accelerator's architecture; "default"
  /// for others.
  std::map<std::string, Seconds, std::less<>> layer;
  std::map<std::string, Untuned, std::less<>> untuned;  // by the accelerator's architecture
  Seconds launch;                                       // of each kernel that no graph replays
  Seconds request;      // of a client, from its question into the engine and out again
  double memory = 0.9;  // share of an accelerator that the engine takes
  Bytes reserved;       // of it what is neither weights nor cache
  bool own_all_reduce = false;
  Scheduling scheduling;
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
};

/// [INFER-8] What lies between the kernels of a layer that a graph replays.
Seconds gap_of_layer(const Engine& engine, const Accelerator& accelerator);

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
};

/// Seconds of a pass, in the order in which they are told; they add up.
enum class ServingPart : std::uint8_t { products, attention, passes, tp, ep, pp, host };
constexpr std::array<std::string_view, 7> kServingPartNames = {
    "products", "attention", "passes", "tp", "ep", "pp", "host"};
struct PassTime {
  std::array<Seconds, kServingPartNames.size()> parts{};
  double kernels = 0;  // that the host launches where no graph replays them
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

/// [INFER-3] Of `experts` those that at least one of `tokens` chooses, each `active` at random.
double chosen_experts(double experts, double active, double tokens);

/// Of the fullest rank.
struct ServingMemory {
  Bytes weights, reserved, capacity;  // capacity: what the engine takes
  Bytes cache_of_token;
  double cached_tokens = 0;  // that fit, of all ranks that share a copy of attention; below 0: not
                             // even the weights do
};
/// `context`: tokens of a sequence, beyond which layers with a sliding window keep no more.
ServingMemory memory_of(const Serving& serving, std::int64_t context);

/// When requests come: all at once, as one batch that starts and ends together; from clients, of
/// which each sends its next one when the last is answered; at random moments (Poisson).
enum class Arrivals : std::uint8_t { together, clients, random };

/// Requests to each copy of attention.
struct Load {
  std::int64_t input = 0, output = 0;  // tokens
  Arrivals arrivals = Arrivals::together;
  std::int64_t batch = 1;  // sequences, or clients
  double rate = 0;         // random: requests a second
  double shortest = 1;     // of clients and random: lengths are drawn from this share of them up
  std::optional<Seconds> first_limit{}, each_limit{};  // what a good answer keeps to
};

/// Of all requests.
struct Quantiles {
  Seconds median, p90, p99;
};

struct Served {
  Seconds first_token, each_token, latency;            // of a request, in the mean
  double output_per_second = 0, total_per_second = 0;  // tokens, of all ranks
  PassTime prefill, decode;                            // one pass of each, at the mean context
  ServingMemory memory;
  double sequences = 0;  // of each copy of attention at a time, at most
  bool fits = false;
  // Where requests are placed in time, of clients and random ones.
  std::optional<Quantiles> first_quantiles, each_quantiles, latency_quantiles;
  std::optional<double> good;      // share of requests within the limits
  std::optional<double> capacity;  // random: requests a second of all ranks that can be answered
  bool stable() const { return !capacity || first_quantiles; }
};
/// `steps`: of the serving at these lengths, where they are known already.
class StepTimes;  // study/infer/steps.hpp
Served served(const Serving& serving, const ServingConstants& constants, const Load& load,
              const StepTimes* steps = nullptr);

}  // namespace headway
