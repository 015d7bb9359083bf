// A space as it is asked for, and all that is wrong with what is asked.
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "study/plan/space/builder.hpp"
#include "study/plan/space/fields.hpp"

namespace headway {
namespace {

std::string names_of_fields() {
  std::string out;
  for (const PlanField& field : plan_fields()) {
    out += (out.empty() ? "" : ", ") + std::string(field.name);
  }
  return out;
}

Result<std::vector<PlanLimit>> known(const std::vector<PlanFilter>& filters, Framework framework) {
  std::vector<PlanLimit> out;
  Problems problems;
  for (const PlanFilter& filter : filters) {
    const PlanField* field = plan_field(filter.field);
    if (field == nullptr) {
      problems.push_back(
          {filter.where,
           "'" + printable(filter.field) + "' is not searched; legal: " + names_of_fields(),
           Trouble::unknown});
      continue;
    }
    const auto value = value_of(*field, filter.value);
    if (!value || (filter.most && !field->counts())) {
      std::string words;
      for (const std::string_view word : field->words) {
        words += (words.empty() ? "" : ", ") + std::string(word);
      }
      if (words.empty())
        words = field->row->field.form.kind == FieldForm::Kind::whole
                    ? "a number"
                    : "none, or a list of what is offloaded";
      problems.push_back({filter.where, filter.most && !field->counts()
                                            ? "'" + filter.field + "' has no most; fix it instead"
                                            : "'" + printable(filter.value) + "' is no value of " +
                                                  filter.field + "; legal: " + words});
      continue;
    }
    out.push_back(limit_to(*field, *value, framework));
    out.back().most = filter.most;
  }
  if (!problems.empty()) return problems;
  return out;
}

// The nearest numbers of accelerators, below and above, over which some split is legal.
std::vector<std::int64_t> nearest_legal(const Run& run, std::int64_t ranks) {
  std::vector<std::int64_t> out;
  constexpr std::int64_t kMostTried = 256;
  for (const std::int64_t step : {-1, 1}) {
    for (std::int64_t i = 1; i <= kMostTried; ++i) {
      const std::int64_t near = ranks + step * i;
      if (near < 1 || near > run.cluster.accelerators) break;
      if (!has_any_layout(run, near, {})) continue;
      out.push_back(near);
      break;
    }
  }
  return out;
}

Problems nothing_legal(const Run& run, std::int64_t ranks) {
  const auto text = [](std::int64_t number) { return count_text(static_cast<double>(number)); };
  std::string what = "no split of the model over " + text(ranks) + " accelerators is legal";
  const auto near = nearest_legal(run, ranks);
  if (near.empty()) {
    // What every layout violates: said by the simplest of them.
    Run simplest = run;
    simplest.layout.dp = ranks;
    Problems problems = check(simplest);
    problems.push_back({FieldName("gpus"), what});
    return problems;
  }
  what += ": dp must divide the batch of " + text(run.job.global_batch) +
          ", tp the attention heads, pp be at most the " + text(run.model.layers()) +
          " layers, and their product with cp be that number; the nearest with one: " +
          text(near.front()) + (near.size() > 1 ? " and " + text(near.back()) : "");
  return {{FieldName("gpus"), what, Trouble::illegal, near}};
}

}  // namespace

Problems filter_problems(const std::vector<PlanFilter>& filters) {
  const auto made = known(filters, Framework{});  // names and values are those of all
  return made ? Problems{} : made.problems();
}

Result<PlanSpace> PlanSpace::make(const Run& run, std::int64_t ranks,
                                  const std::vector<PlanFilter>& filters) {
  if (run.model.is_network()) {
    return Problem{
        FieldName("model"),
        run.model.name + " is a network of modules, whose layouts are no space of degrees",
        Trouble::unsupported};
  }
  const auto made = known(filters, run.job.framework);
  if (!made) return made.problems();
  PlanSpace out = build_space(run, ranks, *made);
  if (out.size() > 0) return out;
  if (filters.empty() || !has_any_layout(run, ranks, {})) {
    return nothing_legal(run, ranks);
  }
  Problems problems;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    if (has_any_layout(run, ranks, {(*made)[i]})) continue;
    problems.push_back({filters[i].where, "no legal layout has " + filters[i].field +
                                              (filters[i].most ? " of at most " : " = ") +
                                              printable(filters[i].value)});
  }
  if (problems.empty()) {
    problems.push_back({filters.front().where, "no legal layout passes all filters together"});
  }
  return problems;
}

}  // namespace headway
