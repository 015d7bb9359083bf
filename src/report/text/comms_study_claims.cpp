#include <algorithm>
#include <cmath>

#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "report/text/comms_study.hpp"
#include "report/words.hpp"
#include "study/traffic/correlation.hpp"
#include "study/traffic/sums.hpp"

namespace headway {
namespace {

std::string portion(double part, double whole) {
  return percent_text(whole > 0 ? part / whole : 0);
}
std::string exposed_portion(const StudiedRun& run) {
  return portion(sum_of(run.calls).exposed.value(), run.step_time.value());
}
std::string rate(double each_second) {
  return each_second >= 100 ? count_text(std::round(each_second)) : formatted("%.3g", each_second);
}

// The runs of one part, model after model.
std::vector<const StudiedRun*> runs_of(const CommunicationStudy& study, StudyPart part) {
  std::vector<const StudiedRun*> out;
  for (const StudiedRun& run : study.runs) {
    if (run.part == part) out.push_back(&run);
  }
  return out;
}

StudyTable overhead_table(const CommunicationStudy& study) {
  StudyTable out{
      "overhead",
      "overhead of model parallelism: 8 ranks of a node, 64 sequences, ZeRO-1, what is\n"
      "left of the ranks data parallel; tokens/s of a rank beside data alone",
      2,
      {{"model", "form", "a rank sends", "exposed", "bubble", "tokens/s", "of data's", "fits"}}};
  double alone = 1;
  for (const StudiedRun* run : runs_of(study, StudyPart::overhead)) {
    if (run->layout.tp == 1 && run->layout.pp == 1) alone = run->tokens_per_second_per_accelerator;
    const TrafficSum all = sum_of(run->calls);
    out.rows.push_back({short_model_name(run->model), form_of(*run), to_text(all.wire),
                        exposed_portion(*run), portion(run->bubble.value(), run->step_time.value()),
                        count_text(run->tokens_per_second_per_accelerator),
                        formatted("%.2f", run->tokens_per_second_per_accelerator / alone),
                        run->fits ? "yes" : "no"});
  }
  return out;
}

StudyTable growth_table(const CommunicationStudy& study) {
  StudyTable out{"growth",
                 "growth with ranks and model: data parallelism, ZeRO-1, a micro-batch of 4 each",
                 1,
                 {{"model", "ranks", "a rank sends", "all send", "calls take", "exposed", "fits"}}};
  for (const StudiedRun* run : runs_of(study, StudyPart::growth)) {
    const TrafficSum all = sum_of(run->calls);
    const double ranks = static_cast<double>(run->layout.dp);
    out.rows.push_back({short_model_name(run->model), count_text(ranks), to_text(all.wire),
                        to_text(all.wire * ranks), to_text(all.time), exposed_portion(*run),
                        run->fits ? "yes" : "no"});
  }
  return out;
}

// Attention's share of what calls add up to.
std::string attention_of(const StudiedRun& run, double (*value)(const TrafficSum&)) {
  double part = 0;
  for (const TrafficSum& sum : sums_by_module(run.calls)) {
    if (sum.name == to_name(Module::attention)) part = value(sum);
  }
  return portion(part, value(sum_of(run.calls)));
}

StudyTable attention_table(const CommunicationStudy& study) {
  StudyTable out{
      "attention",
      "attention's share: of the parameters, of the FLOPs of a forward pass, of the bytes\n"
      "and of the exposed time of each form",
      2,
      {{"model", "form", "parameters", "FLOPs", "bytes", "exposed", "over parameters"}}};
  for (const StudiedModel& model : study.models) {
    for (const StudiedRun& run : study.runs) {
      const bool shown = (run.part == StudyPart::data && run.layout.zero == 1) ||
                         (run.part == StudyPart::tensor && run.layout.tp == 4) ||
                         run.part == StudyPart::combined;
      if (!shown || run.model != model.model) continue;
      double wire = 0;
      for (const TrafficSum& sum : sums_by_module(run.calls)) {
        if (sum.name == to_name(Module::attention)) wire = sum.wire / sum_of(run.calls).wire;
      }
      out.rows.push_back(
          {short_model_name(run.model), run.part == StudyPart::data ? "data" : form_of(run),
           percent_text(model.attention_parameters), percent_text(model.attention_flops),
           percent_text(wire),
           attention_of(run, [](const TrafficSum& sum) { return sum.exposed.value(); }),
           formatted("%.2f", wire / model.attention_parameters)});
    }
  }
  return out;
}

StudyTable interconnect_table(const CommunicationStudy& study) {
  StudyTable out{
      "interconnect",
      "the interconnect: 13b by all three forms, the same run on other machines",
      1,
      {{"cluster", "a rank sends", "calls take", "exposed", "of the step", "tokens/s", "fits"}}};
  for (const StudiedRun* run : runs_of(study, StudyPart::interconnect)) {
    const TrafficSum all = sum_of(run->calls);
    out.rows.push_back({run->cluster, to_text(all.wire), to_text(all.time), to_text(all.exposed),
                        exposed_portion(*run), count_text(run->tokens_per_second_per_accelerator),
                        run->fits ? "yes" : "no"});
  }
  return out;
}

StudyTable correlation_table(const CommunicationStudy& study) {
  StudyTable out{"correlation",
                 "correlations over the runs by sequence length (Pearson's, of logarithms)",
                 2,
                 {{"of", "with", "all"}}};
  for (const StudiedModel& model : study.models) {
    out.rows.front().push_back(short_model_name(model.model));
  }
  const auto text = [](std::optional<double> value) {
    return value ? formatted("%+.2f", *value) : std::string("-");
  };
  for (const StudyCorrelation& pair : correlations(study)) {
    std::vector<std::string> row = {pair.of, pair.with, text(pair.all)};
    for (const auto& value : pair.by_model) row.push_back(text(value));
    out.rows.push_back(std::move(row));
  }
  return out;
}

StudyTable rates_table(const CommunicationStudy& study) {
  StudyTable out{"rates",
                 "messages a second of a rank, and small ones of them",
                 2,
                 {{"model", "form", "calls", "step", "a second", "small", "bytes a second"}}};
  for (const StudiedModel& model : study.models) {
    for (const StudiedRun& run : study.runs) {
      const bool shown = (run.part == StudyPart::data && run.layout.zero % 2 == 1) ||
                         (run.part == StudyPart::tensor && run.layout.tp == 4) ||
                         (run.part == StudyPart::pipeline && run.layout.pp == 4) ||
                         run.part == StudyPart::combined;
      if (!shown || run.model != model.model) continue;
      const TrafficSum all = sum_of(run.calls);
      out.rows.push_back({short_model_name(run.model), form_of(run),
                          count_text(std::round(all.calls)), to_text(run.step_time),
                          rate(run.calls_per_second()),
                          rate(small_sum(run.calls).calls / run.step_time.value()),
                          to_text(all.wire / run.step_time)});
    }
  }
  return out;
}

}  // namespace

std::vector<StudyTable> claim_tables(const CommunicationStudy& study) {
  return {overhead_table(study),     growth_table(study),      attention_table(study),
          interconnect_table(study), correlation_table(study), rates_table(study)};
}

}  // namespace headway
