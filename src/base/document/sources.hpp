// Where the values of a file of data/ come from.
#pragma once

#include <cstdint>
#include <string>

#include "base/document/document.hpp"

namespace headway {

/// What needs a source: numbers (quantities among them); or every value.
enum class Sourced : std::uint8_t { numbers, values };

/// Reads `source`, `kind` and `date` (for the whole file) and the tables [sources.NAME] with
/// `fields`, and adds a problem for each value of the document that no source covers. An entry of
/// `fields` covers the field of that name at any depth and everything below it: "tdp", "peak",
/// "levels.fabric", "latency". Tables of an array state their own. Returns the sources as one line
/// of text.
std::string read_sources(Fields& fields, const Document& document, Problems& problems,
                         Sourced sourced = Sourced::numbers);

}  // namespace headway
