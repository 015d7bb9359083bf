// The model of a row: a built-in one by its name, laid out in the row's shape.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "fit/corpus/notes.hpp"
#include "fit/corpus/rules.hpp"
#include "fit/corpus/run.hpp"
#include "model/reading/load.hpp"

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

FeedForward& feed_forward_of(Layer& layer) {
  return layer.feed_forward ? *layer.feed_forward : layer.experts->each;
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
  FeedForward& feed_forward = feed_forward_of(layer);
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

// The width of the feed-forward part, or of each expert, that makes up the stated number of
// parameters, a multiple of 256 as widths are; 0 where there is none. Parameters are linear in it.
std::int64_t width_by_count(Model model, double stated) {
  const auto with_width = [&](std::int64_t width) {
    feed_forward_of(model.kinds.front()).width = width;
    return static_cast<double>(parameters(model).total);
  };
  const double slope = (with_width(1024) - with_width(256)) / 768;
  const double width = (stated - with_width(256)) / slope + 256;
  if (!(width >= 128 && width < 1e7)) return 0;
  return std::max<std::int64_t>(1, std::llround(width / 256)) * 256;
}

// The number of layers that makes up the stated number of parameters; 0 where there is none.
std::int64_t layers_by_count(Model model, double stated) {
  const auto with_layers = [&](std::int64_t layers) {
    set_layers(model, layers);
    return static_cast<double>(parameters(model).total);
  };
  const double one = with_layers(1);
  const double layers = (stated - one) / (with_layers(2) - one) + 1;
  if (!(layers >= 0.5 && layers < 1000)) return 0;
  return std::llround(layers);
}

// "34b" or "1.3B" in a model's name, in parameters.
std::optional<double> labelled_size(const std::string& name) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(name[i])) == 0) continue;
    double billions = 0;
    const auto [end, status] = std::from_chars(&name[i], name.data() + name.size(), billions);
    if (status == std::errc() && end != name.data() + name.size() && (*end == 'b' || *end == 'B') &&
        billions > 0 && billions < 1e5) {
      return billions * 1e9;
    }
    i = static_cast<std::size_t>(end - name.data()) - 1;
  }
  return std::nullopt;
}

// Tied or not, whichever comes nearer to the stated number of parameters.
bool tied_by_count(Model model, double stated) {
  const auto distance = [&](bool tied) {
    model.tied_embeddings = tied;
    return std::abs(static_cast<double>(parameters(model).total) - stated);
  };
  return distance(true) < distance(false);
}

// The parameters that the row states, or its model's name.
std::optional<double> size_of(const CorpusRow& row) {
  return row.n_params ? row.n_params : labelled_size(row.model_name);
}

Problem nothing_left_for(const char* cell) {
  return {std::string("cell missing: ") + cell, "n_params leave nothing for it", Trouble::missing};
}

constexpr std::pair<const char*, std::optional<std::int64_t> CorpusRow::*> kShape[] = {
    {"layers", &CorpusRow::layers},
    {"d_model", &CorpusRow::d_model},
    {"n_heads", &CorpusRow::n_heads},
    {"d_ff", &CorpusRow::d_ff}};

// Of a family's model, whose shape the row gives: heads of 128, below a billion parameters of 64,
// as in the networks of arXiv 2005.14165 and since; without layers a feed-forward part of four
// widths, gated of two thirds of that (arXiv 2002.05202). One of layers and d_ff may be left open:
// the parameters tell it. What is missing to that is returned.
std::optional<Problem> fill_shape(CorpusRow& row, const Model& family, std::optional<double> size,
                                  std::vector<std::string>& assumed) {
  for (const auto& [cell, member] : kShape) {
    const bool follows = member != &CorpusRow::d_model && size && row.d_model;
    if (!(row.*member) && !follows) {
      return Problem{std::string("cell missing: ") + cell, row.model_name + " is no built-in model",
                     Trouble::missing};
    }
  }
  const auto fill = [&](const char* cell, std::optional<std::int64_t>& into, std::int64_t value) {
    into = std::max<std::int64_t>(1, value);
    assumed.push_back(std::string(cell) + "=" + std::to_string(*into));
  };
  if (!row.n_heads) fill("n_heads", row.n_heads, *row.d_model / (*size < 1e9 ? 64 : 128));
  if (!row.layers && !row.d_ff) {
    if (family.kinds.front().experts) return nothing_left_for("d_ff");
    const bool gated = row.gated_mlp.value_or(1) == 1;
    fill("d_ff", row.d_ff, (gated ? *row.d_model * 8 / 3 : *row.d_model * 4) / 256 * 256);
  }
  return std::nullopt;
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

  CorpusRow filled = row;
  const std::optional<double> size = size_of(row);
  if (known.family) {
    if (const auto missing = fill_shape(filled, model, size, assumed)) return *missing;
  } else {
    for (const auto& [cell, member] : kShape) {
      if (!(row.*member)) assumed.push_back(std::string(cell) + "=" + name);
    }
  }
  if (!row.vocab) assumed.push_back("vocab=" + std::to_string(model.vocabulary));

  if (filled.layers) set_layers(model, *filled.layers);
  // Named models of several kinds of layer, or of experts, keep their widths: d_ff means the
  // expert's in some tables and the dense layers' in others.
  if (plain || known.family) {
    set_shape(filled, model);
    if (!row.n_kv_heads) {
      assumed.push_back("n_kv_heads=" + std::to_string(model.kinds.front().attention->kv_heads));
    }
    if (!row.gated_mlp) assumed.push_back("gated_mlp=" + name);
  }
  model.vocabulary = row.vocab.value_or(model.vocabulary);
  if (known.family && !filled.d_ff) {
    const std::int64_t width = width_by_count(model, *size);
    if (width == 0) return nothing_left_for("d_ff");
    feed_forward_of(model.kinds.front()).width = width;
    assumed.push_back("d_ff=" + std::to_string(width));
  }
  if (known.family && !filled.layers) {
    const std::int64_t layers = layers_by_count(model, *size);
    if (layers == 0) return nothing_left_for("layers");
    set_layers(model, layers);
    assumed.push_back("layers=" + std::to_string(layers));
  }
  model.name = row.model_name;
  model.maximum_sequence = 0;
  if (model.learned_positions > 0) model.learned_positions = row.seq_len.value_or(1);

  if (const auto tied = decide("tied_embeddings", {row})) {
    model.tied_embeddings = tied->value == "1";
  } else if (known.family && row.n_params && filled.layers) {
    model.tied_embeddings = tied_by_count(model, *row.n_params);
    assumed.emplace_back(model.tied_embeddings ? "tied_embeddings=1" : "tied_embeddings=0");
  }
  return model;
}

}  // namespace headway
