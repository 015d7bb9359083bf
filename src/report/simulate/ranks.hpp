// simulate RUN: what the ranks of a step do by themselves.
#pragma once

#include <optional>
#include <string>

#include "report/json/writer.hpp"
#include "simulate/ranks/options.hpp"
#include "simulate/ranks/summary.hpp"

namespace headway {

struct RanksAnswer {
  RanksQuestion asked;
  std::optional<RanksSummary> drawn;  // where ranks were placed by themselves
  std::optional<double> useful;       // share of time that trains, where failures were asked for
};

/// Behind the stages of the step, `\n` before each table.
std::string ranks_text(const RanksAnswer& answer);
/// The members `ranks` and `failures`, where there is something to say.
void ranks_members(JsonWriter& out, const RanksAnswer& answer, const SimulatedStep& alike);

}  // namespace headway
