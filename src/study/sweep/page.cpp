#include "study/sweep/page.hpp"

#include <utility>

#include "platform/files.hpp"

namespace headway {
namespace {

struct AskedSweep {
  SweepAxis axis;
  std::vector<std::pair<std::string, std::string>> fields;
};

using Workload = std::vector<std::pair<std::string, std::string>>;

// The study's workload (arXiv 2411.13055; data/runs/studies.toml), weights kept gathered, two
// sequences an accelerator.
Result<Workload> studied_workload() {
  const auto studies = embedded_document("runs/studies.toml");
  if (!studies) return studies.problems();
  Problems problems;
  Fields fields = Fields(*studies, problems).table("scaling", /*required=*/true);
  Workload out;
  for (const char* name : {"model", "cluster", "seq", "framework"}) {
    out.emplace_back(name, fields.text(name));
  }
  if (!problems.empty()) return problems;
  return out;
}

std::vector<AskedSweep> asked(const Workload& studied) {
  const auto with = [&](const Workload& more) {
    Workload out = studied;
    out.insert(out.end(), more.begin(), more.end());
    return out;
  };
  return {
      {SweepAxis::weak, with({{"no-reshard", ""},
                              {"gpus", "8"},
                              {"global-batch", "16"},
                              {"at", "8,32,128,256,512,1024,2048"}})},
      {SweepAxis::strong, with({{"no-reshard", ""}, {"gpus", "32"}, {"global-batch", "1024"}})},
      {SweepAxis::model, with({{"no-reshard", ""}, {"gpus", "256"}, {"global-batch", "512"}})},
      {SweepAxis::context,
       with({{"no-reshard", ""}, {"gpus", "256"}, {"global-batch", "256"}, {"keep", "sequences"}})},
      {SweepAxis::hardware, with({{"no-reshard", ""}, {"gpus", "256"}, {"global-batch", "512"}})},
      {SweepAxis::network, with({{"no-reshard", ""}, {"gpus", "512"}, {"global-batch", "1024"}})},
      {SweepAxis::layout, with({{"no-reshard", ""}, {"gpus", "1024"}, {"global-batch", "2048"}})},
  };
}

}  // namespace

Result<std::vector<PageSweep>> page_sweeps() {
  std::vector<PageSweep> out;
  const auto studied = studied_workload();
  if (!studied) return studied.problems();
  for (const AskedSweep& each : asked(*studied)) {
    RunRequest fields;
    std::string command = "headway scale " + std::string(to_name(each.axis));
    for (const auto& [field, text] : each.fields) {
      const bool is_switch = text.empty();
      fields.push_back({field, is_switch ? "true" : text});
      command += " --" + field + (is_switch ? "" : " " + text);
    }
    auto question = read_sweep(each.axis, fields);
    if (!question) return question.problems();
    auto answer = make_sweep(std::move(question).value(), {}, 0);
    if (!answer) return answer.problems();
    out.push_back({std::move(command), std::move(answer).value()});
  }
  return out;
}

}  // namespace headway
