#include "study/plan/facts.hpp"

#include <algorithm>

namespace headway {
namespace {

// Of all parts; a key with its facts takes some 200 bytes.
constexpr std::size_t kMostFacts = 1 << 18;

}  // namespace

PlanFacts::Part::Part() : kept(kMostFacts / std::tuple_size_v<decltype(PlanFacts::parts_)>) {}

PlanFacts::PlanFacts(const Model& model, const Job& job)
    : model_(model), job_(job), has_experts_(has_experts(model)) {}

// The kinds of layer come first, then the ends, then a prediction module, which is as the last
// kind, then parts of the vocabulary.
bool PlanFacts::with_experts(std::size_t block) const {
  const std::size_t kinds = model_.kinds.size(), ends = model_.vocabulary > 0 ? 2 : 0;
  if (block < kinds) return model_.kinds[block].experts.has_value();
  const bool prediction = model_.prediction_layers > 0 && block == kinds + ends;
  return prediction && model_.kinds.back().experts.has_value();
}

void PlanFacts::make(const WorkKey& key, Facts& out, std::vector<Lowered>& made) const {
  std::vector<Block> blocks =
      lower_work(Share(model_, job_, key, key.around), key, key.choice).blocks;
  out.blocks = blocks.size();
  out.known.clear();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (!is_of(key.choice, i)) continue;
    // Of every field: one more, and this does not compile.
    const auto& [kind, items, held, saved, again, if_kept, working, transfer] = blocks[i];
    out.known.push_back({i, kind, saved, if_kept, working, again});
  }
  made.push_back({key, std::move(blocks)});
}

void PlanFacts::add(const Layout& layout, const WorkKey& key, HeldBlocks& out,
                    std::vector<Lowered>& lowered) {
  Part& part = parts_[hash(key) >> 8 & (parts_.size() - 1)];
  const std::lock_guard lock(part.door);
  const Facts& facts =
      part.kept.of(key, [&](const WorkKey& of, Facts& made) { make(of, made, lowered); });
  out.resize(facts.blocks);
  for (const Fact& fact : facts.known) {
    Block& block = out[fact.block];
    block.kind = fact.kind;
    block.saved = fact.saved;
    block.saved_if_kept = fact.saved_if_kept;
    block.working = fact.working;
    block.again = fact.again;
    if (!stands_for_several(layout) || !is_layer(block.kind)) continue;
    block.saved =
        static_cast<double>(kSeveral) * block.saved / static_cast<double>(layout.recompute_every);
  }
}

void PlanFacts::held(const Layout& layout, HeldBlocks& out, std::vector<Lowered>& made) {
  made.clear();
  for_choices(WorkKey(job_, layout), [&](const WorkKey& key) { add(layout, key, out, made); });
}

}  // namespace headway
