#include "launch/options.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "launch/document.hpp"
#include "platform/files.hpp"
#include "platform/memo.hpp"

namespace headway::launch {
namespace {

// Words of what steps are made of, in the names that frameworks give their options.
constexpr std::array kStepWords = std::to_array<std::string_view>(
    {"activation", "activations", "attention",     "attn",         "batch",
     "batches",    "bf16",        "bucket",        "capacity",     "communication",
     "comm",       "compile",     "compress",      "compression",  "context",
     "cp",         "cpu",         "cuda",          "degree",       "dispatch",
     "dispatcher", "dp",          "dropout",       "dtype",        "embedding",
     "embeddings", "ep",          "expert",        "experts",      "ffn",
     "flash",      "fp16",        "fp32",          "fp4",          "fp8",
     "fsdp",       "fused",       "fusion",        "gate",         "gated",
     "graph",      "graphs",      "head",          "heads",        "hidden",
     "hybrid",     "int8",        "kernel",        "kernels",      "latent",
     "layer",      "layernorm",   "layers",        "linear",       "lora",
     "mamba",      "master",      "microbatch",    "mla",          "mlp",
     "moe",        "mtp",         "mxfp8",         "nvfp4",        "offload",
     "offloading", "optimizer",   "overlap",       "pack",         "packed",
     "packing",    "parallel",    "parallelism",   "partition",    "pipeline",
     "pp",         "precision",   "quant",         "quantization", "quantize",
     "quantized",  "recompute",   "recomputation", "remat",        "ring",
     "seq",        "sequence",    "shard",         "sharded",      "sharding",
     "sparse",     "sparsity",    "ssm",           "stage",        "stages",
     "swiglu",     "tensor",      "topk",          "tp",           "ulysses",
     "virtual",    "vocab",       "vocabulary",    "vpp",          "window",
     "zero"});

constexpr std::size_t kMostNamed = 20;  // unknown options in one note

bool is_family(std::string_view name) {
  return !name.empty() && std::string_view("-._").find(name.back()) != std::string_view::npos;
}

const std::string& name_of(const std::string& known) {
  return known;
}
const std::string& name_of(const OptionTable::Known& known) {
  return known.name;
}

template <class Entry>
const Entry* find(const std::vector<Entry>& list, std::string_view name) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const Entry& entry) { return name_of(entry) == name; });
  return found == list.end() ? nullptr : &*found;
}

// The narrowest family that the name is of.
template <class Entry>
const Entry* family_of(const std::vector<Entry>& list, std::string_view name) {
  const Entry* out = nullptr;
  for (const Entry& entry : list) {
    const std::string& known = name_of(entry);
    const bool fits = is_family(known) && name.starts_with(known);
    if (fits && (out == nullptr || name_of(*out).size() < known.size())) out = &entry;
  }
  return out;
}

bool is_harmless(const OptionTable::Known& known, const GivenOption& option) {
  return find(known.harmless, lower(option.value)) != nullptr;
}

std::string_view step_word(std::string_view name) {
  std::size_t begin = 0;
  while (begin <= name.size()) {
    const std::size_t end = std::min(name.find_first_of("-_.", begin), name.size());
    const std::string_view word = name.substr(begin, end - begin);
    const auto found = std::find(kStepWords.begin(), kStepWords.end(), word);
    if (found != kStepWords.end()) return *found;
    begin = end + 1;
  }
  return {};
}

// The length of the family's name that leaves the step alone; 0: none.
std::size_t alone_family(const OptionTable& table, std::string_view name) {
  const std::string* family = family_of(table.alone, name);
  return family == nullptr ? 0 : family->size();
}

void refuse(const OptionTable::Known& known, const GivenOption& option, Problems& problems) {
  if (is_harmless(known, option)) return;
  problems.push_back({option.where,
                      known.does + ", which Headway cannot price; legal: " +
                          (known.harmless.empty() ? "without it" : join(known.harmless, ", ")),
                      Trouble::unsupported});
}

void price_by_habit(const OptionTable::Known& known, const GivenOption& option,
                    std::vector<std::string>& notes) {
  if (is_harmless(known, option)) return;
  const std::string note =
      printable(option.name, 60) + " " + known.does + "; priced by the framework's habit";
  if (find(notes, note) == nullptr) notes.push_back(note);
}

std::vector<std::string> texts_of(const Node* node) {
  std::vector<std::string> out;
  if (node == nullptr || node->array() == nullptr) return out;
  for (const Node& one : *node->array()) out.push_back(scalar_text(one));
  return out;
}

// name = "what it does", or {does = "...", harmless = ["..."]}.
std::vector<OptionTable::Known> known_options(const Node* node) {
  std::vector<OptionTable::Known> out;
  if (node == nullptr || node->table() == nullptr) return out;
  for (const auto& [name, entry] : *node->table()) {
    const Node* does = entry.find("does");
    out.push_back(
        {name, scalar_text(does != nullptr ? *does : entry), texts_of(entry.find("harmless"))});
  }
  return out;
}

// The data are the binary's own; a test reads every table.
OptionTable read_table(const std::string& path) {
  const auto document = embedded_document(path);
  if (!document) return {};
  const Node& root = document->root;
  OptionTable out{texts_of(root.find("read")),
                  texts_of(root.find("alone")),
                  known_options(root.find("habits")),
                  known_options(root.find("refused")),
                  {}};
  const Node* older = root.find("older");
  if (older == nullptr || older->table() == nullptr) return out;
  for (const auto& [name, today] : *older->table())
    out.older.emplace_back(name, scalar_text(today));
  return out;
}

void collect(const Node& node, const std::string& name, const std::string& file,
             std::vector<GivenOption>& out) {
  if (const Node::Table* table = node.table()) {
    for (const auto& [key, member] : *table) {
      collect(member, name.empty() ? key : name + "." + key, file, out);
    }
    return;
  }
  std::string value = node.is_null() ? "null" : scalar_text(node);
  if (const Node::Array* array = node.array()) {
    for (const Node& one : *array) value += (value.empty() ? "" : ",") + scalar_text(one);
  }
  out.push_back({name, std::move(value), {file, node.line, FieldName(printable(name))}});
}

}  // namespace

bool OptionTable::reads(std::string_view name) const {
  return find(read, name) != nullptr;
}

std::string OptionTable::today(std::string name) const {
  const auto found = std::find_if(older.begin(), older.end(),
                                  [&](const auto& words) { return words.first == name; });
  return found == older.end() ? std::move(name) : found->second;
}

const OptionTable& option_table(Launcher launcher) {
  static Memo<OptionTable> tables;
  const std::string name(row_of(launcher).name);
  return tables.of(name, [&] { return read_table("launch/" + name + ".toml"); });
}

void judge_options(const OptionTable& table, std::span<const GivenOption> options,
                   std::vector<std::string>& notes, Problems& problems) {
  std::vector<std::string> unknown;
  for (const GivenOption& option : options) {
    const std::string_view name = option.name;
    if (find(table.read, name) != nullptr || find(table.alone, name) != nullptr) continue;
    if (const auto* known = find(table.refused, name)) {
      refuse(*known, option, problems);
    } else if (const auto* habit = find(table.habits, name)) {
      price_by_habit(*habit, option, notes);
    } else if (const auto* family = family_of(table.refused, name);
               family != nullptr && family->name.size() >= alone_family(table, name)) {
      refuse(*family, option, problems);
    } else if (alone_family(table, name) > 0) {
      continue;
    } else if (name.find_first_of(" \t\n") != std::string_view::npos) {
      problems.push_back({option.where,
                          "is one word of the shell, which no program knows as an option; write "
                          "${LIST[@]} without quotation marks, or option and value apart"});
    } else if (const std::string_view word = step_word(name); !word.empty()) {
      problems.push_back({option.where,
                          "is not known, and by its name (" + std::string(word) +
                              ") it changes the step; take it out to price the step "
                              "without it",
                          Trouble::unknown});
    } else if (std::string shown = printable(name, 60);
               find(unknown, shown) == nullptr && unknown.size() < kMostNamed) {
      unknown.push_back(std::move(shown));
    }
  }
  if (!unknown.empty()) notes.push_back("left out, unknown to Headway: " + join(unknown, " "));
}

std::vector<GivenOption> options_of(const Document& document) {
  std::vector<GivenOption> out;
  collect(document.root, "", document.file, out);
  return out;
}

}  // namespace headway::launch
