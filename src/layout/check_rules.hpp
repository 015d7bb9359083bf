// What the rules of check() share. Internal to src/layout.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "layout/frameworks/habits.hpp"
#include "layout/run.hpp"

namespace headway {

/// Fields that rules are about together.
constexpr const char* kSlots[] = {"embedding-slots", "head-slots"};
constexpr const char* kSlotsAndSplit[] = {"embedding-slots", "head-slots", "split-vocabulary"};

/// The divisors of `number` up to 1,024: "1, 2, 4, 8".
std::string divisors_text(std::int64_t number);

struct CheckFindings {
  bool silent = false;  // nobody reads the problems: none is written
  bool wrong = false;
  Problems problems;
};

class Rules {
 protected:
  explicit Rules(CheckFindings& found) : findings_(found) {}

  void fail(const char* field, std::string message, Trouble kind = Trouble::illegal,
            std::vector<std::int64_t> near = {}) {
    findings_.wrong = true;
    if (findings_.silent) return;
    findings_.problems.push_back({FieldName(field), std::move(message), kind, std::move(near)});
  }
  void fail(std::span<const char* const> fields, std::string message) {
    findings_.wrong = true;
    if (findings_.silent) return;
    FieldNames names;
    for (const char* const field : fields) names.emplace_back(field);
    findings_.problems.push_back({std::move(names), std::move(message)});
  }
  // `whole` must be a multiple of `part`.
  void divides(const char* field, std::int64_t part, std::int64_t whole, std::string_view of) {
    if (whole % part == 0) return;
    if (findings_.silent) return fail(field, "");  // the divisors take long to find
    fail(field, std::to_string(part) + " does not divide " + std::string(of) + " (" +
                    std::to_string(whole) + "); legal: " + divisors_text(whole));
  }

  CheckFindings& findings_;
};

class CheckRules : protected Rules {
 protected:
  // Of the run in this layout; both outlive the check.
  CheckRules(const Run& run, const Layout& layout, CheckFindings& found)
      : Rules(found),
        run_(run),
        layout_(layout),
        habits_(habits(run.job.framework, run.job.software)) {}

  std::string title() const { return std::string(title_of(run_.job.framework)); }

  const Run& run_;
  const Layout& layout_;
  const Habits& habits_;
};

/// How layers are cut over ranks, and experts over them.
void check_widths(const Model& model, const Layout& layout, CheckFindings& found);
void check_experts(const Model& model, const Layout& layout, CheckFindings& found,
                   std::int64_t copies = 0);

/// What training may not do that serving may: with weights that layers of a transformer share, and
/// with state spaces.
void check_trained(const Run& run, const Layout& layout, CheckFindings& found);

/// What a network of modules may be split by.
void check_network(const Run& run, const Layout& layout, CheckFindings& found);

/// The rules on stages, ends, schedules and micro-batches of a pipeline, whose degrees are legal.
void check_pipeline(const Run& run, const Layout& layout, CheckFindings& found);

}  // namespace headway
