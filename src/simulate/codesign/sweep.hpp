// What each choice brings alone, and all of them together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulate/codesign/choice.hpp"

namespace headway {

struct TriedChoice {
  DesignLayer layer{};
  std::string text;
  bool changes_result = false;
  std::optional<DesignedStep> step;  // none: refused
  std::string refused;               // why
};

/// Choices taken together: of each kind the one that brings most alone, the best of them first, as
/// long as each makes the step shorter.
struct Together {
  std::vector<std::string> choices;
  DesignedStep step;
};

struct Codesign {
  RequestedRun run;
  DesignedStep base;
  std::vector<TriedChoice> tried;
  Together keeping_result, all;  // those that leave the training's result alone; all of them
};

/// `texts` empty: the usual ones. Problems: of the run itself, and of texts that mean nothing.
Result<Codesign> codesign(const RunRequest& fields, const std::vector<CallChoice>& calls,
                          const std::vector<std::string>& texts);

}  // namespace headway
