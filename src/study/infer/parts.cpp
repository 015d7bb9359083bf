#include "study/infer/parts.hpp"

#include <algorithm>
#include <cmath>

#include "cost/serving/experts.hpp"
#include "forecast/price.hpp"
#include "step/frameworks/habits.hpp"

namespace headway {

Job serving_job(const Serving& serving, std::int64_t tokens) {
  Job out;
  out.sequence = tokens;
  out.global_batch = 1;
  out.recipe = serving.weights;
  out.dropout = 0;
  out.fused = out.fused_experts = true;
  out.attention = usual_attention(out, serving.cluster.accelerator);
  return out;
}

std::vector<double> layers_of_kinds(const Model& model) {
  std::vector<double> out(model.kinds.size());
  for (const std::uint8_t kind : model.pattern) ++out[kind];
  return out;
}

// What one token leaves in the cache of a layer, in values, on one rank.
double cached_values(const Attention& attention, std::int64_t tp) {
  if (attention.latent) {
    return static_cast<double>(attention.latent->key_value_rank + attention.latent->rope_dim);
  }
  const std::int64_t heads = std::max<std::int64_t>(1, attention.kv_heads / tp);
  return static_cast<double>(heads * (attention.head_dim + attention.value_dim));
}

// The same in bytes: an indexer keeps its keys in 8 bits whatever the cache's format.
Bytes cached_bytes(const Serving& serving, const Attention& attention) {
  const Bytes keys(cached_values(attention, serving.tp) * serving.cache->bytes);
  return attention.indexer ? keys + index_bytes_of_token(*attention.indexer) : keys;
}

bool chooses_keys(const Model& model) {
  return std::any_of(model.kinds.begin(), model.kinds.end(), [](const Layer& layer) {
    return layer.attention && layer.attention->indexer;
  });
}

// Whether a layer's weights, of its routed experts or others, lie in the format.
bool is_stored(const WeightFormat& format, const Model& model, bool routed) {
  return routed || !format.experts_only || !has_experts(model);
}

// [INFER-21] What a sequence leaves in a layer of linear attention, on one rank: a matrix of keys
// by values for each head in 32 bits, as engines keep it, and what its convolution still needs.
Bytes state_of(const Attention& attention, std::int64_t tp) {
  const auto heads = static_cast<double>(std::max<std::int64_t>(1, attention.heads / tp));
  const auto key_heads = static_cast<double>(std::max<std::int64_t>(1, attention.kv_heads / tp));
  const auto keys = static_cast<double>(attention.head_dim);
  const auto values = static_cast<double>(attention.value_dim);
  const double taps = std::max(0.0, static_cast<double>(attention.linear->convolution) - 1);
  const bool selective = attention.linear->form == LinearForm::selective;
  const double convolved = (selective ? 0 : 2 * key_heads * keys) + heads * values;
  return Bytes(4 * heads * keys * values + 2 * taps * convolved);
}

// Bytes of an element of a layer's weights: with the factor of each 16 (fp4), or as they are
// stored.
double weight_bytes(const Serving& serving, bool routed) {
  const Recipe& recipe = *serving.weights;
  if (serving.stored != nullptr) {
    return is_stored(*serving.stored, serving.model, routed) ? serving.stored->bytes()
                                                             : bytes_per_element(recipe.activation);
  }
  const double element = bytes_per_element(recipe.matmul);
  return recipe.matmul == Precision::fp4 ? element + 1.0 / 16 : element;
}

Arithmetic arithmetic_of(const Serving& serving, const ServingConstants& constants, const Op& op,
                         bool of_layer) {
  const Accelerator& accelerator = serving.cluster.accelerator;
  const WeightFormat* stored = serving.stored;
  const bool weights = of_layer && std::holds_alternative<Matmul>(op.shape);
  const auto of = [](Precision precision, const Recipe& recipe) {
    return format_of(precision, scaling_of(recipe));
  };
  if (weights && stored != nullptr && is_stored(*stored, serving.model, op.routed)) {
    const Recipe& recipe = *recipe_from(stored->arithmetic);
    return {peak_of(*stored, accelerator, constants.formats), of(recipe.matmul, recipe)};
  }
  return {accelerator.peak_of(op.precision), of(op.precision, *serving.weights)};
}

Start start_of(const Engine& engine, std::string_view release) {
  const auto known = engine.starts.find(release);
  const auto usual = known != engine.starts.end() ? known : engine.starts.find(kUsual);
  return usual != engine.starts.end() ? usual->second : Start();
}

bool has_graphs(const Serving& serving) {
  const ReplayedGraphs& graphs = serving.engine.graphs;
  const std::string& architecture = serving.cluster.accelerator.architecture;
  return graphs.count > 0 && std::find(graphs.without.begin(), graphs.without.end(),
                                       architecture) == graphs.without.end();
}

Seconds launch_time(const Serving& serving, double kernels) {
  const Engine& engine = serving.engine;
  const Seconds fitted = kernels * engine.launch +
                         static_cast<double>(layers_with_experts(serving.model)) * engine.experts;
  return std::max(fitted, eager_time(serving, kernels));
}

Seconds eager_time(const Serving& serving, double kernels) {
  return serving.eager ? kernels * serving.engine.graphs.launch : Seconds(0);
}

// Eight kernels of a layer.
Seconds late_starts(const Accelerator& accelerator) {
  constexpr double kKernelsOfLayer = 8;
  constexpr Seconds kByGraphs(1.5e-6);  // Ampere and later
  return kKernelsOfLayer * std::max(Seconds(0), accelerator.launch_overhead - kByGraphs);
}

Seconds gap_of_layer(const Engine& engine, const Accelerator& accelerator) {
  const auto known = engine.layer.find(accelerator.architecture);
  if (known != engine.layer.end()) return known->second;
  const auto usual = engine.layer.find(kUsual);
  return (usual != engine.layer.end() ? usual->second : Seconds(0)) + late_starts(accelerator);
}

Seconds gaps_of_layers(const Serving& serving) {
  const std::vector<double> counts = layers_of_kinds(serving.model);
  double layers = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const Layer& layer = serving.model.kinds[i];
    const bool feeds = layer.feed_forward || layer.experts;
    layers += counts[i] * (layer.attention && feeds ? 1.0 : 0.5);
  }
  return layers * gap_of_layer(serving.engine, serving.cluster.accelerator);
}

Layout layout_of(const Serving& serving, std::int64_t sequences, std::int64_t cp) {
  Layout out;
  out.tp = serving.tp;
  out.dp = serving.dp;
  out.ep = serving.ep;
  out.cp = cp;
  if (has_experts(serving.model)) out.etp = std::max<std::int64_t>(1, serving.tp / serving.ep);
  out.micro_batch = sequences;
  out.sequence_parallel = false;
  return out;
}

Result<ServingConstants> serving_constants(const Cluster& cluster) {
  const auto alone = benchmarked_for(cluster);
  if (!alone) return alone.problems();
  const auto kernels = serving_kernels_for(cluster.accelerator);
  if (!kernels) return kernels.problems();
  const auto formats = format_kernels_for(cluster.accelerator);
  if (!formats) return formats.problems();
  const auto sparse = sparse_kernels_for(cluster.accelerator);
  if (!sparse) return sparse.problems();
  const auto& step = step_constants();
  if (!step) return step.problems();
  ServingConstants out{*alone, *kernels, *formats, *sparse, step->power};
  out.alone.kernels.sustained *= powered(*step, cluster.accelerator);
  return out;
}

RoutedFormat routed_format(const Serving& serving) {
  const bool stored = serving.stored != nullptr;
  const Recipe& recipe = stored ? *recipe_from(serving.stored->arithmetic) : *serving.weights;
  RoutedFormat out{recipe.matmul, scaling_of(recipe)};
  out.sorted = serving.engine.sorts_tokens && !stored &&
               format_of(out.precision, out.scaling) == ProductFormat::bits_8_blocks;
  return out;
}

// Where experts lie inside the group every rank has all tokens already: each adds up what its
// experts, or parts of them, make. Else the ranks of a copy of attention send a part of its tokens
// each. What shared experts made is added before ranks sum up, where they are the same.
void spread_experts(Program& program, const Share& share, const Experts& experts,
                    const Routing& routing, double quantised) {
  const LayerSplit& split = share.split;
  const bool inside = split.ep <= split.tp;
  const double group = inside ? 1 : static_cast<double>(split.ep) / static_cast<double>(split.tp);
  const double tokens = share.rows * group;
  const double active = static_cast<double>(experts.active);
  const double ranks = static_cast<double>(split.ep);
  const double chosen = chosen_experts(routing, experts.count, experts.active, tokens) / ranks;
  // Of the fullest rank, for which the others wait.
  const double fullest = fullest_over_mean(routing, experts.count, experts.active, split.ep);
  const double copies = fullest * tokens * active / ranks;
  const auto busy = std::max<std::int64_t>(1, std::llround(chosen));
  const auto rows = std::max<std::int64_t>(1, std::llround(copies / static_cast<double>(busy)));
  const bool shared = experts.shared_width > 0;
  std::erase_if(program.items, [&](const Item& item) {
    const auto* crossing = std::get_if<Crossing>(&item.what);
    return crossing != nullptr && inside &&
           (crossing->seam == Seam::dispatch || crossing->seam == Seam::combine ||
            crossing->seam == Seam::share || (crossing->seam == Seam::sum && shared));
  });
  const double inner =
      static_cast<double>(experts.each.width) / static_cast<double>(share.split.etp);
  const RoutedPasses passes = routed_passes(copies, share.hidden, inner, quantised);
  Pass* behind = nullptr;  // the last of them
  bool multiplied = false;
  for (Item& item : program.items) {
    if (auto* op = std::get_if<Op>(&item.what)) {
      if (!op->routed) continue;
      if (auto* product = std::get_if<Matmul>(&op->shape)) {
        product->m = rows;
        product->batch = busy;
        multiplied = true;
      } else if (auto* pass = std::get_if<Pass>(&op->shape)) {
        if (multiplied) {
          behind = pass;
        } else {
          pass->moved = passes.before;
        }
      }
    } else if (auto* crossing = std::get_if<Crossing>(&item.what)) {
      if (inside && crossing->seam == Seam::sum) {
        item.what = Crossing{.seam = Seam::exit,
                             .tensor = share.rows * share.hidden * share.element,
                             .module = Module::experts};
      } else if (crossing->seam == Seam::dispatch || crossing->seam == Seam::combine) {
        crossing->tensor = fullest * crossing->tensor / static_cast<double>(split.tp);
      }
    }
  }
  if (behind != nullptr) behind->moved = passes.behind;
}

// Engines make the down projections of latent attention, which read the same input on every rank,
// one product.
void join_projections(Program& program) {
  const auto first = std::find_if(program.products.begin(), program.products.end(),
                                  [](const auto& each) { return each.role == Role::query_down; });
  const auto second =
      std::find_if(program.products.begin(), program.products.end(),
                   [](const auto& each) { return each.role == Role::key_value_down; });
  if (first == program.products.end() || second == program.products.end()) return;
  Op& joint = std::get<Op>(program.items[first->item].what);
  const Op& other = std::get<Op>(program.items[second->item].what);
  std::get<Matmul>(joint.shape).n += std::get<Matmul>(other.shape).n;
  program.items.erase(program.items.begin() + static_cast<std::ptrdiff_t>(second->item));
}

}  // namespace headway
