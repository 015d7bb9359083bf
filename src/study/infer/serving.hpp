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
#include "cost/serving/sparse.hpp"
#include "model/model.hpp"
#include "study/infer/load/closed.hpp"
#include "study/infer/routing.hpp"

namespace headway {

/// [INFER-12] Kernels of a release that were not made for an architecture, where those that are
/// measured were; 0: they were.
struct Untuned {
  double products = 0;   // of the 16-bit peak that products of a decode pass reach at most
  double attention = 0;  // of the memory bandwidth, where each head of queries reads its own keys
  double weights = 0;    // of the memory bandwidth, at which products read theirs
  double blocks = 0;     // of the rate at which measured experts of prompts pass, 8 bits by blocks
  double exchanged = 0;  // of those behind an exchange by kernels of its own; 0: as others
};

/// [INFER-34] An engine that serves batches which start and end together, and has buffers for the
/// whole of one at once. `spare`: times what a batch needs; 0: requests come and go. Buffers of
/// each token of its prompts, in 16 bits: as many as wide as the stream, as the heads of a rank,
/// and as its feed-forward part.
struct WholeBatches {
  double spare = 0;
  double stream = 0, heads = 0, feed_forward = 0;

  bool only() const { return spare > 0; }
};

/// [INFER-28] Attention over a cache whose kernels read keys once for all queries of a group: of at
/// most so many, in heads as wide, without a window. Others let each head of queries read its own,
/// which lie in the chip's cache for all but the first, at a share of the memory's bandwidth.
struct GroupedAttention {
  std::int64_t queries = 0;  // 0: kernels of all groups
  std::int64_t head_dim = 0;
  double others = 1;  // of the memory bandwidth

  bool has(const Attention& attention) const {
    const bool group = attention.heads > attention.kv_heads;
    return queries == 0 || !group || attention.latent ||
           (attention.heads <= queries * attention.kv_heads && attention.head_dim == head_dim &&
            attention.window == 0);
  }
};

/// The key of what holds for architectures and releases that have no entry of their own.
inline constexpr std::string_view kUsual = "default";

/// [INFER-37] What a server that has just been started takes once, while kernels are compiled and
/// tuned: of its first passes, and of the first that is as long as steps get.
struct Start {
  Seconds first, full;
};

/// [INFER-5] What an engine takes a share of: of all memory; of what weights and cache have, with
/// what passes hold beside it (SGLang); of what weights and passes leave (TensorRT-LLM).
enum class ShareOf { memory, pool, free };

/// [INFER-41] Graphs of decode passes that an engine captures when it starts, and what its passes
/// take without.
struct ReplayedGraphs {
  double count = 0;                  // of as many sizes of batches and kinds; 0: it replays none
  Bytes fixed, layer;                // what all take, and each of its layers in each of them
  Seconds launch;                    // of each kernel that none replays
  std::vector<std::string> without;  // architectures on which it replays none

  Bytes bytes(double layers) const { return fixed + count * layers * layer; }
};

/// What an engine's host takes [INFER-8], and its server when it starts.
struct EngineHost {
  Seconds step;      // in each pass
  Seconds sequence;  // and for each sequence of a decode pass
  Seconds prompt;    // and for each prompt that begins in it
  Seconds token;     // and for each token of prompts
  /// Between the kernels of a layer of a decode pass, by the accelerator's architecture; "default",
  /// without late starts, for others.
  std::map<std::string, Seconds, std::less<>> layer;
  Seconds launch;   // of each kernel that no graph replays
  Seconds experts;  // and of each layer with experts: its kernels are chosen and set up anew
  Seconds request;  // of a client, from its question into the engine and out again
  /// By release, "default" for others. No part of what is predicted of a server that runs.
  std::map<std::string, Start, std::less<>> starts;
};

/// Software that serves (data/serving/engines.toml).
struct Engine : EngineHost {
  std::string name;
  std::string age;   // of its releases, "2024": what is not known of one is as of others
  std::string like;  // the engine that it became, as which it is before those; empty: none
  std::map<std::string, Untuned, std::less<>> untuned;  // by the accelerator's architecture
  GroupedAttention grouped;
  double memory = 0.9;  // share that the engine takes of what share_of says
  ShareOf share_of = ShareOf::memory;
  Bytes reserved;       // of it the driver's context and libraries
  Bytes communicators;  // and their buffers, where there are peers
  /// [INFER-24] Of each logit of the whole vocabulary, of as many sequences as it takes at most,
  /// which it samples at its start to see what that needs; none: it plans for fewer.
  Bytes sampled;
  /// Sequences that it takes on these architectures, and on accelerators of less than 70 GiB.
  std::vector<std::string> few_on;
  bool own_all_reduce = false;
  bool sorts_tokens = false;             // of experts, by kernels of their own [INFER-36]
  std::vector<std::string> fuses_casts;  // to these formats, into what comes before [INFER-39]
  std::vector<std::string> caches;       // formats of the cache that it has
  std::vector<std::string> weights;      // and of weights; empty: all that there are
  bool splits_layers = false;            // over accelerators, and nothing else: stages alone
  WholeBatches whole;
  ReplayedGraphs graphs;
  Policy policy;
};

/// The next tokens are guessed, and checked in one pass.
struct Speculation {
  Drafting guesses;
  std::optional<Model> draft;  // what guesses them; none: the model's own prediction layers
};

/// dp: copies of attention, each with sequences of its own; experts are spread over `ep` of tp·dp
/// ranks, the rest of tp splits each; cp: ranks that share each prompt, and then its cache.
struct ServingSplit {
  std::int64_t tp = 1, pp = 1, ep = 1, dp = 1, cp = 1;

  std::int64_t ranks() const { return tp * pp * dp * cp; }
};
/// Of one copy of attention: each holds a part of the cache of its sequences.
inline std::int64_t ranks_of_attention(const ServingSplit& split) {
  return split.ranks() / split.dp;
}

/// A model on accelerators, with its formats and how it is split.
struct Serving : ServingSplit {
  Model model;
  Cluster cluster;
  const Recipe* weights = nullptr;       // in which products compute
  const WeightFormat* stored = nullptr;  // how weights lie in memory; null: as the recipe has them
  const CacheFormat* cache = cache_format("bf16");
  Engine engine;
  Routing routing{};          // of tokens to experts
  bool own_exchange = false;  // which travel by kernels of its own [INFER-33], else by collectives
  bool two_batches = false;   // of a pass one half computes while the other's travel [INFER-40]
  bool eager = false;         // no graph replays a decode pass [INFER-41]
  std::optional<Speculation> speculation{};
  bool predicts = false;  // a prediction layer of another model: a projection 2h→h comes before it
};

Start start_of(const Engine& engine, std::string_view release);
/// [INFER-41] Whether its engine replays graphs where it runs, and is known without, too.
bool has_graphs(const Serving& serving);
/// [INFER-8] What the host takes to ask for so many kernels of a pass with prompts, and the experts
/// of all layers; and [INFER-41] of a decode pass that is launched.
Seconds launch_time(const Serving& serving, double kernels);
Seconds eager_time(const Serving& serving, double kernels);
/// [INFER-8] What lies between the kernels of a layer that a graph replays; and what of it is
/// because they start later there than by NVIDIA's graphs.
Seconds gap_of_layer(const Engine& engine, const Accelerator& accelerator);
/// Of all layers; one of a half alone, attention or what follows it, has half.
Seconds gaps_of_layers(const Serving& serving);
Seconds late_starts(const Accelerator& accelerator);

/// The 16-bit format of weights that an accelerator multiplies in: "bf16", or "fp16" where it has
/// none of that (Volta, Turing).
std::string_view sixteen_bits(const Accelerator& accelerator);

/// What its weights are called: "fp8", "int4".
std::string_view weights_name(const Serving& serving);
/// The same of its cache: that of 16 bits by what the accelerator has.
std::string_view cache_name(const Serving& serving);
/// A format of serving's own or a recipe of training, on the cluster that is there; whether there
/// is one of this name.
bool set_weights(Serving& serving, std::string_view name);
/// All names that there are.
std::vector<std::string> weights_names();

/// One stage of it, in the words of training: `sequences` in one pass of each copy of attention,
/// each shared by `cp` ranks.
Layout layout_of(const Serving& serving, std::int64_t sequences, std::int64_t cp = 1);

/// [INFER-16] What guesses the next tokens of a serving that has a speculation: on the ranks of one
/// stage.
Serving draft_of(const Serving& serving);

struct ServingConstants {
  Benchmarked alone;
  ServingKernels kernels;
  FormatKernels formats;
  SparseKernels sparse;
  PowerConstants power;
};
Result<ServingConstants> serving_constants(const Cluster& cluster);

/// Everything that keeps a serving from being one; empty: legal.
Problems check(const Serving& serving);
/// Why its engine does not serve requests that come and go; empty: it does.
std::string why_together_only(const Engine& engine);

/// What each copy of attention works on in one pass: tokens of each sequence, behind those cached.
struct PassWork {
  std::int64_t sequences = 1, tokens = 1, cached = 0;
  bool replayed = true;  // by a graph: the host does not launch its kernels
  bool checks = false;   // decodes: all `tokens` are guesses that go through the head

  bool is_prompt() const { return tokens > 1 && !checks; }
};

/// Seconds of a pass, in the order in which they are told; they add up.
enum class ServingPart : std::uint8_t { products, attention, passes, tp, ep, cp, pp, host };
constexpr std::array<std::string_view, 8> kServingPartNames = {
    "products", "attention", "passes", "tp", "ep", "cp", "pp", "host"};
struct PassTime {
  std::array<Seconds, kServingPartNames.size()> parts{};
  Seconds rated;       // of them what products take at the rate that they sustain
  double kernels = 0;  // that the host launches where no graph replays them
  Seconds& operator[](ServingPart part) { return parts[static_cast<std::size_t>(part)]; }
  Seconds operator[](ServingPart part) const { return parts[static_cast<std::size_t>(part)]; }
  Seconds total() const {
    Seconds out(0);
    for (const Seconds part : parts) out += part;
    return out;
  }
};

/// All layers of the model, embedding, and the head for the last token of each sequence. Stages of
/// a pipeline work one after another.
PassTime time_of(const Serving& serving, const ServingConstants& constants, const PassWork& work);

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
  Bytes graphs;                       // beside what the engine takes [INFER-41]
  Bytes cache_of_token;
  Bytes state_of_sequence;   // of layers that keep one in place of a cache
  Bytes free;                // for them; below 0: not even the weights fit
  std::int64_t block = 1;    // tokens of a block, of which a sequence has whole ones
  double cached_tokens = 0;  // that fit, of all ranks that share a copy of attention; where all
                             // layers keep a state, in sequences of the context

  /// Tokens of whole blocks that fit in sequences of so many each, whose states are there, too;
  /// where there is a state alone, none has blocks.
  double room(double context) const {
    const double tokens = context * (free / (context * cache_of_token + state_of_sequence));
    return cache_of_token > Bytes(0) ? whole_blocks(tokens, block) : tokens;
  }
  /// Sequences of `context` tokens each that fit, their states among them [INFER-5].
  double sequences_that_fit(double context) const {
    return free / (in_blocks(context, block) * cache_of_token + state_of_sequence);
  }
};
/// `context`: tokens of a sequence, beyond which layers with a sliding window keep no more;
/// `prompt`: so many of them pass at once by engines of whole batches [INFER-34]; 0: all.
ServingMemory memory_of(const Serving& serving, std::int64_t context, std::int64_t prompt = 0);
/// Of the requests of a load, each with all its tokens.
ServingMemory memory_of(const Serving& serving, const Load& load);
/// Whether it holds the longest prompt of a load; the longest sequence.
inline bool holds_prompt(const ServingMemory& memory, const Load& load) {
  return memory.sequences_that_fit(load.longest_prompt()) >= 1;
}
inline bool holds_sequence(const ServingMemory& memory, const Load& load) {
  return memory.sequences_that_fit(load.longest_told()) >= 1;
}

/// Of all requests.
struct Quantiles {
  Seconds median, p90, p99;
};

struct Served {
  Seconds first_token, each_token, latency;            // of a request, in the mean
  double output_per_second = 0, total_per_second = 0;  // tokens, of all ranks
  PassTime prefill, decode;                            // one pass of each, at the mean context
  PassWork prefill_work, decode_work;                  // and what it works on
  double prompt_passes = 1;    // of prefill for each prompt; below 1 several prompts share one
  Seconds draft, draft_rated;  // guesses that are made for one of decode; rated as PassTime has it
  Seconds draft_prompt_rated;  // what makes them beside a pass of prefill
  ServingMemory memory;
  double sequences = 0;                           // of each copy of attention at a time, at most
  Joules energy_of_token;                         // of all accelerators, for each token of output
  Watts prefill_power, decode_power, mean_power;  // of an accelerator
  double prompt_share = 0;                        // of the time that a request costs, its prompt's
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
/// What stands on no measurement of the accelerator's architecture.
std::vector<std::string> unmeasured(const Serving& serving, const ServingConstants& constants);
/// That, what the model's file says, and [INFER-14] how much of the load is cut.
std::vector<std::string> notes_of(const Serving& serving, const ServingConstants& constants,
                                  const Load& load);

/// `steps`: of the serving at these lengths, where they are known already.
Served served(const Serving& serving, const ServingConstants& constants, const Load& load,
              const StepTimes* steps = nullptr);

/// [INFER-17] Of one copy of attention, of random requests and of clients, who stay in step where
/// their requests are of one length.
std::optional<Fluid> in_closed_form(const Serving& serving, const ServingConstants& constants,
                                    const Load& load);

}  // namespace headway
