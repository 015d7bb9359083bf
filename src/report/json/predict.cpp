#include "report/predict.hpp"

#include <algorithm>

#include "base/whole_number.hpp"
#include "model/count.hpp"
#include "report/json/run.hpp"

namespace headway {
namespace {

// More slots than these are not written, nor drawn.
constexpr std::int64_t kMostSlots = 200'000;

void write_call(JsonWriter& json, const PricedCall& priced, const Cluster& cluster) {
  const Call& call = priced.call;
  json.begin_object();
  json.member("group", to_name(call.group));
  json.member("op", to_name(call.op));
  json.member("bytes", call.bytes.value());
  json.member("count", whole_if_near(call.count));
  json.member("dtype", to_name(call.dtype));
  json.member("phase", to_name(call.phase));
  json.member("ranks", priced.ranks);
  json.member("level", cluster.levels[static_cast<std::size_t>(priced.level)].name);
  json.member("seconds_each", priced.each.value());
  json.member("exposed_s", priced.exposed.value());
  json.end_object();
}

void write_memory(JsonWriter& json, const Forecast& f) {
  json.begin_object();
  json.member("parameters", f.memory.parameters.value());
  json.member("gradients", f.memory.gradients.value());
  json.member("optimizer", f.memory.optimizer.value());
  json.member("activations", f.memory.activations.value());
  json.member("buffers", f.memory.buffers.value());
  json.member("other", f.memory.other.value());
  json.member("total", f.memory.total().value());
  json.member("capacity", f.capacity.value());
  json.end_object();
}

// Every slot of the pipeline, a column for each property; null where there is no pipeline, or too
// many.
void write_timeline(JsonWriter& json, const Run& run, const PipelineTimes& pipeline) {
  const std::int64_t count = micro_batches(run.job, run.layout);
  const Pipeline shape = pipeline_of(run.layout, count);
  const std::int64_t of_chunk = 3 * shape.micro_batches_of_copy();  // at most
  const bool placed = !run.layout.split_vocabulary;  // its passes are no slots of one stage
  if (!placed || shape.ranks == 1 || shape.ranks * shape.chunks() * of_chunk > kMostSlots) {
    return json.null();
  }
  const std::vector<PlacedSlot> slots =
      pipeline_slots(pipeline.stages, run.layout, count, pipeline.send);
  json.begin_object();
  Seconds last(0);
  for (const PlacedSlot& slot : slots) last = std::max(last, slot.free);
  json.member("time_s", last.value());
  json.key("works");
  json.begin_array();
  for (const std::string_view name : kSlotWorkNames) json.value(name);
  json.end_array();
  json.key("ranks");
  json.begin_array();
  for (auto begin = slots.begin(); begin != slots.end();) {
    const auto end = std::find_if(begin, slots.end(),
                                  [&](const PlacedSlot& slot) { return slot.rank != begin->rank; });
    const auto column = [&](std::string_view name, auto&& of) {
      json.key(name);
      json.begin_array();
      for (auto slot = begin; slot != end; ++slot) json.value(of(*slot));
      json.end_array();
    };
    json.begin_object();
    column("work", [](const PlacedSlot& slot) { return static_cast<std::int64_t>(slot.work); });
    column("chunk", [](const PlacedSlot& slot) { return slot.chunk; });
    column("micro_batch", [](const PlacedSlot& slot) { return slot.micro_batch; });
    column("begin_s", [](const PlacedSlot& slot) { return slot.begin.value(); });
    column("end_s", [](const PlacedSlot& slot) { return slot.end.value(); });
    column("free_s", [](const PlacedSlot& slot) { return slot.free.value(); });
    json.end_object();
    begin = end;
  }
  json.end_array();
  json.end_object();
}

// The stages' times for one micro-batch, from which the schedule makes the bubble.
void write_pipeline(JsonWriter& json, const Run& run, const PipelineTimes& pipeline,
                    bool timeline) {
  json.begin_object();
  json.key("stages");
  json.begin_array();
  std::int64_t first = 0;
  for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
    const StageTime& time = pipeline.stages[i];
    json.begin_object();
    json.member("first", first);
    json.member("stages", time.stages);
    json.member("forward_s", time.forward.value());
    json.member("backward_s", time.backward.value());
    json.member("weight_gradient_s", time.weight_gradient.value());
    json.member("transfers_s", time.transfers.value());
    json.member("sets_pace", i == pipeline.pace);
    json.end_object();
    first += time.stages;
  }
  json.end_array();
  json.member("send_s", pipeline.send.value());
  if (timeline) {
    json.key("timeline");
    write_timeline(json, run, pipeline);
  }
  json.end_object();
}

}  // namespace

void write_op_table(JsonWriter& json, const OpTable& table) {
  json.begin_array();
  for (const OpRow& row : table.rows) {
    json.begin_object();
    json.member("part", row.part);
    json.member("module", row.module);
    json.member("phase", row.phase);
    json.member("op", row.name);
    json.member("count", whole_if_near(row.count));
    json.member("flop", row.flops.value());
    json.member("bytes", row.bytes.value());
    json.member("flop_per_byte", row.intensity());
    json.member("time_s", row.time().value());
    json.member("share", row.time() / table.total.total());
    json.member("bound", to_name(row.times.most()));
    if (!row.level.empty()) json.member("level", row.level);
    json.key("bound_s");
    json.begin_object();
    for (std::size_t i = 0; i < kBoundNames.size(); ++i) {
      json.member(kBoundNames[i], row.times[static_cast<Bound>(i)].value());
    }
    json.end_object();
    json.end_object();
  }
  json.end_array();
}

std::string predict_json(const RequestedRun& run, const Forecast& f, bool timeline,
                         const OpTable* ops) {
  const Parameters counted = parameters(run.model);
  JsonWriter json;
  json.begin_object();
  json.member("model", run.model.name);
  json.member("cluster", run.cluster.name);
  if (run.far != nullptr) {
    json.member("far_cluster", run.far->cluster.name);
    json.member("far_stages", run.far->stages);
  }
  json.member("parameters", counted.total);
  json.member("active_parameters", counted.active);
  json.key("job");
  write(json, run_job_json(run));
  json.key("layout");
  write(json, run_layout_json(run));
  json.member("step_time_s", f.step_time.value());
  json.key("interval_step_time_s");
  write(json, interval_json(f.step_time_interval));
  json.key("interval_from");
  write(json, nearness_json(run, f));
  json.key("parts_s");
  write(json, parts_json(f.parts));
  json.key("pipeline");
  write_pipeline(json, run, f.pipeline, timeline);
  json.member("tokens_per_s", f.tokens_per_second);
  json.member("tokens_per_s_per_gpu", f.tokens_per_second_per_accelerator);
  json.member("model_flops_per_s_per_gpu", f.model_flops_per_accelerator.value());
  json.member("attention_flops", run.convention == AttentionFlops::full ? "full" : "causal");
  json.member("mfu", f.mfu);
  json.member("hfu", f.hfu);
  json.key("memory_bytes");
  write_memory(json, f);
  json.key("interval_memory_bytes");
  write(json, interval_json(f.memory_interval));
  json.member("fits", f.fits);
  json.member("energy_j", f.energy.value());
  json.key("calls");
  json.begin_array();
  for (const PricedCall& call : f.calls) {
    write_call(json, call, machine_of_calls(run, f.pace_is_far));
  }
  json.end_array();
  if (ops != nullptr) {
    json.key("ops");
    write_op_table(json, *ops);
  }
  json.key("notes");
  json.begin_array();
  for (const std::string& note : f.notes) json.value(note);
  for (const std::string& assumption : run.assumptions) json.value("assumed: " + assumption);
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace headway
