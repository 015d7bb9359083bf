#include "document_checks.hpp"
#include "targets.hpp"

void headway::fuzz::toml(std::string_view text) {
  headway::fuzz::check(headway::parse_toml(text, "f.toml"), text);
}
