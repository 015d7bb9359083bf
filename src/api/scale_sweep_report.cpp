// The sweeps of docs/scaling.md.
#include "api/scale_sweep.hpp"

namespace headway {
namespace {

struct PageSweep {
  SweepAxis axis;
  std::vector<std::pair<const char*, const char*>> fields;
};

// The study's workload (arXiv 2411.13055): Llama 2 by FSDP that keeps gathered weights (models:
// that gathers them again, as the largest does not fit otherwise), two sequences of 4,096 an
// accelerator.
std::vector<PageSweep> page_sweeps() {
  using Fields = std::vector<std::pair<const char*, const char*>>;
  const auto with = [](Fields more) {
    Fields out = {
        {"model", "llama-2-7b"}, {"cluster", "dgx-h100"}, {"seq", "4096"}, {"framework", "fsdp"}};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  };
  return {
      {SweepAxis::weak, with({{"no-reshard", ""},
                              {"gpus", "8"},
                              {"global-batch", "16"},
                              {"at", "8,32,128,256,512,1024,2048"}})},
      {SweepAxis::strong, with({{"no-reshard", ""}, {"gpus", "32"}, {"global-batch", "1024"}})},
      {SweepAxis::model, with({{"gpus", "256"}, {"global-batch", "512"}})},
      {SweepAxis::context,
       with({{"no-reshard", ""}, {"gpus", "256"}, {"global-batch", "256"}, {"keep", "sequences"}})},
      {SweepAxis::hardware, with({{"no-reshard", ""}, {"gpus", "256"}, {"global-batch", "512"}})},
      {SweepAxis::network, with({{"no-reshard", ""}, {"gpus", "512"}, {"global-batch", "1024"}})},
      {SweepAxis::layout, with({{"no-reshard", ""}, {"gpus", "1024"}, {"global-batch", "2048"}})},
  };
}

}  // namespace

Result<SweepPage> sweep_page() {
  SweepPage out;
  for (const PageSweep& each : page_sweeps()) {
    const std::string name(kSweepNames[static_cast<std::size_t>(each.axis)]);
    RunRequest fields;
    std::string command = "headway scale " + name;
    for (const auto& [field, text] : each.fields) {
      const bool is_switch = *text == '\0';
      fields.push_back({std::string(field), is_switch ? "true" : text});
      command += " --" + std::string(field) + (is_switch ? "" : " " + std::string(text));
    }
    auto question = read_sweep(each.axis, fields);
    if (!question) return question.problems();
    const auto answer = make_sweep(std::move(question).value(), {}, 0);
    if (!answer) return answer.problems();
    out.blocks[name] = "    " + command + "\n\n" + scale_sweep_markdown(*answer);
    out.files.push_back({"scaling/" + name + "-throughput.svg", plot_sweep_throughput(*answer)});
    out.files.push_back({"scaling/" + name + "-parts.svg", plot_sweep_parts(*answer)});
  }
  return out;
}

}  // namespace headway
