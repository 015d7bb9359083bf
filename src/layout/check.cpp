// What makes a layout illegal. Every rule says what would be legal.
#include <algorithm>
#include <string>
#include <vector>

#include "base/whole_number.hpp"
#include "layout/check_rules.hpp"

namespace headway {
namespace {

// Fields that a rule is about together.
constexpr const char* kDegrees[] = {"dp", "tp", "cp", "pp"};

class RunRules : CheckRules {
 public:
  RunRules(const Run& run, const Layout& layout, CheckFindings& found)
      : CheckRules(run, layout, found) {}

  void check() {
    if (run_.model.kinds.size() > kMostLayerKinds) {
      fail("model",
           "has " + std::to_string(run_.model.kinds.size()) +
               " different kinds of layer; at most " + std::to_string(kMostLayerKinds) +
               " can be predicted",
           Trouble::unsupported);
    }
    degrees();
    if (findings_.wrong) return;  // the rules below divide by the degrees
    ranks();
    batch();
    if (!run_.model.is_network()) sequence();
    if (run_.model.is_network()) {
      check_network(run_, layout_, findings_);
    } else {
      check_widths(run_.model, layout_, findings_);
      check_trained(run_, layout_, findings_);
      if (findings_.silent && findings_.wrong) return;
      check_pipeline(run_, layout_, findings_);
      check_experts(run_.model, layout_, findings_);
    }
    sharding();
    zero_plus_plus();
    overlap();
    offloading();
    precision();
    activation_inputs();
    settings();
    chosen_keys();
    method();
  }

 private:
  void positive(const char* field, std::int64_t value) {
    if (value < 1) fail(field, "is " + std::to_string(value) + "; must be at least 1");
    if (value > 10'000'000) fail(field, "is " + std::to_string(value) + "; must be at most 10^7");
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
    positive("seq", run_.job.sequence);
    positive("global-batch", run_.job.global_batch);
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
    if (run_.job.document < 0 || (run_.job.document > 0 && run_.job.document > run_.job.sequence)) {
      fail("document", "must be from 1 to the tokens of a sequence");
    }
    if (layout_.embedding_slots < 0 || layout_.head_slots < 0) {
      fail(kSlots, "must be at least 0");
    }
    if (layout_.embedding_slots > run_.model.layers() || layout_.head_slots > run_.model.layers()) {
      fail(kSlots, "must be at most the layers");
    }
    if (run_.job.lora_rank < 1 ||
        (!run_.model.is_network() && run_.job.lora_rank > run_.model.hidden)) {
      fail("lora-rank", "must be from 1 to the hidden width, " + std::to_string(run_.model.hidden));
    }
    if (!(run_.job.expert_imbalance >= 1 && run_.job.expert_imbalance <= 1000)) {
      fail("expert-imbalance", "must be from 1 (balanced) to 1000");
    }
    if (!(run_.job.dropout < 1)) fail("dropout", "must be from 0 up to, but not including, 1");
    // Products of degrees must stay countable.
    const double product = static_cast<double>(layout_.dp) * static_cast<double>(layout_.tp) *
                           static_cast<double>(layout_.cp) * static_cast<double>(layout_.pp);
    if (product > 1e9) fail(kDegrees, "multiply to more than 10^9 ranks");
  }

  void ranks() {
    if (layout_.ranks() > run_.cluster.accelerators) {
      fail("gpus", std::to_string(layout_.ranks()) + " ranks, but cluster " + run_.cluster.name +
                       " has at most " + std::to_string(run_.cluster.accelerators) +
                       " accelerators");
    }
  }

  void batch() {
    const std::int64_t at_once = layout_.dp * layout_.micro_batch;
    if (run_.job.global_batch % at_once == 0) return;
    if (findings_.silent) return fail("global-batch", "");  // a search asks it of many layouts
    fail("global-batch",
         std::to_string(run_.job.global_batch) +
             " sequences are not a multiple of dp x micro-batch = " + std::to_string(layout_.dp) +
             " x " + std::to_string(layout_.micro_batch) + " = " + std::to_string(at_once) +
             "; legal: a multiple of " + std::to_string(at_once),
         Trouble::illegal, multiples_near(run_.job.global_batch, at_once));
  }

  void sequence() {
    // Causal work is balanced over a ring by giving each rank an early and a late piece.
    const bool ring = layout_.cp > 1 && layout_.context_exchange == ContextExchange::ring;
    const std::int64_t pieces = (ring && run_.job.causal ? 2 : 1) * layout_.cp *
                                (layout_.sequence_parallel ? layout_.tp : 1);
    if (run_.job.sequence % pieces == 0) return;
    if (findings_.silent) return fail("seq", "");
    fail("seq",
         std::to_string(run_.job.sequence) + " tokens do not split into " + std::to_string(pieces) +
             " equal pieces (cp, doubled for a causal ring, times tp with sequence "
             "parallelism); legal: a multiple of " +
             std::to_string(pieces),
         Trouble::illegal, multiples_near(run_.job.sequence, pieces));
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

  // Who meets, and what there is to send.
  void method() {
    const Method& of = run_.job.method;
    if (of.is_synchronous()) return;
    const bool meets = of.meeting != Meeting::every_step || of.forward_only ||
                       of.compression.by != Compressor::none;
    if (meets && layout_.dp == 1) return fail("method", "needs several replicas; dp is 1");
    const bool scatters =
        layout_.zero == 3 || (layout_.zero == 2 && habits_.sharding.zero2_is_zero3_kept);
    const bool sparse = of.sparsity.density < 1;
    const bool gradients = of.meeting == Meeting::late ||
                           (of.meeting == Meeting::every_step &&
                            (of.compression.by != Compressor::none || (sparse && layout_.dp > 1)));
    if (gradients && scatters) {
      fail("zero",
           "scatters gradients block by block here, and the method is of gradients that "
           "travel once a step; legal: 0, 1");
    }
    if (run_.job.task == Task::lora && (of.forward_only || of.submodels > 1)) {
      fail("method", "is of models all of whose weights are trained, not task lora");
    }
    if (of.parts_replicas()) replicas();
    if (of.compression.by == Compressor::powersgd &&
        (layout_.zero > 0 || (of.parts_replicas() && ranks_of_replica(layout_) > 1))) {
      fail("method",
           "powersgd needs whole gradients on each rank; legal: --zero 0, replicas of one "
           "data-parallel rank each");
    }
    if (of.losses != Losses::model) losses();
    if (of.parts > 1) parts();
    if (sparse && (run_.model.is_network() || run_.job.task == Task::lora)) {
      fail("method", "is of a transformer all of whose weights are trained");
    }
    if (of.selected < 1) selected();
  }
  void replicas() {
    const std::int64_t count = replicas_of(layout_);
    if (layout_.dp % count != 0 || count > layout_.dp) {
      return divides("method", count, layout_.dp, "(as replicas) dp");
    }
    if (layout_.shard > 0) {
      divides("shard", layout_.shard, ranks_of_replica(layout_), "the ranks of a replica");
    }
    if (layout_.secondary > 0) {
      divides("secondary-shard", layout_.secondary, ranks_of_replica(layout_),
              "the ranks of a replica");
    }
    if (has_experts(run_.model)) {
      divides("ep", layout_.ep * layout_.etp, ranks_of_replica(layout_) * layout_.tp,
              "(as ep x etp) the ranks of a replica's stage");
    }
    if (has_tables(run_.model)) {
      fail("method",
           "has replicas with weights of their own, and embedding tables lie once on all "
           "ranks");
    }
    if (run_.job.method.bandwidth.value() > 0 && layout_.pp > 1 &&
        layout_.order.back() != Dimension::dp) {
      fail("order",
           "must have dp outermost, so that each replica lies at its site; legal: "
           "tp-cp-pp-dp");
    }
  }
  void losses() {
    if (layout_.pp == 1 && layout_.loss_blocks == 1) {
      fail("method", run_.job.method.losses == Losses::of_stage
                         ? "has a loss behind each stage; pp is 1 (blocks=N: several in a stage)"
                         : "has a loss behind each pair of stages; pp is 1");
    }
    const std::int64_t of_stage = run_.model.layers() / layout_.pp;
    if (layout_.loss_blocks > std::max<std::int64_t>(1, of_stage)) {
      fail("method", "has " + std::to_string(layout_.loss_blocks) + " losses in each stage of " +
                         std::to_string(of_stage) + " layers");
    }
    if (layout_.schedule != Schedule::one_f_one_b || layout_.vpp > 1) {
      fail("schedule", "must be 1f1b with vpp 1: stages with losses of their own wait for nobody");
    }
    if (layout_.split_vocabulary) {
      fail("split-vocabulary", "splits the one head, and the method has one behind each stage");
    }
    if (run_.model.vocabulary == 0 || run_.model.prediction_layers > 0) {
      fail("method", "has a head behind each stage, of models with one head");
    }
  }

  // Each part has the whole machine in its turn.
  void parts() {
    if (layout_.pp > 1) {
      fail("method", "trains one part of the layers at a time on all ranks; pp must be 1");
    }
    if (layout_.parts > run_.model.layers()) {
      fail("method", "has " + std::to_string(layout_.parts) + " parts of " +
                         std::to_string(run_.model.layers()) + " layers");
    }
    if (run_.model.is_network() || run_.model.prediction_layers > 0 ||
        run_.job.task == Task::lora) {
      fail("method", "cuts a model of layers with one head, all of whose weights are trained");
    }
  }
  void selected() {
    if (layout_.cp == 1) return fail("method", "is of sequences that ranks share; cp is 1");
    if (layout_.context_exchange != ContextExchange::ring) {
      fail("context-exchange", "must be ring: whole heads are exchanged otherwise, for all keys");
    }
  }

  // [STEP-27]
  void zero_plus_plus() {
    if (!habits_.sharding.zero_plus_plus) return;
    const bool gradients = run_.job.quantized_gradients, weights = run_.job.quantized_weights;
    if (layout_.secondary > 0) {
      divides("secondary-shard", layout_.secondary, layout_.dp * layout_.cp,
              "the data-parallel ranks (dp x cp)");
      zero_plus_plus("secondary-shard", /*whole_nodes=*/true);
    }
    if (weights) zero_plus_plus("quantized-weights", /*whole_nodes=*/false);
    if (gradients) zero_plus_plus("quantized-gradients", /*whole_nodes=*/true);
    if ((gradients || weights) && !run_.job.recipe->master_weights) {
      fail(gradients ? "quantized-gradients" : "quantized-weights",
           "needs weights in 16 bit; legal: without it, or --precision bf16 or fp16");
    }
    if (gradients && replicas_on_node(layout_, run_.cluster) == 1) {
      fail("quantized-gradients",
           "are exchanged within nodes and between them; legal: data-parallel ranks (dp x cp) that "
           "fill several nodes of " +
               std::to_string(run_.cluster.levels.front().size));
    }
  }
  void zero_plus_plus(const char* field, bool whole_nodes) {
    if (layout_.zero != 3) fail(field, "is read with --zero 3 only");
    if (layout_.shard > 0) fail(field, "cannot stand beside hybrid sharding (shard)");
    if (whole_nodes && layout_.tp > 1) fail(field, "needs ranks next to each other; legal: --tp 1");
    if (run_.job.task == Task::lora) fail(field, "is for weights that are trained, not task lora");
    if (has_experts(run_.model)) {
      fail(field, "is not priced for models with experts", Trouble::unsupported);
    }
  }

  // Split products read the pieces of other ranks from their memory.
  void overlap() {
    if (layout_.overlap_tensor != Choice::on || layout_.tp == 1) return;
    const GroupSpan span =
        span_of(layout_.tp, stride(layout_, Dimension::tp), layout_.ranks(), run_.cluster);
    if (shares_memory(span, run_.cluster)) return;
    const int inner = memory_levels(run_.cluster);
    const std::string domain =
        inner == 0 ? "1 accelerator"
                   : std::to_string(run_.cluster.levels[static_cast<std::size_t>(inner - 1)].size) +
                         " accelerators (" +
                         run_.cluster.levels[static_cast<std::size_t>(inner - 1)].name + ")";
    fail("overlap-tensor", "needs a tensor group inside one domain of " + domain +
                               ", whose links reach other accelerators' memory; --tp " +
                               std::to_string(layout_.tp) + " leaves it; legal: off");
  }

  void offloading() {
    const bool any =
        layout_.offload_optimizer || layout_.offload_activations || layout_.offload_parameters;
    if (any && run_.cluster.accelerator.host_bandwidth.value() <= 0) {
      fail("offload",
           "the data of " + run_.cluster.accelerator.title +
               " state no host_bandwidth, which offloading needs",
           Trouble::missing);
    }
  }

  void precision() {
    const auto need = [&](Precision p) {
      if (run_.cluster.accelerator.peak_of(p).value() > 0) return true;
      std::string legal;
      for (int i = 0; i < kPrecisions; ++i) {
        if (run_.cluster.accelerator.peak[i].value() <= 0) continue;
        if (!legal.empty()) legal += ", ";
        legal += kPrecisionNames[i];
      }
      fail("precision",
           std::string(to_name(p)) + " is not supported by " + run_.cluster.accelerator.title +
               "; supported: " + legal,
           Trouble::unsupported);
      return false;
    };
    const Recipe& recipe = *run_.job.recipe;
    const bool multiplied = need(recipe.matmul);
    if (multiplied && recipe.scaled_by_products && !run_.cluster.accelerator.scales_blocks()) {
      fail("precision",
           std::string(recipe.name) + " has scales of blocks that " +
               run_.cluster.accelerator.title +
               " does not multiply with; legal: fp8, fp8-current, fp8-block, bf16",
           Trouble::unsupported);
    }
    if (recipe.activation != recipe.matmul) need(recipe.activation);
  }

  // A kernel of the fused activation writes them.
  void activation_inputs() {
    if (!run_.job.small_activation_inputs) return;
    const auto gated = [](const Layer& layer) {
      return (layer.feed_forward && layer.feed_forward->gated) ||
             (layer.experts && layer.experts->each.gated);
    };
    const std::vector<Layer>& kinds = run_.model.kinds;
    if (!run_.job.fused) {
      fail("small-activation-inputs", "needs fused kernels; legal: without --unfused");
    }
    if (std::none_of(kinds.begin(), kinds.end(), gated)) {
      fail("small-activation-inputs", run_.model.name + " has no gated activation");
    }
  }

  // Its backward pass, and the loss that its scores are trained with beside the model's.
  void chosen_keys() {
    const std::vector<Layer>& kinds = run_.model.kinds;
    if (std::none_of(kinds.begin(), kinds.end(), [](const Layer& layer) {
          return layer.attention && layer.attention->indexer;
        })) {
      return;
    }
    fail("model",
         run_.model.name +
             " reads keys that an indexer chooses: such attention is predicted in serving (headway "
             "infer), not in training",
         Trouble::unsupported);
  }

  // What is a setting of some frameworks only.
  void settings() {
    const Job& job = run_.job;
    const auto formats = [](const Habits& habit) { return habit.sharding.formats_chosen; };
    const auto buckets = [](const Habits& habit) { return habit.reduction.bucket_stated != 0; };
    of_frameworks("param-dtype", job.param_dtype != WireFormat::framework, formats);
    of_frameworks("reduce-dtype", job.reduce_dtype != WireFormat::framework, formats);
    of_frameworks("bucket-size", job.bucket_size > Bytes(0), buckets);
    const auto plus_plus = [](const Habits& habit) { return habit.sharding.zero_plus_plus; };
    of_frameworks("secondary-shard", layout_.secondary > 0, plus_plus);
    of_frameworks("quantized-weights", job.quantized_weights, plus_plus);
    of_frameworks("quantized-gradients", job.quantized_gradients, plus_plus);
    const bool every_second = layout_.recompute == Recompute::every_second;
    of_frameworks("recompute", every_second,
                  [](const Habits& habit) { return habit.kernels.every_second_product; });
    const std::vector<Layer>& kinds = run_.model.kinds;
    if (every_second && std::any_of(kinds.begin(), kinds.end(), [](const Layer& layer) {
          return layer.attention && layer.attention->linear;
        })) {
      fail("recompute", "of every second product is not priced for linear attention",
           Trouble::unsupported);
    }
  }
  template <class Has>
  void of_frameworks(const char* field, bool given, Has has) {
    if (!given || has(habits_)) return;
    std::string titles, names;
    for (std::size_t i = 0; i < framework_names().size(); ++i) {
      const auto other = static_cast<Framework>(i);
      if (base_of(other) != other || !has(habits(other))) continue;
      titles += (titles.empty() ? "" : ", ") + std::string(title_of(other));
      names += (names.empty() ? "" : " or ") + std::string(name_of(other));
    }
    fail(field, "is a setting of " + titles + "; leave it out, or give --framework " + names);
  }
};

}  // namespace

Problems check(const Run& run) {
  CheckFindings found;
  RunRules(run, run.layout, found).check();
  return found.problems;
}

// The first problem is enough, and nobody reads it.
bool is_legal(const Run& run, const Layout& layout) {
  CheckFindings found;
  found.silent = true;
  RunRules(run, layout, found).check();
  return !found.wrong;
}

bool is_legal(const Run& run) {
  return is_legal(run, run.layout);
}

}  // namespace headway
