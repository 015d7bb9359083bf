// The rows of the table.
#include "layout/fields.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

namespace headway {
namespace {

constexpr double kMostCount = 1e12;

// The class of a member, and of what holds it.
template <class Part, class Value>
Part part_of(Value Part::*);
template <auto member>
using PartOf = decltype(part_of(member));

template <auto member>
constexpr FieldAccess<PartOf<member>> at() {
  using Part = PartOf<member>;
  return {
      [](const Part& part) { return static_cast<double>(part.*member); },
      [](Part& part, double number) {
        using Value = std::remove_reference_t<decltype(part.*member)>;
        part.*member = static_cast<Value>(
            static_cast<std::conditional_t<std::is_enum_v<Value>, std::uint8_t, Value>>(number));
      }};
}

FieldForm whole(double least = 1, double most = kMostCount) {
  return {.kind = FieldForm::Kind::whole, .least = least, .most = most};
}
// A whole number from 1 on; 0 where none is given.
FieldForm whole_or_none() {
  return {.kind = FieldForm::Kind::whole, .least = 1, .most = kMostCount, .none = 0};
}
FieldForm one_of(std::span<const std::string_view> names) {
  return {.kind = FieldForm::Kind::name, .names = names};
}
// The same of names of which the first leaves the choice to the framework.
FieldForm left_open(std::span<const std::string_view> names) {
  return {.kind = FieldForm::Kind::name, .names = names, .none = 0};
}
FieldForm flag(bool sets = true) {
  return {.kind = FieldForm::Kind::flag, .sets = sets};
}

// Every order of the dimensions, "tp-cp-dp-pp" first.
struct Orders {
  std::array<std::array<Dimension, 4>, 24> orders;
  std::array<std::string, 24> texts;
  std::array<std::string_view, 24> names;

  Orders() {
    std::array<Dimension, 4> order = {Dimension::tp, Dimension::cp, Dimension::dp, Dimension::pp};
    for (std::size_t i = 0; i < orders.size(); ++i) {
      orders[i] = order;
      for (const Dimension dimension : order) {
        texts[i] += (texts[i].empty() ? "" : "-") +
                    std::string(kDimensionNames[static_cast<std::size_t>(dimension)]);
      }
      names[i] = texts[i];
      std::next_permutation(order.begin(), order.end());
    }
  }
};
const Orders& orders() {
  static const Orders out;
  return out;
}
constexpr FieldAccess<Layout> kOrder = {
    [](const Layout& l) {
      const auto& all = orders().orders;
      return static_cast<double>(std::find(all.begin(), all.end(), l.order) - all.begin());
    },
    [](Layout& l, double number) { l.order = orders().orders[static_cast<std::size_t>(number)]; }};

constexpr std::array<std::string_view, 3> kOffloads = {"optimizer", "activations", "parameters"};
constexpr FieldAccess<Layout> kOffload = {
    [](const Layout& l) {
      return 1.0 * l.offload_optimizer + 2.0 * l.offload_activations + 4.0 * l.offload_parameters;
    },
    [](Layout& l, double number) {
      const auto bits = static_cast<unsigned>(number);
      l.offload_optimizer = (bits & 1) != 0;
      l.offload_activations = (bits & 2) != 0;
      l.offload_parameters = (bits & 4) != 0;
    }};

// All that can run again: every piece but `other`.
constexpr std::span<const std::string_view> kPieces = std::span(kPieceNames).subspan(1);
constexpr FieldAccess<Layout> kRecomputedPieces = {
    [](const Layout& l) { return static_cast<double>(l.recompute_pieces >> 1); },
    [](Layout& l, double number) {
      l.recompute_pieces = static_cast<std::uint8_t>(static_cast<unsigned>(number) << 1);
    }};

constexpr FieldAccess<Job> kRecipe = {
    [](const Job& job) { return static_cast<double>(job.recipe - recipes().data()); },
    [](Job& job, double number) { job.recipe = &recipes()[static_cast<std::size_t>(number)]; }};
std::span<const std::string_view> recipe_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for (const Recipe& recipe : recipes()) out.push_back(recipe.name);
    return out;
  }();
  return names;
}

constexpr std::array<std::string_view, 2> kConventionNames = {"full", "causal"};
constexpr FieldAccess<AttentionFlops> kConvention = {
    [](const AttentionFlops& convention) { return static_cast<double>(convention); },
    [](AttentionFlops& convention, double number) {
      convention = static_cast<AttentionFlops>(number);
    }};

std::vector<FieldRow> rows() {
  using Form = FieldForm::Kind;
  return {
      {{"model", "NAME|FILE", "built-in name (headway list models), config.json or .toml"}, {}},
      {{"vocab", "N", "tokens of the vocabulary, in place of the model's"}, whole(1, 1e9)},
      {{"cluster", "NAME|FILE", "built-in name (headway list clusters) or .toml"}, {}},
      {{"gpus", "N", "accelerators of the run; default: the product of the degrees"},
       whole(),
       FieldAccess<Layout>{[](const Layout& l) { return static_cast<double>(l.ranks()); }, nullptr},
       "gpus"},
      {{"seq", "N", "tokens in one sequence"}, whole(), at<&Job::sequence>()},
      {{"global-batch", "N", "sequences in one step"}, whole(), at<&Job::global_batch>()},
      {{"framework", "NAME", "megatron (default), fsdp, deepspeed, nanotron, jax"},
       one_of(framework_names()),
       at<&Job::framework>()},
      {{"precision", "RECIPE",
        "bf16 (default), fp32, tf32, fp16, fp8, fp8-current, fp8-block, mxfp8, fp4"},
       one_of(recipe_names()),
       kRecipe},
      {{"task", "NAME", "pretrain (default), finetune, lora"},
       one_of(kTaskNames),
       at<&Job::task>()},
      {{"optimizer", "NAME", "adamw (default), adam, sgd, adafactor, muon, adam-8bit"},
       one_of(kOptimizerNames),
       at<&Job::optimizer>()},
      {{"attention", "KERNEL",
        "unfused, flash1, flash2, flash3, triton; default: what the hardware runs best"},
       one_of(kAttentionKernelNames),
       at<&Job::attention>()},
      {{"dp", "N", "data-parallel degree; default: what the other degrees leave of --gpus"},
       whole(),
       at<&Layout::dp>(),
       "dp"},
      {{"tp", "N", "tensor-parallel degree"}, whole(), at<&Layout::tp>(), "tp"},
      {{"cp", "N", "context-parallel degree"}, whole(), at<&Layout::cp>(), "cp"},
      {{"pp", "N", "pipeline-parallel degree"}, whole(), at<&Layout::pp>(), "pp"},
      {{"vpp", "N", "virtual pipeline stages on each rank"}, whole(), at<&Layout::vpp>(), "vpp"},
      {{"ep", "N", "expert-parallel degree, inside dp x cp x tp"},
       whole(),
       at<&Layout::ep>(),
       "ep"},
      {{"etp", "N", "tensor-parallel degree inside an expert"}, whole(), at<&Layout::etp>(), "etp"},
      {{"micro-batch", "N", "sequences in one micro-batch"},
       whole(),
       at<&Layout::micro_batch>(),
       "micro_batch"},
      {{"zero", "0..3", "ZeRO stage; default: the framework's habit (megatron 1, fsdp 3)"},
       whole(0, 3),
       at<&Layout::zero>(),
       "zero"},
      {{"shard", "N", "ranks that share one copy of sharded states (hybrid sharding)"},
       whole_or_none(),
       at<&Layout::shard>(),
       "shard"},
      {{"no-reshard", "", "ZeRO-3: keep gathered weights from forward to backward"},
       flag(false),
       at<&Layout::reshard_after_forward>(),
       "reshard"},
      {{"no-sp", "", "tensor parallelism without sequence parallelism"},
       flag(false),
       at<&Layout::sequence_parallel>(),
       "sequence_parallel",
       [](const Layout& l) { return l.sequence_parallel && l.tp > 1 ? 1.0 : 0.0; }},
      {{"keep-gathered", "", "sequence parallelism keeps gathered inputs for the backward pass"},
       flag(),
       at<&Layout::keep_gathered>(),
       "keep_gathered"},
      {{"cp-exchange", "KIND", "ring (default) or all-to-all"},
       one_of(kContextExchangeNames),
       at<&Layout::context_exchange>(),
       "cp_exchange"},
      {{"recompute", "MODE", "none (default), selective (attention core), full"},
       one_of(kRecomputeNames),
       at<&Layout::recompute>(),
       "recompute"},
      {{"recompute-pieces", "LIST",
        "selective recomputes core (default), norm, latent-up, activation, feed-forward, experts"},
       {.kind = Form::names, .names = kPieces},
       kRecomputedPieces,
       "recompute_pieces"},
      {{"recompute-every", "N", "full recomputation keeps the input of every n-th layer"},
       whole(),
       at<&Layout::recompute_every>(),
       "recompute_every"},
      {{"recompute-early-stop", "on|off",
        "full: a layer's recomputation ends before its last product"},
       left_open(kChoiceNames),
       at<&Layout::recompute_early_stop>(),
       "recompute_early_stop"},
      {{"schedule", "NAME", "1f1b (default), gpipe, zero-bubble, zero-bubble-v, dual-pipe"},
       one_of(kScheduleNames),
       at<&Layout::schedule>(),
       "schedule"},
      {{"first-stage-layers", "N", "layers on the first pipeline stage"},
       whole_or_none(),
       at<&Layout::first_stage_layers>(),
       "first_stage_layers"},
      {{"last-stage-layers", "N", "layers on the last pipeline stage"},
       whole_or_none(),
       at<&Layout::last_stage_layers>(),
       "last_stage_layers"},
      {{"embedding-slots", "N", "layers that the embedding counts as where layers are spread"},
       whole(0),
       at<&Layout::embedding_slots>(),
       "embedding_slots"},
      {{"head-slots", "N", "the same of the head with prediction modules"},
       whole(0),
       at<&Layout::head_slots>(),
       "head_slots"},
      {{"offload", "LIST", "optimizer, activations, parameters (comma-separated)"},
       {.kind = Form::names, .names = kOffloads, .wrong = "cannot be offloaded"},
       kOffload,
       "offload"},
      {{"order", "DIMS", "numbering of the ranks from the innermost, default tp-cp-dp-pp"},
       {.kind = Form::name,
        .names = orders().names,
        .wrong = "must name tp, cp, dp and pp once each, e.g. tp-cp-dp-pp",
        .lists = false},
       kOrder,
       "order"},
      {{"overlap-gradients", "on|off", "reduce gradients under the backward pass"},
       left_open(kChoiceNames),
       at<&Layout::overlap_gradients>(),
       "overlap_gradients"},
      {{"overlap-parameters", "on|off", "gather parameters under the forward pass"},
       left_open(kChoiceNames),
       at<&Layout::overlap_parameters>(),
       "overlap_parameters"},
      {{"overlap-tensor", "on|off", "tensor-parallel calls under split products"},
       left_open(kChoiceNames),
       at<&Layout::overlap_tensor>(),
       "overlap_tensor"},
      {{"param-dtype", "bf16|fp32",
        "FSDP: format of gathered weights; fp32 with a 16-bit recipe is autocast"},
       left_open(kWireFormatNames),
       at<&Job::param_dtype>()},
      {{"reduce-dtype", "bf16|fp32", "FSDP: format of reduced gradients"},
       left_open(kWireFormatNames),
       at<&Job::reduce_dtype>()},
      {{"padding-mask", "", "batches come with a mask: tokens are gathered for flash attention"},
       flag(),
       at<&Job::padding_mask>()},
      {{"fused-loss", "on|off", "cross-entropy in one kernel each way"},
       left_open(kChoiceNames),
       at<&Job::fused_loss>()},
      {{"loss-metrics", "N", "times that training metrics evaluate the loss again"},
       whole(0),
       at<&Job::loss_metrics>()},
      {{"overlap-experts", "on|off", "exchange tokens under the work of another micro-batch"},
       left_open(kChoiceNames),
       at<&Layout::overlap_experts>(),
       "overlap_experts"},
      {{"dispatch", "KIND", "copies (default): a token goes to each expert; once: to each rank"},
       one_of(kDispatchNames),
       at<&Layout::dispatch>(),
       "dispatch"},
      {{"graphs", "KIND", "CUDA graphs: none (default), dense (all but routed experts), step"},
       one_of(kGraphNames),
       at<&Job::graphs>()},
      {{"fused-experts", "", "activation and casts inside the experts' grouped products"},
       flag(),
       at<&Job::fused_experts>()},
      {{"attention-8-bit", "", "the attention core in 8 bit, too, with an 8-bit recipe"},
       flag(),
       at<&Job::attention_8_bit>()},
      {{"small-gradients", "", "gradients in 16 bit where the framework's habit is 32"},
       flag(),
       at<&Job::small_gradients>()},
      {{"unfused", "", "one kernel for each operation of norms, activation, rotary, dropout"},
       flag(false),
       at<&Job::fused>()},
      {{"not-causal", "", "every token attends to every other"}, flag(false), at<&Job::causal>()},
      {{"dropout", "P", "probability; default: the model's own recipe"},
       {.kind = Form::number, .least = 0, .most = 0.999, .none = -1},
       at<&Job::dropout>()},
      {{"lora-rank", "N", "rank of the adapters (task lora)"}, whole(), at<&Job::lora_rank>()},
      {{"adapters", "KIND", "all (default) or query-key-value: matrices with adapters (task lora)"},
       one_of(kAdapterNames),
       at<&Job::adapters>()},
      {{"document", "N", "mean tokens of documents packed into a sequence; default: one fills it"},
       whole_or_none(),
       at<&Job::document>()},
      {{"expert-imbalance", "X", "tokens of the fullest expert rank over the mean, at least 1"},
       {.kind = Form::number, .least = 1, .most = 1000},
       at<&Job::expert_imbalance>()},
      {{"software", "YEAR-MONTH", "date of framework and libraries, as 2025-06; default: today's"},
       {.kind = Form::month, .none = 0},
       at<&Job::software>()},
      {{"checked-collectives", "", "hosts check each collective (TORCH_DISTRIBUTED_DEBUG=DETAIL)"},
       flag(),
       at<&Job::checked_collectives>()},
      {{"blocking-transfers", "", "pipeline transfers wait for the host (nanotron before 2025)"},
       flag(),
       at<&Job::blocking_transfers>()},
      {{"attention-flops", "KIND", "full (default) or causal: how MFU counts attention"},
       one_of(kConventionNames),
       kConvention},
  };
}

}  // namespace

std::span<const FieldRow> field_rows() {
  static const std::vector<FieldRow> out = rows();
  return out;
}

std::span<const RunField> run_fields() {
  static const std::vector<RunField> out = fields_of(field_rows());
  return out;
}

std::vector<RunField> fields_of(std::span<const FieldRow> rows) {
  std::vector<RunField> out;
  for (const FieldRow& row : rows) out.push_back(row.field);
  return out;
}

bool can_be_set(const FieldRow& row) {
  return std::visit(
      [](const auto& access) {
        if constexpr (std::is_same_v<decltype(access), const std::monostate&>) {
          return false;
        } else {
          return access.set != nullptr;
        }
      },
      row.access);
}

const FieldRow* field_row(std::string_view name) {
  for (const FieldRow& row : field_rows()) {
    if (row.field.name == name) return &row;
  }
  return nullptr;
}

}  // namespace headway
