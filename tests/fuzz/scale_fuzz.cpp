// What `scale` reads besides runs: the values of an axis, one name=text a line, become points with
// harmless names, and a file of step times becomes times whose slowest is finite; or problems.
#include <algorithm>
#include <cmath>

#include "document_checks.hpp"
#include "study/lifetime/goodput_stragglers.hpp"
#include "study/lifetime/step_times.hpp"
#include "study/sweep/plans.hpp"
#include "targets.hpp"

namespace {

void read_times(std::string_view text) {
  const auto times = headway::step_times(text, "times.csv");
  if (!times) return headway::fuzz::check(times.problems());
  const double slowest = headway::expected_sample_maximum(*times, 4096);
  headway::fuzz::require(std::isfinite(slowest) && slowest >= 1 - 1e-9);
}

void read_axis(headway::SweepAxis axis, std::string_view text) {
  headway::RunRequest fields = {{"model", "llama-2-7b"},
                                {"cluster", "dgx-h100"},
                                {"gpus", "64"},
                                {"seq", "4096"},
                                {"global-batch", "128"}};
  constexpr std::string_view kNames[] = {"at",        "keep",    "threshold",
                                         "bandwidth", "latency", "domain"};
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    for (const std::string_view name : kNames) {
      if (!line.starts_with(name) || line.substr(name.size(), 1) != "=") continue;
      const std::string_view value = line.substr(name.size() + 1);
      if (value.find_first_of("/.") != value.npos && name == "at") return;  // reads no file
      fields.push_back({std::string(name), std::string(value), "--" + std::string(name)});
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  const auto question = headway::read_sweep(axis, fields);
  if (!question) return headway::fuzz::require(!question.problems().empty());
  for (const headway::SweepPlan& plan : headway::sweep_plans(*question)) {
    for (const headway::SweepCase& at : plan.cases) {
      headway::fuzz::require(headway::fuzz::harmless(at.label) && std::isfinite(at.value));
      if (at.run) headway::fuzz::require(at.run->layout.ranks() > 0);
    }
  }
}

}  // namespace

void headway::fuzz::scale(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::string_view text = bytes.substr(1);
  const int kind = static_cast<unsigned char>(bytes[0]) % 8;
  if (kind == 7) {
    read_times(text);
  } else {
    read_axis(static_cast<headway::SweepAxis>(kind), text);
  }
}
