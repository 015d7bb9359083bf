// From the text of given assumptions to values. Internal to src/study/lifetime.
#pragma once

#include <optional>
#include <string>

#include "base/quantity_text.hpp"
#include "run/request_reader.hpp"
#include "study/lifetime/assumptions.hpp"

namespace headway {

/// Reads one assumption after another; what is not given stays unset.
class AssumptionReader {
 public:
  AssumptionReader(const RunRequest& fields, Problems& problems)
      : reader_(fields, problems, scale_run_fields()), problems_(problems) {}

  template <class Q>
  void quantity(const std::string& name, std::optional<Q>& into) {
    const GivenField* given = reader_.find(name);
    if (given == nullptr) return;
    const Result<Q> parsed = parse_quantity<Q>(given->text, given->where);
    if (!parsed) return append(problems_, parsed.problems());
    if (parsed->value() <= 0) return reader_.fail(name, "must be greater than zero");
    into = *parsed;
  }
  /// In the range of its row.
  void number(std::string_view name, std::optional<double>& into);
  /// "15T", "300B", "2e12".
  void count(const std::string& name, double& into);
  /// A spread, or a file of measured times.
  void noise(GivenAssumptions& into);
  RequestReader& reader() { return reader_; }

 private:
  RequestReader reader_;
  Problems& problems_;
};

}  // namespace headway
