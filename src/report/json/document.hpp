// Documents as trees, and as text.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>

#include "base/document/document.hpp"
#include "report/json/writer.hpp"

namespace headway {

using Json = nlohmann::ordered_json;

/// A document as text. Names may come from file names, which need not be UTF-8; a document must.
std::string document_text(const Json& document);

/// A count: a whole number where it is one, but for what sums and means of doubles leave behind.
Json count_json(double count);

/// A number, or a quantity in SI units; null where it is not known.
template <class Number>
Json known_json(const std::optional<Number>& number) {
  if (!number) return nullptr;
  if constexpr (std::is_arithmetic_v<Number>) {
    return *number;
  } else {
    return number->value();
  }
}

/// A document that was read, or a part of it, as it stands.
Json node_json(const Node& node);

/// The same, as the next value of a document that is written.
void write(JsonWriter& into, const Json& value);

}  // namespace headway
