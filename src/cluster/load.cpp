#include "cluster/load.hpp"

#include <algorithm>

#include "base/document/document.hpp"
#include "base/text.hpp"
#include "cluster/madmax.hpp"
#include "cluster/read.hpp"
#include "platform/embedded.hpp"
#include "platform/files.hpp"
#include "platform/memo.hpp"
#include "platform/paths.hpp"

namespace headway {
namespace {

constexpr int kDeepestBase = 8;  // a chain of bases longer than that is a circle

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const std::string& path : embedded_files(folder)) {
    if (!path.ends_with(".toml")) continue;
    names.push_back(path.substr(folder.size() + 1, path.size() - folder.size() - 6));
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool is_path(const std::string& text) {
  return text.ends_with(".toml") || text.ends_with(".json") || text.find('/') != std::string::npos;
}

// A relative path in a file is meant from where that file lies.
std::string beside(const std::string& file, const std::string& path) {
  return in_folder(folder_of(file), path);
}

Node* find_member(Node& node, std::string_view key) {
  auto* members = std::get_if<Node::Table>(&node.value);
  if (members == nullptr) return nullptr;
  for (auto& [name, member] : *members) {
    if (name == key) return &member;
  }
  return nullptr;
}

void remove_member(Node& node, std::string_view key) {
  if (auto* members = std::get_if<Node::Table>(&node.value)) {
    std::erase_if(*members, [&](const auto& member) { return member.first == key; });
  }
}

// `accelerator = "h100-sxm"` under `[accelerator] board_power = "500 W"`: the table changes what
// the name stands for.
void name_becomes_base(Node& base, const Node& over) {
  Node* below = find_member(base, "accelerator");
  const Node* above = over.find("accelerator");
  if (below == nullptr || above == nullptr || above->table() == nullptr) return;
  if (above->find("base") != nullptr || below->table() != nullptr) return;
  Node name = *below;
  below->value = Node::Table{{"base", std::move(name)}};
}

// What a base names by a path is meant from where the base lies, not from the file above it.
void anchor_accelerator(Document& document) {
  Node* node = find_member(document.root, "accelerator");
  if (node != nullptr && node->table() != nullptr) node = find_member(*node, "base");
  auto* text = node != nullptr ? std::get_if<std::string>(&node->value) : nullptr;
  if (text == nullptr || !is_path(*text)) return;
  if (auto whole = whole_path(beside(document.file, *text))) *text = std::move(*whole);
}

// A level's bandwidth is stated as such or by its network cards: whichever the file above states
// replaces both forms of the base.
void bandwidth_replaces_nics(Node& base, const Node& over) {
  Node* levels_below = find_member(base, "levels");
  const Node* levels_above = over.find("levels");
  if (levels_below == nullptr || levels_above == nullptr) return;
  const Node::Table* members = levels_above->table();
  if (members == nullptr) return;
  for (const auto& [name, above] : *members) {
    Node* below = find_member(*levels_below, name);
    if (below == nullptr) continue;
    const bool plain = above.find("bandwidth") != nullptr;
    const bool by_nics = above.find("nics") != nullptr || above.find("nic_bandwidth") != nullptr;
    if (plain && !by_nics) {
      for (const char* key : {"nics", "nic_bandwidth"}) remove_member(*below, key);
    }
    if (by_nics && !plain) remove_member(*below, "bandwidth");
    if (plain || by_nics) remove_member(*below, "port_bandwidth");
  }
}

// Changes noted in the source text, so that an overridden number is not taken for the base's.
void note_change(Node& root, const std::string& file) {
  Node::Table entry{{"source", Node{"changed by " + printable(file), 0}}};
  Node* sources = find_member(root, "sources");
  if (sources == nullptr) {
    std::get<Node::Table>(root.value).emplace_back("sources", Node{Node::Table{}, 0});
    sources = find_member(root, "sources");
  }
  if (auto* groups = std::get_if<Node::Table>(&sources->value)) {
    groups->emplace_back("changes of " + file, Node{std::move(entry), 0});
  }
}

struct Kind {
  const char* folder;
  const char* noun;
};
constexpr Kind kAccelerators{"accelerators", "accelerator"};
constexpr Kind kClusters{"clusters", "cluster"};

Result<Accelerator> accelerator_from(Document document, const std::string& name, int depth);
Result<Cluster> cluster_from(Document document, const std::string& name, int depth);

Result<Document> open(const Kind& kind, const std::string& name_or_path, const Where& where) {
  if (is_path(name_or_path)) return read_document(name_or_path);
  const std::string path = std::string(kind.folder) + "/" + name_or_path + ".toml";
  if (const auto text = embedded_file(path)) return parse_toml(*text, "data/" + path);
  return Problem{where,
                 "'" + printable(name_or_path) + "' is not a known " + kind.noun +
                     suggestion(name_or_path, names_in(kind.folder)) +
                     " (a file of your own must end in .toml)",
                 Trouble::unknown};
}

// Lays the document over its base, if it names one. Problems of the base are those of its own file.
template <class T>
Result<Document> with_base(const Kind& kind, Document document, int depth,
                           Result<T> (*check)(Document, const std::string&, int)) {
  const Node* base = document.root.find("base");
  if (base == nullptr) return document;
  const Where where(document.file, base->line, FieldName("base"));
  const auto* text = std::get_if<std::string>(&base->value);
  if (text == nullptr || text->empty()) {
    return Problem{where, std::string("must be the name of ") + kind.noun + " or a path in quotes",
                   Trouble::malformed};
  }
  if (depth >= kDeepestBase) {
    return Problem{where, "the chain of bases is deeper than " + std::to_string(kDeepestBase) +
                              " files; does a file name itself?"};
  }
  const std::string named = is_path(*text) ? beside(document.file, *text) : *text;
  Result<Document> below = open(kind, named, where);
  if (!below) return below.problems();
  const Result<T> checked = check(*below, stem_of(named), depth + 1);
  if (!checked) return checked.problems();
  Result<Document> whole = with_base(kind, std::move(below).value(), depth + 1, check);
  if (!whole) return whole.problems();

  anchor_accelerator(whole.value());
  Node root = std::move(whole.value().root);
  forget_lines(root);
  remove_member(root, "name");
  remove_member(document.root, "base");
  name_becomes_base(root, document.root);
  bandwidth_replaces_nics(root, document.root);
  overlay(root, document.root);
  root.line = document.root.line;
  note_change(root, document.file);
  document.root = std::move(root);
  return document;
}

Result<Accelerator> accelerator_from(Document document, const std::string& name, int depth) {
  Result<Document> whole = with_base(kAccelerators, std::move(document), depth, &accelerator_from);
  if (!whole) return whole.problems();
  return read_accelerator(*whole, name);
}

Result<Accelerator> accelerator_of(const Document& cluster, int depth) {
  const Node* node = cluster.root.find("accelerator");
  if (node == nullptr) return Problems{};  // read_cluster reports that it is missing
  const Where where(cluster.file, node->line, FieldName("accelerator"));
  if (const auto* text = std::get_if<std::string>(&node->value)) {
    const std::string named = is_path(*text) ? beside(cluster.file, *text) : *text;
    Result<Document> document = open(kAccelerators, named, where);
    if (!document) return document.problems();
    return accelerator_from(std::move(document).value(), stem_of(named), depth);
  }
  if (node->table() != nullptr) {
    return accelerator_from(Document{cluster.file, *node}, stem_of(cluster.file), depth);
  }
  return Problems{};  // read_cluster reports that it must be text
}

Result<Cluster> cluster_from(Document document, const std::string& name, int depth) {
  Result<Document> whole = with_base(kClusters, std::move(document), depth, &cluster_from);
  if (!whole) return whole.problems();
  return read_cluster(*whole, name, accelerator_of(*whole, depth));
}

bool is_built_in(const Kind& kind, const std::string& name) {
  return embedded_file(std::string(kind.folder) + "/" + name + ".toml").has_value();
}

// The clusters with an accelerator of this name, which was given for one.
std::vector<std::string> clusters_with(const std::string& accelerator) {
  std::vector<std::string> out;
  if (!is_built_in(kAccelerators, accelerator)) return out;
  for (const std::string& name : names_in(kClusters.folder)) {
    const auto cluster = load_cluster(name);
    if (cluster && cluster->accelerator.name == accelerator) out.push_back(name);
  }
  return out;
}

// What is none as it stands: "DGX-H100", "h100-sxm".
Result<Cluster> load_misnamed(const std::string& given) {
  const std::string name = lower(given);
  if (is_built_in(kClusters, name)) return load_cluster(name);
  if (const auto with = clusters_with(name); !with.empty()) {
    return Problem{
        member("cluster"),
        "'" + printable(given) + "' is an accelerator; clusters with it: " + join(with, ", "),
        Trouble::unknown};
  }
  return open(kClusters, given, member("cluster")).problems();
}

Result<Cluster> load_anew(const std::string& name_or_path) {
  if (!is_path(name_or_path) && !is_built_in(kClusters, name_or_path)) {
    return load_misnamed(name_or_path);
  }
  Result<Document> document = open(kClusters, name_or_path, member("cluster"));
  if (!document) return document.problems();
  if (auto system = cluster_from_madmax(*document, stem_of(name_or_path))) return *system;
  return cluster_from(std::move(document).value(), stem_of(name_or_path), 0);
}

}  // namespace

Result<Cluster> load_cluster(const std::string& name_or_path) {
  if (is_built_in(kClusters, name_or_path)) {
    static Memo<Result<Cluster>> built_in;
    return built_in.of(name_or_path, [&] { return load_anew(name_or_path); });
  }
  return load_anew(name_or_path);
}

Result<Accelerator> load_accelerator(const std::string& name_or_path) {
  Result<Document> document = open(kAccelerators, name_or_path, member("accelerator"));
  if (!document) return document.problems();
  return accelerator_from(std::move(document).value(), stem_of(name_or_path), 0);
}

Result<Cluster> parse_cluster(std::string_view toml, const std::string& file) {
  Result<Document> document = parse_toml(toml, file);
  if (!document) return document.problems();
  return cluster_from(std::move(document).value(), stem_of(file), 0);
}

Result<Accelerator> parse_accelerator(std::string_view toml, const std::string& file) {
  Result<Document> document = parse_toml(toml, file);
  if (!document) return document.problems();
  return accelerator_from(std::move(document).value(), stem_of(file), 0);
}

Result<Cluster> cluster_from_document(Document document, const std::string& name) {
  return cluster_from(std::move(document), name, 0);
}

std::vector<std::string> cluster_names() {
  return names_in(kClusters.folder);
}

std::vector<std::string> accelerator_names() {
  return names_in(kAccelerators.folder);
}

}  // namespace headway
