// What tests of recorders read, and count.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "platform/temporary_folder_for_test.hpp"
#include "trace/recording/recording.hpp"

namespace headway {

inline std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// (operation, bytes) -> how many; bytes -1: not known.
using Tally = std::map<std::pair<Operation, double>, int>;

/// Of the calls of a rank that are wanted.
template <class Wanted>
Tally tally_if(const Recording& recording, std::int64_t rank, const Wanted& wanted) {
  Tally out;
  for (const RecordedCall& call : recording.calls) {
    if (recording.ranks[call.rank].number != rank || !wanted(call)) continue;
    ++out[{call.op, call.bytes.value_or(Bytes(-1)).value()}];
  }
  return out;
}
inline Tally tally(const Recording& recording, std::int64_t rank) {
  return tally_if(recording, rank, [](const RecordedCall&) { return true; });
}

inline std::int64_t lost(const Recording& recording) {
  std::int64_t out = 0;
  for (const Omission& omission : recording.omissions) out += omission.lost ? omission.count : 0;
  return out;
}

/// How often what was left out is said with these words.
inline std::int64_t times_said(const Recording& recording, std::string_view what) {
  std::int64_t out = 0;
  for (const Omission& omission : recording.omissions) {
    if (omission.what.find(what) != std::string::npos) out += omission.count;
  }
  return out;
}

}  // namespace headway
