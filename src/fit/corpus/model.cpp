// The model of a row: a built-in one by its name, laid out in the row's shape.
#include <algorithm>
#include <cmath>

#include "fit/corpus/notes.hpp"
#include "fit/corpus/rules.hpp"
#include "fit/corpus/run.hpp"
#include "model/load.hpp"

namespace headway {
namespace {

// The first `layers` layers of the pattern; where more are asked for, its last kinds go on in their
// rhythm (a period of at most 4).
void set_layers(Model& model, std::int64_t layers) {
  const auto size = static_cast<std::size_t>(layers);
  while (model.pattern.size() < size) {
    const std::size_t have = model.pattern.size();
    model.pattern.push_back(model.pattern[have >= 4 ? have - 4 : have - 1]);
  }
  model.pattern.resize(size);
}

// The columns laid over a model with one kind of layer.
void set_shape(const CorpusRow& row, Model& model) {
  Layer& layer = model.kinds.front();
  Attention& attention = *layer.attention;
  const bool own_heads = (!row.d_model || *row.d_model == model.hidden) &&
                         (!row.n_heads || *row.n_heads == attention.heads);
  const bool multi_head = attention.kv_heads == attention.heads;
  model.hidden = row.d_model.value_or(model.hidden);
  attention.heads = row.n_heads.value_or(attention.heads);
  if (!own_heads) attention.head_dim = std::max<std::int64_t>(1, model.hidden / attention.heads);
  attention.head_dim = noted_number(row, "head_dim").value_or(attention.head_dim);
  attention.value_dim = attention.head_dim;
  attention.kv_heads = row.n_kv_heads.value_or(multi_head ? attention.heads : attention.kv_heads);
  FeedForward& feed_forward = layer.feed_forward ? *layer.feed_forward : layer.experts->each;
  feed_forward.width = row.d_ff.value_or(feed_forward.width);
  if (row.gated_mlp) feed_forward.gated = *row.gated_mlp == 1;
  if (layer.experts) {
    layer.experts->count = row.n_experts.value_or(layer.experts->count);
    layer.experts->active = row.top_k.value_or(layer.experts->active);
    if (const auto shared = noted_number(row, "shared_width")) {
      layer.experts->shared_width = *shared;
    }
    const auto dense = noted_number(row, "dense_width");
    const auto first = noted_number(row, "dense_layers");
    if (dense && first && *first < model.layers()) {
      Layer plain = layer;
      plain.feed_forward = plain.experts->each;
      plain.feed_forward->width = *dense;
      plain.experts.reset();
      model.kinds.push_back(plain);
      std::fill_n(model.pattern.begin(), *first, std::uint8_t{1});
    }
  }
}

// The width of the feed-forward part that makes up the stated number of parameters, a multiple of
// 256 as widths are; 0 where there is none. Parameters are linear in the width.
std::int64_t width_by_count(Model model, double stated) {
  const auto with_width = [&](std::int64_t width) {
    model.kinds.front().feed_forward->width = width;
    return static_cast<double>(parameters(model).total);
  };
  const double slope = (with_width(1024) - with_width(256)) / 768;
  const double width = (stated - with_width(256)) / slope + 256;
  if (!(width >= 256 && width < 1e7)) return 0;
  return static_cast<std::int64_t>(std::llround(width / 256)) * 256;
}

// Tied or not, whichever comes nearer to the stated number of parameters.
bool tied_by_count(Model model, double stated) {
  const auto distance = [&](bool tied) {
    model.tied_embeddings = tied;
    return std::abs(static_cast<double>(parameters(model).total) - stated);
  };
  return distance(true) < distance(false);
}

}  // namespace

Result<Model> model_of(const CorpusRow& row, Shelf& shelf, std::vector<std::string>& assumed) {
  const auto decided = decide("model", {row});
  if (!decided) return Problem{"no such model", row.model_name};
  const Rule& known = *decided->rule;
  if (!known.unsupported.empty()) {
    return Problem{"unsupported: " + known.unsupported, row.model_name, Trouble::unsupported};
  }
  const std::string& name = decided->value;
  const Result<Model>& built_in = shelf.model(name);
  if (!built_in)
    return Problem{"no such model", built_in.problems().front().message, Trouble::unknown};
  Model model = *built_in;
  const bool plain = model.kinds.size() == 1 && model.kinds.front().feed_forward.has_value();

  const std::pair<const char*, bool> shape[] = {{"layers", row.layers.has_value()},
                                                {"d_model", row.d_model.has_value()},
                                                {"n_heads", row.n_heads.has_value()},
                                                {"d_ff", row.d_ff.has_value()}};
  for (const auto& [cell, stated] : shape) {
    if (stated) continue;
    const bool solvable = cell == std::string_view("d_ff") && row.n_params && plain;
    if (known.family && solvable) continue;
    if (known.family) {
      return Problem{std::string("cell missing: ") + cell,
                     row.model_name + " is no built-in model"};
    }
    assumed.push_back(std::string(cell) + "=" + name);
  }
  if (!row.vocab) assumed.push_back("vocab=" + std::to_string(model.vocabulary));

  if (row.layers) set_layers(model, *row.layers);
  // Named models of several kinds of layer, or of experts, keep their widths: d_ff means the
  // expert's in some tables and the dense layers' in others.
  if (plain || known.family) {
    set_shape(row, model);
    if (!row.n_kv_heads) {
      assumed.push_back("n_kv_heads=" + std::to_string(model.kinds.front().attention->kv_heads));
    }
    if (!row.gated_mlp) assumed.push_back("gated_mlp=" + name);
  }
  model.vocabulary = row.vocab.value_or(model.vocabulary);
  if (known.family && !row.d_ff) {
    const std::int64_t width = width_by_count(model, *row.n_params);
    if (width == 0)
      return Problem{"cell missing: d_ff", "n_params leave nothing for it", Trouble::missing};
    model.kinds.front().feed_forward->width = width;
    assumed.push_back("d_ff=" + std::to_string(width));
  }
  model.name = row.model_name;
  model.maximum_sequence = 0;
  if (model.learned_positions > 0) model.learned_positions = row.seq_len.value_or(1);

  if (const auto tied = decide("tied_embeddings", {row})) {
    model.tied_embeddings = tied->value == "1";
  } else if (known.family && row.n_params) {
    model.tied_embeddings = tied_by_count(model, *row.n_params);
    assumed.emplace_back(model.tied_embeddings ? "tied_embeddings=1" : "tied_embeddings=0");
  }
  return model;
}

}  // namespace headway
