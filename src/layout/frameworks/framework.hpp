// Frameworks by name. Each is a file of data/frameworks; nothing in the code names one but what
// reads and writes its configurations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace headway {

/// Where a framework stands in framework_names(); the first is what a run is of that names none.
enum class Framework : std::uint8_t {};

/// All frameworks, as flags and files call them, in the order in which lists show them.
std::span<const std::string_view> framework_names();
std::optional<Framework> framework_from(std::string_view name);

/// The name, and what its makers call it ("jax", "MaxText").
std::string_view name_of(Framework framework);
std::string_view title_of(Framework framework);

/// What trains networks of modules where nothing is said.
Framework framework_of_networks();

/// The framework whose habits it has where its file states no other, and whose fitted constants;
/// itself where it is of its own.
Framework base_of(Framework framework);
/// What is to be told of every run of it; empty: nothing.
std::string_view told_of(Framework framework);

/// Its option that spreads layers that do not divide over the pipeline; empty: it has none.
std::string_view option_of_uneven_stages(Framework framework);

}  // namespace headway
