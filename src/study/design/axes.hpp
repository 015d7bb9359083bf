// What of a machine may be varied, and the values along each axis.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/design/machine.hpp"
#include "study/design/workload.hpp"

namespace headway {

/// A value along an axis: a technology's place among those known, or a number in SI units.
struct AxisValue {
  std::string text;
  double number = 0;
};

/// What an axis is of, and so what its values are and what it needs to mean anything.
enum class AxisOf : std::uint8_t { memory, link, network, logic, power };

struct AxisRow {
  std::string_view name, help;
  AxisOf of;
  /// The value of a text; of technologies their place among those known.
  Result<double> (*read)(const std::string& text, const Where& where);
  /// "3.35 TB/s"; null: of technologies.
  std::string (*write)(double value);
  void (*choose)(MachineChoice& choice, double value, const Technologies& known);
  bool whole = false;       // values are whole numbers
  bool needs_dies = false;  // the accelerator's logic dies must be known

  bool is_number() const { return write != nullptr; }
};

std::span<const AxisRow> axis_rows();

struct DesignAxis {
  const AxisRow* row = nullptr;
  std::vector<AxisValue> values;
};

/// Of "memory=hbm3,hbm4", "bandwidth=1TB/s..16TB/s:9" (so many values, each as many times the one
/// before), or everything that is wrong with them for this workload.
Result<std::vector<DesignAxis>> read_axes(const std::vector<std::string>& texts,
                                          const DesignWorkload& workload);

/// What is wrong with them for any workload.
Problems problems_of_axes(const std::vector<std::string>& texts);

constexpr std::size_t kMostCombinations = 1000;

}  // namespace headway
