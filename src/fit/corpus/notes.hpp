// What stands in the notes of a row, in the words that data/corpus lists.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "fit/corpus/corpus.hpp"

namespace headway {

/// The number that stands behind `words` in `text` ("head_dim 128"), or nothing.
std::optional<std::int64_t> number_after(std::string_view text, std::string_view words);
/// The number of the notes that [numbers] calls `name`.
std::optional<std::int64_t> noted_number(const CorpusRow& row, std::string_view name);

/// The date of the row's software in years: its release where the notes name one, else its date.
std::optional<double> software_of(const CorpusRow& row);

/// The pieces of a layer that the notes say are recomputed, listed ("recompute modules norm, act")
/// or by the name of a policy; nothing where they do not.
std::optional<std::uint8_t> pieces_of(std::string_view notes);

}  // namespace headway
