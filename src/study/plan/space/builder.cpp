// Finds the space: for each tuple of degrees the choices that are legal with it [PLAN-1].
#include "study/plan/space/builder.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "base/divisors.hpp"
#include "layout/frameworks/habits.hpp"

namespace headway {
namespace {

// The place of a list among those there are; added where it is new.
template <class T>
std::uint32_t place_of(std::vector<std::vector<T>>& lists, std::vector<T> list) {
  const auto at = std::find(lists.begin(), lists.end(), list);
  const auto place = static_cast<std::uint32_t>(at - lists.begin());
  if (at == lists.end()) lists.push_back(std::move(list));
  return place;
}

}  // namespace

class SpaceBuilder {
 public:
  SpaceBuilder(const Run& run, std::vector<PlanLimit> filters)
      : run_(run), offers_(offers(run.job.framework)), filters_(std::move(filters)) {
    space_.base_ = run.layout;
    // Whatever the searched fields stood at: each is set anew.
    apply(ExpertChoice{}, space_.base_);
    apply(std::int64_t{1}, space_.base_);
    apply(SplitChoice{}, space_.base_);
    apply(InnerChoice{}, space_.base_);
    for (const Order& order : offers_.orders) {
      apply(order, space_.base_);
      if (lies_at_sites(space_.base_)) break;
    }
    for (const Layer& layer : run.model.kinds) {
      if (layer.experts) experts_ = layer.experts->count;
    }
  }

  // Whether some split of so many ranks is legal.
  bool has_any(std::int64_t ranks) {
    one_is_enough_ = true;
    return over(ranks).size() > 0;
  }

  PlanSpace over(std::int64_t ranks) {
    for (const std::int64_t tp : divisors(ranks)) {
      for (const std::int64_t cp : divisors(ranks / tp)) {
        if (cp > 1 && offers_.exchanges.empty()) break;
        for (const std::int64_t pp : divisors(ranks / tp / cp)) {
          DegreeTuple tuple{.tp = tp, .cp = cp, .pp = pp, .dp = ranks / tp / cp / pp};
          // No release splits the vocabulary over stages: that is searched where it is asked for.
          const PlanLimit* asked = fixed("split-vocabulary");
          tuple.split_vocabulary = pp > 1 && asked != nullptr && asked->value != 0;
          for (const std::int64_t shard : shards(tuple)) {
            tuple.shard = shard;
            add(tuple);
            if (one_is_enough_ && space_.size() > 0) return std::move(space_);
          }
        }
      }
    }
    return std::move(space_);
  }

 private:
  bool passes(const Layout& layout, PlanAxis axis) const {
    return std::all_of(filters_.begin(), filters_.end(), [&](const PlanLimit& filter) {
      return filter.field->axis != axis || filter.passes(layout);
    });
  }
  bool legal(const Layout& layout) const { return is_legal(run_, layout); }

  // Sites of a method hold whole replicas.
  bool lies_at_sites(const Layout& layout) const {
    return !(run_.job.method.bandwidth > BytesPerSecond(0)) || layout.order.back() == Dimension::dp;
  }

  // What choices other than the ZeRO stage are judged with: ZeRO++ is legal with ZeRO-3 only.
  int plain_zero() const {
    const bool plus_plus =
        run_.job.quantized_weights || run_.job.quantized_gradients || space_.base_.secondary > 0;
    return plus_plus ? 3 : 0;
  }

  // Those of the choices that are legal and pass, each applied to `layout` as it is.
  template <class T>
  std::vector<T> legal_of(const std::vector<T>& choices, Layout layout, PlanAxis axis) const {
    std::vector<T> out;
    for (const T& choice : choices) {
      apply(choice, layout);
      if (passes(layout, axis) && legal(layout)) out.push_back(choice);
    }
    return out;
  }

  void add(DegreeTuple tuple) {
    Layout layout = space_.layout_of(tuple);
    if (!passes(layout, PlanAxis::degrees)) return;
    // Rules that need no message first: most tuples end here.
    if (tuple.pp > most_chunks() || run_.job.global_batch % tuple.dp != 0) return;
    apply(ExpertChoice{}, layout);
    apply(InnerChoice{.zero = plain_zero()}, layout);
    const std::vector<SplitChoice> splits = legal_of(split_choices(tuple), layout, PlanAxis::split);
    if (splits.empty()) return;
    apply(splits.front(), layout);
    const auto experts = legal_of(expert_choices(tuple), layout, PlanAxis::experts);
    const auto micro =
        legal_of(divisors(run_.job.global_batch / tuple.dp), layout, PlanAxis::micro_batch);
    const auto orders = order_choices(tuple);
    const auto inner = inner_choices(tuple, layout);
    if (experts.empty() || micro.empty() || orders.empty() || inner.empty()) return;
    tuple.splits = place_of(space_.splits_, splits);
    tuple.experts = place_of(space_.experts_, experts);
    tuple.micro_batches = place_of(space_.micro_batches_, micro);
    tuple.orders = place_of(space_.orders_, orders);
    tuple.inner = place_of(space_.inner_, inner);
    tuple.first = space_.size_;
    tuple.kind = space_.tuples_.size();
    if (!space_.tuples_.empty()) {
      const DegreeTuple& last = space_.tuples_.back();
      const bool same = last.tp == tuple.tp && last.cp == tuple.cp && last.pp == tuple.pp;
      if (same) tuple.kind = last.kind;
    }
    space_.tuples_.push_back(tuple);
    space_.size_ += space_.size_of(tuple);
  }

  std::vector<Order> order_choices(const DegreeTuple& t) const {
    std::vector<Order> out;
    for (const Order& order : offers_.orders) {
      Layout layout = space_.base_;
      apply(order, layout);
      if (t.pp > 1 && !lies_at_sites(layout)) continue;
      // Where either of the two that change places is 1 all orders are the same.
      if ((t.pp == 1 || t.dp == 1) && !out.empty()) break;
      if (passes(layout, PlanAxis::order)) out.push_back(order);
    }
    return out;
  }

  std::vector<SplitChoice> split_choices(const DegreeTuple& t) const {
    std::vector<SplitChoice> out;
    const bool must = !offers_.split_norms_optional || t.tp == 1 ||
                      (experts_ > 0 && offers_.experts_need_split_norms);
    const bool overlap = offers_.overlap_tensor && t.tp > 1;
    const std::vector<ContextExchange> none = {ContextExchange::ring};
    for (const ContextExchange exchange : t.cp > 1 ? offers_.exchanges : none) {
      if (!must) out.push_back({false, Choice::framework, exchange});
      out.push_back({true, overlap ? Choice::off : Choice::framework, exchange});
      if (overlap) out.push_back({true, Choice::on, exchange});
    }
    return out;
  }

  std::vector<ExpertChoice> expert_choices(const DegreeTuple& t) const {
    if (experts_ == 0) return {ExpertChoice{}};
    std::vector<ExpertChoice> out;
    const std::int64_t ranks = t.dp * t.cp * t.tp;
    const bool exchanged = asked_overlap() == Choice::on;
    for (const std::int64_t ep : divisors(std::gcd(ranks, experts_))) {
      if (ep == 1 && exchanged) continue;
      for (const std::int64_t etp : divisors(t.tp)) {
        const bool offered =
            etp == 1 || offers_.any_expert_tensor || (offers_.whole_expert_tensor && etp == t.tp);
        if (!offered) continue;
        out.push_back({ep, etp, dispatch(ep)});
      }
    }
    return out;
  }

  // A filter that keeps a field at a value.
  const PlanLimit* fixed(std::string_view name) const {
    const auto at = std::find_if(filters_.begin(), filters_.end(), [&](const PlanLimit& filter) {
      return filter.field->name == name && !filter.most;
    });
    return at == filters_.end() ? nullptr : &*at;
  }

  // Ranks that share one copy of sharded states: all; and where there are more than share memory,
  // whole domains of that, doubled. Or as is asked for.
  std::vector<std::int64_t> shards(const DegreeTuple& t) const {
    if (const PlanLimit* asked = fixed("shard")) return {asked->value};
    std::vector<std::int64_t> out = {0};
    const auto& hybrid = offers_.hybrid;
    if (std::find(hybrid.begin(), hybrid.end(), true) == hybrid.end()) return out;
    const std::int64_t replicas = t.dp * t.cp, domain = run_.cluster.levels.front().size;
    for (std::int64_t some = std::lcm(domain, t.tp * t.cp) / t.tp; some < replicas; some *= 2) {
      if (some > 1 && replicas % some == 0) out.push_back(some);
    }
    return out;
  }

  // Once is never slower [COLL-8], but as [FORECAST-8] says: copies stand where that is not to be
  // had, or asked for.
  Dispatch dispatch(std::int64_t ep) const {
    const auto& made_for = offers_.once_architectures;
    const bool once = std::find(made_for.begin(), made_for.end(),
                                run_.cluster.accelerator.architecture) != made_for.end();
    if (ep == 1) return Dispatch::copies;
    if (const PlanLimit* asked = fixed("dispatch")) return static_cast<Dispatch>(asked->value);
    return once ? Dispatch::once : Dispatch::copies;
  }

  Choice asked_overlap() const {
    const PlanLimit* asked = fixed("overlap-experts");
    return asked != nullptr ? static_cast<Choice>(asked->value) : Choice::framework;
  }
  // The exchange of tokens runs under other work where it can: that is never slower, but as
  // [FORECAST-8] says. Otherwise where it is asked for.
  Choice overlap_experts(const DegreeTuple& t, Recompute again, std::int64_t vpp) const {
    const bool can = offers_.overlap_experts && experts_ > 0 && again != Recompute::full &&
                     (t.pp == 1 || vpp > 1);
    if (!can) return Choice::framework;
    return asked_overlap() == Choice::off ? Choice::off : Choice::on;
  }

  // As many as there are layers, and ends in their place.
  std::int64_t most_chunks() const {
    return run_.model.layers() + (habits(run_.job.framework).pipeline.spreads_as_stated ? 2 : 0);
  }

  // How layers are spread: as is usual, and balanced where that is evenly; or as is asked for. Many
  // tuples have the same pipelines.
  const std::vector<EndSlots>& spreads(const Layout& layout) {
    const auto [known, is_new] =
        spreads_.try_emplace({layout.pp, layout.vpp, layout.schedule, layout.split_vocabulary});
    if (is_new) known->second = spreads_of(layout);
    return known->second;
  }
  std::vector<EndSlots> spreads_of(const Layout& layout) const {
    const PlanLimit *embedding = fixed("embedding-slots"), *head = fixed("head-slots");
    if (layout.pp > 1 && (embedding != nullptr || head != nullptr)) {
      return {{embedding != nullptr ? embedding->value : 0, head != nullptr ? head->value : 0}};
    }
    std::vector<EndSlots> out = {usual_ends(run_.model, run_.job, layout)};
    if (!habits(run_.job.framework).pipeline.spreads_as_stated) return out;
    const EndSlots balanced = balanced_ends(run_.model, run_.job, layout);
    if (balanced != out.front()) out.push_back(balanced);
    return out;
  }

  // Virtual stages that spread the layers evenly, with ends that count as some; where none do, all.
  std::vector<std::int64_t> virtual_stages(const DegreeTuple& t, Layout layout) {
    std::vector<std::int64_t> even = {1}, all = {1};
    if (t.pp == 1 || !offers_.virtual_stages) return even;
    for (layout.vpp = 2; t.pp * layout.vpp <= most_chunks(); ++layout.vpp) {
      all.push_back(layout.vpp);
      const std::vector<EndSlots>& all_ends = spreads(layout);
      const bool is_even = std::any_of(all_ends.begin(), all_ends.end(), [&](const EndSlots& ends) {
        return (run_.model.layers() + ends.embedding + ends.head) % (t.pp * layout.vpp) == 0;
      });
      if (is_even) even.push_back(layout.vpp);
    }
    return even.size() > 1 ? even : all;
  }

  // Schedules with their virtual stages.
  std::vector<InnerChoice> pipelines(const DegreeTuple& t, Layout layout) {
    std::vector<InnerChoice> out;
    for (const Schedule schedule : offers_.schedules) {
      if (t.pp == 1 && !out.empty()) break;
      for (const std::int64_t vpp : virtual_stages(t, layout)) {
        if (vpp > 1 && !takes_virtual_stages(schedule)) break;
        if (vpp == 1 && schedule == Schedule::breadth_first) continue;  // as GPipe
        InnerChoice choice{.zero = plain_zero(), .schedule = schedule, .vpp = vpp};
        apply(choice, layout);
        for (const EndSlots& ends : spreads(layout)) {
          choice.ends = ends;
          apply(choice, layout);
          if (legal(layout)) out.push_back(choice);
        }
      }
    }
    return out;
  }

  // ZeRO stages with what is overlapped and where states are, on top of what blocks are made of.
  std::vector<InnerChoice> shardings(const DegreeTuple& t, Layout layout) const {
    std::vector<InnerChoice> out;
    const bool shares = t.dp * t.cp > 1, hybrid = t.shard > 0 && t.shard < t.dp * t.cp;
    const bool asked = fixed("shard") != nullptr;
    const bool must_shard = offers_.unsharded_alone && t.tp * t.cp * t.pp > 1;
    const auto activations = static_cast<std::size_t>(run_.job.recipe->activation);
    const bool sharded = offers_.sharded_precisions[activations];
    const int alone = must_shard ? 3 : sharded ? 1 : 0;
    for (int zero = 0; zero < 4; ++zero) {
      if (shares && !offers_.zero[static_cast<std::size_t>(zero)]) continue;
      if (shares && zero == 0 && (must_shard || sharded)) continue;
      if (hybrid && (zero == 0 || (!asked && !offers_.hybrid[static_cast<std::size_t>(zero)]))) {
        continue;
      }
      // Alone a rank shards nothing: one stage stands for all.
      if (!shares && zero != alone) continue;
      for (const bool reshard : {true, false}) {
        if (!reshard && (zero < 3 || !offers_.keeps_gathered)) continue;
        for (const auto& [gradients, parameters] : overlaps(shares, zero)) {
          for (const bool parameters_off : {false, true}) {
            if (parameters_off && (zero < 3 || !offers_.offloads_parameters)) continue;
            for (const bool states_off : {false, true}) {
              if (states_off && !offers_.offloads_optimizer[static_cast<std::size_t>(zero)]) {
                continue;
              }
              if (offers_.offloads_together && parameters_off != states_off) continue;
              const InnerChoice choice{.zero = zero,
                                       .reshard = reshard,
                                       .overlap_gradients = gradients,
                                       .overlap_parameters = parameters,
                                       .offload_parameters = parameters_off,
                                       .offload_optimizer = states_off};
              apply(choice, layout);
              if (legal(layout)) out.push_back(choice);
            }
          }
        }
      }
    }
    return out;
  }

  std::vector<std::pair<Choice, Choice>> overlaps(bool shares, int zero) const {
    constexpr Choice kOn = Choice::on, kOff = Choice::off, kOpen = Choice::framework;
    if (!shares || offers_.overlap == OverlapOffer::nothing) return {{kOpen, kOpen}};
    if (offers_.overlap == OverlapOffer::gradients) return {{kOff, kOpen}, {kOn, kOpen}};
    if (zero == 0) return {{kOff, kOff}, {kOn, kOff}};
    return {{kOff, kOff}, {kOn, kOff}, {kOn, kOn}};
  }

  // Every second product where that is asked for.
  std::vector<Recompute> recomputed_ways() const {
    const PlanLimit* asked = fixed("recompute");
    const auto second = static_cast<std::int64_t>(Recompute::every_second);
    if (asked != nullptr && asked->value == second) return {Recompute::every_second};
    return {Recompute::none, Recompute::selective, Recompute::full};
  }

  std::vector<InnerChoice> recomputations(const DegreeTuple& t, Layout layout) const {
    std::vector<InnerChoice> out;
    const std::int64_t layers = std::max<std::int64_t>(1, run_.model.layers() / t.pp);
    for (const Recompute recompute : recomputed_ways()) {
      if (recompute == Recompute::selective && !offers_.selective) continue;
      const std::int64_t most =
          recompute == Recompute::full ? std::min(layers, offers_.most_recompute_every) : 1;
      for (std::int64_t every = 1; every <= most; ++every) {
        for (const bool offload : {false, true}) {
          if (offload && (offers_.offloads_activations == ActivationOffload::never ||
                          recompute != Recompute::full)) {
            continue;
          }
          const InnerChoice choice{.recompute = recompute,
                                   .recompute_every = every,
                                   .offload_activations = offload,
                                   .zero = plain_zero()};
          apply(choice, layout);
          if (legal(layout)) out.push_back(choice);
        }
      }
    }
    return out;
  }

  // In an order in which those that share blocks follow each other.
  std::vector<InnerChoice> inner_choices(const DegreeTuple& t, Layout layout) {
    std::vector<InnerChoice> out;
    const auto pipes = pipelines(t, layout);
    const auto shards = shardings(t, layout);
    const auto add = [&](const InnerChoice& again, const InnerChoice& shard, Choice exchange) {
      for (const InnerChoice& pipe : pipes) {
        if (overlap_experts(t, again.recompute, pipe.vpp) != exchange) continue;
        const bool sharded = shard.zero >= 2 && pipe.vpp > 1;
        if (sharded && !offers_.sharded_with_virtual_stages) continue;
        if (again.recompute_every > 1 &&
            again.recompute_every * t.pp * pipe.vpp > run_.model.layers()) {
          continue;
        }
        InnerChoice choice = shard;
        choice.recompute = again.recompute;
        choice.recompute_every = again.recompute_every;
        choice.offload_activations = again.offload_activations;
        choice.overlap_experts = exchange;
        choice.schedule = pipe.schedule;
        choice.vpp = pipe.vpp;
        choice.ends = pipe.ends;
        apply(choice, layout);
        if (passes(layout, PlanAxis::inner)) out.push_back(choice);
      }
    };
    for (const InnerChoice& again : recomputations(t, layout)) {
      for (const Choice exchange : {Choice::framework, Choice::off, Choice::on}) {
        for (const InnerChoice& shard : shards) add(again, shard, exchange);
      }
    }
    return out;
  }

  const Run& run_;
  const Offers& offers_;
  std::vector<PlanLimit> filters_;
  std::int64_t experts_ = 0;
  using Pipelines = std::tuple<std::int64_t, std::int64_t, Schedule, bool>;
  std::map<Pipelines, std::vector<EndSlots>> spreads_;
  bool one_is_enough_ = false;
  PlanSpace space_;
};

PlanSpace build_space(const Run& run, std::int64_t ranks, const std::vector<PlanLimit>& filters) {
  return SpaceBuilder(run, filters).over(ranks);
}

bool has_any_layout(const Run& run, std::int64_t ranks, const std::vector<PlanLimit>& filters) {
  return SpaceBuilder(run, filters).has_any(ranks);
}

}  // namespace headway
