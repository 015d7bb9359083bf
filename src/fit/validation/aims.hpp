// What the predictions aim at, and where they are.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fit/validation/validation.hpp"

namespace headway {

struct Aim {
  std::string id;           // "left-out-coverage": by which programs know it
  std::string of, measure;  // "tuned rows", "median error of the step time"
  std::optional<double> at_least, at_most;
  bool percent = true;  // a share, shown as a percentage; otherwise a plain number
  std::size_t rows = 0;
  std::optional<double> now;  // nothing: no such rows, or not measured yet

  bool met() const {
    return now && (!at_least || *now >= *at_least) && (!at_most || *now <= *at_most);
  }
};

std::vector<Aim> aims_of(const ValidationReport& report);

}  // namespace headway
