#include "model/reading/families.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "platform/embedded.hpp"

namespace headway::reading {
namespace {

constexpr int kDeepestLikeness = 8;

std::vector<std::string> texts(const Node& node) {
  std::vector<std::string> out;
  if (const auto* one = std::get_if<std::string>(&node.value)) out.push_back(*one);
  if (const Node::Array* many = node.array()) {
    for (const Node& each : *many) {
      if (const auto* text = std::get_if<std::string>(&each.value)) out.push_back(*text);
    }
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> pairs(const Node* node) {
  std::vector<std::pair<std::string, std::string>> out;
  if (node == nullptr || node->table() == nullptr) return out;
  for (const auto& [name, value] : *node->table()) {
    const std::vector<std::string> said = texts(value);
    if (said.size() == 1) out.emplace_back(name, said.front());
  }
  return out;
}

class Reader {
 public:
  explicit Reader(const Document& document) : document_(document) {}

  Result<Families> run() {
    const Node* name_of_base = document_.root.find("base");
    const Node* all = document_.root.find("family");
    if (name_of_base != nullptr && all != nullptr && all->table() != nullptr) {
      all_ = all;
      base_ = join(texts(*name_of_base), " ");
      for (const auto& [name, node] : *all->table()) add(name, node);
    }
    if (const Node* refused = document_.root.find("refused"); refused && refused->array()) {
      for (const Node& node : *refused->array()) add_kind(node);
    }
    out_.endings = pairs(document_.root.find("endings"));
    out_.towers = pairs(document_.root.find("towers"));
    if (out_.families.empty()) fail(document_.root, "holds no families");
    if (!problems_.empty()) return problems_;
    return std::move(out_);
  }

 private:
  void fail(const Node& node, std::string message) {
    problems_.push_back({Where(document_.file, node.line), std::move(message)});
  }

  Trait trait(const std::string& name, const Node& node) {
    Trait out;
    const Node::Table* table = node.table();
    if (table == nullptr) {
      out.value = node;
      return out;
    }
    for (const auto& [key, value] : *table) {
      if (key == "read" || key == "unless") {
        out.keys = texts(value);
        out.negated = key == "unless";
      } else if (key == "else") {
        out.value = value;
      } else {
        fail(node, name + ": '" + key + "' is none of read, unless, else");
      }
    }
    if (out.keys.empty()) fail(node, name + " names no field");
    return out;
  }

  void lay(Traits& over, const std::string& name, const Node& node) {
    const Node* base = all_->find(base_);
    if (base == nullptr || base->find(name) == nullptr) {
      fail(node, "'" + name + "' is no trait of [family." + base_ + "]");
    }
    over.insert_or_assign(name, trait(name, node));
  }

  void add_variants(Family& family, const Node& node) {
    const Node::Array* variants = node.array();
    if (variants == nullptr) return fail(node, "variants are a list of tables");
    for (const Node& each : *variants) {
      Variant variant;
      variant.is.value = true;
      if (each.table() == nullptr) continue;
      for (const auto& [name, value] : *each.table()) {
        const std::vector<std::string> said = texts(value);
        if (name == "field" && said.size() == 1) {
          variant.field = said.front();
        } else if (name == "is") {
          variant.is = value;
        } else if (name == "assumed") {
          variant.assumed = value;
        } else if (name == "unsupported" && said.size() == 1) {
          variant.unsupported = said.front();
        } else {
          lay(variant.traits, name, value);
        }
      }
      if (variant.field.empty()) fail(each, "a variant names a field");
      if (variant.assumed.is_null()) fail(each, "a variant says what is assumed of its field");
      family.variants.push_back(std::move(variant));
    }
  }

  // What a family is like comes first, its own traits over that.
  void inherit(Family& family, const Node& node, int depth) {
    const Node* like = node.find("like");
    const bool base = &node == all_->find(base_);
    if (!base) {
      const std::string parent = like != nullptr ? join(texts(*like), " ") : base_;
      const Node* above = all_->find(parent);
      if (above == nullptr || depth == kDeepestLikeness) {
        return fail(node, "is like '" + parent + "', which leads nowhere");
      }
      inherit(family, *above, depth + 1);
    }
    for (const auto& [name, value] : *node.table()) {
      if (name == "variant") {
        add_variants(family, value);
      } else if (name != "like" && name != "stems" && name != "names" && name != "types" &&
                 name != "source") {
        lay(family.traits, name, value);
      }
    }
  }

  void add(const std::string& name, const Node& node) {
    if (node.table() == nullptr) return fail(node, "'" + name + "' is no table");
    Family family;
    family.name = name;
    const auto list = [&](const char* key) {
      const Node* found = node.find(key);
      return found != nullptr ? texts(*found) : std::vector<std::string>();
    };
    family.stems = list("stems");
    family.names = list("names");
    family.types = list("types");
    for (const std::string& source : list("source")) family.source = source;
    if (family.source.empty()) fail(node, "'" + name + "' has no source");
    inherit(family, node, 0);
    out_.families.push_back(std::move(family));
  }

  void add_kind(const Node& node) {
    Kind kind;
    for (const auto& [name, into] :
         {std::pair("stems", &kind.stems), std::pair("types", &kind.types)}) {
      if (const Node* found = node.find(name)) *into = texts(*found);
    }
    if (const Node* found = node.find("kind")) kind.name = join(texts(*found), " ");
    if (kind.name.empty()) fail(node, "what is refused has a kind");
    out_.refused.push_back(std::move(kind));
  }

  const Document& document_;
  const Node* all_ = nullptr;
  std::string base_;  // the family that states every trait
  Families out_;
  Problems problems_;
};

}  // namespace

bool holds(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

Result<Families> families_from(const Document& document) {
  return Reader(document).run();
}

const Result<Families>& embedded_families() {
  static const Result<Families> families = [] {
    const Result<Document> document =
        parse_toml(embedded_file("families.toml").value_or(""), "data/families.toml");
    return document ? families_from(*document) : Result<Families>(document.problems());
  }();
  return families;
}

}  // namespace headway::reading
