#include "report/simulate/codesign.hpp"

#include <algorithm>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "report/json/writer.hpp"
#include "report/predict.hpp"
#include "report/simulate/parts.hpp"

namespace headway {
namespace {

double change_of(const DesignedStep& step, const DesignedStep& base) {
  return step.time / base.time - 1;
}

std::vector<std::string> cells(const DesignedStep& step, const DesignedStep& base) {
  return {to_text(step.time), formatted("%+.2f %%", 100 * change_of(step, base)),
          to_text(std::max(Seconds(0), step.parts.dp))};
}

std::vector<std::string> row_of(std::string layer, std::string name, const DesignedStep& step,
                                const DesignedStep& base) {
  std::vector<std::string> out = {"  " + std::move(layer), std::move(name)};
  for (std::string& each : cells(step, base)) out.push_back(std::move(each));
  return out;
}

std::string taken(std::string_view title, const Together& of, const DesignedStep& base) {
  std::string out = "\n" + std::string(title) + "\n";
  if (of.choices.empty()) return out + "  none makes the step shorter\n";
  out += aligned(
      {{"  step", to_text(of.step.time), formatted("%+.2f %%", 100 * change_of(of.step, base))},
       {"  dp", to_text(std::max(Seconds(0), of.step.parts.dp))}});
  for (const std::string& each : of.choices) out += "  " + each + "\n";
  return out;
}

void step_members(JsonWriter& out, const DesignedStep& step, const DesignedStep& base) {
  out.member("step_time_s", step.time.value());
  out.member("change", change_of(step, base));
  write_parts(out, "parts_s", step.parts);
}

void together_member(JsonWriter& out, std::string_view name, const Together& of,
                     const DesignedStep& base) {
  out.key(name);
  out.begin_object();
  out.key("choices");
  out.begin_array();
  for (const std::string& each : of.choices) out.value(each);
  out.end_array();
  step_members(out, of.step, base);
  out.end_object();
}

}  // namespace

std::string simulate_codesign_text(const Codesign& found) {
  std::string out = run_heading(found.run) + "\n";
  out += aligned({{"step time, simulated", to_text(found.base.time)},
                  {"of it exposed dp", to_text(std::max(Seconds(0), found.base.parts.dp))}});
  std::vector<std::vector<std::string>> rows = {
      {"  layer", "choice alone", "step", "change", "exposed dp"}};
  bool marked = false;
  for (const TriedChoice& tried : found.tried) {
    if (!tried.step) continue;
    marked = marked || tried.changes_result;
    rows.push_back(row_of(std::string(to_name(tried.layer)),
                          tried.text + (tried.changes_result ? " *" : ""), *tried.step,
                          found.base));
  }
  out += "\n" + aligned(rows);
  if (marked) out += "  * changes what training comes to\n";
  out += taken("together, the result of training as it is", found.keeping_result, found.base);
  out += taken("together, all", found.all, found.base);
  std::string refused;
  for (const TriedChoice& tried : found.tried) {
    if (!tried.step) refused += "  " + tried.text + ": " + tried.refused + "\n";
  }
  return refused.empty() ? out : out + "\nrefused\n" + refused;
}

std::string simulate_codesign_json(const Codesign& found) {
  JsonWriter out;
  out.begin_object();
  out.member("model", found.run.model.name);
  out.member("cluster", found.run.cluster.name);
  out.member("step_time_s", found.base.time.value());
  write_parts(out, "parts_s", found.base.parts);
  out.key("choices");
  out.begin_array();
  for (const TriedChoice& tried : found.tried) {
    out.begin_object();
    out.member("layer", to_name(tried.layer));
    out.member("choice", tried.text);
    out.member("changes_result", tried.changes_result);
    if (tried.step) {
      step_members(out, *tried.step, found.base);
    } else {
      out.member("refused", tried.refused);
    }
    out.end_object();
  }
  out.end_array();
  together_member(out, "together_keeping_result", found.keeping_result, found.base);
  together_member(out, "together", found.all, found.base);
  out.end_object();
  return out.take();
}

}  // namespace headway
