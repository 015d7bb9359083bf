// The traits of one family, as one config.json has them. Private to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/document.hpp"
#include "model/model.hpp"
#include "model/reading/families.hpp"

namespace headway::reading {

/// A table of a config.
struct ConfigTable {
  const Node& node;
  Fields fields;
};

/// Problems are gathered in the config's Fields; the value returned after one is harmless.
class FamilyReader {
 public:
  /// `config` is asked first, then `around`: a language model that stands in the config of a larger
  /// network leaves some of its fields there.
  FamilyReader(const Family& family, ConfigTable& config, ConfigTable& around);

  /// A whole number from `least` (-1, 0 or 1) to `most`. A list that says the same for each layer
  /// is one number.
  std::int64_t number(std::string_view trait, std::int64_t most, std::int64_t least = 0) const;
  bool flag(std::string_view trait) const;
  /// The same, asking `around` first.
  bool outer_flag(std::string_view trait) const;
  std::string text(std::string_view trait) const;
  double probability(std::string_view trait) const;
  Activation activation(std::string_view trait) const;
  /// A list; numbers in it as text. Empty where the config says nothing.
  std::vector<std::string> words(std::string_view trait) const;

  /// The field that says the trait, or would.
  std::string key(std::string_view trait) const;
  void fail(std::string_view trait, std::string message, Trouble kind = Trouble::illegal) const;
  Fields& config() const { return config_.fields; }

 private:
  struct Said {  // a field of a table in the config
    const Node* node;
    Fields table;
    std::string key;
  };
  const Trait& trait(std::string_view name) const;
  Said locate(const ConfigTable& from, std::string_view path) const;
  /// Where the config says it: the first of the keys that is present.
  std::optional<Said> said(const std::vector<std::string>& keys, bool outside = false) const;
  bool flag(const Trait& wanted, std::optional<Said> place) const;
  void apply(const Variant& variant);
  /// "heads", "4 hidden": the product of the traits and numbers named.
  std::int64_t product(const Node& value, std::int64_t most, std::int64_t least) const;

  ConfigTable& config_;
  ConfigTable& around_;
  Traits traits_;
};

}  // namespace headway::reading
