#include "layout/ends.hpp"

#include <algorithm>
#include <cmath>

#include "layout/frameworks/habits.hpp"
#include "model/count.hpp"

namespace headway {
namespace {

// Stages that the layout states, or that the framework balances by its own rule, take no slots; and
// what is far from legal none that matter.
bool takes_slots(const Model& model, const Job& job, const Layout& layout) {
  const bool stated = layout.first_stage_layers > 0 || layout.last_stage_layers > 0;
  const bool own = habits(job.framework).pipeline.balances_stages && layout.vpp == 1;
  const bool likely =
      job.sequence > 0 && layout.pp <= 2 * model.layers() && layout.vpp <= model.layers();
  return layout.pp > 1 && !stated && !own && likely;
}

// Forward model FLOPs of the layers before each, and of the ends.
struct Work {
  Work(const Model& model, const Job& job) : before(1, 0.0) {
    const AttentionFlops kernels = job.causal ? AttentionFlops::causal : AttentionFlops::full;
    std::vector<double> of_kind;
    for (const Layer& layer : model.kinds) {
      of_kind.push_back(layer_forward_flops(model, layer, job.sequence, kernels).value());
    }
    for (const std::uint8_t kind : model.pattern) before.push_back(before.back() + of_kind[kind]);
    ends = std::max(0.0, forward_flops(model, job.sequence, kernels).value() - before.back());
    // Head and prediction modules run it.
    const double heads = static_cast<double>(1 + model.prediction_layers);
    of_vocabulary = std::min(ends, heads * head_forward_flops(model, job.sequence).value());
  }

  /// Of the rank that has the last layers, besides them.
  double of_ends(const Layout& layout) const {
    return layout.split_vocabulary ? ends - of_vocabulary : ends;
  }
  double mean_layer() const { return before.back() / static_cast<double>(before.size() - 1); }

  std::vector<double> before;
  double ends = 0;  // of head and prediction modules: a look-up of the embedding takes none
  double of_vocabulary = 0;  // the part of it that is spread over all ranks where words are
};

std::vector<double> of_ranks(const Work& work, const Layout& layout) {
  const auto layers = static_cast<std::int64_t>(work.before.size()) - 1;
  const std::int64_t chunks = chunks_of_model(layout);
  std::vector<double> out(static_cast<std::size_t>(layout.pp), 0.0);
  std::int64_t begin = 0;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::int64_t end = chunk_begin(layers, layout, chunk + 1);
    out[static_cast<std::size_t>(stage_of_chunk(layout, chunk))] +=
        work.before[static_cast<std::size_t>(end)] - work.before[static_cast<std::size_t>(begin)];
    begin = end;
  }
  out[static_cast<std::size_t>(stage_of_chunk(layout, chunks - 1))] += work.of_ends(layout);
  if (layout.split_vocabulary) {
    for (double& rank : out) rank += work.of_vocabulary / static_cast<double>(layout.pp);
  }
  if (layout.copies() == 1) return out;
  const std::vector<double> one = out;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = (one[i] + one[out.size() - 1 - i]) / 2;
  return out;
}

double most(const Work& work, const Layout& layout) {
  const std::vector<double> ranks = of_ranks(work, layout);
  return *std::max_element(ranks.begin(), ranks.end());
}

// Sums of the same layers in another order differ by this much at most.
constexpr double kRounding = 1 - 1e-9;

}  // namespace

void apply(const EndSlots& slots, Layout& layout) {
  layout.embedding_slots = slots.embedding;
  layout.head_slots = slots.head;
}

std::optional<std::int64_t> chunk_without_work(const Model& model, const Layout& layout) {
  const std::int64_t layers = model.layers(), chunks = chunks_of_model(layout);
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const bool first = chunk == 0 && !layout.split_vocabulary;
    const bool last =
        chunk + 1 == chunks && (!layout.split_vocabulary || model.prediction_layers > 0);
    if ((first || last) && model.vocabulary > 0) continue;
    if (chunk_begin(layers, layout, chunk) >= chunk_begin(layers, layout, chunk + 1)) return chunk;
  }
  return std::nullopt;
}

bool fills_chunks(const Model& model, const Layout& layout) {
  const std::int64_t slots = model.layers() + layout.embedding_slots + layout.head_slots;
  return chunks_of_model(layout) <= slots && !chunk_without_work(model, layout);
}

std::vector<double> work_of_ranks(const Model& model, const Job& job, const Layout& layout) {
  return of_ranks(Work(model, job), layout);
}

// [STEP-25] Slots that take more layers from a rank than its end is worth leave it less than others
// have, which have more for it.
EndSlots balanced_ends(const Model& model, const Job& job, const Layout& layout) {
  EndSlots best;
  if (!takes_slots(model, job, layout)) return best;
  const Work work(model, job);
  const double of_ends = work.of_ends(layout);
  const bool split = layout.split_vocabulary;
  if (split && model.prediction_layers == 0) return best;  // all ranks have as much of the ends
  const auto worth = static_cast<std::int64_t>(std::ceil(of_ends / work.mean_layer()));
  Layout trial = layout;
  double least = 0;
  // A chunk of its own, without a layer, is worth one more.
  const std::int64_t most_slots = std::min(worth + 1, model.layers());
  for (std::int64_t slots = 0; slots <= 2 * most_slots; ++slots) {
    for (std::int64_t embedding = 0; embedding <= slots; ++embedding) {
      const EndSlots ends{embedding, slots - embedding};
      if (ends.embedding > (split ? 0 : most_slots) || ends.head > most_slots) continue;
      apply(ends, trial);
      if (!fills_chunks(model, trial)) continue;
      const double now = most(work, trial);
      if (least > 0 && now >= least * kRounding) continue;
      best = ends;
      least = now;
    }
  }
  return best;
}

EndSlots usual_ends(const Model& model, const Job& job, const Layout& layout) {
  const bool stated = habits(job.framework).pipeline.spreads_as_stated;
  if (!stated || model.layers() % chunks_of_model(layout) == 0) return {};
  return balanced_ends(model, job, layout);
}

}  // namespace headway
