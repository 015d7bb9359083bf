// Hugging Face config.json: finds the family by its architecture and reads its traits.
#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "model/count.hpp"
#include "model/reading/config_fields.hpp"
#include "model/reading/config_layers.hpp"
#include "model/reading/load.hpp"
#include "model/reading/network_form.hpp"

namespace headway {
using namespace reading;  // of this folder alone
namespace {

/// A family and what the network has for a head.
struct Found {
  const Family* family = nullptr;
  std::string head;
};

// "LlamaForCausalLM": a stem and an ending.
Found by_architecture(const Families& known, std::string_view name) {
  for (const Family& family : known.families) {
    if (holds(family.names, name)) return {&family, "vocabulary"};
    for (const std::string& stem : family.stems) {
      if (!name.starts_with(stem)) continue;
      for (const auto& [ending, head] : known.endings) {
        if (name.substr(stem.size()) == ending) return {&family, head};
      }
    }
  }
  return {};
}

// Whatever stands on a stem: "BertForMaskedLM", "T5EncoderModel".
const Kind* refused_kind(const Families& known, std::string_view architecture,
                         std::string_view type) {
  for (const Kind& kind : known.refused) {
    if (!type.empty() && holds(kind.types, type)) return &kind;
    for (const std::string& stem : kind.stems) {
      if (!architecture.starts_with(stem)) continue;
      const std::string_view rest = architecture.substr(stem.size());
      if (rest.starts_with("For") || rest.ends_with("Model")) return &kind;
    }
  }
  return nullptr;
}

void refuse(Fields& fields, const Families& known, std::string_view key, const std::string& name,
            const std::string& architecture, const std::string& type) {
  const std::string quoted = "'" + printable(name) + "' ";
  if (const Kind* kind = refused_kind(known, architecture, type)) {
    fields.fail(key, quoted + "is " + kind->name + "; those that are read: docs/models/model.md",
                Trouble::unsupported);
  } else {
    fields.fail(key,
                quoted +
                    "is none of the families of networks that are read; "
                    "a shape can be given in Headway's own form, too (docs/models/model.md)",
                Trouble::unknown);
  }
}

// By `architectures`; by `model_type` where that is absent. Without a family after a problem.
Found find_family(Fields& fields, const Families& known) {
  const std::vector<std::string> architectures = fields.texts_or_empty("architectures");
  const std::string type = fields.text_or("model_type", "");
  for (const std::string& name : architectures) {
    if (const Found found = by_architecture(known, name); found.family != nullptr) return found;
  }
  if (!architectures.empty()) {
    refuse(fields, known, "architectures", architectures.front(), architectures.front(), type);
    return {};
  }
  for (const Family& family : known.families) {
    if (holds(family.types, type)) return {&family, "vocabulary"};
  }
  if (type.empty()) {
    fields.fail("architectures",
                "is missing; a config.json of Hugging Face names its architecture"
                " there, as \"LlamaForCausalLM\"",
                Trouble::missing);
  } else {
    refuse(fields, known, "model_type", type, "", type);
  }
  return {};
}

void read_norms(const FamilyReader& traits, Model& model) {
  const std::string norm = traits.text("norm");
  model.norm = norm == "rms" ? NormKind::rms_norm : NormKind::layer_norm;
  model.norm_bias = norm == "rms" || norm == "layer";
  model.norm_weight = norm != "plain";
  model.embedding_norm = traits.flag("embedding_norm");
  model.final_norm = traits.flag("final_norm");
}

void read_ends(const FamilyReader& traits, Model& model) {
  model.hidden = traits.number("hidden", kMostHidden, 1);
  model.vocabulary = traits.number("vocabulary", kMostVocabulary, 1);
  model.maximum_sequence = traits.number("positions", kMostPositions);
  model.tied_embeddings =
      traits.flag("tied_outside") ? traits.outer_flag("tied") : traits.flag("tied");
  model.head_bias = traits.flag("head_bias");
  model.learned_positions = traits.number("learned_positions", kMostLearnedPositions);
  if (model.learned_positions > 0) model.learned_positions += traits.number("more_positions", 8);
  model.embedding_width = traits.number("embedding_width", kMostHidden, 1);
  if (model.embedding_width == model.hidden) model.embedding_width = 0;
  model.dropout = traits.probability("dropout");
  model.prediction_layers = traits.number("prediction_layers", kMostPredictionLayers);
  model.before_flash_attention = traits.flag("before_flash_attention");
}

// A classifier has as many outputs as labels, which transformers writes where they are not two.
std::int64_t labels(Fields& fields) {
  if (fields.has("id2label")) {
    return std::max<std::int64_t>(
        1, static_cast<std::int64_t>(fields.table("id2label").keys().size()));
  }
  return bounded_or(fields, "num_labels", 2, kMostVocabulary);
}

void set_head(Fields& fields, std::string_view head, Model& model) {
  if (head == "vocabulary") return;
  model.tied_embeddings = false;
  model.head_bias = head.ends_with("with bias");
  model.labels = head == "none" ? 0 : head.starts_with("span") ? 2 : labels(fields);
}

void note_towers(const Fields& fields, const Families& known, Model& model) {
  for (const auto& [field, tower] : known.towers) {
    if (!fields.has(field)) continue;
    model.notes.push_back("the " + tower + " of this model (" + field +
                          " in its config) is left out: the language model alone is computed");
  }
}

// Served as the file keeps them, unless who serves says otherwise; trained as who trains says.
void read_quantisation(const Document& config, Model& model) {
  const Node* format = config.root.find("quantization_config");
  if (format == nullptr || format->table() == nullptr) return;
  model.weights = weights_of(*format, has_experts(model));
  const Node* method = format->find("quant_method");
  const std::string* name = method != nullptr ? std::get_if<std::string>(&method->value) : nullptr;
  model.notes.push_back(
      "its config keeps weights in " +
      (name != nullptr ? printable(*name) : "a format of its own") + " (quantization_config): " +
      (model.weights.empty()
           ? "they are taken as --weights or --precision says"
           : "they are served in " + model.weights +
                 " unless --weights says otherwise, trained as --precision says"));
}

// Each problem once: a field may be asked for by several traits.
void forget_repetitions(Problems& problems) {
  Problems once;
  for (Problem& problem : problems) {
    if (std::find(once.begin(), once.end(), problem) == once.end()) {
      once.push_back(std::move(problem));
    }
  }
  problems = std::move(once);
}

}  // namespace

Result<Model> model_from_config(const Document& config, std::string name) {
  if (std::optional<Result<Model>> network = network_from_config(config, name)) return *network;
  const Result<Families>& known = embedded_families();
  if (!known) return known.problems();
  Problems problems;
  Fields whole(config, problems);
  Model model;
  model.name = std::move(name);
  model.source = whole.text_or("_source", config.file);
  const Found found = find_family(whole, *known);
  if (found.family == nullptr) return problems;
  // The language model of a network with other parts stands in a table of its own.
  static const Node kNone{Node::Table{}, 0};
  const Node* text = config.root.find("text_config");
  ConfigTable around{config.root, whole};
  ConfigTable inner{text != nullptr ? *text : kNone, whole.table("text_config")};
  const bool nested = whole.has("text_config");
  const FamilyReader traits(*found.family, nested ? inner : around, around);
  read_ends(traits, model);
  read_norms(traits, model);
  read_layers(traits, model);
  set_head(whole, found.head, model);
  note_towers(whole, *known, model);
  read_quantisation(config, model);
  forget_repetitions(problems);
  if (!problems.empty()) return problems;
  if (approximate_parameters(model) > kMostParameters) return implausible(whole);
  return model;
}

}  // namespace headway
