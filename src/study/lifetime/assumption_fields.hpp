// The names that fields of a whole run take. Internal to src/study/lifetime.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace headway {

/// The laws of data/convergence, the first of which stands where none is named.
std::span<const std::string_view> loss_laws();

/// What a critical batch goes by: the loss, the tokens, or public points of language models.
inline constexpr std::array<std::string_view, 5> kBatchLaws = {"by-loss", "by-tokens", "gpt3",
                                                               "llama31_405b", "llama31_8b"};

}  // namespace headway
