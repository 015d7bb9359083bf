// The targets under libFuzzer: fuzz_coverage --target=NAME [libFuzzer option...] FOLDER...
// libFuzzer leaves options with two dashes alone, and passes them on where it starts itself again.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "targets.hpp"

namespace {

headway::fuzz::Target target;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  constexpr std::string_view kOption = "--target=";
  for (int i = 1; i < *count; ++i) {
    const std::string_view argument = (*arguments)[i];
    if (!argument.starts_with(kOption)) continue;
    if (const auto found = headway::fuzz::target_named(argument.substr(kOption.size()))) {
      target = *found;
      return 0;
    }
  }
  std::fprintf(stderr, "Say --target=NAME; targets: %s\n", headway::fuzz::target_names().c_str());
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  target.run({reinterpret_cast<const char*>(data), size});
  return 0;
}
