// What each kind of module is made of: products, sums, look-ups and passes over what enters.
#include <algorithm>
#include <functional>
#include <numeric>

#include "model/reading/config_fields.hpp"
#include "model/reading/module_reader.hpp"

namespace headway::reading {
namespace {

constexpr std::int64_t kMostTable = 100'000'000'000;  // rows
constexpr std::size_t kMostTables = 100'000;
constexpr std::int64_t kMostFeatures = 100'000;    // whose products are taken
constexpr std::int64_t kMostWindow = 1'024;        // in one dimension
constexpr std::int64_t kMostKeys = 1'000'000'000;  // of attention to another sequence

}  // namespace

// Of each dimension: `one` for all, or `each` for every one.
std::vector<std::int64_t> ModuleReader::per_dimension(Fields& module, std::string_view one,
                                                      std::string_view each,
                                                      std::int64_t fallback) {
  const std::size_t dimensions = at_.size.size();
  const std::vector<std::int64_t> all(
      dimensions, std::max<std::int64_t>(1, bounded_or(module, one, fallback, kMostWindow)));
  const std::vector<std::int64_t> given = module.naturals_or_empty(each);
  if (!module.has(each)) return all;
  const bool legal = std::all_of(given.begin(), given.end(),
                                 [](std::int64_t size) { return size >= 1 && size <= kMostTaps; });
  if (legal && given.size() == dimensions && !module.has(one)) return given;
  module.fail(each, "must hold a number from 1 to " + std::to_string(kMostWindow) +
                        " for each of the " + std::to_string(dimensions) + " dimensions, without " +
                        std::string(one));
  return all;
}

// Padded so that positions are divided by the stride, rounded up; "valid": windows that fit alone.
void ModuleReader::convolution(Fields& module, bool transposed) {
  const std::int64_t out = bounded(module, transposed ? "transposed" : "conv", kMostHidden);
  const std::size_t dimensions = at_.size.size();
  const auto kernel = per_dimension(module, "kernel", "kernels", transposed ? 2 : 1);
  const auto stride = per_dimension(module, "stride", "strides", transposed ? 2 : 1);
  const std::int64_t groups = bounded_or(module, "groups", 1, kMostHidden);
  const bool valid = module.flag_or("valid", false);
  const bool bias = module.flag_or("bias", false);
  if (groups == 0 || out == 0 || at_.channels == 0) return;
  if (at_.channels % groups != 0 || out % groups != 0) {
    return module.fail("groups", std::to_string(groups) + " must divide the channels in, " +
                                     std::to_string(at_.channels) + ", and out, " +
                                     std::to_string(out));
  }
  const std::int64_t in = at_.channels, entering = at_.positions();
  Tensor next = at_;
  for (std::size_t i = 0; i < dimensions; ++i) {
    std::int64_t& size = next.size[i];
    if (transposed) {
      size *= stride[i];
    } else {
      const std::int64_t fits = valid ? size - kernel[i] + 1 : size;
      if (fits < 1) return module.fail("kernel", "is larger than what enters");
      size = (fits + stride[i] - 1) / stride[i];
    }
  }
  next.channels = out;
  if (!become(module, std::move(next))) return;
  push(Convolution{
      .in = in,
      .out = out,
      .taps = std::accumulate(kernel.begin(), kernel.end(), std::int64_t{1}, std::multiplies<>()),
      .entering = entering,
      .leaving = at_.positions(),
      .groups = groups,
      .bias = bias,
      .transposed = transposed});
}

void ModuleReader::projection(Fields& module) {
  const std::int64_t out = bounded(module, "linear", kMostWidth);
  of_ = ModuleClass::top;
  push(Projection{.in = at_.channels,
                  .out = out,
                  .rows = at_.positions(),
                  .bias = module.flag_or("bias", true)});
  at_.channels = out;
}

// So many projections of the same width, of which each position goes through `active`.
void ModuleReader::expert_projection(Fields& module) {
  constexpr std::int64_t kMostExperts = 100'000;
  const std::int64_t experts = bounded(module, "experts", kMostExperts);
  const std::int64_t active = bounded_or(module, "active", 1, kMostExperts);
  const std::int64_t out = bounded(module, "linear", kMostWidth);
  if (active > experts)
    module.fail("active", "is more than the " + std::to_string(experts) + " experts");
  push(ExpertProjection{.in = at_.channels,
                        .out = out,
                        .rows = at_.positions(),
                        .experts = experts,
                        .active = active,
                        .bias = module.flag_or("bias", true)});
  at_.channels = out;
}

// Without a window: over all positions.
void ModuleReader::pool(Fields& module) {
  const double before = at_.elements();
  const std::int64_t window = natural_up_to(module, "pool", kMostWindow);
  const auto stride = per_dimension(module, "stride", "strides", std::max<std::int64_t>(1, window));
  if (window == 0) {
    at_.size.clear();
  } else {
    for (std::size_t i = 0; i < at_.size.size(); ++i) {
      at_.size[i] = (at_.size[i] + stride[i] - 1) / stride[i];
    }
  }
  const double moved = before + at_.elements();
  pass(1, moved, moved, moved, moved, at_.elements());
}

// Each element is made of so many that lie anywhere, as in RoIAlign; backward their gradients, in
// fp32, are read and added to.
void ModuleReader::gather(Fields& module) {
  const auto points = static_cast<double>(bounded(module, "gather", kMostTaps));
  pass(at_.elements(), points + 1, 4 * points + 1, points + 1, 4 * points + 1, 0);
}

void ModuleReader::upsample(Fields& module) {
  const double before = at_.elements();
  const std::int64_t times = bounded(module, "upsample", 64);
  Tensor next = at_;
  for (std::int64_t& size : next.size) size *= std::max<std::int64_t>(1, times);
  if (!become(module, std::move(next))) return;
  const double moved = before + at_.elements();
  pass(1, moved, moved, moved, moved, 0);
}

// Projections to queries, keys and values, the core, the projection back. `keys`, `context`: of
// another sequence, its positions and channels; `width` of all heads; `window`: keys of a query;
// `seen`: what its queries see in the mean, where a sample stands for sequences of unlike length.
void ModuleReader::attention(Fields& module) {
  const std::int64_t heads = bounded(module, "attention", kMostHeads);
  const std::int64_t width = bounded_or(module, "width", at_.channels, kMostHidden);
  const std::int64_t rows = at_.positions();
  const std::int64_t keys = bounded_or(module, "keys", rows, std::max(rows, kMostKeys));
  const std::int64_t context = bounded_or(module, "context", at_.channels, kMostHidden);
  const std::int64_t window = natural_up_to(module, "window", kMostPositions);
  const std::int64_t seen = natural_up_to(module, "seen", kMostPositions);
  const bool bias = module.flag_or("bias", true);
  if (heads == 0 || width % heads != 0) {
    return module.fail("attention", "heads must divide the width, " + std::to_string(width));
  }
  const bool key_bias = module.flag_or("key_bias", bias),
             out_bias = module.flag_or("out_bias", bias);
  if (module.has("keys") || module.has("context")) {
    push(Projection{at_.channels, width, rows, bias}, Half::first);
    push(Projection{context, 2 * width, keys, bias && key_bias}, Half::first);
    if (bias && !key_bias) push(Values{width});
  } else {
    push(Projection{at_.channels, 3 * width, rows, bias && key_bias}, Half::first);
    if (bias && !key_bias) push(Values{2 * width});
  }
  if (seen > 0 && window > 0) module.fail("seen", "is not of attention in windows; leave it out");
  const std::int64_t whole = seen > 0 ? seen : keys;
  push(AttentionCore{heads, width / heads, rows, window > 0 ? std::min(window, keys) : whole});
  push(Projection{width, at_.channels, rows, out_bias}, Half::last);
}

// The core alone, of queries, keys and values that lie beside each other in the channels.
void ModuleReader::core(Fields& module) {
  const std::int64_t heads = bounded(module, "core", kMostHeads);
  if (heads == 0 || at_.channels % (3 * heads) != 0) {
    return module.fail(
        "core", "three times the heads must divide the channels, " + std::to_string(at_.channels));
  }
  at_.channels /= 3;
  push(AttentionCore{heads, at_.channels / heads, at_.positions(), at_.positions()});
}

void ModuleReader::feed_forward(Fields& module) {
  const std::int64_t width = bounded(module, "feed_forward", kMostWidth);
  const bool gated = module.flag_or("gated", false);
  const bool bias = module.flag_or("bias", true);
  const std::int64_t rows = at_.positions();
  const double values = static_cast<double>(width) * static_cast<double>(rows);
  push(Projection{at_.channels, gated ? 2 * width : width, rows, bias}, Half::first);
  pass(values, gated ? 3 : 2, gated ? 5 : 3, gated ? 3 : 0, gated ? 5 : 0, gated ? 2 : 1);
  push(Projection{width, at_.channels, rows, bias}, Half::last);
}

void ModuleReader::recurrent(Fields& module, std::int64_t gates) {
  const std::int64_t hidden = bounded(module, gates == 4 ? "lstm" : "gru", kMostHidden);
  const std::int64_t layers = bounded_or(module, "layers", 1, 1'000);
  const std::int64_t directions = module.flag_or("both_ways", false) ? 2 : 1;
  const std::int64_t steps = at_.positions();
  for (std::int64_t i = 0; i < std::min<std::int64_t>(layers, 100); ++i) {
    push(Projection{at_.channels, directions * gates * hidden, steps, true});
    push(Recurrence{hidden, gates, steps, directions});
    at_.channels = directions * hidden;
  }
}

// Rows of each table; the rows that a sample reads of each, one by one or the same of all.
void ModuleReader::tables(Fields& module) {
  EmbeddingBags bags;
  const std::vector<std::int64_t> rows = module.naturals_or_empty("tables");
  const std::vector<std::int64_t> pooling = module.naturals_or_empty("pooling");
  const std::int64_t copies = bounded_or(module, "copies", 1, 100'000);
  bags.width = bounded(module, "width", kMostHidden);
  bags.value_bytes = bounded_or(module, "bytes", 4, 8);
  if (!pooling.empty() && pooling.size() != rows.size() && pooling.size() != 1) {
    module.fail("pooling", "must hold 1 or " + std::to_string(rows.size()) + " numbers");
    return;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t reads = pooling.empty() ? 1 : pooling[pooling.size() == 1 ? 0 : i];
    if (rows[i] < 1 || rows[i] > kMostTable) {
      return module.fail("tables", "must have from 1 to 10^11 rows each");
    }
    if (reads < 1 || reads > kMostTaps) {
      return module.fail("pooling", "must be from 1 to " + std::to_string(kMostTaps));
    }
    if (bags.tables.size() + static_cast<std::size_t>(copies) > kMostTables) {
      return module.fail("tables", "are more than " + std::to_string(kMostTables));
    }
    for (std::int64_t copy = 0; copy < copies; ++copy) {
      bags.tables.push_back({rows[i], static_cast<double>(reads)});
    }
  }
  if (bags.tables.empty()) return module.fail("tables", "must list the rows of each table");
  at_.channels += static_cast<std::int64_t>(bags.tables.size()) * bags.width;
  push(std::move(bags));
}

// Rows of a table of words, one for each position.
void ModuleReader::embedding(Fields& module) {
  const std::int64_t rows = bounded(module, "embedding", kMostVocabulary);
  const std::int64_t width = bounded_or(module, "width", at_.channels, kMostHidden);
  if (!become(module, {width, at_.size})) return;
  push(Lookup{rows, width, at_.positions()});
}

// So many, which are added to what is there.
void ModuleReader::values(Fields& module) {
  push(Values{bounded(module, "values", kMostTable)});
  if (module.flag_or("added", false)) pass(at_.elements(), 2, 2, 0, 0, 0);
}

// Of vectors of so many channels each: their dot products beside the first one.
void ModuleReader::interaction(Fields& module) {
  const std::int64_t width = bounded(module, "interaction", kMostHidden);
  if (width == 0 || at_.channels % width != 0) {
    return module.fail("interaction", "must divide the channels, " + std::to_string(at_.channels));
  }
  const std::int64_t features = at_.channels / width;
  if (features > kMostFeatures) {
    return module.fail("interaction",
                       "is of more than " + std::to_string(kMostFeatures) + " vectors");
  }
  push(DotInteraction{features, width});
  at_.channels = width + features * (features - 1) / 2;
}

// DCN v2 of low rank (arXiv 2008.13535): x0 * (U V x + b) + x.
void ModuleReader::cross(Fields& module) {
  const std::int64_t layers = bounded(module, "cross", 100);
  const std::int64_t rank = bounded(module, "rank", kMostHidden);
  for (std::int64_t i = 0; i < layers; ++i) {
    push(Projection{at_.channels, rank, at_.positions(), false}, Half::first);
    push(Projection{rank, at_.channels, at_.positions(), true}, Half::last);
    pass(at_.elements(), 4, 7, 4, 7, 2);
  }
}

}  // namespace headway::reading
