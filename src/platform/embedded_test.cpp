#include "platform/embedded.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/document/document.hpp"
#include "base/source_dir_for_test.hpp"
#include "platform/files.hpp"
#include "platform/gzip.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;

// The .toml and .json files that stand in the source tree under data/`folder`.
std::vector<std::string> files_on_disk(const std::string& folder) {
  const fs::path data = fs::path(source_dir()) / "data";
  std::vector<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(data / folder)) {
    const std::string type = entry.path().extension();
    if (type == ".toml" || type == ".json") out.push_back(fs::relative(entry.path(), data));
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Embedded, HoldsEveryFileOfTheDataFoldersInOrder) {
  for (const char* folder : {"accelerators", "clusters", "models", "calibration"}) {
    EXPECT_EQ(embedded_files(folder), files_on_disk(folder)) << folder;
  }
}

TEST(Embedded, HoldsTheBytesOfTheFiles) {
  for (const char* folder : {"accelerators", "clusters", "models", "calibration"}) {
    for (const std::string& path : embedded_files(folder)) {
      const Result<std::string> on_disk = read_file(std::string(source_dir() + "/data/") + path);
      ASSERT_TRUE(on_disk.ok()) << path;
      EXPECT_TRUE(embedded_file(path) == *on_disk) << path << " differs from the embedded copy";
    }
  }
}

TEST(Embedded, EveryFileParses) {
  for (const char* folder : {"accelerators", "clusters", "models", "calibration"}) {
    for (const std::string& path : embedded_files(folder)) {
      const std::string_view text = *embedded_file(path);
      const auto document =
          path.ends_with(".toml") ? parse_toml(text, path) : parse_json(text, path);
      EXPECT_TRUE(document.ok()) << where_text(document.problems()[0]) << " "
                                 << document.problems()[0].message;
    }
  }
}

TEST(Embedded, MeasurementsArePackedAndUnpackedToTheBytesOfTheirFiles) {
  std::vector<std::string> on_disk;
  std::size_t bytes = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(source_dir()) / "data" / "measurements")) {
    on_disk.push_back("measurements/" + entry.path().filename().string());
    bytes += entry.file_size();
  }
  std::sort(on_disk.begin(), on_disk.end());
  EXPECT_EQ(embedded_files("measurements"), on_disk);
  EXPECT_GT(bytes, std::size_t{6'000'000});
  for (const std::string& path : on_disk) {
    const auto text = read_file(std::string(source_dir() + "/data/") + path);
    ASSERT_TRUE(text.ok()) << path;
    EXPECT_TRUE(embedded_file(path) == *text) << path << " differs from the embedded copy";
    EXPECT_EQ(embedded_file(path)->data(), embedded_file(path)->data());  // unpacked once
  }
}

TEST(Embedded, WhatIsDamagedIsNotUnpacked) {
  // "headway\n" as gzip -9n writes it.
  const std::string packed(
      "\x1f\x8b\x08\0\0\0\0\0\x02\x03\xcbHML)O\xac\xe4\x02\0\xc4\x18m\xb1\x08\0\0\0", 28);
  EXPECT_EQ(unpacked_gzip(packed), "headway\n");
  for (std::size_t cut = 0; cut < packed.size(); ++cut) {
    EXPECT_FALSE(unpacked_gzip(packed.substr(0, cut))) << cut;
  }
  std::string damaged = packed;
  damaged[12] ^= 1;
  EXPECT_FALSE(unpacked_gzip(damaged));
}

TEST(Embedded, AnUnknownPathIsNothing) {
  EXPECT_FALSE(embedded_file("clusters/none-such.toml").has_value());
  EXPECT_FALSE(embedded_file("").has_value());
  EXPECT_FALSE(embedded_file("../README.md").has_value());
  EXPECT_TRUE(embedded_files("none-such").empty());
  EXPECT_TRUE(embedded_files("cluster").empty());  // a folder, not a prefix of its name
}

}  // namespace
}  // namespace headway
