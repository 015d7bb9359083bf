// What other programs call the fields of a run, and what is given for them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

/// "; 'seq-length' is called 'seq' here" where the word is one of other programs for one of the
/// known names, or else suggestion(): what is said of a name that is none. `before` stands before
/// each name, as "--" of a flag.
std::string hint(std::string_view name, std::span<const std::string> known,
                 std::string_view before = {});

/// "; here it is 'fsdp'" where `said`, given for `field`, is what other programs say for one of the
/// `legal` names; else nothing.
std::string value_hint(std::string_view field, std::string_view said,
                       std::span<const std::string_view> legal);

}  // namespace headway
