// What makes a layout illegal. Every rule says what would be legal.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "layout/frameworks/habits.hpp"
#include "layout/layout.hpp"

namespace headway {
namespace {

// The divisors of `number` up to `limit`, as text: "1, 2, 4, 8".
std::string divisors_text(std::int64_t number, std::int64_t limit = 1024) {
  std::string out;
  for (std::int64_t d = 1; d <= std::min(number, limit); ++d) {
    if (number % d != 0) continue;
    if (!out.empty()) out += ", ";
    out += std::to_string(d);
  }
  return out;
}

// Slots of ZB-V grow with the square of the ranks [FORECAST-3]; no published pipeline has half as
// many.
constexpr std::int64_t kMostPlacedRanks = 256;

// Fields that rules are about together.
constexpr const char* kDegrees[] = {"dp", "tp", "cp", "pp"};
constexpr const char* kSlots[] = {"embedding-slots", "head-slots"};
constexpr const char* kEnds[] = {"first-stage-layers", "last-stage-layers"};

class Checker {
 public:
  Checker(const Model& model, const Job& job, const Layout& layout, const Cluster& cluster)
      : model_(model),
        job_(job),
        layout_(layout),
        cluster_(cluster),
        habits_(habits(job.framework, job.software)) {}

  // The first problem is enough, and nobody reads it: none is written.
  bool is_legal() {
    silent_ = true;
    run();
    return !wrong_;
  }

  Problems run() {
    if (model_.kinds.size() > kMostLayerKinds) {
      fail("model",
           "has " + std::to_string(model_.kinds.size()) + " different kinds of layer; at most " +
               std::to_string(kMostLayerKinds) + " can be predicted",
           Trouble::unsupported);
    }
    degrees();
    if (wrong_) return problems_;  // the rules below divide by the degrees
    ranks();
    batch();
    sequence();
    for (const Layer& layer : model_.kinds) widths(layer);
    if (silent_ && wrong_) return problems_;
    pipeline();
    experts();
    sharding();
    overlap();
    offloading();
    precision();
    formats();
    return problems_;
  }

 private:
  void fail(const char* field, std::string message, Trouble kind = Trouble::illegal) {
    wrong_ = true;
    if (!silent_) problems_.push_back({FieldName(field), std::move(message), kind});
  }
  void fail(std::span<const char* const> fields, std::string message) {
    wrong_ = true;
    if (silent_) return;
    FieldNames names;
    for (const char* const field : fields) names.emplace_back(field);
    problems_.push_back({std::move(names), std::move(message)});
  }
  std::string title() const { return std::string(title_of(job_.framework)); }
  void positive(const char* field, std::int64_t value) {
    if (value < 1) fail(field, "is " + std::to_string(value) + "; must be at least 1");
    if (value > 10'000'000) fail(field, "is " + std::to_string(value) + "; must be at most 10^7");
  }
  // `whole` must be a multiple of `part`.
  void divides(const char* field, std::int64_t part, std::int64_t whole, std::string_view of) {
    if (whole % part == 0) return;
    if (silent_) return fail(field, "");  // the divisors take long to find
    fail(field, std::to_string(part) + " does not divide " + std::string(of) + " (" +
                    std::to_string(whole) + "); legal: " + divisors_text(whole));
  }

  void degrees() {
    positive("dp", layout_.dp);
    positive("tp", layout_.tp);
    positive("cp", layout_.cp);
    positive("pp", layout_.pp);
    positive("vpp", layout_.vpp);
    positive("ep", layout_.ep);
    positive("etp", layout_.etp);
    positive("micro-batch", layout_.micro_batch);
    positive("seq", job_.sequence);
    positive("global-batch", job_.global_batch);
    positive("recompute-every", layout_.recompute_every);
    positive("recompute-one-in", layout_.recompute_one_in);
    if (layout_.recompute_one_in > 1 && layout_.recompute_every > 1) {
      fail("recompute-one-in", "cannot stand beside recompute-every; legal: 1");
    }
    if (layout_.zero < 0 || layout_.zero > 3) {
      fail("zero", "is " + std::to_string(layout_.zero) + "; legal: 0, 1, 2, 3");
    }
    if (layout_.shard < 0) fail("shard", "must be at least 1");
    if (layout_.first_stage_layers < 0) fail("first-stage-layers", "must be at least 1");
    if (layout_.last_stage_layers < 0) fail("last-stage-layers", "must be at least 1");
    if (job_.document < 0 || (job_.document > 0 && job_.document > job_.sequence)) {
      fail("document", "must be from 1 to the tokens of a sequence");
    }
    if (layout_.embedding_slots < 0 || layout_.head_slots < 0) {
      fail(kSlots, "must be at least 0");
    }
    if (layout_.embedding_slots > model_.layers() || layout_.head_slots > model_.layers()) {
      fail(kSlots, "must be at most the layers");
    }
    if (job_.lora_rank < 1 || job_.lora_rank > model_.hidden) {
      fail("lora-rank", "must be from 1 to the hidden width, " + std::to_string(model_.hidden));
    }
    if (!(job_.expert_imbalance >= 1 && job_.expert_imbalance <= 1000)) {
      fail("expert-imbalance", "must be from 1 (balanced) to 1000");
    }
    if (!(job_.dropout < 1)) fail("dropout", "must be from 0 up to, but not including, 1");
    // Products of degrees must stay countable.
    const double product = static_cast<double>(layout_.dp) * static_cast<double>(layout_.tp) *
                           static_cast<double>(layout_.cp) * static_cast<double>(layout_.pp);
    if (product > 1e9) fail(kDegrees, "multiply to more than 10^9 ranks");
  }

  void ranks() {
    if (layout_.ranks() > cluster_.accelerators) {
      fail("gpus", std::to_string(layout_.ranks()) + " ranks, but cluster " + cluster_.name +
                       " has at most " + std::to_string(cluster_.accelerators) + " accelerators");
    }
  }

  void batch() {
    const std::int64_t at_once = layout_.dp * layout_.micro_batch;
    if (job_.global_batch % at_once != 0) {
      fail("global-batch",
           std::to_string(job_.global_batch) +
               " sequences are not a multiple of dp x micro-batch = " + std::to_string(layout_.dp) +
               " x " + std::to_string(layout_.micro_batch) + " = " + std::to_string(at_once) +
               "; legal: a multiple of " + std::to_string(at_once));
    }
  }

  void sequence() {
    // Causal work is balanced over a ring by giving each rank an early and a late piece.
    const bool ring = layout_.cp > 1 && layout_.context_exchange == ContextExchange::ring;
    const std::int64_t pieces =
        (ring && job_.causal ? 2 : 1) * layout_.cp * (layout_.sequence_parallel ? layout_.tp : 1);
    if (job_.sequence % pieces != 0) {
      fail("seq", std::to_string(job_.sequence) + " tokens do not split into " +
                      std::to_string(pieces) +
                      " equal pieces (cp, doubled for a causal ring, times tp with sequence "
                      "parallelism); legal: a multiple of " +
                      std::to_string(pieces));
    }
  }

  void widths(const Layer& layer) {
    if (layer.attention) {
      const Attention& attention = *layer.attention;
      divides("tp", layout_.tp, attention.heads, "the attention heads");
      const std::int64_t kv = attention.kv_heads;
      if (!attention.latent && kv % layout_.tp != 0 && layout_.tp % kv != 0) {
        fail("tp", std::to_string(layout_.tp) + " neither divides nor is a multiple of the " +
                       std::to_string(kv) + " key-value heads; legal: " + divisors_text(kv) +
                       " or a multiple of " + std::to_string(kv));
      }
      if (layout_.cp > 1 && attention.linear) {
        fail("cp", "linear attention is not computed over split sequences here; legal: 1",
             Trouble::unsupported);
      }
      if (layout_.cp > 1 && layout_.context_exchange == ContextExchange::all_to_all) {
        divides("cp", layout_.cp * layout_.tp, attention.heads,
                "(as cp x tp, heads exchanged for tokens) the attention heads");
      }
    }
    if (layer.feed_forward) {
      divides("tp", layout_.tp, layer.feed_forward->width, "the feed-forward width");
    }
    if (layer.experts && layout_.etp > 1) {
      divides("etp", layout_.etp, layer.experts->each.width, "the expert width");
    }
    if (layer.experts && layer.experts->shared_width > 0) {
      divides("tp", layout_.tp, layer.experts->shared_width, "the shared expert's width");
    }
  }

  void pipeline() {
    const std::int64_t chunks = layout_.pp * layout_.vpp;
    const std::int64_t layers = model_.layers();
    if (layout_.vpp > 1 && layout_.pp == 1) {
      fail("vpp", "needs a pipeline: --pp must be at least 2");
    }
    // Embedding and head take the place of layers where they count as such.
    const std::int64_t ends = layout_.embedding_slots + layout_.head_slots;
    if (chunks > layers + ends) {
      fail("pp", "pp x vpp = " + std::to_string(chunks) + " stages for " + std::to_string(layers) +
                     " layers" +
                     (ends > 0 ? " and " + std::to_string(ends) + " for the ends" : "") +
                     "; must be at most the layers");
      return;
    }
    const bool explicit_ends = layout_.first_stage_layers > 0 || layout_.last_stage_layers > 0;
    if (explicit_ends && layout_.pp < 2) {
      fail(kEnds, "need --pp of at least 2");
    } else if (explicit_ends && layout_.vpp > 1) {
      fail(kEnds, "are for --vpp 1");
    } else if (explicit_ends) {
      const std::int64_t even = layers / chunks;
      const std::int64_t first = layout_.first_stage_layers > 0 ? layout_.first_stage_layers : even;
      const std::int64_t last = layout_.last_stage_layers > 0 ? layout_.last_stage_layers : even;
      const std::int64_t rest = layers - first - last;
      const std::int64_t others = layout_.pp - 2;
      if (rest < others || (others == 0 && rest != 0)) {
        fail(kEnds, "leave " + std::to_string(rest) + " of " + std::to_string(layers) +
                        " layers to " + std::to_string(others) + " other stages");
      }
    }
    const bool balanced =
        habits_.pipeline.balances_stages && layout_.pp > 1 && layout_.vpp == 1 && !explicit_ends;
    if (balanced) balance();
    const bool slots = layout_.embedding_slots > 0 || layout_.head_slots > 0;
    if (slots && layout_.pp > 1) {
      if (explicit_ends) {
        fail(kSlots, "spread layers evenly; --first-stage-layers and --last-stage-layers do not");
      } else if (balanced) {
        fail(kSlots, "are not counted by " + title() + ", which balances weights itself");
      } else {
        chunks_with_layers(chunks);
      }
    }
    micro_batches_of_pipeline();
    schedule();
  }

  std::string schedule_name() const {
    return std::string(kScheduleNames[static_cast<std::size_t>(layout_.schedule)]);
  }

  // What a schedule's order needs.
  void schedule() {
    const Schedule schedule = layout_.schedule;
    const std::string name = schedule_name();
    if (layout_.vpp > 1 && !takes_virtual_stages(schedule)) {
      fail("vpp", "virtual stages are for --schedule 1f1b and breadth-first; " + name +
                      " places its chunks itself");
    }
    if (schedule != Schedule::one_f_one_b && schedule != Schedule::gpipe &&
        layout_.pp > kMostPlacedRanks) {
      fail("pp", std::to_string(layout_.pp) + " ranks; " + name +
                     " is placed slot by slot, for at most " + std::to_string(kMostPlacedRanks));
    }
    const std::int64_t count = micro_batches(job_, layout_);
    const std::string there = "; there are " + std::to_string(count);
    if (copies_of_model(schedule) == 2 && layout_.pp % 2 != 0) {
      fail("schedule", name + " needs an even --pp");
    }
    const bool dual = schedule == Schedule::dual_pipe || schedule == Schedule::dual_pipe_v;
    if (dual && count < 2 * layout_.pp) {
      fail("schedule", name + " needs at least 2 x pp = " + std::to_string(2 * layout_.pp) +
                           " micro-batches" + there);
    } else if (schedule == Schedule::dual_pipe && count % 2 != 0) {
      fail("schedule", name + " needs an even number of micro-batches" + there);
    }
    if (schedule == Schedule::chimera && count % layout_.pp != 0) {
      fail("schedule", name + " needs a multiple of pp = " + std::to_string(layout_.pp) +
                           " micro-batches" + there);
    }
  }

  // The cast of the logits and the loss take a stage each behind the head's; others would have
  // nothing to run [STEP-13]. In a folded pipeline the head lies on the first rank.
  void balance() {
    const BalancedStages stages = balanced_stages(model_, layout_.pp);
    const std::int64_t used = stages.head + 3;
    const std::string does = title() + " balances the weights of layers and head and would leave ";
    const auto& begins = stages.begins;
    if (used < layout_.pp) {
      fail("pp", does + std::to_string(layout_.pp - used) + " of " + std::to_string(layout_.pp) +
                     " stages without anything");
    } else if (is_folded(layout_.schedule) &&
               std::adjacent_find(begins.begin(), begins.end()) != begins.end()) {
      fail("schedule",
           does + "a rank of " + schedule_name() + " without a layer; legal: a smaller --pp");
    }
  }

  // Where slots take all of a chunk there is something else to run: the embedding on the first, the
  // head on the last, unless the pipeline is folded and the first rank has both.
  void chunks_with_layers(std::int64_t chunks) {
    const bool folded = is_folded(layout_.schedule);
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      const bool has_end = chunk == 0 || (chunk + 1 == chunks && !folded);
      if (has_end && model_.vocabulary > 0) continue;
      const std::int64_t layers = model_.layers();
      if (chunk_begin(layers, layout_, chunk) < chunk_begin(layers, layout_, chunk + 1)) continue;
      fail(kSlots, "leave chunk " + std::to_string(chunk + 1) + " of " + std::to_string(chunks) +
                       " without a layer" +
                       (folded ? "; " + schedule_name() + " has the head on the first rank" : ""));
      return;
    }
  }

  // How many micro-batches the frameworks' pipelines take.
  void micro_batches_of_pipeline() {
    if (layout_.pp == 1) return;
    const std::int64_t count = micro_batches(job_, layout_);
    const std::string has = "(" + std::to_string(count) + ")";
    const std::string pp = "pp = " + std::to_string(layout_.pp);
    const Interleaving interleaved =
        layout_.vpp > 1 ? habits_.pipeline.interleaved : Interleaving::any;
    if (interleaved == Interleaving::multiple && count % layout_.pp != 0) {
      fail("vpp", "interleaving needs the micro-batches " + has + " to be a multiple of " + pp);
    }
    const std::int64_t rounds = std::max<std::int64_t>(1, count / layout_.pp);
    if (interleaved == Interleaving::rounds && count % rounds != 0) {
      fail("vpp", "interleaving needs the micro-batches " + has + " to be below " + pp +
                      ", or to split into equal rounds of at least that many");
    }
    if (habits_.pipeline.micro_batches_in_rounds && count % layout_.pp != 0) {
      fail("pp", title() + " needs the micro-batches " + has + " to be a multiple of " + pp);
    }
  }

  void experts() {
    std::int64_t count = 0;
    for (const Layer& layer : model_.kinds) {
      if (layer.experts) count = layer.experts->count;
    }
    if (count == 0) {
      if (layout_.ep > 1) fail("ep", "model " + model_.name + " has no experts; legal: 1");
      if (layout_.etp > 1) fail("etp", "model " + model_.name + " has no experts; legal: 1");
      return;
    }
    divides("ep", layout_.ep, count, "the experts");
    divides("ep", layout_.ep * layout_.etp, layout_.dp * layout_.cp * layout_.tp,
            "(as ep x etp) the ranks of a pipeline stage");
  }

  void sharding() {
    if (layout_.shard > 0) {
      divides("shard", layout_.shard, layout_.dp * layout_.cp, "the data-parallel ranks (dp x cp)");
    }
    const int most = habits_.sharding.most_zero_in_pipeline;
    if (layout_.zero > most && layout_.pp > 1) {
      std::string legal = "0";
      for (int stage = 1; stage <= most; ++stage) legal += " or " + std::to_string(stage);
      fail("zero", title() + "'s pipeline engine runs with ZeRO " + legal + " only");
    }
    if (layout_.zero != 3 && layout_.offload_parameters) {
      fail("offload", "parameters can be offloaded with --zero 3 only");
    }
  }

  // Split products read the pieces of other ranks from their memory.
  void overlap() {
    if (layout_.overlap_tensor != Choice::on || layout_.tp == 1) return;
    const GroupSpan span =
        span_of(layout_.tp, stride(layout_, Dimension::tp), layout_.ranks(), cluster_);
    if (shares_memory(span, cluster_)) return;
    const int inner = memory_levels(cluster_);
    const std::string domain =
        inner == 0 ? "1 accelerator"
                   : std::to_string(cluster_.levels[static_cast<std::size_t>(inner - 1)].size) +
                         " accelerators (" +
                         cluster_.levels[static_cast<std::size_t>(inner - 1)].name + ")";
    fail("overlap-tensor", "needs a tensor group inside one domain of " + domain +
                               ", whose links reach other accelerators' memory; --tp " +
                               std::to_string(layout_.tp) + " leaves it; legal: off");
  }

  void offloading() {
    const bool any =
        layout_.offload_optimizer || layout_.offload_activations || layout_.offload_parameters;
    if (any && cluster_.accelerator.host_bandwidth.value() <= 0) {
      fail("offload",
           "the data of " + cluster_.accelerator.title +
               " state no host_bandwidth, which offloading needs",
           Trouble::missing);
    }
  }

  void precision() {
    const auto need = [&](Precision p) {
      if (cluster_.accelerator.peak_of(p).value() > 0) return;
      std::string legal;
      for (int i = 0; i < kPrecisions; ++i) {
        if (cluster_.accelerator.peak[i].value() <= 0) continue;
        if (!legal.empty()) legal += ", ";
        legal += kPrecisionNames[i];
      }
      fail("precision",
           std::string(to_name(p)) + " is not supported by " + cluster_.accelerator.title +
               "; supported: " + legal,
           Trouble::unsupported);
    };
    need(job_.recipe->matmul);
    if (job_.recipe->activation != job_.recipe->matmul) need(job_.recipe->activation);
  }

  void formats() {
    if (habits_.sharding.formats_chosen) return;
    if (job_.param_dtype == WireFormat::framework && job_.reduce_dtype == WireFormat::framework) {
      return;
    }
    std::string titles, names;
    for (std::size_t i = 0; i < framework_names().size(); ++i) {
      const auto other = static_cast<Framework>(i);
      if (!habits(other).sharding.formats_chosen) continue;
      titles += (titles.empty() ? "" : ", ") + std::string(title_of(other));
      names += (names.empty() ? "" : " or ") + std::string(name_of(other));
    }
    const std::string message =
        "is a setting of " + titles + "; leave it out, or give --framework " + names;
    if (job_.param_dtype != WireFormat::framework) fail("param-dtype", message);
    if (job_.reduce_dtype != WireFormat::framework) fail("reduce-dtype", message);
  }

  const Model& model_;
  const Job& job_;
  const Layout& layout_;
  const Cluster& cluster_;
  const Habits& habits_;
  Problems problems_;
  bool silent_ = false;
  bool wrong_ = false;
};

}  // namespace

Problems check(const Model& model, const Job& job, const Layout& layout, const Cluster& cluster) {
  return Checker(model, job, layout, cluster).run();
}

bool is_legal(const Model& model, const Job& job, const Layout& layout, const Cluster& cluster) {
  return Checker(model, job, layout, cluster).is_legal();
}

}  // namespace headway
