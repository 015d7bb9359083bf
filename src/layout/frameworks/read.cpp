#include "layout/frameworks/read.hpp"

#include <algorithm>
#include <array>

#include "base/document/sources.hpp"
#include "base/text.hpp"

namespace headway {
namespace {

constexpr std::array<std::string_view, 2> kReductions = {"reduce-scatter", "all-reduce"};
constexpr std::array<std::string_view, 2> kClosings = {"reached", "before"};
constexpr std::array<std::string_view, 3> kWeightGathers = {"buckets", "pieces", "whole"};
constexpr std::array<std::string_view, 3> kNormRanks = {"model", "world", "shards"};
constexpr std::array<std::string_view, 3> kInterleavings = {"any", "multiple", "rounds"};

// What is not stated stays as it is.
void read(Fields& fields, std::string_view key, bool& into) {
  into = fields.flag_or(key, into);
}
void read(Fields& fields, std::string_view key, std::int64_t& into) {
  into = fields.natural_or(key, into);
}
void read(Fields& fields, std::string_view key, double& into) {
  into = fields.number_or(key, into);
  if (into < 0) fields.fail(key, "must not be negative");
}
void read_zero(Fields& fields, std::string_view key, int& into) {
  const std::int64_t stage = fields.natural_or(key, into);
  if (stage > 3) return fields.fail(key, "must be a ZeRO stage, 0 to 3");
  into = static_cast<int>(stage);
}
// ZeRO stages, a bit each.
void read_stages(Fields& fields, std::string_view key, std::uint8_t& into) {
  if (!fields.has(key)) return;
  into = 0;
  for (const std::int64_t stage : fields.naturals_or_empty(key)) {
    if (stage > 3) return fields.fail(key, "must list ZeRO stages, 0 to 3");
    into = static_cast<std::uint8_t>(into | 1U << static_cast<unsigned>(stage));
  }
}
template <class Enum, std::size_t N>
void read(Fields& fields, std::string_view key, const std::array<std::string_view, N>& names,
          Enum& into) {
  const std::string text = fields.text_or(key, names[static_cast<std::size_t>(into)]);
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return void(into = static_cast<Enum>(found - names.begin()));
  const std::vector<std::string> known(names.begin(), names.end());
  fields.fail(key, "'" + printable(text) + "' is not known; legal: " + join(known, ", "));
}

void read_memory(Fields fields, MemoryHabits& into) {
  read(fields, "weights", into.weights);
  read(fields, "master_separate", into.master_separate);
  read(fields, "gradients", into.gradients);
  read(fields, "gradients_fp16", into.gradients_fp16);
  read(fields, "weights_8_bit", into.weights_8_bit);
  read(fields, "gradients_8_bit", into.gradients_8_bit);
  read(fields, "transient_gradients", into.transient_gradients);
  read(fields, "transient_of_stage", into.transient_of_stage);
  read(fields, "loss", into.loss);
  read(fields, "gaps_cost_time", into.gaps_cost_time);
  fields.reject_unknown();
}

void read_sharding(Fields fields, ShardingHabits& into) {
  read_zero(fields, "zero", into.zero);
  read_zero(fields, "most_zero_in_pipeline", into.most_zero_in_pipeline);
  read(fields, "gathered", into.gathered);
  read(fields, "gathered_blocks", into.gathered_blocks);
  read(fields, "flat_gradients", into.flat_gradients);
  read(fields, "zero2_is_zero3_kept", into.zero2_is_zero3_kept);
  read(fields, "keeps_gathered", into.keeps_gathered);
  read(fields, "sends_indices", into.sends_indices);
  read(fields, "formats_chosen", into.formats_chosen);
  read(fields, "gathers", kWeightGathers, into.gathers);
  read(fields, "zero_plus_plus", into.zero_plus_plus);
  read(fields, "fetch", into.fetch);
  read(fields, "resident", into.resident);
  read(fields, "reuse", into.reuse);
  read(fields, "outer_unit", into.outer_unit);
  read(fields, "at_once", into.at_once);
  fields.reject_unknown();
}

void read_reduction(Fields fields, ReductionHabits& into) {
  read(fields, "reduced", into.reduced);
  read(fields, "by", kReductions, into.by);
  read(fields, "each_micro_batch", into.each_micro_batch);
  read(fields, "bucket", into.bucket);
  read(fields, "bucket_a_rank", into.bucket_a_rank);
  read(fields, "first_bucket", into.first_bucket);
  read(fields, "bucket_closes", kClosings, into.bucket_closes);
  read_stages(fields, "bucket_stated", into.bucket_stated);
  read(fields, "bucket_if_overlapped", into.bucket_if_overlapped);
  read(fields, "first_stage_buckets", into.first_stage_buckets);
  read(fields, "norm", kNormRanks, into.norm);
  read(fields, "overflow", into.overflow);
  read(fields, "sums_replicated", into.sums_replicated);
  fields.reject_unknown();
}

void read_overlap(Fields fields, OverlapHabits& into) {
  read(fields, "gradients", into.gradients);
  read(fields, "parameters", into.parameters);
  read(fields, "tensor", into.tensor);
  read(fields, "tables", into.tables);
  fields.reject_unknown();
}

void read_pipeline(Fields fields, PipelineHabits& into) {
  read(fields, "splits_transfers", into.splits_transfers);
  into.metadata = fields.quantity_or<Bytes>("metadata", into.metadata);
  read(fields, "describes_sends", into.describes_sends);
  read(fields, "balances_stages", into.balances_stages);
  read(fields, "spreads_as_stated", into.spreads_as_stated);
  read(fields, "interleaved", kInterleavings, into.interleaved);
  read(fields, "micro_batches_in_rounds", into.micro_batches_in_rounds);
  fields.reject_unknown();
}

void read_batch(Fields fields, BatchHabits& into) {
  read(fields, "broadcast", into.broadcast);
  read(fields, "field_by_field", into.field_by_field);
  read(fields, "loss_each_micro_batch", into.loss_each_micro_batch);
  read(fields, "loss_each_step", into.loss_each_step);
  fields.reject_unknown();
}

void read_experts(Fields fields, ExpertHabits& into) {
  read(fields, "split_as_layers", into.split_as_layers);
  fields.reject_unknown();
}

void read_kernels(Fields fields, KernelHabits& into) {
  read(fields, "eager", into.eager);
  read(fields, "joined_weights", into.joined_weights);
  read(fields, "pads_vocabulary", into.pads_vocabulary);
  read(fields, "fused_norms", into.fused_norms);
  read(fields, "attention_copies", into.attention_copies);
  read(fields, "newest_attention", into.newest_attention);
  read(fields, "loss_forward", into.loss_forward);
  read(fields, "loss_backward", into.loss_backward);
  read(fields, "optimizer_passes", into.optimizer_passes);
  read(fields, "fused_weight_gradient", into.fused_weight_gradient);
  read(fields, "casts_gradient", into.casts_gradient);
  read(fields, "recompute_stops_early", into.recompute_stops_early);
  read(fields, "every_second_product", into.every_second_product);
  read(fields, "expert_bias_forward", into.expert_bias_forward);
  read(fields, "expert_bias_backward", into.expert_bias_backward);
  read(fields, "weighs_between", into.weighs_between);
  fields.reject_unknown();
}

// What `fields` state, over what `into` holds.
void read_habits(Fields& fields, Habits& into) {
  read_memory(fields.table("memory"), into.memory);
  read_sharding(fields.table("sharding"), into.sharding);
  read_reduction(fields.table("reduction"), into.reduction);
  read_overlap(fields.table("overlap"), into.overlap);
  read_pipeline(fields.table("pipeline"), into.pipeline);
  read_batch(fields.table("batch"), into.batch);
  read_experts(fields.table("experts"), into.experts);
  read_kernels(fields.table("kernels"), into.kernels);
}

}  // namespace

Result<FrameworkFile> read_framework(Document document, const std::string& name,
                                     std::span<const FrameworkFile> others) {
  Problems problems;
  Fields fields(document, problems);
  FrameworkFile out;
  out.name = name;
  out.title = fields.text("title");
  out.order = fields.number_or("order", 1e3);
  out.base = fields.text_or("base", "");
  out.told = fields.text_or("told", "");
  out.of_networks = fields.flag_or("of_networks", false);
  const auto base = std::find_if(others.begin(), others.end(), [&](const FrameworkFile& each) {
    return each.name == out.base && each.base.empty();
  });
  if (base != others.end()) {
    out.habits = base->habits;
    out.uneven_stages = base->uneven_stages;
  } else {
    if (!out.base.empty()) fields.fail("base", "'" + printable(out.base) + "' is no framework");
    out.habits.emplace_back();
  }
  for (DatedHabits& each : out.habits) read_habits(fields, each.habits);
  for (Fields& later : fields.tables("since")) {
    if (!out.base.empty()) later.fail("date", "is of a framework without a base");
    const std::string date = later.text("date");
    DatedHabits next{years_of(date).value_or(0), out.habits.back().habits};
    if (next.since <= 0) later.fail("date", "'" + printable(date) + "' is no date, as 2025-06");
    if (next.since < out.habits.back().since) later.fail("date", "comes before the one above");
    later.text("version");
    later.text("source");
    read_habits(later, next.habits);
    later.reject_unknown();
    out.habits.push_back(next);
  }
  Fields options = fields.table("options");
  out.uneven_stages = options.text_or("uneven_stages", out.uneven_stages);
  options.reject_unknown();
  fields.table("plan");  // study/plan reads it
  read_sources(fields, document, problems, Sourced::values);
  fields.reject_unknown();
  if (!problems.empty()) return problems;
  out.document = std::move(document);
  return out;
}

Result<std::vector<FrameworkFile>> read_frameworks(std::span<const Document> documents) {
  std::vector<FrameworkFile> out;
  Problems problems;
  // Those that state a base come after all that may be one.
  std::vector<Document> ordered(documents.begin(), documents.end());
  std::stable_partition(ordered.begin(), ordered.end(), [](const Document& document) {
    return document.root.find("base") == nullptr;
  });
  for (const Document& document : ordered) {
    std::string name = document.file.substr(document.file.rfind('/') + 1);
    name.resize(name.size() - std::min<std::size_t>(name.size(), 5));  // ".toml"
    auto read = read_framework(document, name, out);
    if (read) {
      out.push_back(*std::move(read));
    } else {
      append(problems, read.problems());
    }
  }
  if (out.size() > 256) problems.push_back({"data/frameworks", "holds more than 256"});
  if (out.empty() && problems.empty()) problems.push_back({"data/frameworks", "is empty"});
  if (!problems.empty()) return problems;
  std::stable_sort(out.begin(), out.end(), [](const FrameworkFile& a, const FrameworkFile& b) {
    return a.order < b.order;
  });
  return out;
}

}  // namespace headway
