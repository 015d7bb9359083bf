// Training that communicates less: published methods by name, and what a user changes of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "limits/machine/setting.hpp"

namespace headway::limits {

/// What a user states of a relaxation; the rest is the method's (data/methods).
struct RelaxationWishes {
  std::string method{};  // empty: synchronous but for what is stated here
  std::optional<double> sync_every{}, compression{}, sample_penalty{};
  std::optional<std::int64_t> blocks{}, submodels{};
  std::optional<std::string> loose_level{};  // replicas joined there or further out meet rarely
};

/// The methods that the idealised model knows, sorted.
std::vector<std::string> relaxation_names();
/// The setting so relaxed, or everything that is wrong with the wishes. Its name says the method.
Result<Setting> relaxed(const Setting& setting, const RelaxationWishes& wishes);

/// The table `relaxation` of a setting: `method` and the fields of RelaxationWishes.
RelaxationWishes read_relaxation(Fields fields);

/// One line that says the method, its numbers and where its penalty comes from.
std::string statement_of(const Setting& setting);

}  // namespace headway::limits
