#include "settings.hpp"

#include <cstdlib>
#include <cstring>

namespace headway::recorder {
namespace {

std::uint64_t operations_from(const char* names) {
  std::uint64_t out = 0;
  while (*names != '\0') {
    const std::size_t length = std::strcspn(names, ",");
    const auto is = [&](const char* name) {
      return std::strlen(name) == length && std::strncmp(name, names, length) == 0;
    };
    std::uint64_t bit = 1;
    for (const char* name : kOperationNames) {
      if (is(name)) out |= bit;
      bit <<= 1;
    }
    if (is("wait")) out |= kWaitBit;
    if (is("file")) out |= kFileBit;
    names += length + (names[length] == ',' ? 1 : 0);
  }
  return out;
}

std::uint64_t number_from(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

}  // namespace

void read_settings(Settings& settings) {
  const char* folder = std::getenv("HEADWAY_RECORD");
  if (folder == nullptr || std::strlen(folder) >= sizeof settings.folder) return;
  std::strcpy(settings.folder, folder);
  settings.min_bytes = number_from("HEADWAY_RECORD_MIN_BYTES");
  settings.rotate_bytes = number_from("HEADWAY_RECORD_ROTATE");
  if (const char* steps = std::getenv("HEADWAY_RECORD_STEPS")) {
    char* end = nullptr;
    settings.first_step = settings.last_step = std::strtoll(steps, &end, 10);
    if (std::strncmp(end, "..", 2) == 0) settings.last_step = std::strtoll(end + 2, nullptr, 10);
    settings.by_step = true;
  }
  if (const char* names = std::getenv("HEADWAY_RECORD_OPS")) {
    settings.operations = operations_from(names);
  }
  const char* clock = std::getenv("HEADWAY_RECORD_CLOCK");
  settings.always_measure_clock = clock != nullptr && std::strcmp(clock, "measure") == 0;
}

}  // namespace headway::recorder
