// What tests of recorders read.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace headway {

inline std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace headway
