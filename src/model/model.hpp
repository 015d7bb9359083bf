// A network: layers, widths, heads, experts, vocabulary. Knows parameters and FLOPs, nothing of
// machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/modules.hpp"

namespace headway {

enum class NormKind { layer_norm, rms_norm };              // weight and bias; weight only
enum class Activation { gelu, relu, silu, squared_relu };  // of the feed-forward part

/// Norms of queries and of keys before the scores.
enum class QueryKeyNorm {
  none,
  head,       // over each head, its weights shared by all heads (Qwen3)
  all_heads,  // weights of their own for each channel of each head (OLMo 2)
};

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434 §2.1): queries, keys and values pass
/// through low-rank projections; only `rope_dim` of a head carries the rotary position.
struct LatentProjection {
  std::int64_t query_rank = 0;  // 0: queries are projected directly
  std::int64_t key_value_rank = 0;
  std::int64_t rope_dim = 0;

  friend bool operator==(const LatentProjection&, const LatentProjection&) = default;
};

/// Which keys latent attention reads of a query: the `keep` with the highest scores, of all before
/// it. A score is the sum over small heads of their own, which share one key a token (the lightning
/// indexer of DeepSeek-V3.2).
struct KeyIndexer {
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t keep = 0;

  friend bool operator==(const KeyIndexer&, const KeyIndexer&) = default;
};

/// How linear attention writes to its state.
enum class LinearForm {
  decay,       // which fades at a fixed rate of each head (lightning attention, arXiv 2401.04658)
  delta_rule,  // corrected by what it holds, by two gates of each head (arXiv 2412.06464)
  dual,        // which fades at a rate that each head's token says (Mamba 2, arXiv 2405.21060)
  selective,   // of channels that each have their own: heads of one value, whose keys, queries and
               // rate follow from the channels themselves (Mamba, arXiv 2312.00752)
};

/// Attention whose heads keep a state of fixed size, keys x values, in place of keys and values of
/// all tokens. Its result passes a norm and is multiplied by a gate as wide.
struct LinearAttention {
  LinearForm form = LinearForm::decay;
  std::int64_t convolution = 0;  // taps over time on each channel of queries, keys and values
  bool convolution_bias = false;
  std::int64_t rate_rank = 0;  // selective: numbers of a token from which all rates follow
  bool norms_inside = false;   // selective: of these, of keys and of queries (Jamba)

  friend bool operator==(const LinearAttention&, const LinearAttention&) = default;
};

struct Attention {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;   // = heads: multi-head; 1: multi-query; between: grouped; of linear
                               // attention: heads of queries and of keys
  std::int64_t head_dim = 0;   // of queries and keys
  std::int64_t value_dim = 0;  // of values; equals head_dim but in latent attention
  std::int64_t window = 0;     // sliding window in tokens; 0: the whole sequence
  bool qkv_bias = false;
  bool output_bias = false;
  QueryKeyNorm query_key_norm = QueryKeyNorm::none;
  bool sinks = false;  // one learned logit a head in the softmax (GPT-OSS)
  bool gated = false;  // the result is multiplied by a gate as wide (Qwen3-Next)
  std::optional<LatentProjection> latent;
  std::optional<KeyIndexer> indexer;      // beside `latent` alone; none: every key is read
  std::optional<LinearAttention> linear;  // not beside `latent`

  friend bool operator==(const Attention&, const Attention&) = default;
};

struct FeedForward {
  std::int64_t width = 0;
  bool gated = false;  // three matrices (up, gate, down) instead of two
  bool bias = false;
  Activation activation = Activation::silu;

  friend bool operator==(const FeedForward&, const FeedForward&) = default;
};

/// Routed experts in place of one feed-forward part.
struct Experts {
  std::int64_t count = 0;
  std::int64_t active = 0;  // experts each token is sent to
  FeedForward each;
  std::int64_t shared_width = 0;  // total width of the experts that every token passes; 0: none
  bool shared_gate = false;       // a scalar gate on the shared expert (Qwen2-MoE)
  bool router_bias = false;       // one value an expert (DeepSeek-V3's load balancing)

  friend bool operator==(const Experts&, const Experts&) = default;
};

/// One kind of layer. At most one of feed_forward and experts is set; neither in layers of
/// attention alone (Mamba) and of modules.
struct Layer {
  std::optional<Attention> attention;  // absent where a layer is a feed-forward part alone
  std::optional<FeedForward> feed_forward;
  std::optional<Experts> experts;
  std::vector<NetworkModule> modules;  // of a network that is no transformer: all that it does
  std::int64_t norms = 2;              // norms over the hidden width
  bool parallel = false;               // attention and feed-forward read the same input (GPT-NeoX)

  friend bool operator==(const Layer&, const Layer&) = default;
};

/// At most this many distinct kinds of layer, and this many layers.
constexpr std::size_t kMostKinds = 255;
constexpr std::int64_t kMostLayers = 100'000;

struct Model {
  std::string name;
  std::string source;  // where the numbers come from
  std::int64_t hidden = 0;
  std::int64_t vocabulary = 0;   // 0: no embedding and no head
  bool tied_embeddings = false;  // the head uses the embedding's weights
  bool head_bias = false;
  std::optional<std::int64_t> labels;  // columns of the head that are not the vocabulary's: a
                                       // classifier's; 0: no head
  std::int64_t learned_positions = 0;  // rows of a learned position table; 0: none
  std::int64_t embedding_width = 0;    // where it differs from hidden (OPT-350M); 0: hidden
  NormKind norm = NormKind::rms_norm;
  bool norm_weight = true;  // norms carry weights (OLMo's do not)
  bool norm_bias = true;    // layer norms carry a bias (MPT's do not)
  bool embedding_norm = false;
  bool final_norm = true;
  double dropout = 0;                  // probability in training; 0: no dropout passes
  std::int64_t prediction_layers = 0;  // multi-token prediction modules (DeepSeek-V3), each a layer
                                       // of the last kind with its own norms and 2h→h projection
  std::vector<Layer> kinds;            // the distinct kinds of layer
  std::vector<std::uint8_t> pattern;   // for each layer, from the first to the last, its kind
  std::int64_t maximum_sequence = 0;   // 0: not stated
  std::string sample;  // of a network of modules, what one is: "image"; else empty: a sequence
  bool before_flash_attention = false;  // the published runs came before it (arXiv 2205.14135)
  std::string weights;  // the format that its config keeps them in, as serving calls it; or empty
  std::vector<std::string> notes;  // what a reader of results should know of it

  std::int64_t layers() const { return static_cast<std::int64_t>(pattern.size()); }
  /// Whether its layers hold modules: one sample is what a sequence of one token is elsewhere.
  bool is_network() const { return !sample.empty(); }
};

}  // namespace headway
