// From Megatron-LM's arguments to the shape of the network.
#include <algorithm>

#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "launch/megatron/megatron.hpp"

namespace headway::launch {
namespace {

class Shape {
 public:
  Shape(const MegatronArguments& arguments, std::vector<std::string>& notes)
      : arguments_(arguments), notes_(notes) {}

  GivenField read() {
    sizes();
    attention();
    feed_forward();
    ends();
    if (arguments_.has_experts()) experts();
    return std::move(model_).field(arguments_.file, arguments_.line);
  }

 private:
  int line_of(std::string_view name) const {
    const Argument* found = arguments_.find(name);
    return found != nullptr ? found->line : arguments_.line;
  }
  // A number where the text is one, else the text, which the model's reader refuses at its line.
  static Node value_of(const std::string& text, int line) {
    if (const auto number = whole_number(text)) return {*number, line};
    return {text, line};
  }
  void number(std::string_view name, std::string_view key, std::string_view table = {}) {
    const Argument* found = arguments_.find(name);
    if (found == nullptr || arguments_.text(name) == "None") return;
    Node node = value_of(arguments_.text(name), found->line);
    if (table.empty()) {
      model_.set(key, std::move(node.value), node.line);
    } else {
      model_.set(table, key, std::move(node.value), node.line);
    }
  }
  void on(std::string_view key, bool value, std::string_view because) {
    model_.set(key, value, line_of(because));
  }

  void sizes() {
    number("--num-layers", "layers");
    number("--hidden-size", "hidden");
    const bool rms = lower(arguments_.text("--normalization")) == "rmsnorm";
    model_.set("norm", std::string(rms ? "rms" : "layer"), line_of("--normalization"));
    number("--mtp-num-layers", "prediction_layers");
    on("tied", !arguments_.has("--untie-embeddings-and-output-weights"),
       "--untie-embeddings-and-output-weights");
    number("--max-position-embeddings", "sequence");
    const std::string positions = arguments_.has("--use-rotary-position-embeddings")
                                      ? "rope"
                                      : arguments_.text("--position-embedding-type");
    const bool learned =
        positions.empty() || positions == "learned_absolute" || positions == "absolute";
    if (learned && !arguments_.has("--no-position-embedding")) {
      number("--max-position-embeddings", "learned_positions");
    }
  }

  void attention() {
    number("--num-attention-heads", "heads");
    const bool bias = !arguments_.has("--disable-bias-linear");
    on("bias", bias, "--disable-bias-linear");
    if (arguments_.has("--add-qkv-bias")) on("qkv_bias", true, "--add-qkv-bias");
    if (arguments_.text("--softmax-type") == "learnable") on("sinks", true, "--softmax-type");
    window();
    if (arguments_.has("--multi-latent-attention")) return latent();
    if (arguments_.has("--group-query-attention")) number("--num-query-groups", "kv_heads");
    number("--num-key-value-heads", "kv_heads");
    number("--kv-channels", "head_dim");
    for (const char* norm : {"--qk-layernorm", "--qk-l2-norm"}) {
      if (arguments_.has(norm)) on("query_key_norm", true, norm);
    }
  }

  // "4096,0": tokens to the left and to the right.
  void window() {
    const std::string text = arguments_.text("--window-size");
    if (text.empty()) return;
    const std::size_t begin = text.find_first_not_of('(');
    const std::string left = text.substr(begin == std::string::npos ? 0 : begin,
                                         text.find(',') - (begin == std::string::npos ? 0 : begin));
    if (left == "-1") return;
    Node node = value_of(left, line_of("--window-size"));
    model_.set("window", std::move(node.value), node.line);
  }

  void latent() {
    const std::int64_t plain = arguments_.count("--qk-head-dim").value_or(128);
    const std::int64_t rotary = arguments_.count("--qk-pos-emb-head-dim").value_or(64);
    const bool sane = plain > 0 && rotary > 0 && plain < 1'000'000 && rotary < 1'000'000;
    model_.set("head_dim", sane ? plain + rotary : std::int64_t{0}, line_of("--qk-head-dim"));
    number("--q-lora-rank", "query_rank", "latent");
    if (arguments_.has("--kv-lora-rank")) {
      number("--kv-lora-rank", "key_value_rank", "latent");
    } else {
      model_.set("latent", "key_value_rank", std::int64_t{32}, arguments_.line);
    }
    model_.set("latent", "rope_dim", rotary, line_of("--qk-pos-emb-head-dim"));
    model_.set("latent", "value_dim", arguments_.count("--v-head-dim").value_or(128),
               line_of("--v-head-dim"));
  }

  void feed_forward() {
    const bool swiglu = arguments_.has("--swiglu");
    const std::string unit = arguments_.text("--glu-activation");
    const std::string_view option = swiglu          ? "--swiglu"
                                    : !unit.empty() ? "--glu-activation"
                                                    : "--squared-relu";
    on("gated", swiglu || !unit.empty(), option);
    std::string activation = swiglu || unit == "swiglu"        ? "silu"
                             : unit == "reglu"                 ? "relu"
                             : unit.empty() || unit == "geglu" ? "gelu"
                                                               : unit;
    if (unit.empty() && arguments_.has("--squared-relu")) activation = "squared_relu";
    model_.set("activation", activation, line_of(option));
    if (arguments_.has("--ffn-hidden-size")) return number("--ffn-hidden-size", "feed_forward");
    const auto hidden = arguments_.count("--hidden-size");
    if (!swiglu || !hidden || *hidden < 1 || *hidden > 1'000'000'000) return;
    // Of the same size as without a gate, in multiples of 64 (validate_args).
    model_.set("feed_forward", std::max<std::int64_t>(64, 8 * *hidden / 3 / 64 * 64),
               line_of("--hidden-size"));
  }

  void ends() {
    const Vocabulary vocabulary = vocabulary_of(arguments_);
    if (arguments_.has("--embed-layernorm")) on("embedding_norm", true, "--embed-layernorm");
    if (vocabulary.tokens == 0 && vocabulary.text.empty()) return;  // the model's reader says so
    const int line = line_of(vocabulary.option);
    if (vocabulary.tokens == 0) return model_.set("vocabulary", vocabulary.text, line);
    model_.set("vocabulary", vocabulary.tokens, line);
    if (!vocabulary.note.empty()) notes_.push_back(vocabulary.note);
  }

  // Megatron-DeepSpeed: experts as wide as the dense part, in every n-th layer, the n-th first.
  void deepspeed_experts() {
    model_.set("experts", "active", arguments_.count("--topk").value_or(1), line_of("--topk"));
    model_.set("experts", "every", arguments_.count("--expert-interval").value_or(2),
               line_of("--expert-interval"));
  }

  void experts() {
    number("--num-experts", "count", "experts");
    if (arguments_.deepspeed()) return deepspeed_experts();
    model_.set("experts", "active", arguments_.count("--moe-router-topk").value_or(2),
               line_of("--moe-router-topk"));
    number("--moe-ffn-hidden-size", "width", "experts");
    number("--moe-shared-expert-intermediate-size", "shared_width", "experts");
    if (arguments_.has("--moe-router-enable-expert-bias")) {
      model_.set("experts", "router_bias", true, line_of("--moe-router-enable-expert-bias"));
    }
    if (arguments_.has("--moe-shared-expert-gate")) {
      model_.set("experts", "shared_gate", true, line_of("--moe-shared-expert-gate"));
    }
    const std::string frequency = arguments_.text("--moe-layer-freq");
    const std::int64_t layers = arguments_.count("--num-layers").value_or(0);
    if (frequency.empty() || frequency == "1" || layers < 1) return;
    const int line = line_of("--moe-layer-freq");
    Node::Array pattern;
    const auto layered = layer_pattern(frequency, layers);
    if (!layered) return model_.set("experts", "pattern", frequency, line);
    for (const int one : *layered) pattern.push_back({std::int64_t{one}, line});
    model_.set("experts", "pattern", std::move(pattern), line);
  }

  const MegatronArguments& arguments_;
  std::vector<std::string>& notes_;
  ModelDocument model_;
};

// A list of Python in the forms that launch scripts use: [0,1]*3+[1]*2, with brackets.
class Pattern {
 public:
  explicit Pattern(std::string_view text) : text_(text) {}

  std::optional<std::vector<int>> read() {
    std::vector<int> out = sum(0);
    if (!fine_ || at_ != text_.size()) return std::nullopt;
    return out;
  }

 private:
  bool take(char c) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::int64_t natural() {
    std::int64_t value = 0;
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' && value <= kMostLayers) {
      value = 10 * value + (text_[at_++] - '0');
    }
    fine_ = fine_ && at_ > begin && value <= kMostLayers;
    return value;
  }
  std::vector<int> sum(int depth) {
    std::vector<int> out = product(depth);
    while (fine_ && take('+')) {
      const std::vector<int> more = product(depth);
      out.insert(out.end(), more.begin(), more.end());
      fine_ = fine_ && out.size() <= static_cast<std::size_t>(kMostLayers);
    }
    return out;
  }
  std::vector<int> product(int depth) {
    std::vector<int> one = factor(depth);
    while (fine_ && take('*')) {
      const std::int64_t times = natural();
      fine_ = fine_ && static_cast<std::int64_t>(one.size()) * times <= kMostLayers;
      if (!fine_) return {};
      std::vector<int> out;
      for (std::int64_t i = 0; i < times; ++i) out.insert(out.end(), one.begin(), one.end());
      one = std::move(out);
    }
    return one;
  }
  std::vector<int> factor(int depth) {
    if (depth > 16) return fine_ = false, std::vector<int>();
    if (take('(')) {
      std::vector<int> out = sum(depth + 1);
      fine_ = fine_ && take(')');
      return out;
    }
    std::vector<int> out;
    fine_ = fine_ && take('[');
    while (fine_ && !take(']')) {
      const bool one = take('1');
      fine_ = one || take('0');
      out.push_back(one ? 1 : 0);
      if (take(',')) continue;
      fine_ = fine_ && take(']');
      break;
    }
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool fine_ = true;
};

}  // namespace

GivenField megatron_model(const MegatronArguments& arguments, std::vector<std::string>& notes) {
  return Shape(arguments, notes).read();
}

std::optional<std::vector<int>> layer_pattern(std::string_view text, std::int64_t layers) {
  if (const auto every = whole_number(text)) {
    if (*every < 1 || layers > kMostLayers) return std::nullopt;
    std::vector<int> out;
    for (std::int64_t i = 0; i < layers; ++i) out.push_back(i % *every == 0 ? 1 : 0);
    return out;
  }
  return Pattern(text).read();
}

}  // namespace headway::launch
