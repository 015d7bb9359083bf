// What of Megatron-LM's arguments no field of a run says.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "launch/megatron/megatron.hpp"

namespace headway::launch {
namespace {

// An option that changes the step beside others only.
struct Beside {
  std::string_view option;
  bool changes;
  const char* message;
};

void judge_beside(const MegatronArguments& arguments, Problems& problems) {
  const bool tensor = arguments.degree("--tensor-model-parallel-size") > 1;
  const std::int64_t stages = arguments.degree("--pipeline-model-parallel-size");
  const bool pipeline = stages > 1;
  const bool interleaved =
      pipeline && (arguments.has("--num-layers-per-virtual-pipeline-stage") ||
                   arguments.degree("--num-virtual-stages-per-pipeline-rank") > 1);
  const bool overlap = arguments.has("--tp-comm-overlap");
  const bool deepspeed = arguments.deepspeed();
  const char* const split =
      "splits what is kept of recomputed layers over tensor ranks, which Headway cannot price; "
      "legal with a tensor degree of 1, or without it";
  const char* const partly =
      "takes a part of --tp-comm-overlap back, which Headway cannot price; legal: without it";
  const std::array besides = std::to_array<Beside>(
      {{"--distribute-saved-activations", tensor, split},
       {"--distribute-checkpointed-activations", tensor, split},
       {"--partition-activations", tensor, split},
       {"--scattered-embeddings", tensor,
        "scatters the embedding's result over tensor ranks, which Headway cannot price; legal with "
        "a tensor degree of 1, or without it"},
       {"--sync-tp-duplicated-parameters", tensor,
        "averages the weights of norms over tensor ranks in every forward pass, which Headway "
        "cannot price; legal with a tensor degree of 1, or without it"},
       {"--disable-tp-comm-overlap-ag", overlap, partly},
       {"--disable-tp-comm-overlap-rs", overlap, partly},
       {"--disable-tp-comm-split-ag", overlap, partly},
       {"--disable-tp-comm-split-rs", overlap, partly},
       {"--disable-tp-comm-bulk-dgrad", overlap, partly},
       {"--disable-tp-comm-bulk-wgrad", overlap, partly},
       {"--no-overlap-p2p-communication", interleaved,
        "exposes the transfers of virtual stages, which Headway cannot price; legal: without it, "
        "or "
        "without virtual stages"},
       {"--microbatch-group-size-per-virtual-pipeline-stage",
        interleaved &&
            arguments.count("--microbatch-group-size-per-virtual-pipeline-stage") != stages,
        "changes the order of micro-batches, which Headway cannot price; legal: the pipeline's "
        "degree, or without it"},
       {"--no-scatter-gather-tensors-in-pipeline", tensor && pipeline && !deepspeed,
        "sends whole tensors between stages, which Headway cannot price; legal: without it"},
       {"--accumulate-allreduce-grads-in-fp32", arguments.has("--fp16") && !deepspeed,
        "keeps gradients of fp16 in fp32, which Headway cannot price; legal with --bf16"}});
  for (const Beside& beside : besides) {
    const Argument* found = arguments.find(beside.option);
    if (found != nullptr && beside.changes) {
      problems.push_back({arguments.where(*found), beside.message});
    }
  }
}

// Other programs train other networks, or nothing.
void judge_program(const MegatronArguments& arguments, Problems& problems) {
  const std::string& path = arguments.program;
  const std::string does = program_refused(path);
  // Extensions of Megatron-LM keep its program's name and build their own network.
  std::string spec = arguments.text("--spec");
  std::replace(spec.begin(), spec.end(), '.', '/');
  const std::string builds = program_refused(spec);
  if (!builds.empty()) {
    problems.push_back({arguments.where("--spec"),
                        builds + ", which these options do not describe; legal: a run file with "
                                 "--model",
                        Trouble::unsupported});
  }
  if (does.empty()) return;
  const std::string name = path.substr(path.rfind('/') == path.npos ? 0 : path.rfind('/') + 1);
  problems.push_back({{arguments.file, arguments.line, FieldName(printable(name))},
                      does + ", which these options do not describe; legal: pretrain_gpt.py, or a "
                             "run file with --model",
                      Trouble::unsupported});
}

void judge_values(const MegatronArguments& arguments, LaunchRequest& out, Problems& problems) {
  constexpr std::string_view kPositions = "--position-embedding-type";
  const std::string positions = arguments.text(kPositions);
  // The slopes of ALiBi go into the product that makes the scores (baddbmm): they cost nothing.
  constexpr std::array<std::string_view, 7> kKnown = {
      "learned_absolute", "absolute", "rope", "rotary", "mrope", "yarn", "none"};
  const bool slopes = positions == "alibi";
  if (!positions.empty() && !slopes &&
      std::find(kKnown.begin(), kKnown.end(), positions) == kKnown.end()) {
    problems.push_back({arguments.where(kPositions),
                        "adds to attention scores, which Headway cannot price; legal: "
                        "learned_absolute, rope, mrope, yarn, alibi, none"});
  }
  // Megatron-DeepSpeed takes a number for each layer with experts.
  if (const Argument* experts = arguments.find("--num-experts")) {
    const bool alike = std::all_of(
        experts->values.begin(), experts->values.end(),
        [&](const ShellWord& word) { return word.text == experts->values.front().text; });
    if (!alike) {
      problems.push_back({arguments.where(*experts),
                          "gives layers different numbers of experts, which Headway cannot price; "
                          "legal: one number"});
    }
  }
  const std::string attention = arguments.text("--attention-dropout");
  const std::string hidden = arguments.text("--hidden-dropout");
  const auto drops = [](const std::string& text) {
    return text.empty() || text.find_first_not_of("0.") != std::string::npos;
  };
  if (drops(attention) != drops(hidden)) {
    out.notes.push_back("dropout of attention is priced as that of --hidden-dropout");
  }
}

}  // namespace

void judge_megatron(const MegatronArguments& arguments, LaunchRequest& out, Problems& problems) {
  std::vector<GivenOption> options;
  for (const Argument& argument : arguments.arguments) {
    if (argument.launcher) continue;
    const std::string value = argument.values.empty() ? "" : argument.values.front().text;
    options.push_back({argument.name, value, arguments.where(argument)});
  }
  judge_program(arguments, problems);
  judge_options(option_table(Launcher::megatron), options, out.notes, problems);
  judge_beside(arguments, problems);
  judge_values(arguments, out, problems);
}

}  // namespace headway::launch
