// What the rules of check() share. Internal to src/layout.
#pragma once

#include <span>
#include <string>

#include "layout/frameworks/habits.hpp"
#include "layout/run.hpp"

namespace headway {

/// Fields that rules are about together.
constexpr const char* kSlots[] = {"embedding-slots", "head-slots"};
constexpr const char* kSlotsAndSplit[] = {"embedding-slots", "head-slots", "split-vocabulary"};

struct CheckFindings {
  bool silent = false;  // nobody reads the problems: none is written
  bool wrong = false;
  Problems problems;
};

class CheckRules {
 protected:
  // Of the run in this layout; both outlive the check.
  CheckRules(const Run& run, const Layout& layout, CheckFindings& found)
      : run_(run),
        layout_(layout),
        habits_(habits(run.job.framework, run.job.software)),
        findings_(found) {}

  void fail(const char* field, std::string message, Trouble kind = Trouble::illegal) {
    findings_.wrong = true;
    if (!findings_.silent)
      findings_.problems.push_back({FieldName(field), std::move(message), kind});
  }
  void fail(std::span<const char* const> fields, std::string message) {
    findings_.wrong = true;
    if (findings_.silent) return;
    FieldNames names;
    for (const char* const field : fields) names.emplace_back(field);
    findings_.problems.push_back({std::move(names), std::move(message)});
  }
  std::string title() const { return std::string(title_of(run_.job.framework)); }

  const Run& run_;
  const Layout& layout_;
  const Habits& habits_;
  CheckFindings& findings_;
};

/// The rules on stages, ends, schedules and micro-batches of a pipeline, whose degrees are legal.
void check_pipeline(const Run& run, const Layout& layout, CheckFindings& found);

}  // namespace headway
