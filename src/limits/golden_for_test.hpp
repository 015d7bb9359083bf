// Numbers of the study's reference program, from tests/golden.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/document/csv.hpp"
#include "base/document/document.hpp"
#include "base/source_dir_for_test.hpp"
#include "limits/load.hpp"
#include "platform/files.hpp"

namespace headway::limits {

inline Csv golden(const std::string& name) {
  const std::string path = source_dir() + "/tests/golden/" + name;
  const auto text = read_file(path);
  if (!text) {
    ADD_FAILURE() << path << " cannot be read";
    return {};
  }
  const auto csv = parse_csv(*text, name);
  if (!csv) ADD_FAILURE() << path << " is no table";
  return csv ? *csv : Csv();
}

inline Machine machine_for_test(const std::string& name) {
  const auto machine = embedded_machine(name);
  if (machine) return *machine;
  for (const Problem& problem : machine.problems()) {
    ADD_FAILURE() << where_text(problem) << " " << problem.message;
  }
  return {};
}

inline Comparison comparison_for_test(const std::string& name) {
  auto comparison = embedded_comparison(name);
  if (!comparison) {
    for (const Problem& problem : comparison.problems()) {
      ADD_FAILURE() << where_text(problem) << " " << problem.message;
    }
    return {};
  }
  for (Setting& setting : comparison.value().settings) setting.as_published = true;
  return comparison.value();
}

// |a/b - 1|, 0 where both are equal.
inline double apart(double a, double b) {
  return a == b ? 0 : std::abs(a / b - 1);
}

}  // namespace headway::limits
