#include "model/reading/family_reader.hpp"

#include <algorithm>
#include <charconv>

#include "model/reading/config_fields.hpp"

namespace headway::reading {
namespace {

const Trait kNothing{.keys = {}, .negated = false, .value = Node{}};

bool same(const Node& a, const Node& b) {
  if (const auto* flag = std::get_if<bool>(&a.value)) {
    return std::holds_alternative<bool>(b.value) && std::get<bool>(b.value) == *flag;
  }
  const auto* text = std::get_if<std::string>(&a.value);
  const auto* other = std::get_if<std::string>(&b.value);
  return text != nullptr && other != nullptr && *text == *other;
}

}  // namespace

FamilyReader::FamilyReader(const Family& family, ConfigTable& config, ConfigTable& around)
    : config_(config), around_(around), traits_(family.traits) {
  for (const Variant& variant : family.variants) apply(variant);
}

const Trait& FamilyReader::trait(std::string_view name) const {
  const auto found = traits_.find(name);
  return found != traits_.end() ? found->second : kNothing;
}

FamilyReader::Said FamilyReader::locate(const ConfigTable& from, std::string_view path) const {
  const Node* node = &from.node;
  Fields table = from.fields;
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    table = table.table(path.substr(0, dot));
    if (node != nullptr) node = node->find(path.substr(0, dot));
    path.remove_prefix(dot + 1);
  }
  return {node != nullptr ? node->find(path) : nullptr, std::move(table), std::string(path)};
}

std::optional<FamilyReader::Said> FamilyReader::said(const std::vector<std::string>& keys,
                                                     bool outside) const {
  const ConfigTable* const first = outside ? &around_ : &config_;
  const ConfigTable* const second = outside ? &config_ : &around_;
  for (const ConfigTable* const table : {first, second}) {
    for (const std::string& key : keys) {
      Said place = locate(*table, key);
      if (place.table.has(place.key)) return place;
    }
  }
  return std::nullopt;
}

void FamilyReader::apply(const Variant& variant) {
  bool holds = same(variant.assumed, variant.is);
  if (std::optional<Said> place = said({variant.field})) {
    if (const auto* flag = std::get_if<bool>(&variant.is.value)) {
      holds = place->table.flag_or(place->key, !*flag) == *flag;
    } else if (const auto* text = std::get_if<std::string>(&variant.is.value)) {
      holds = place->table.text(place->key) == *text;
    } else if (const auto* number = std::get_if<std::int64_t>(&variant.is.value)) {
      holds = place->table.natural_or(place->key, 0) == *number;
    }
    if (holds && !variant.unsupported.empty()) {
      place->table.fail(place->key, variant.unsupported, Trouble::unsupported);
    }
  }
  if (!holds) return;
  for (const auto& [name, value] : variant.traits) traits_.insert_or_assign(name, value);
}

std::int64_t FamilyReader::product(const Node& value, std::int64_t most, std::int64_t least) const {
  if (const auto* number = std::get_if<std::int64_t>(&value.value)) return *number;
  const auto* words = std::get_if<std::string>(&value.value);
  if (words == nullptr) return 0;
  std::int64_t out = 1;
  for (std::size_t at = 0; at <= words->size();) {
    const std::size_t end_of_word = std::min(words->find(' ', at), words->size());
    const std::string_view word = std::string_view(*words).substr(at, end_of_word - at);
    at = end_of_word + 1;
    std::int64_t factor = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), factor);
    if (error != std::errc() || end != word.data() + word.size()) {
      factor = number(word, most, least);
    }
    out = std::min(most, out * std::min(factor, most));
  }
  return out;
}

std::int64_t FamilyReader::number(std::string_view name, std::int64_t most,
                                  std::int64_t least) const {
  const Trait& wanted = trait(name);
  std::optional<Said> place = said(wanted.keys);
  if (!place && wanted.value) return product(*wanted.value, most, least);
  if (!place) place = locate(config_, wanted.keys.front());
  if (place->node != nullptr) {
    const Node::Array* list = place->node->array();
    const Node& one = list != nullptr && !list->empty() ? list->front() : *place->node;
    const auto* number = std::get_if<std::int64_t>(&one.value);
    if (number != nullptr && least < 0 && *number == -1) return -1;
    if (number != nullptr && list != nullptr && *number >= least && *number <= most &&
        std::all_of(list->begin(), list->end(), [&](const Node& each) {
          const auto* other = std::get_if<std::int64_t>(&each.value);
          return other != nullptr && *other == *number;
        })) {
      return *number;
    }
  }
  return least > 0 ? bounded(place->table, place->key, most)
                   : natural_up_to(place->table, place->key, most);
}

bool FamilyReader::flag(std::string_view name) const {
  return flag(trait(name), said(trait(name).keys));
}

bool FamilyReader::outer_flag(std::string_view name) const {
  return flag(trait(name), said(trait(name).keys, /*outside=*/true));
}

bool FamilyReader::flag(const Trait& wanted, std::optional<Said> place) const {
  const bool* otherwise = wanted.value ? std::get_if<bool>(&wanted.value->value) : nullptr;
  const bool fallback = otherwise != nullptr && *otherwise;
  if (!place) return fallback;
  return place->table.flag_or(place->key, fallback != wanted.negated) != wanted.negated;
}

std::string FamilyReader::text(std::string_view name) const {
  const Trait& wanted = trait(name);
  if (std::optional<Said> place = said(wanted.keys)) return place->table.text(place->key);
  const auto* text = wanted.value ? std::get_if<std::string>(&wanted.value->value) : nullptr;
  return text != nullptr ? *text : std::string();
}

double FamilyReader::probability(std::string_view name) const {
  const Trait& wanted = trait(name);
  std::optional<Said> place = said(wanted.keys);
  if (place) return dropout(place->table, {place->key});
  if (!wanted.value) return 0;
  if (const auto* real = std::get_if<double>(&wanted.value->value)) return *real;
  return 0;
}

Activation FamilyReader::activation(std::string_view name) const {
  const Trait& wanted = trait(name);
  const std::string word = text(name);
  if (const auto known = activation_named(word)) return *known;
  if (std::optional<Said> place = said(wanted.keys)) {
    if (!word.empty()) fail_activation(place->table, place->key, word);
  }
  return Activation::silu;
}

std::vector<std::string> FamilyReader::words(std::string_view name) const {
  const Trait& wanted = trait(name);
  std::vector<std::string> out;
  const auto add = [&](const Node& node) {
    // [["global", "local"], 12]: these words, so often.
    const Node::Array* pair = node.array();
    if (pair != nullptr && pair->size() == 2 && (*pair)[0].array() != nullptr) {
      const auto* times = std::get_if<std::int64_t>(&(*pair)[1].value);
      const std::int64_t often = times != nullptr ? std::min(*times, kMostLayers) : 0;
      for (std::int64_t i = 0; i < often && out.size() <= kMostLayers; ++i) {
        for (const Node& each : *(*pair)[0].array()) {
          const auto* word = std::get_if<std::string>(&each.value);
          out.push_back(word != nullptr ? *word : std::string());
        }
      }
      return;
    }
    if (const auto* text = std::get_if<std::string>(&node.value)) {
      out.push_back(*text);
    } else if (const auto* number = std::get_if<std::int64_t>(&node.value)) {
      out.push_back(std::to_string(*number));
    } else {
      out.emplace_back();
    }
  };
  for (const std::string& key : wanted.keys) {
    std::optional<Said> place = said({key});
    if (!place) continue;
    if (const Node::Array* list = place->node->array()) {
      for (const Node& each : *list) add(each);
    } else {
      place->table.fail(place->key, "must be a list", Trouble::malformed);
    }
    if (!out.empty()) return out;
  }
  if (wanted.value && wanted.value->array() != nullptr) {
    for (const Node& each : *wanted.value->array()) add(each);
  }
  return out;
}

std::string FamilyReader::key(std::string_view name) const {
  const Trait& wanted = trait(name);
  for (const std::string& each : wanted.keys) {
    const Said place = locate(config_, each);
    if (place.table.has(place.key)) return each;
  }
  return wanted.keys.empty() ? std::string(name) : wanted.keys.front();
}

void FamilyReader::fail(std::string_view name, std::string message, Trouble kind) const {
  const Said place = locate(config_, key(name));
  Fields table = place.table;
  table.fail(place.key, std::move(message), kind);
}

}  // namespace headway::reading
