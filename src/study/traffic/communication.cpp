#include "study/traffic/communication.hpp"

#include <algorithm>

#include "cluster/load.hpp"
#include "forecast/price.hpp"
#include "model/count.hpp"
#include "model/reading/load.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

// configs/*.yml of GPT-NeoX at ea7aefd8: sequences of 2,048 tokens, micro-batches of 4, ZeRO-1.
constexpr std::int64_t kSequence = 2048, kMicroBatch = 4;
// Ranks of the data-parallel runs: 8 nodes.
constexpr std::int64_t kDataRanks = 64;
// Micro-batches of a step that a pipeline works on.
constexpr std::int64_t kPipelined = 16;
// Of the overhead of model parallelism: one node, and a batch in which four stages have eight
// micro-batches each.
constexpr std::int64_t kNodeRanks = 8, kNodeDegree = 4, kNodeBatch = 64;

// A model on a cluster, trained with a framework.
struct Given {
  Run run;
  Calibration calibration;
};

// GPT-NeoX has no sequence parallelism at this commit.
Layout plain_layout() {
  Layout out;
  out.micro_batch = kMicroBatch;
  out.zero = 1;
  out.sequence_parallel = false;
  return out;
}

Run split(Run run, const Layout& layout, std::int64_t sequence, std::int64_t micro) {
  run.layout = layout;
  run.job.sequence = sequence;
  run.job.global_batch = layout.dp * layout.micro_batch * micro;
  return run;
}

// Adds the run, where the layout is legal: 12 heads do not split over 8 ranks, nor 6 layers.
void add_run(CommunicationStudy& study, StudyPart part, const Given& given, const Layout& layout,
             std::int64_t sequence, std::int64_t micro) {
  const Run asked = split(given.run, layout, sequence, micro);
  if (!is_legal(asked)) return;
  const Forecast priced = forecast(asked, given.calibration);
  const Traffic traffic = traffic_of(asked, given.calibration);
  StudiedRun run;
  run.part = part;
  run.model = given.run.model.name;
  run.cluster = given.run.cluster.name;
  run.sequence = sequence;
  run.layout = layout;
  run.weights = Bytes(2.0 * static_cast<double>(parameters(given.run.model).total));
  run.step_time = priced.step_time;
  run.tokens_per_second_per_accelerator = priced.tokens_per_second_per_accelerator;
  run.bubble = priced.parts.bubble;
  run.fits = priced.fits;
  run.calls = calls_of_mean_rank(traffic);
  study.runs.push_back(std::move(run));
}

void add_part(CommunicationStudy& study, StudyPart part, const Given& given) {
  Layout layout = plain_layout();
  switch (part) {
    case StudyPart::data:
      layout.dp = kDataRanks;
      for (layout.zero = 0; layout.zero <= 3; ++layout.zero) {
        add_run(study, part, given, layout, kSequence, 1);
      }
      return;
    case StudyPart::tensor:
      for (const std::int64_t degree : {2, 4, 8}) {
        layout.tp = degree;
        add_run(study, part, given, layout, kSequence, 1);
      }
      return;
    case StudyPart::pipeline:
      for (const std::int64_t degree : {2, 4, 8}) {
        layout.pp = degree;
        add_run(study, part, given, layout, kSequence, kPipelined);
      }
      return;
    case StudyPart::combined:
      layout.tp = 4;
      layout.pp = 2;
      layout.dp = 8;
      add_run(study, part, given, layout, kSequence, kPipelined);
      return;
    case StudyPart::sequence:
      layout.tp = 4;
      layout.dp = 16;
      layout.micro_batch = 1;  // the longest do not fit otherwise
      for (std::int64_t sequence = 512; sequence <= 16384; sequence *= 2) {
        add_run(study, part, given, layout, sequence, 1);
      }
      return;
    case StudyPart::overhead:
      for (const auto& [tp, pp] :
           {std::pair<std::int64_t, std::int64_t>(1, 1), {kNodeDegree, 1}, {1, kNodeDegree}}) {
        layout.tp = tp;
        layout.pp = pp;
        layout.dp = kNodeRanks / tp / pp;
        add_run(study, part, given, layout, kSequence, kNodeBatch / kMicroBatch / layout.dp);
      }
      return;
    case StudyPart::growth:
      for (layout.dp = 8; layout.dp <= 512; layout.dp *= 8) {
        add_run(study, part, given, layout, kSequence, 1);
      }
      return;
    case StudyPart::interconnect:
      add_part(study, StudyPart::combined, given);
      study.runs.back().part = part;
      return;
  }
}

// The calls of `layout` as lowered, one micro-batch.
Step lowered(const Given& given, const Layout& layout) {
  return lower(split(given.run, layout, kSequence, 1));
}

template <class Wanted>
const Call* largest(const std::vector<Item>& items, Wanted wanted) {
  const Call* out = nullptr;
  for (const Call& call : only<Call>(items)) {
    if (wanted(call) && (out == nullptr || call.bytes > out->bytes)) out = &call;
  }
  return out;
}

// All-reduces over the tensor-parallel ranks for one micro-batch.
struct Reductions {
  double layer_calls = 0, all_calls = 0;
  Bytes layer_bytes;
};

Reductions reductions(const Given& given) {
  Layout layout = plain_layout();
  layout.tp = 2;
  const Step step = lowered(given, layout);
  Reductions out;
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {
    const double blocks = static_cast<double>(step.stages.front().counts[i]);
    for (const Call& call : only<Call>(step.blocks[i].items)) {
      if (call.group != Group::tp || call.op != CollectiveOp::all_reduce) continue;
      out.all_calls += blocks * call.count;
      if (step.blocks[i].kind != BlockKind::layer) continue;
      out.layer_calls += blocks * call.count;
      out.layer_bytes += blocks * call.count * call.bytes;
    }
  }
  return out;
}

StudiedModel studied(const Given& given) {
  StudiedModel out;
  out.model = given.run.model.name;
  out.parameters = static_cast<double>(parameters(given.run.model).total);
  out.weights = Bytes(2 * out.parameters);

  Layout layout = plain_layout();
  layout.dp = 8;
  const auto reduces_gradients = [](const Call& call) {
    return call.group == Group::dp && call.phase == Phase::gradient &&
           call.op == CollectiveOp::all_reduce;
  };
  const Step sharded = lowered(given, layout);
  for (const Call& call : only<Call>(sharded.stages.front().items)) {
    if (reduces_gradients(call)) out.gradient_calls += call.count;
  }
  layout.zero = 0;
  const Step whole = lowered(given, layout);
  for (const Call& call : only<Call>(whole.stages.front().items)) {
    if (!reduces_gradients(call)) continue;
    out.gradient_wire += call.bytes * call.count * wire_factor(call.op, layout.dp);
  }

  const Reductions reduced = reductions(given);
  out.layer_reductions = reduced.layer_calls;
  out.all_reductions = reduced.all_calls;
  out.reduced = reduced.layer_bytes;

  layout = plain_layout();
  layout.pp = 2;
  const Step step = lowered(given, layout);
  const auto between_stages = [](const Call& call) {
    return call.group == Group::pp && call.op == CollectiveOp::send_receive;
  };
  // Of two stages each is at an end: what one sends forward and the other backward.
  for (const StageClass& stage : step.stages) {
    if (const Call* call = largest(stage.items, between_stages)) {
      out.activation = call->bytes;
      out.boundary += call->bytes * call->count * static_cast<double>(stage.stages);
    }
  }
  return out;
}

// Attention's share of the parameters and of the FLOPs of a forward pass.
void count_attention(StudiedModel& out, const Model& model) {
  double of_parameters = 0, of_flops = 0;
  for (const std::uint8_t kind : model.pattern) {
    Layer alone = model.kinds[kind];
    alone.feed_forward.reset();
    alone.experts.reset();
    alone.norms = alone.parallel ? alone.norms : alone.norms / 2;
    of_parameters += static_cast<double>(layer_parameters(model, alone).total());
    of_flops += layer_forward_flops(model, alone, kSequence, AttentionFlops::full).value();
  }
  out.attention_parameters = of_parameters / out.parameters;
  out.attention_flops = of_flops / forward_flops(model, kSequence, AttentionFlops::full).value();
}

}  // namespace

Result<CommunicationStudy> communication_study() {
  const auto studies = embedded_document("runs/studies.toml");
  if (!studies) return studies.problems();
  Problems problems;
  Fields studied_on = Fields(*studies, problems).table("communication", /*required=*/true);
  const auto framework = framework_from(studied_on.text("framework"));
  const auto cluster = load_cluster(studied_on.text("cluster"));
  const std::vector<std::string> others = studied_on.texts_or_empty("clusters");
  const std::vector<std::string> names = studied_on.texts_or_empty("models");
  CommunicationStudy out;
  out.title = studied_on.text("title");
  out.software = studied_on.text("software");
  if (!framework) studied_on.fail("framework", "is not known");
  if (!problems.empty()) return problems;
  if (!cluster) return cluster.problems();
  const auto calibration = calibration_for(*cluster);
  if (!calibration) return calibration.problems();
  out.cluster = *cluster;
  std::vector<Given> given;
  for (const std::string& name : names) {
    const auto model = load_model(name);
    if (!model) return model.problems();
    given.push_back({{*model, *cluster, {.framework = *framework}, {}}, *calibration});
    out.models.push_back(studied(given.back()));
    count_attention(out.models.back(), given.back().run.model);
  }
  for (std::size_t part = 0; part < static_cast<std::size_t>(StudyPart::interconnect); ++part) {
    for (const Given& one : given) add_part(out, static_cast<StudyPart>(part), one);
  }
  // The largest model on other machines.
  for (const std::string& name : others) {
    Given elsewhere = given.back();
    const auto other = load_cluster(name);
    if (!other) return other.problems();
    const auto constants = calibration_for(*other);
    if (!constants) return constants.problems();
    elsewhere.run.cluster = *other;
    elsewhere.calibration = *constants;
    add_part(out, StudyPart::interconnect, elsewhere);
  }
  return out;
}

Bytes size_at(const std::vector<TrafficCall>& calls, double share) {
  std::vector<std::pair<Bytes, double>> sizes;
  double all = 0;
  for (const TrafficCall& call : calls) {
    sizes.emplace_back(call.call.bytes, call.call.count);
    all += call.call.count;
  }
  std::sort(sizes.begin(), sizes.end());
  double before = 0;
  for (const auto& [size, count] : sizes) {
    before += count;
    if (before >= share * all) return size;
  }
  return sizes.empty() ? Bytes(0) : sizes.back().first;
}

Bytes wire_of(const std::vector<TrafficCall>& calls, CollectiveOp op) {
  Bytes out;
  for (const TrafficCall& call : calls) {
    if (call.call.op == op) out += call.wire;
  }
  return out;
}

Bytes wire_of(const std::vector<TrafficCall>& calls, Group group) {
  Bytes out;
  for (const TrafficCall& call : calls) {
    if (call.call.group == group) out += call.wire;
  }
  return out;
}

double StudiedRun::calls_per_second() const {
  double count = 0;
  for (const TrafficCall& call : calls) count += call.call.count;
  return count / step_time.value();
}

std::string form_of(const StudiedRun& run) {
  const Layout& layout = run.layout;
  switch (run.part) {
    case StudyPart::data:
      return "ZeRO-" + std::to_string(layout.zero);
    case StudyPart::tensor:
      return "tensor " + std::to_string(layout.tp);
    case StudyPart::pipeline:
      return "pipeline " + std::to_string(layout.pp);
    case StudyPart::combined:
      return "all three";
    case StudyPart::sequence:
      return std::to_string(run.sequence) + " tokens";
    case StudyPart::overhead:
      if (layout.tp > 1) return "tensor " + std::to_string(layout.tp);
      return layout.pp > 1 ? "pipeline " + std::to_string(layout.pp) : "data alone";
    case StudyPart::growth:
      return std::to_string(layout.dp) + " ranks";
    case StudyPart::interconnect:
      return run.cluster;
  }
  return {};
}

}  // namespace headway
