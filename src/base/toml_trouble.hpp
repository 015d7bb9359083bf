// What toml++ 3.3 does not withstand, found before it sees the text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headway {

struct TomlTrouble {
  int line;
  std::string message;
};

/// The first of these in the text, or nothing:
/// - a control character, which TOML forbids everywhere, but for tabs and line ends (LF, CR LF);
/// - a character outside ASCII that stands outside quotes and comments, or right after a backslash
///   and white space in a """ block: toml++ asks whether it is white space, and runs into undefined
///   behaviour for most. Only the latter is TOML, of a kind that is rarely written;
/// - a dotted key (a.b.c. ... = 1) of more parts than kDeepestNesting: toml++ limits how deep
/// values
///   nest, but this nests tables just as deep and would exhaust the stack.
/// Text that is no valid TOML may be misread from its first error on, where toml++ stops as well.
std::optional<TomlTrouble> find_toml_trouble(std::string_view text);

}  // namespace headway
