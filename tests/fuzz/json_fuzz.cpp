#include <cstdint>

#include "document_checks.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  headway::fuzz::check(headway::parse_json(text, "f.json"), text);
  return 0;
}
