// Times of the stages of a pipeline, from a table.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/csv.hpp"
#include "forecast/schedule/placement.hpp"

namespace headway {

/// How short a time may be.
enum class Least : std::uint8_t { nothing, something };

/// What a stage takes for one micro-batch, with the names of columns and flags.
struct StageTimeRow {
  std::string_view name;
  Least least;
};
constexpr std::array<StageTimeRow, 3> kStageTimes = {
    {{"forward", Least::something}, {"backward", Least::something}, {"weight", Least::nothing}}};

struct StagePasses {
  Seconds forward, backward, weight;  // backward: the gradient of the input alone
};
ChunkTime chunk_time(const StagePasses& stage);

/// What is wrong with a time; empty: nothing.
std::string time_problem(Seconds time, Least least);

/// A row for each of `stages`, in any order: columns stage (from 0), forward, backward, weight,
/// times with their unit. Or everything that is wrong; `stages` unknown: as many as there are rows.
Result<std::vector<ChunkTime>> read_stages(const Csv& table, std::optional<std::int64_t> stages);

}  // namespace headway
