#include "beside.hpp"

#include <sys/auxv.h>

#include <filesystem>

namespace headway {
namespace {

namespace fs = std::filesystem;

// The kernel says it; where its files are not there (a bare root), the path that was run.
fs::path program_path() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) return program;
  const auto* run = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  return run == nullptr ? fs::path() : fs::weakly_canonical(run, error);
}

}  // namespace

std::optional<std::string> find_beside(std::initializer_list<const char*> places,
                                       const std::string& file) {
  const fs::path program = program_path();
  std::error_code error;
  for (const char* place : places) {
    const fs::path found = (program.parent_path() / place / file).lexically_normal();
    if (!program.empty() && fs::exists(found, error)) return found.string();
  }
  return std::nullopt;
}

}  // namespace headway
