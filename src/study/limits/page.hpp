// What docs/limits.md shows: every answer on it that a command can find.
#pragma once

#include <string>
#include <vector>

#include "limits/search/sensitivity.hpp"
#include "platform/parallel.hpp"
#include "study/limits/curves.hpp"
#include "study/limits/transformer_curves.hpp"

namespace headway {

struct LimitsPage {
  struct Curves {
    std::string name;  // of its block on the page
    LimitsReport report;
    std::size_t drawings = 0;  // that stand beside it: none, utilisation, degrees as well
  };
  std::vector<Curves> curves;
  limits::Setting setting;  // of the sensitivities
  limits::Sensitivities sensitivities;
  std::vector<RealCurve> real;
};

/// `progress` is told of tables; a problem where it stopped them.
Result<LimitsPage> limits_page(int threads, const Progress& progress);

}  // namespace headway
