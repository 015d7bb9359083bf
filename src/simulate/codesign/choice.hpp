// What may be chosen, one word each: "compression=powersgd:4", "bucket-size=25 MB".
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/codesign/design.hpp"

namespace headway {

/// The layers of a system that communicates (Wei et al. 2024), from the strategy down, each pair
/// with what lies between them.
enum class DesignLayer : std::uint8_t { strategy, order, library, paths, network };
constexpr std::array<std::string_view, 5> kDesignLayerNames = {"strategy", "order", "library",
                                                               "paths", "network"};
constexpr std::string_view to_name(DesignLayer layer) {
  return kDesignLayerNames[static_cast<std::size_t>(layer)];
}

struct DesignChoice {
  DesignLayer layer{};
  std::string kind;  // of several of one kind one may be taken
  std::string text;
  bool changes_result = false;  // of the training: other weights come out
  std::function<void(Design&)> apply;
};

struct ChoiceForm {
  DesignLayer layer;
  std::string_view text, what;
};
/// What may be written besides fields of the run.
std::span<const ChoiceForm> choice_forms();

/// The choices of these texts; problems: of all of them.
Result<std::vector<DesignChoice>> read_choices(std::span<const std::string> texts);
/// Those that are tried where none is named, for this run.
std::vector<std::string> usual_choices(const Run& run);

}  // namespace headway
