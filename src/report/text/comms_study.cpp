#include "report/text/comms_study.hpp"

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "report/comms_study.hpp"
#include "study/traffic/sums.hpp"

namespace headway {
namespace {

// Decimal, as the models' sizes are given.
std::string gigabytes(Bytes bytes) {
  return formatted("%.3f GB", bytes.value() / 1e9);
}

// Nothing rather than "0 B" where an operation does not occur.
std::string or_dash(Bytes bytes) {
  return bytes.value() > 0 ? to_text(bytes) : "-";
}

std::string share(double part, double whole) {
  return percent_text(whole > 0 ? part / whole : 0);
}

std::string exposed_share(const StudiedRun& run) {
  return share(sum_of(run.calls).exposed.value(), run.step_time.value());
}

StudyTable models_table(const CommunicationStudy& study) {
  StudyTable out{"models",
                 "data parallelism: parameters, their bytes m, what a rank sends to reduce the\n"
                 "gradients over 8 ranks, and in how many calls",
                 1,
                 {{"model", "parameters", "m", "gradients, 8 ranks", "calls at ZeRO-1"}}};
  for (const StudiedModel& model : study.models) {
    out.rows.push_back({short_model_name(model.model), formatted("%.1f M", model.parameters / 1e6),
                        gigabytes(model.weights), gigabytes(model.gradient_wire),
                        count_text(model.gradient_calls)});
  }
  return out;
}

StudyTable messages_table(const CommunicationStudy& study) {
  StudyTable out{
      "messages",
      "tensor and pipeline parallelism: the message b s h of a micro-batch of 4, how\n"
      "often it is all-reduced, what a boundary between stages carries",
      1,
      {{"model", "b s h", "in layers", "with the ends", "bytes in layers", "a boundary"}}};
  for (const StudiedModel& model : study.models) {
    out.rows.push_back({short_model_name(model.model), to_text(model.activation),
                        count_text(model.layer_reductions), count_text(model.all_reductions),
                        to_text(model.reduced), to_text(model.boundary)});
  }
  return out;
}

template <class Row>
void add_rows(StudyTable& table, const CommunicationStudy& study, StudyPart part, Row row) {
  for (const StudiedRun& run : study.runs) {
    if (run.part == part) table.rows.push_back(row(run));
  }
}

StudyTable data_table(const CommunicationStudy& study) {
  StudyTable out{"data",
                 "data parallelism over 64 ranks: what a rank sends in a step of one micro-batch",
                 2,
                 {{"model", "ZeRO", "all-reduce", "all-gather", "reduce-scatter", "of m", "calls",
                   "exposed", "fits"}}};
  add_rows(out, study, StudyPart::data, [](const StudiedRun& run) -> std::vector<std::string> {
    const TrafficSum all = sum_of(run.calls);
    const double ranks = static_cast<double>(run.layout.dp);
    return {short_model_name(run.model),
            std::to_string(run.layout.zero),
            or_dash(wire_of(run.calls, CollectiveOp::all_reduce)),
            or_dash(wire_of(run.calls, CollectiveOp::all_gather)),
            or_dash(wire_of(run.calls, CollectiveOp::reduce_scatter)),
            formatted("%.2f", all.wire / (run.weights * ((ranks - 1) / ranks))),
            count_text(all.calls),
            exposed_share(run),
            run.fits ? "yes" : "no"};
  });
  return out;
}

StudyTable tensor_table(const CommunicationStudy& study) {
  StudyTable out{
      "tensor",
      "tensor parallelism in one node, a micro-batch of 4",
      1,
      {{"model", "ranks", "calls", "message", "a rank sends", "small calls", "exposed", "fits"}}};
  add_rows(out, study, StudyPart::tensor, [](const StudiedRun& run) -> std::vector<std::string> {
    const TrafficSum all = sum_of(run.calls);
    return {short_model_name(run.model), std::to_string(run.layout.tp),
            count_text(all.calls),       to_text(size_at(run.calls, 0.5)),
            to_text(all.wire),           share(small_sum(run.calls).calls, all.calls),
            exposed_share(run),          run.fits ? "yes" : "no"};
  });
  return out;
}

StudyTable pipeline_table(const CommunicationStudy& study) {
  StudyTable out{
      "pipeline",
      "pipeline parallelism in one node, 16 micro-batches of 4; mean of the stages",
      1,
      {{"model", "stages", "sends", "message", "smallest", "a rank sends", "exposed", "fits"}}};
  add_rows(out, study, StudyPart::pipeline, [](const StudiedRun& run) -> std::vector<std::string> {
    std::vector<TrafficCall> sends;
    for (const TrafficCall& call : run.calls) {
      if (call.call.group == Group::pp) sends.push_back(call);
    }
    const TrafficSum all = sum_of(sends);
    return {short_model_name(run.model),  std::to_string(run.layout.pp),
            formatted("%.1f", all.calls), to_text(size_at(sends, 0.5)),
            to_text(size_at(sends, 0)),   to_text(all.wire),
            exposed_share(run),           run.fits ? "yes" : "no"};
  });
  return out;
}

// One run of each form: the sizes of its messages, and what its small ones weigh.
StudyTable sizes_table(const CommunicationStudy& study) {
  StudyTable out{
      "sizes",
      "sizes of the messages, and the share of small ones (more than half of their time\nis "
      "latency) of calls, bytes and time",
      2,
      {{"model", "form", "calls", "smallest", "median", "largest", "small", "bytes", "time"}}};
  for (const StudiedModel& model : study.models) {
    for (const StudiedRun& run : study.runs) {
      const bool shown = (run.part == StudyPart::data && run.layout.zero % 2 == 1) ||
                         (run.part == StudyPart::tensor && run.layout.tp == 4) ||
                         (run.part == StudyPart::pipeline && run.layout.pp == 4) ||
                         run.part == StudyPart::combined;
      if (!shown || run.model != model.model) continue;
      const TrafficSum all = sum_of(run.calls), small = small_sum(run.calls);
      out.rows.push_back({short_model_name(run.model), form_of(run), count_text(all.calls),
                          to_text(size_at(run.calls, 0)), to_text(size_at(run.calls, 0.5)),
                          to_text(size_at(run.calls, 1)), share(small.calls, all.calls),
                          share(small.wire.value(), all.wire.value()),
                          share(small.time.value(), all.time.value())});
    }
  }
  return out;
}

StudyTable sequence_table(const CommunicationStudy& study) {
  StudyTable out{
      "sequence",
      "sequence length: tensor 4 x data 16, ZeRO-1, one sequence a micro-batch;\ntokens/s of a "
      "rank",
      1,
      {{"model", "tokens", "tensor", "data", "tensor's share", "exposed", "tokens/s", "fits"}}};
  add_rows(out, study, StudyPart::sequence, [](const StudiedRun& run) -> std::vector<std::string> {
    const Bytes tensor = wire_of(run.calls, Group::tp), data = wire_of(run.calls, Group::dp);
    return {short_model_name(run.model),
            count_text(static_cast<double>(run.sequence)),
            to_text(tensor),
            to_text(data),
            share(tensor.value(), (tensor + data).value()),
            exposed_share(run),
            count_text(run.tokens_per_second_per_accelerator),
            run.fits ? "yes" : "no"};
  });
  return out;
}

}  // namespace

std::string short_model_name(const std::string& model) {
  return model.substr(model.rfind('-') + 1);
}

std::vector<StudyTable> study_tables(const CommunicationStudy& study) {
  std::vector<StudyTable> out = {models_table(study),  messages_table(study), data_table(study),
                                 tensor_table(study),  pipeline_table(study), sizes_table(study),
                                 sequence_table(study)};
  for (StudyTable& table : claim_tables(study)) out.push_back(std::move(table));
  return out;
}

std::string study_text(const CommunicationStudy& study) {
  std::string out = study.title +
                    ": bytes that a rank sends in one step (after\n"
                    "Anthony et al., arXiv 2408.10197; docs/communication.md)\n";
  for (const StudyTable& table : study_tables(study)) {
    out += "\n" + table.title + "\n" + aligned(table.rows, table.left);
  }
  return out;
}

GeneratedBlocks study_blocks(const CommunicationStudy& study) {
  GeneratedBlocks blocks;
  for (const StudyTable& table : study_tables(study)) {
    blocks["study-" + table.name] = markdown_table(table.rows, table.left);
  }
  return blocks;
}

}  // namespace headway
