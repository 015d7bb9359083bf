// Public traces for tests. They lie beside the project, are not part of it, and may be absent.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/source_dir_for_test.hpp"
#include "trace/open.hpp"

namespace headway {

/// The folder of public traces: HEADWAY_TRACES, or ../shared/traces beside the project or one of
/// the folders around it; empty where there is none.
inline std::string trace_folder() {
  namespace fs = std::filesystem;
  if (const char* named = std::getenv("HEADWAY_TRACES")) return named;
  for (fs::path at = source_dir(); at.has_relative_path(); at = at.parent_path()) {
    const fs::path folder = at.parent_path() / "shared" / "traces";
    if (fs::is_directory(folder)) return folder.string();
  }
  return {};
}

inline bool has_public(const std::string& name) {
  return std::filesystem::exists(std::filesystem::path(trace_folder()) / name);
}

// Skips the test where the trace is absent.
#define HEADWAY_NEEDS_TRACE(name)                                                         \
  if (!has_public(name)) {                                                                \
    GTEST_SKIP() << "the public trace " << (name) << " is not here (see HEADWAY_TRACES)"; \
  }                                                                                       \
  static_assert(true)

/// The recording of a public trace.
inline Recording read_public(const std::string& path) {
  const auto recording = read_trace((std::filesystem::path(trace_folder()) / path).string());
  EXPECT_TRUE(recording.ok()) << path;
  return recording.ok() ? *recording : Recording();
}

inline Recording read_text(std::string_view text) {
  const auto recording = read_trace_bytes(text, "test");
  EXPECT_TRUE(recording.ok()) << (recording.ok() ? "" : recording.problems().front().message);
  return recording.ok() ? *recording : Recording();
}

inline std::int64_t count_of(const Recording& recording, Operation op) {
  std::int64_t count = 0;
  for (const RecordedCall& call : recording.calls) count += call.op == op ? 1 : 0;
  return count;
}

inline std::int64_t omitted(const Recording& recording, std::string_view what) {
  for (const Omission& omission : recording.omissions) {
    if (omission.what == what) return omission.count;
  }
  return 0;
}

}  // namespace headway
