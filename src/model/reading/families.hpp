// Families of networks, as data/families.toml states them: what each trait is, or where a
// config.json says it. Private to this folder.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/document.hpp"

namespace headway::reading {

struct Trait {
  std::vector<std::string> keys;  // the first that a config has says it
  bool negated = false;           // it is not what the config says
  std::optional<Node> value;      // where a config says nothing; without one it must
};
using Traits = std::map<std::string, Trait, std::less<>>;

/// Traits that hold where a field of the config is `is`.
struct Variant {
  std::string field;
  Node is;
  Node assumed;  // what the field is where it is absent
  Traits traits;
  std::string unsupported;  // not empty: what is to be said, since such a network cannot be read
};

struct Family {
  std::string name;
  std::string source;
  std::vector<std::string> stems;  // of architectures, before an ending
  std::vector<std::string> names;  // of architectures, whole
  std::vector<std::string> types;  // model_types
  Traits traits;                   // all of them, those of the families it is like among them
  std::vector<Variant> variants;
};

/// Networks that are not read, by what they are.
struct Kind {
  std::string name;  // "an encoder"
  std::vector<std::string> stems;
  std::vector<std::string> types;
};

struct Families {
  std::vector<Family> families;
  std::vector<std::pair<std::string, std::string>> endings;  // of architectures, and their heads
  std::vector<Kind> refused;
  std::vector<std::pair<std::string, std::string>> towers;  // fields of other networks beside it
};

/// Whether `name` is one of the list.
bool holds(const std::vector<std::string>& list, std::string_view name);

/// Traits that no family may have but those of `base`, inheritance that leads nowhere and members
/// of no meaning are problems.
Result<Families> families_from(const Document& document);

/// Those of data/families.toml.
const Result<Families>& embedded_families();

}  // namespace headway::reading
