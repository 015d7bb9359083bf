// A folder for the files that a test writes.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace headway::testing {

/// An empty folder that nobody else has (cases run side by side), gone when it goes.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = ::testing::TempDir() + "/headway_XXXXXX";
    const char* made = mkdtemp(name.data());
    if (made == nullptr) throw std::runtime_error("no folder can be made in " + name);
    path_ = made;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// The path of `name` in it; nothing is made.
  std::string of(std::string_view name) const { return (path_ / name).string(); }
  /// Writes a file, and the folders it stands in; its path.
  std::string write(std::string_view name, std::string_view text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace headway::testing
