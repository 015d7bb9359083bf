#include "document_checks.hpp"
#include "targets.hpp"

void headway::fuzz::json(std::string_view text) {
  headway::fuzz::check(headway::parse_json(text, "f.json"), text);
}
