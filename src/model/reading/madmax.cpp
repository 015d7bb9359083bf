// Model files of MAD-Max (arXiv 2310.02784): DLRM with square layers, experts or transformer layers
// between its MLPs, ViT, and transformers, as one JSON table each (docs/workloads.md).

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "model/reading/config_fields.hpp"
#include "model/reading/load.hpp"

namespace headway {
namespace {

using reading::bounded;

constexpr std::int64_t kMost = 1'000'000'000'000;
constexpr std::array<std::string_view, 6> kTypes = {"DLRM", "DLRM_MoE", "DLRM_Transformer",
                                                    "LLM",  "LLM_MoE",  "ViT"};

std::string number(std::int64_t value) {
  return std::to_string(value);
}

// Bytes of a value, 2 or 4; 1 to 8 of what lies in tables.
std::int64_t value_bytes(Fields& fields, std::string_view key, std::int64_t most) {
  const std::int64_t bytes = fields.count(key);
  if (bytes <= most) return bytes;
  fields.fail(key, "must be at most " + number(most));
  return most;
}

// Layers as modules of the form of docs/workloads.md, one behind the other.
std::string list(std::int64_t layers, const std::string& one) {
  return "{ group = [" + one + "], repeat = " + number(layers) + " }, ";
}
std::string block(const std::string& name, const std::string& modules) {
  return "[[block]]\nname = \"" + name + "\"\nmodules = [" + modules + "]\n\n";
}

// Square layers without biases on both sides of the tables, whose sums nothing joins.
std::string dlrm(Fields& fields, std::string_view type) {
  const std::int64_t bottom = bounded(fields, "num_bot_mlp_layers", 10'000);
  const std::int64_t top = bounded(fields, "num_top_mlp_layers", 10'000);
  const std::int64_t width = bounded(fields, "mlp_dim", 1'000'000);
  const std::string square =
      "{ linear = " + number(width) + ", bias = false, activation = \"relu\" }";
  std::string out = "sample = \"click\"\ninput = [" + number(width) + "]\n\n";
  const std::int64_t tables = bounded(fields, "num_tables", 100'000);
  const std::int64_t rows = bounded(fields, "entries_per_table", kMost);
  const std::int64_t dim = bounded(fields, "emb_dim", 1'000'000);
  const std::int64_t pooling = bounded(fields, "pooling_size", 1'000'000);
  const std::int64_t bytes = value_bytes(fields, "bytes_per_emb_param", 8);
  out += block("bottom and tables", list(bottom, square) + "{ tables = [" + number(rows) +
                                        "], copies = " + number(tables) +
                                        ", width = " + number(dim) + ", pooling = [" +
                                        number(pooling) + "], bytes = " + number(bytes) + " }");
  if (type == "DLRM_Transformer") {
    const std::int64_t layers = bounded(fields, "num_transformer_layers", 10'000);
    const std::int64_t heads = bounded(fields, "num_transformer_heads", 100'000);
    const std::int64_t hidden = bounded(fields, "attention_dim", 1'000'000);
    const std::int64_t ffn = bounded(fields, "transformer_fc_dim", 1'000'000'000);
    const std::int64_t sequence = bounded(fields, "transformer_seq_len", 1'000'000);
    out += block("transformer",
                 "{ reshape = [" + number(hidden) + ", " + number(sequence) + "] }, " +
                     list(layers, "{ attention = " + number(heads) +
                                      ", bias = false }, { feed_forward = " + number(ffn) +
                                      ", bias = false }"));
  }
  std::string layer = square;
  if (type == "DLRM_MoE") {
    const std::int64_t experts = bounded(fields, "num_experts", 100'000);
    const std::int64_t active = bounded(fields, "num_active_experts", 100'000);
    layer = "{ experts = " + number(experts) + ", active = " + number(active) +
            ", linear = " + number(width) + ", bias = false, activation = \"relu\" }";
  }
  return out + block("top", "{ reshape = [" + number(width) + "] }, " + list(top, layer));
}

// Patches without a class token.
std::string vit(Fields& fields) {
  const std::int64_t image = bounded(fields, "image_size", 100'000);
  const std::int64_t patch = bounded(fields, "patch_dim", 1'000);
  const std::int64_t layers = bounded(fields, "num_transformer_layers", 10'000);
  const std::int64_t heads = bounded(fields, "num_transformer_heads", 100'000);
  const std::int64_t hidden = bounded(fields, "attention_dim", 1'000'000);
  const std::int64_t ffn = bounded(fields, "transformer_fc_dim", 1'000'000'000);
  fields.natural_or("entries_per_table", 0);
  fields.natural_or("transformer_seq_len", 0);
  const std::int64_t along =
      (image + std::max<std::int64_t>(1, patch) - 1) / std::max<std::int64_t>(1, patch);
  const std::int64_t positions = along * along;
  return "sample = \"image\"\ninput = [3, " + number(image) + ", " + number(image) + "]\n\n" +
         block("patches", "{ conv = " + number(hidden) + ", kernel = " + number(patch) +
                              ", stride = " + number(patch) +
                              " }, { values = " + number(hidden * positions) + ", added = true }") +
         block("layers", list(layers, "{ attention = " + number(heads) +
                                          ", bias = false }, { feed_forward = " + number(ffn) +
                                          ", bias = false }"));
}

std::string transformer(Fields& fields, bool experts) {
  const std::int64_t layers = bounded(fields, "num_transformer_layers", 10'000);
  const std::int64_t heads = bounded(fields, "num_transformer_heads", 100'000);
  const std::int64_t hidden = bounded(fields, "attention_dim", 1'000'000);
  const std::int64_t ffn = bounded(fields, "transformer_fc_dim", 1'000'000'000);
  const std::int64_t sequence = bounded(fields, "transformer_seq_len", 100'000'000);
  const std::int64_t vocabulary = bounded(fields, "entries_per_table", 1'000'000'000);
  std::string out = "hidden = " + number(hidden) + "\nlayers = " + number(layers) +
                    "\nheads = " + number(heads) + "\nffn = " + number(ffn) +
                    "\nvocabulary = " + number(vocabulary) + "\nsequence = " + number(sequence) +
                    "\nlearned_positions = " + number(sequence) + "\ntied = true\n";
  if (experts) {
    const std::int64_t count = bounded(fields, "num_experts", 100'000);
    out += "[experts]\ncount = " + number(count) +
           "\nactive = " + number(bounded(fields, "num_active_experts", 100'000)) + "\n";
  }
  return out;
}

}  // namespace

int madmax_weight_bytes(const Document& document) {
  const Node* type = document.root.find("type");
  const Node* bytes = document.root.find("bytes_per_nonemb_param");
  if (type == nullptr || bytes == nullptr) return 0;
  const auto* whole = std::get_if<std::int64_t>(&bytes->value);
  return whole != nullptr && (*whole == 2 || *whole == 4) ? static_cast<int>(*whole) : -1;
}

std::optional<Result<Model>> model_from_madmax(const Document& document, const std::string& name) {
  if (document.root.find("type") == nullptr ||
      document.root.find("bytes_per_nonemb_param") == nullptr) {
    return std::nullopt;
  }
  Problems problems;
  Fields fields(document, problems);
  const std::string type = fields.text("type");
  fields.text_or("name", "");
  if (const std::int64_t bytes = fields.count("bytes_per_nonemb_param"); bytes != 2 && bytes != 4) {
    fields.fail("bytes_per_nonemb_param", "must be 2 (fp16) or 4 (tf32)");
  }
  std::string text;
  if (type.starts_with("DLRM")) {
    text = dlrm(fields, type);
  } else {
    value_bytes(fields, "bytes_per_emb_param", 8);
    text = type == "ViT" ? vit(fields) : transformer(fields, type == "LLM_MoE");
  }
  if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end()) {
    fields.fail("type", "is '" + printable(type) +
                            "'; legal: DLRM, DLRM_MoE, DLRM_Transformer, LLM, LLM_MoE, ViT");
  }
  fields.reject_unknown();
  if (!problems.empty()) return problems;
  const auto form =
      parse_toml("source = \"a model file of MAD-Max (arXiv 2310.02784)\"\n" + text, document.file);
  if (!form) return form.problems();
  return model_from_toml(*form, name);
}

}  // namespace headway
