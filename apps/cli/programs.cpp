#include "programs.hpp"

#include <sys/auxv.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

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

bool can_be_run(const std::string& program) {
  if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0;
  std::istringstream folders(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

Said said_by(const std::string& command) {
  FILE* const from = ::popen((command + " 2>&1 </dev/null").c_str(), "r");
  if (from == nullptr) return {};
  Said said;
  said.started = true;
  char text[4096];
  while (const std::size_t more = std::fread(text, 1, sizeof text, from)) {
    said.text.append(text, more);
  }
  said.failed = ::pclose(from) != 0;
  return said;
}

std::string shell_quoted(const std::string& word) {
  const bool plain = word.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                         "-_./=:,+@") == std::string::npos;
  if (plain && !word.empty()) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + shell_quoted(word);
  return out;
}

}  // namespace headway
