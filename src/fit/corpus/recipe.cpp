// What the recipes behind NVIDIA's tables switch on and the tables do not say: software by release,
// overlaps, CUDA graphs, dispatch of tokens, adapters, packing, recomputed pieces. Source: the
// published recipes, github.com/NVIDIA-NeMo/Megatron-Bridge, scripts/performance (releases 25.09 to
// 26.08), and the performance pages of NeMo (24.03 to 25.07).
#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "fit/corpus/run.hpp"

namespace headway {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "26.02.01" as 2026-02.
std::optional<double> release_after(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at + words.size());
  const auto digit = [&](std::size_t i) {
    return i < rest.size() && std::isdigit(static_cast<unsigned char>(rest[i])) != 0;
  };
  if (!digit(0) || !digit(1) || rest.size() < 5 || rest[2] != '.' || !digit(3) || !digit(4)) {
    return std::nullopt;
  }
  return years_of("20" + std::string(rest.substr(0, 2)) + "-" + std::string(rest.substr(3, 2)));
}

// The release that first ran a step of experts as one CUDA graph, with activation and casts inside
// the grouped products (NeMo container 26.06).
const double kExpertsInGraphs = *years_of("2026-06");
// Dispatch of tokens once for each rank, by DeepEP and HybridEP.
const double kDispatchOnce = *years_of("2025-09");
const double kDispatchOnceOnBoards = *years_of("2026-04");
// Mean tokens of a question with its answer in SQuAD, the data of NVIDIA's tuned models, packed.
constexpr std::int64_t kPackedDocument = 256;

}  // namespace

std::optional<double> software_of(const CorpusRow& row) {
  for (const char* words : {"NeMo container ", "container NeMo ", "dgxc-benchmarking v", "NeMo "}) {
    if (const auto release = release_after(row.notes, words)) return release;
  }
  return years_of(row.date);
}

std::optional<std::uint8_t> pieces_of(std::string_view notes) {
  const std::uint8_t between = bit(Piece::core) | bit(Piece::norm) | bit(Piece::feed_forward);
  // All dots are kept but the first of the feed-forward part; those of attention only.
  for (const char* policy : {"save_dot_except_mlp", "SAVE_QKV_OUT_PROJ"}) {
    if (contains(notes, policy)) return between;
  }
  constexpr std::string_view kModules = "recompute modules ";
  const std::size_t at = notes.find(kModules);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = notes.substr(at + kModules.size());
  const std::string_view listed = rest.substr(0, rest.find(';'));
  constexpr std::pair<std::string_view, Piece> kWords[] = {{"core_attn", Piece::core},
                                                           {"norm", Piece::norm},
                                                           {"mla_up_proj", Piece::latent_up},
                                                           {"act", Piece::activation},
                                                           {"mlp", Piece::feed_forward},
                                                           {"shared_experts", Piece::feed_forward},
                                                           {"moe", Piece::experts}};
  std::uint8_t out = 0;
  for (std::size_t begin = 0; begin < listed.size();) {
    const std::size_t end = std::min(listed.find_first_of(" ,+()", begin), listed.size());
    std::string_view word = listed.substr(begin, end - begin);
    begin = end + 1;
    if (word == "layernorm") word = "norm";
    if (word == "moe_act") word = "act";
    for (const auto& [name, piece] : kWords) {
      if (word == name) out = static_cast<std::uint8_t>(out | bit(piece));
    }
  }
  return out;
}

bool is_vendor_recipe(const CorpusRow& row) {
  const std::string framework = lower(row.framework);
  return name_of(framework_of(row)) == "megatron" &&
         (contains(framework, "nemo") || contains(framework, "megatron-bridge") ||
          contains(framework, "megatron-core"));
}

void set_vendor_recipe(const CorpusRow& row, CorpusRun& run) {
  Job& job = run.job;
  Layout& layout = run.layout;
  const Accelerator& accelerator = run.machine->cluster.accelerator;
  const std::string notes = lower(row.notes);
  const auto assume = [&](std::string said) { run.assumed.push_back(std::move(said)); };

  job.small_gradients = true;
  if (layout.tp > 1 && layout.sequence_parallel && job.recipe->matmul != Precision::fp4 &&
      shares_memory(spans(layout, run.machine->cluster).tp, run.machine->cluster)) {
    layout.overlap_tensor = Choice::on;
    assume("overlap_tensor=on");
  }
  if (job.task == Task::lora) {
    job.adapters = Adapters::query_key_value;
    assume("adapters=query-key-value");
  }
  if (job.task != Task::pretrain) {
    job.document = kPackedDocument;
    assume("document=" + std::to_string(kPackedDocument));
  }
  const std::int64_t layers = run.model.layers();
  if (layout.pp > 1 && !row.vpp && !contains(notes, "vp n/a")) {
    layout.vpp = std::max<std::int64_t>(1, layers / layout.pp);
    assume("vpp=" + std::to_string(layout.vpp));
  }
  // Layers that do not divide evenly: embedding, head and prediction modules count as some, so that
  // they do ("Et*4|(t*4|)*14tmL" of DeepSeek-V3's 61).
  const std::int64_t chunks = layout.pp * layout.vpp;
  if (layout.pp > 1 && layers % chunks != 0) {
    const std::int64_t missing = chunks - layers % chunks;
    layout.embedding_slots = missing == 2 ? 1 : 0;
    layout.head_slots = missing - layout.embedding_slots;
    assume("head_slots=" + std::to_string(layout.head_slots));
  }
  // Recomputation not stated: pieces before whole layers, over a fast link to the host offloading.
  if (!run.remedies.empty()) {
    const auto light = static_cast<std::uint8_t>(bit(Piece::norm) | bit(Piece::latent_up) |
                                                 bit(Piece::activation));
    const auto more = static_cast<std::uint8_t>(light | bit(Piece::feed_forward));
    run.remedies = {{Recompute::none}, {Recompute::selective, light}, {Recompute::selective, more}};
    if (accelerator.host_bandwidth > BytesPerSecond(200e9)) {
      run.remedies.push_back({Recompute::none, bit(Piece::core), /*offload_activations=*/true});
    } else {
      run.remedies.push_back({Recompute::full});
    }
  }

  const bool experts = std::any_of(run.model.kinds.begin(), run.model.kinds.end(),
                                   [](const Layer& layer) { return layer.experts.has_value(); });
  if (!experts) return;
  const double today = job.software > 0 ? job.software : 1e4;
  // HybridEP on racks of one NVLink domain, later DeepEP and HybridEP across boards of eight, too;
  // else all-to-all, unless the notes say.
  const bool rack = run.machine->cluster.levels.front().size > 8;
  const bool leaves_domain = layout.ep > run.machine->cluster.levels.front().size;
  if (contains(notes, "deepep") ||
      (!contains(notes, "dispatcher a2a") &&
       ((rack && today >= kDispatchOnce) || (leaves_domain && today >= kDispatchOnceOnBoards)))) {
    layout.dispatch = Dispatch::once;
    assume("dispatch=once");
  }
  // Whole graphs need experts in 8 bit; B200's recipes stay without them.
  const bool blackwell = accelerator.architecture == "blackwell";
  const bool b200 = lower(row.accelerator) == "b200";
  if (blackwell && !b200 && job.recipe->matmul >= Precision::fp8 && today >= kExpertsInGraphs) {
    job.graphs = Graphs::step;
    job.fused_experts = job.attention_8_bit = true;
    layout.overlap_experts = Choice::on;
    assume("graphs=step");
  } else if (blackwell && !b200) {
    job.graphs = Graphs::dense;
    assume("graphs=dense");
  }
  if (contains(notes, "1f1b overlap") ||
      (leaves_domain && layout.vpp > 1 && !contains(notes, "dispatcher"))) {
    layout.overlap_experts = Choice::on;
    assume("overlap_experts=on");
  }
}

}  // namespace headway
