#include "layout/own_runs.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace headway {
namespace {

constexpr int kBits[] = {4, 8, 16, 32};

OwnSetup setup_from(Fields& fields) {
  OwnSetup out;
  out.setup.accelerator = fields.text("accelerator");
  const std::string framework = fields.text("framework");
  if (const auto known = framework_from(framework)) {
    out.setup.framework = *known;
  } else if (!framework.empty()) {
    fields.fail("framework", "'" + printable(framework) + "' is not known", Trouble::unknown);
  }
  const std::int64_t bits = fields.count("bits");
  out.setup.bits = static_cast<int>(std::min<std::int64_t>(bits, 64));
  if (std::find(std::begin(kBits), std::end(kBits), out.setup.bits) == std::end(kBits)) {
    fields.fail("bits", "must be 4, 8, 16 or 32");
  }
  out.runs = fields.count("runs");
  out.factor = fields.number("factor");
  if (!(out.factor >= 1 / kMostOwnFactor && out.factor <= kMostOwnFactor)) {
    fields.fail("factor", "must be from 0.25 to 4");
  }
  out.interval = fields.number("interval");
  if (!(out.interval >= kLeastOwnInterval && out.interval <= 1)) {
    fields.fail("interval", "must be from 0.05 to 1");
  }
  out.agree = fields.flag_or("agree", true);
  if (!out.agree && out.factor != 1) {
    fields.fail("agree", "is false, and a factor is given: it must be 1");
  }
  out.looks = fields.texts_or_empty("looks");
  fields.reject_unknown();
  return out;
}

}  // namespace

Setup setup_of(const Accelerator& accelerator, const Job& job) {
  return {accelerator.name, job.framework,
          static_cast<int>(8 * bytes_per_element(job.recipe->matmul))};
}

std::string to_text(const Setup& setup) {
  return printable(setup.accelerator) + ", " + std::string(name_of(setup.framework)) + ", " +
         std::to_string(setup.bits) + " bit";
}

const OwnSetup* OwnRuns::of(const Setup& setup) const {
  const auto found = std::find_if(setups.begin(), setups.end(),
                                  [&](const OwnSetup& each) { return each.setup == setup; });
  return found == setups.end() ? nullptr : &*found;
}

Result<OwnRuns> own_runs_from(const Document& document) {
  Problems problems;
  Fields fields(document, problems);
  OwnRuns out{document.file, {}};
  for (const char* name : {"date", "kind", "source"}) fields.text_or(name, "");
  std::vector<Fields> tables = fields.tables("setup");
  if (tables.size() > kMostOwnSetups) {
    fields.fail("setup", "has more than " + std::to_string(kMostOwnSetups) + " setups");
    return problems;
  }
  for (Fields& table : tables) {
    OwnSetup setup = setup_from(table);
    if (out.of(setup.setup) != nullptr) {
      table.fail("accelerator", "stands twice with this framework and these bits");
    }
    out.setups.push_back(std::move(setup));
  }
  fields.reject_unknown();
  if (problems.empty() && out.setups.empty()) {
    problems.push_back({fields.where(), "holds no [[setup]]; headway calibrate --runs writes one",
                        Trouble::missing});
  }
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway
