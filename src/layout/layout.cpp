#include "layout/layout.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/linear.hpp"

namespace headway {
namespace {

// The span of the product of two groups that lie along different dimensions of a regular grid.
GroupSpan product(const GroupSpan& a, const GroupSpan& b) {
  GroupSpan out = a;
  out.ranks = a.ranks * b.ranks;
  for (std::size_t i = 0; i < out.members.size(); ++i) out.members[i] = a.members[i] * b.members[i];
  return out;
}

// A group of `ranks` ranks that are `step` apart among the ranks of one pipeline stage, numbered
// without the pipeline dimension: global ranks jump by pp where the stage's block of ranks ends.
GroupSpan span_in_stage(std::int64_t ranks, std::int64_t step, const Layout& layout,
                        const Cluster& cluster) {
  const std::int64_t total = layout.ranks();
  const std::int64_t block = stride(layout, Dimension::pp);  // neighbouring ranks of one stage
  if (ranks * step <= block) return span_of(ranks, step, total, cluster);
  if (step >= block) return span_of(ranks, step * layout.pp, total, cluster);
  const std::int64_t inner = std::max<std::int64_t>(1, block / step);
  const std::int64_t outer = std::max<std::int64_t>(1, ranks / inner);
  return product(span_of(inner, step, total, cluster),
                 span_of(outer, block * layout.pp, total, cluster));
}

}  // namespace

void follow(const Method& method, Layout& layout) {
  layout.replicas = !method.parts_replicas() ? 1
                    : method.submodels > 1   ? method.submodels
                                             : method.replicas;
  layout.losses = method.losses;
  layout.loss_blocks = method.blocks;
  layout.parts = method.parts;
}

std::int64_t replicas_of(const Layout& layout) {
  return layout.replicas > 0 ? layout.replicas : layout.dp;
}

std::int64_t ranks_of_replica(const Layout& layout) {
  return std::max<std::int64_t>(1, layout.dp * layout.cp / replicas_of(layout));
}

std::int64_t micro_batches(const Job& job, const Layout& layout) {
  return job.global_batch / (layout.dp * layout.micro_batch);
}

std::int64_t degree(const Layout& layout, Dimension dimension) {
  switch (dimension) {
    case Dimension::tp:
      return layout.tp;
    case Dimension::cp:
      return layout.cp;
    case Dimension::dp:
      return layout.dp;
    case Dimension::pp:
      return layout.pp;
  }
  return 1;
}

std::int64_t stride(const Layout& layout, Dimension dimension) {
  std::int64_t out = 1;
  for (const Dimension inner : layout.order) {
    if (inner == dimension) break;
    out *= degree(layout, inner);
  }
  return out;
}

namespace {

// Of `all` the replicas, `part` neighbours and the ranks at the same place of other such groups.
// Neighbours stand first along the inner one of cp and dp, then along the outer one, which need not
// follow it directly. `alone`: a rank by itself.
std::pair<GroupSpan, GroupSpan> split_replicas(const Layout& layout, const Cluster& cluster,
                                               const GroupSpan& all, const GroupSpan& alone,
                                               std::int64_t part) {
  if (part >= all.ranks) return {all, alone};
  if (part <= 1) return {alone, all};
  const std::int64_t total = layout.ranks(), replicas = all.ranks;
  const bool cp_inner = stride(layout, Dimension::cp) < stride(layout, Dimension::dp);
  const Dimension inner = cp_inner ? Dimension::cp : Dimension::dp;
  const Dimension outer = cp_inner ? Dimension::dp : Dimension::cp;
  const std::int64_t columns = degree(layout, inner), rows = degree(layout, outer);
  const std::int64_t near = stride(layout, inner), far = stride(layout, outer);
  if (near * columns == far || rows == 1) {  // the replicas lie evenly
    return {span_of(part, near, total, cluster),
            span_of(replicas / part, near * part, total, cluster)};
  }
  if (part <= columns) {
    return {span_of(part, near, total, cluster),
            product(span_of(columns / part, near * part, total, cluster),
                    span_of(rows, far, total, cluster))};
  }
  const std::int64_t shared = part / columns;  // rows that share a copy
  return {product(span_of(columns, near, total, cluster), span_of(shared, far, total, cluster)),
          span_of(rows / shared, far * shared, total, cluster)};
}

}  // namespace

std::int64_t replicas_on_node(const Layout& layout, const Cluster& cluster) {
  const std::int64_t replicas = layout.dp * layout.cp;
  const std::int64_t node = cluster.levels.empty() ? replicas : cluster.levels.front().size;
  const bool fill = layout.tp == 1 && layout.pp == 1 && node < replicas && replicas % node == 0;
  return fill ? node : 1;
}

Spans spans(const Layout& layout, const Cluster& cluster) {
  const std::int64_t total = layout.ranks();
  const auto along = [&](Dimension dimension) {
    return span_of(degree(layout, dimension), stride(layout, dimension), total, cluster);
  };
  Spans out;
  out.tp = along(Dimension::tp);
  out.cp = along(Dimension::cp);
  out.pp = along(Dimension::pp);
  out.dp = product(out.cp, along(Dimension::dp));
  out.copies = span_of(std::min<std::int64_t>(2, layout.pp),
                       stride(layout, Dimension::pp) * std::max<std::int64_t>(1, layout.pp / 2),
                       total, cluster);
  out.model = product(out.tp, out.pp);
  const std::int64_t replicas = replicas_of(layout);
  out.etp = span_in_stage(layout.etp, 1, layout, cluster);
  out.ep = span_in_stage(layout.ep, layout.etp, layout, cluster);
  const std::int64_t expert_ranks = layout.etp * layout.ep;
  out.expert_dp = span_in_stage(
      std::max<std::int64_t>(1, layout.tp * layout.cp * layout.dp / (expert_ranks * replicas)),
      expert_ranks, layout, cluster);
  const GroupSpan alone = span_of(1, 1, total, cluster);
  const GroupSpan all = out.dp;
  const auto split = [&](std::int64_t part) {
    return split_replicas(layout, cluster, all, alone, part);
  };
  out.meeting = alone;
  if (replicas > 1) std::tie(out.dp, out.meeting) = split(ranks_of_replica(layout));
  out.world = product(out.model, out.dp);
  std::tie(out.shard, out.replica) = split(layout.shard == 0 ? out.dp.ranks : layout.shard);
  out.secondary = split(layout.secondary).first;
  std::tie(out.node, out.nodes) = split(replicas_on_node(layout, cluster));
  return out;
}

// [STEP-13] Layers go to a stage until the weights of all products so far, of a total with the
// head's, reach the stage's share of the pipeline; the head follows the last layer.
BalancedStages balanced_stages(const Model& model, std::int64_t stages) {
  std::vector<double> weights;  // of each kind of layer
  for (const Layer& layer : model.kinds) {
    double sum = 0;
    for (const Linear& matrix : linears(layer, model.hidden)) {
      sum += static_cast<double>(matrix.in) * static_cast<double>(matrix.out);
    }
    weights.push_back(sum);
  }
  double total = static_cast<double>(model.vocabulary) * static_cast<double>(model.hidden);
  for (const std::uint8_t kind : model.pattern) total += weights[kind];
  BalancedStages out;
  out.begins.assign(static_cast<std::size_t>(stages) + 1, model.layers());
  out.begins.front() = 0;
  double so_far = 0;
  for (std::int64_t layer = 0; layer < model.layers(); ++layer) {
    so_far += weights[model.pattern[static_cast<std::size_t>(layer)]];
    const double share = static_cast<double>(out.head + 1) / static_cast<double>(stages);
    if (so_far >= total * share && out.head + 1 < stages) {
      out.begins[static_cast<std::size_t>(++out.head)] = layer + 1;
    }
  }
  return out;
}

std::vector<std::int64_t> chunk_begins(const Model& model, const Layout& layout, bool balanced) {
  const std::int64_t chunks = chunks_of_model(layout);
  const bool stated = layout.first_stage_layers > 0 || layout.last_stage_layers > 0;
  if (balanced && layout.vpp == 1 && !stated) return balanced_stages(model, chunks).begins;
  std::vector<std::int64_t> out;
  out.reserve(static_cast<std::size_t>(chunks) + 1);
  for (std::int64_t chunk = 0; chunk <= chunks; ++chunk) {
    out.push_back(chunk_begin(model.layers(), layout, chunk));
  }
  return out;
}

std::int64_t chunks_of_model(const PipelineSplit& pipeline) {
  const bool folded = pipeline.pp > 1 && is_folded(pipeline.schedule);
  return pipeline.pp * (folded ? 2 : pipeline.vpp);
}

std::int64_t stage_of_chunk(const PipelineSplit& pipeline, std::int64_t chunk) {
  const bool back = is_folded(pipeline.schedule) && chunk >= pipeline.pp;
  return back ? 2 * pipeline.pp - 1 - chunk : chunk % pipeline.pp;
}

std::int64_t chunk_begin(std::int64_t layers, const Layout& layout, std::int64_t chunk) {
  const std::int64_t chunks = chunks_of_model(layout);
  if (chunk >= chunks) return layers;
  if (layout.first_stage_layers == 0 && layout.last_stage_layers == 0) {
    const std::int64_t slots = layers + layout.embedding_slots + layout.head_slots;
    const std::int64_t begin = chunk * (slots / chunks) + std::min(chunk, slots % chunks);
    return std::clamp<std::int64_t>(begin - layout.embedding_slots, 0, layers);
  }
  // Explicit first and last stages; what remains is spread evenly over the others.
  if (chunk == 0) return 0;
  const std::int64_t even = layers / chunks;
  const std::int64_t first = layout.first_stage_layers > 0 ? layout.first_stage_layers : even;
  const std::int64_t last = layout.last_stage_layers > 0 ? layout.last_stage_layers : even;
  const std::int64_t middle = std::max<std::int64_t>(1, chunks - 2);
  const std::int64_t between = std::max<std::int64_t>(0, layers - first - last);
  const std::int64_t index = chunk - 1;
  return std::min(layers, first + index * (between / middle) + std::min(index, between % middle));
}

}  // namespace headway
