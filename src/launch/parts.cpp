#include "launch/parts.hpp"

#include <algorithm>
#include <numeric>

#include "base/formatted.hpp"
#include "platform/paths.hpp"
#include "step/frameworks/habits.hpp"

namespace headway::launch {

void Refusals::refuse(bool is, const FieldNames& fields, const std::string& what,
                      const std::string& hint) {
  if (!is) return;
  problems_.push_back({fields,
                       what + " cannot be expressed in " + std::string(row_of(launcher_).version) +
                           (hint.empty() ? "" : "; " + hint),
                       Trouble::unsupported});
}

void refuse_common(Refusals& refusals, const Run& run) {
  const Job& job = run.job;
  refusals.refuse(job.task == Task::lora, "task", "training of adapters");
  refusals.refuse(!job.method.is_synchronous(), "method", "a method of training");
  refusals.refuse(!job.causal, "not-causal", "attention in both directions");
  refusals.refuse(job.padding_mask, "padding-mask", "a padding mask");
  refusals.refuse(job.loss_metrics > 0, "loss-metrics", "evaluating the loss again for metrics");
  refusals.refuse(run.layout.recompute == Recompute::selective && !has_experts(run.model) &&
                      (run.layout.recompute_pieces & bit(Piece::activation)) != 0,
                  "recompute-pieces", "computing a dense model's activation again alone");
  refusals.refuse(job.attention_8_bit, "attention-8-bit", "attention in 8 bit");
  refusals.refuse(job.blocking_transfers, "blocking-transfers",
                  "a pipeline transfer that waits for the host",
                  "it is a property of nanotron before 2025");
  refusals.refuse(run.layout.split_vocabulary, "split-vocabulary",
                  "a vocabulary split over pipeline stages");
  refusals.refuse(run.layout.zero == 3 && !run.layout.reshard_after_forward &&
                      !habits(job).sharding.keeps_gathered,
                  "no-reshard", "keeping gathered weights");
}

std::string headline(const Run& run, Launcher launcher) {
  return "# " + run.model.name + " on " + std::to_string(run.layout.ranks()) + " x " +
         run.cluster.accelerator.title + ", written by Headway for " +
         std::string(row_of(launcher).version) + ".\n";
}

Nodes nodes_of(const Run& run) {
  const std::int64_t ranks = run.layout.ranks();
  std::int64_t node = run.cluster.levels.empty() ? ranks : run.cluster.levels.front().size;
  for (const Level& level : run.cluster.levels) {
    if (level.name == "node") node = level.size;
  }
  if (ranks <= node) return {1, ranks};
  const std::int64_t each = std::gcd(ranks, node);
  return {ranks / each, each};
}

std::vector<std::int64_t> layers_of_chunks(const Model& model, const Layout& layout) {
  std::vector<std::int64_t> out;
  for (std::int64_t chunk = 0; chunk < chunks_of_model(layout); ++chunk) {
    out.push_back(chunk_begin(model.layers(), layout, chunk + 1) -
                  chunk_begin(model.layers(), layout, chunk));
  }
  return out;
}

std::optional<Layout> spread_of(const std::vector<std::int64_t>& counts, std::int64_t layers,
                                std::int64_t pp) {
  Layout layout;
  layout.pp = pp;
  layout.vpp = static_cast<std::int64_t>(counts.size()) / pp;
  Model model;
  model.pattern.assign(static_cast<std::size_t>(layers), 0);
  constexpr std::int64_t kMostSlots = 4;
  // Chunks are no more than layers and ends in their place.
  const std::int64_t chunks = static_cast<std::int64_t>(counts.size());
  for (std::int64_t slots = std::max<std::int64_t>(0, chunks - layers); slots <= 2 * kMostSlots;
       ++slots) {
    for (std::int64_t head = std::max<std::int64_t>(0, slots - kMostSlots);
         head <= std::min(slots, kMostSlots); ++head) {
      layout.embedding_slots = slots - head;
      layout.head_slots = head;
      if (layers_of_chunks(model, layout) == counts) return layout;
    }
  }
  layout.embedding_slots = layout.head_slots = 0;
  layout.first_stage_layers = counts.front();
  layout.last_stage_layers = counts.back();
  const bool fits = layout.vpp == 1 && pp > 1 && counts.front() > 0 && counts.back() > 0;
  if (fits && layers_of_chunks(model, layout) == counts) return layout;
  return std::nullopt;
}

bool same_shape(const Model& a, const Model& b) {
  return a.hidden == b.hidden && a.vocabulary == b.vocabulary &&
         a.tied_embeddings == b.tied_embeddings && a.head_bias == b.head_bias &&
         a.labels == b.labels && a.norm_weight == b.norm_weight &&
         a.learned_positions == b.learned_positions && a.embedding_width == b.embedding_width &&
         a.norm == b.norm && a.norm_bias == b.norm_bias && a.embedding_norm == b.embedding_norm &&
         a.final_norm == b.final_norm && a.prediction_layers == b.prediction_layers &&
         a.kinds == b.kinds && a.pattern == b.pattern;
}

void ModelDocument::add(Node::Table& table, std::string_view key, Node node) {
  for (auto& [name, old] : table) {
    if (name == key) return void(old = std::move(node));
  }
  table.emplace_back(std::string(key), std::move(node));
}

GivenField ModelDocument::field(const std::string& file, int line) && {
  for (auto [key, table] : {std::pair{"latent", &latent_}, std::pair{"experts", &experts_}}) {
    if (table->empty()) continue;
    const int first = table->front().second.line;
    members_.emplace_back(key, Node{std::move(*table), first});
  }
  auto document = std::make_shared<Document>();
  document->file = file;
  document->root = Node{std::move(members_), line};
  return {"model", model_name_of(file), {file, line, FieldName("model")}, std::move(document)};
}

bool usual_order(const Layout& layout) {
  using enum Dimension;
  return layout.order == std::array{tp, cp, dp, pp};
}

std::string model_name_of(const std::string& file) {
  const std::string stem = stem_of(file);
  return stem.empty() ? "model" : stem;
}

std::string number(double value) {
  return formatted("%.12g", value);
}

}  // namespace headway::launch
