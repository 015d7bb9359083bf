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
#include <vector>

#include "cost/calibration/calibration.hpp"
#include "cost/serving/formats.hpp"
#include "cost/serving/serving.hpp"
#include "model/model.hpp"

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
  Bytes reserved;       // of it the driver's context and libraries
  Bytes communicators;  // and their buffers, where there are peers
  bool own_all_reduce = false;
  std::vector<std::string> caches;  // formats of the cache that it has
};

/// dp: copies of attention, each with sequences of its own; experts are spread over `ep` of tp·dp
/// ranks, the rest of tp splits each; cp: ranks that share each prompt, and then its cache.
struct ServingSplit {
  std::int64_t tp = 1, pp = 1, ep = 1, dp = 1, cp = 1;

  std::int64_t ranks() const { return tp * pp * dp * cp; }
};

/// A model on accelerators, with its formats and how it is split.
struct Serving : ServingSplit {
  Model model;
  Cluster cluster;
  const Recipe* weights = nullptr;       // in which products compute
  const WeightFormat* stored = nullptr;  // how weights lie in memory; null: as the recipe has them
  const CacheFormat* cache = cache_format("bf16");
  Engine engine;
};

/// What its weights are called: "fp8", "int4".
std::string_view weights_name(const Serving& serving);
/// A format of serving's own or a recipe of training, on the cluster that is there; whether there
/// is one of this name.
bool set_weights(Serving& serving, std::string_view name);
/// All names that there are.
std::vector<std::string> weights_names();

/// One stage of it, in the words of training: `sequences` in one pass of each copy of attention,
/// each shared by `cp` ranks.
Layout layout_of(const Serving& serving, std::int64_t sequences, std::int64_t cp = 1);

struct ServingConstants {
  Benchmarked alone;
  ServingKernels kernels;
  FormatKernels formats;
  PowerConstants power;
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
enum class ServingPart : std::uint8_t { products, attention, passes, tp, ep, cp, pp, host };
constexpr std::array<std::string_view, 8> kServingPartNames = {
    "products", "attention", "passes", "tp", "ep", "cp", "pp", "host"};
struct PassTime {
  std::array<Seconds, kServingPartNames.size()> parts{};
  Seconds rated;  // of them what products take at the rate that they sustain
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

/// What a rank holds that is neither weights nor cache [INFER-24].
struct Reserved {
  Bytes context;        // the driver's and libraries'
  Bytes activations;    // of a pass, at its widest
  Bytes head;           // logits
  Bytes communicators;  // their buffers

  Bytes total() const { return context + activations + head + communicators; }
};

/// Of the fullest rank.
struct ServingMemory {
  Bytes weights, reserved, capacity;  // capacity: what the engine takes
  Reserved parts;                     // of `reserved`
  Bytes cache_of_token;
  Bytes state_of_sequence;   // of layers that keep one in place of a cache
  double cached_tokens = 0;  // that fit, of all ranks that share a copy of attention; below 0: not
                             // even the weights do

  /// Sequences of `context` tokens each that fit, their states among them [INFER-5].
  double sequences_that_fit(double context) const {
    const Bytes each = context * cache_of_token + state_of_sequence;
    return cached_tokens * cache_of_token / each;
  }
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
  double sequences = 0;                           // of each copy of attention at a time, at most
  Joules energy_of_token;                         // of all accelerators, for each token of output
  Watts prefill_power, decode_power, mean_power;  // of an accelerator
  double prompt_share = 0;                        // of the time that a request costs, its prompt's
  bool fits = false;
  // Where requests are placed in time, of clients and random ones.
  std::optional<Quantiles> first_quantiles, each_quantiles, latency_quantiles;
  std::optional<double> good;      // share of requests within the limits
  std::optional<double> capacity;  // random: requests a second of all ranks that can be answered
  bool stable() const { return !capacity || first_quantiles; }
};
/// What stands on no measurement of the accelerator's architecture.
std::vector<std::string> unmeasured(const Serving& serving, const ServingConstants& constants);

/// `steps`: of the serving at these lengths, where they are known already.
class StepTimes;  // study/infer/steps.hpp
Served served(const Serving& serving, const ServingConstants& constants, const Load& load,
              const StepTimes* steps = nullptr);

}  // namespace headway
