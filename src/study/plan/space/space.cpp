#include "study/plan/space/space.hpp"

#include <algorithm>

namespace headway {
namespace {

// The place of a choice in a list; the list's size where it is not there.
template <class T>
std::size_t place(const std::vector<T>& list, const T& choice) {
  return static_cast<std::size_t>(std::find(list.begin(), list.end(), choice) - list.begin());
}

InnerChoice inner_of(const Layout& l) {
  return {.recompute = l.recompute,
          .recompute_every = l.recompute_every,
          .offload_activations = l.offload_activations,
          .zero = l.zero,
          .reshard = l.reshard_after_forward,
          .overlap_gradients = l.overlap_gradients,
          .overlap_parameters = l.overlap_parameters,
          .overlap_experts = l.overlap_experts,
          .offload_parameters = l.offload_parameters,
          .offload_optimizer = l.offload_optimizer,
          .schedule = l.schedule,
          .vpp = l.vpp,
          .ends = {l.embedding_slots, l.head_slots}};
}

}  // namespace

void apply(const Order& order, Layout& layout) {
  layout.order = order;
}

void apply(const ExpertChoice& choice, Layout& layout) {
  layout.ep = choice.ep;
  layout.etp = choice.etp;
  layout.dispatch = choice.dispatch;
}

void apply(std::int64_t micro_batch, Layout& layout) {
  layout.micro_batch = micro_batch;
}

void apply(const SplitChoice& choice, Layout& layout) {
  layout.sequence_parallel = choice.sequence_parallel;
  layout.overlap_tensor = choice.overlap_tensor;
  layout.context_exchange = choice.exchange;
}

void apply(const InnerChoice& choice, Layout& layout) {
  layout.recompute = choice.recompute;
  layout.recompute_every = choice.recompute_every;
  layout.offload_activations = choice.offload_activations;
  layout.zero = choice.zero;
  layout.reshard_after_forward = choice.reshard;
  layout.overlap_gradients = choice.overlap_gradients;
  layout.overlap_parameters = choice.overlap_parameters;
  layout.overlap_experts = choice.overlap_experts;
  layout.offload_parameters = choice.offload_parameters;
  layout.offload_optimizer = choice.offload_optimizer;
  layout.schedule = choice.schedule;
  layout.vpp = choice.vpp;
  apply(choice.ends, layout);
}

std::uint64_t PlanSpace::size_of(const DegreeTuple& t) const {
  return std::uint64_t{1} * orders(t).size() * experts(t).size() * micro_batches(t).size() *
         splits(t).size() * inner(t).size();
}

std::vector<PlanCell> PlanSpace::cells(const Shard& part) const {
  std::vector<PlanCell> out;
  PlanCell cell;
  std::uint64_t places = 0;
  const auto each = [](auto& place, const auto& list, auto&& body) {
    for (place = 0; place < list.size(); ++place) body();
  };
  each(cell.tuple, tuples_, [&] {
    const DegreeTuple& t = tuples_[cell.tuple];
    each(cell.order, orders(t), [&] {
      each(cell.expert, experts(t), [&] {
        if (!part.has(places++)) return;
        each(cell.micro_batch, micro_batches(t),
             [&] { each(cell.split, splits(t), [&] { out.push_back(cell); }); });
      });
    });
  });
  return out;
}

std::uint64_t PlanSpace::first_index(const PlanCell& cell) const {
  const DegreeTuple& t = tuples_[cell.tuple];
  std::uint64_t at = cell.order;
  at = at * experts(t).size() + cell.expert;
  at = at * micro_batches(t).size() + cell.micro_batch;
  at = at * splits(t).size() + cell.split;
  return t.first + at * inner(t).size();
}

PlanCell PlanSpace::cell_at(std::uint64_t index) const {
  const DegreeTuple& t = tuple_of(index);
  std::uint64_t rest = (index - t.first) / inner(t).size();
  const auto take = [&](const auto& list) {
    const std::uint64_t at = rest % list.size();
    rest /= list.size();
    return static_cast<std::uint32_t>(at);
  };
  PlanCell out{.tuple = static_cast<std::uint32_t>(&t - tuples_.data())};
  out.split = take(splits(t));
  out.micro_batch = take(micro_batches(t));
  out.expert = take(experts(t));
  out.order = take(orders(t));
  return out;
}

Layout PlanSpace::layout_of(const DegreeTuple& t) const {
  Layout out = base_;
  out.tp = t.tp;
  out.cp = t.cp;
  out.pp = t.pp;
  out.dp = t.dp;
  out.shard = t.shard;
  out.split_vocabulary = t.split_vocabulary;
  return out;
}

const DegreeTuple& PlanSpace::tuple_of(std::uint64_t index) const {
  const auto behind =
      std::upper_bound(tuples_.begin(), tuples_.end(), index,
                       [](std::uint64_t i, const DegreeTuple& t) { return i < t.first; });
  return *(behind - 1);
}

Layout PlanSpace::layout_at(std::uint64_t index) const {
  const DegreeTuple& tuple = tuple_of(index);
  Layout out = layout_of(tuple);
  std::uint64_t rest = index - tuple.first;
  const auto take = [&](const auto& list) {  // the inner lists turn fastest
    apply(list[rest % list.size()], out);
    rest /= list.size();
  };
  take(inner(tuple));
  take(splits(tuple));
  take(micro_batches(tuple));
  take(experts(tuple));
  take(orders(tuple));
  if (out.ep == 1) out.overlap_experts = Choice::framework;  // there is nothing to exchange
  return out;
}

std::optional<std::uint64_t> PlanSpace::index_of(const Layout& layout) const {
  for (const DegreeTuple& t : tuples_) {
    if (t.tp != layout.tp || t.cp != layout.cp || t.pp != layout.pp || t.dp != layout.dp) continue;
    if (t.shard != layout.shard || t.split_vocabulary != layout.split_vocabulary) continue;
    std::uint64_t out = 0;
    bool found = true;
    const auto add = [&](const auto& list, const auto& choice) {
      const std::size_t at = place(list, choice);
      found = found && at < list.size();
      out = out * list.size() + at;
    };
    add(orders(t), layout.order);
    add(experts(t), ExpertChoice{layout.ep, layout.etp, layout.dispatch});
    add(micro_batches(t), layout.micro_batch);
    add(splits(t),
        SplitChoice{layout.sequence_parallel, layout.overlap_tensor, layout.context_exchange});
    std::vector<InnerChoice> choices = inner(t);
    if (layout.ep == 1) {
      for (InnerChoice& choice : choices) choice.overlap_experts = Choice::framework;
    }
    add(choices, inner_of(layout));
    if (!found || layout_at(t.first + out) != layout) return std::nullopt;
    return t.first + out;
  }
  return std::nullopt;
}

}  // namespace headway
