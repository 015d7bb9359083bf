// Models by the names under which others publish and measure them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headway {

/// The longest of the built-in `names` that a published one has in it as whole words, whatever its
/// letters' case and its signs: "meta-llama/Llama-2-7b-chat-hf" has "llama-2-7b", "Gemma2 9B it"
/// "gemma-2-9b". None: empty, also where another word makes it another model's ("draft", "vision").
std::string built_in_of(std::string_view published, const std::vector<std::string>& names);

}  // namespace headway
