// When replicas agree on their weights: every step, later, seldom, or with neighbours alone.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "layout/run.hpp"
#include "step/step.hpp"

namespace headway {

enum class Agreement : std::uint8_t { synchronous, stale, local, gossip };

struct AgreementRow {
  Agreement agreement;
  std::string_view name, what;
  std::int64_t usual, least, most;  // of its number
};
constexpr std::array<AgreementRow, 4> kAgreements = {{
    {Agreement::synchronous, "synchronous", "every step", 0, 0, 0},
    {Agreement::stale, "stale", "gradients are used that many steps later (bounded staleness)", 1,
     1, 64},
    {Agreement::local, "local-sgd", "weights are averaged once in that many steps", 16, 2, 10'000},
    {Agreement::gossip, "gossip", "weights go to that many neighbours instead of all", 2, 1, 64},
}};
constexpr const AgreementRow& row_of(Agreement agreement) {
  return kAgreements[static_cast<std::size_t>(agreement)];
}

struct Synchronisation {
  Agreement by = Agreement::synchronous;
  std::int64_t number = 0;  // s, H, d
};

/// Why replicas of this run cannot agree so; empty: they can.
std::string synchronisation_problem(const Synchronisation& by, const Run& run, const Step& step);

/// [SIM-53] How much longer than its mean a step of `replicas` is whose times vary by one standard
/// deviation, in these: the largest of them, or, where they wait less, in the mean over many steps.
double waiting_of(const Synchronisation& by, std::int64_t replicas);

// What is left of the calls of gradients in a step.

/// Beside all that the step computes.
void without_gradients(Step& step);
/// Behind it, as they are.
void gradients_behind(Step& step);
/// Weights to so many neighbours, when gradients would go to all.
void to_neighbours(Step& step, std::int64_t neighbours);

}  // namespace headway
