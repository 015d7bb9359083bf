#include <algorithm>

#include "base/document/document.hpp"
#include "cost/calibration/entries.hpp"
#include "cost/calibration/step_constants.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

constexpr const char* kDefault = "default";

// Reads the constants of one entry that stand in it; others keep their values.
struct Reader {
  Fields& fields;

  void operator()(const char* name, double& constant, const Bounds& bounds) {
    constant = checked(name, fields.number_or(name, constant), bounds);
  }
  template <class Q>
  void operator()(const char* name, Q& constant, const Bounds& bounds) {
    constant = Q(checked(name, fields.quantity_or(name, constant).value(), bounds));
  }

 private:
  double checked(const char* name, double value, const Bounds& bounds) {
    // A constant at its bound was rounded when it was written.
    constexpr double kRounding = 1e-3;
    const bool inside =
        value >= bounds.least * (1 - kRounding) && value <= bounds.most * (1 + kRounding);
    if (!fields.has(name) || inside) return std::clamp(value, bounds.least, bounds.most);
    fields.fail(name, "must be from " + std::to_string(bounds.least) + " to " +
                          std::to_string(bounds.most) + " (SI): " + std::string(bounds.reason));
    return bounds.least;
  }
};

template <class Constants>
Constants entry(Fields fields, Constants constants, std::set<std::string>& held) {
  for_each_constant(constants, Reader{fields});
  // What only people read: where the numbers of an entry come from.
  for (const char* key : {"kind", "source", "date"}) fields.text_or(key, "");
  for (const std::string& name : fields.texts_or_empty("held")) held.insert(name);
  Fields residuals = fields.table("residuals");
  for (const std::string& key : residuals.keys()) residuals.number_or(key, 0);
  fields.reject_unknown();
  return constants;
}

// Every entry of a section upon its default.
template <class Constants>
std::map<std::string, Constants> section(Fields fields, const std::string& section,
                                         StepConstants& constants) {
  std::map<std::string, Constants> out;
  const auto held = [&](const std::string& name) -> std::set<std::string>& {
    return constants.held[section + "." + name];
  };
  const Constants shared =
      entry(fields.table(kDefault, /*required=*/true), Constants(), held(kDefault));
  out.emplace(kDefault, shared);
  for (const std::string& name : fields.keys()) {
    if (name != kDefault) out.emplace(name, entry(fields.table(name), shared, held(name)));
  }
  return out;
}

PowerConstants power_from(Fields fields) {
  PowerConstants out;
  const auto share = [&](const char* key) {
    const double value = fields.number(key);
    if (!(value > 0 && value <= 1)) fields.fail(key, "must be above 0 and at most 1");
    return value;
  };
  out.waiting = share("waiting");
  out.host = share("host");
  for (const char* said : {"kind", "source", "host_source", "date"}) fields.text(said);
  fields.reject_unknown();
  return out;
}

Result<StepConstants> constants_from(const Document& document) {
  Problems problems;
  Fields fields(document, problems);
  StepConstants out;
  out.shared =
      entry(fields.table("shared", /*required=*/true), SharedConstants(), out.held["shared"]);
  out.power = power_from(fields.table("power", /*required=*/true));
  out.frameworks =
      section<FrameworkConstants>(fields.table("framework", /*required=*/true), "framework", out);
  out.architectures = section<ArchitectureConstants>(
      fields.table("architecture", /*required=*/true), "architecture", out);
  out.networks =
      section<NetworkConstants>(fields.table("network", /*required=*/true), "network", out);
  Fields appeared = fields.table("appeared", /*required=*/true);
  for (const std::string& name : appeared.keys()) {
    if (name != "source") out.appeared[name] = appeared.number(name);
  }
  appeared.text("source");
  Fields power = fields.table("benchmarked_power", /*required=*/true);
  for (const std::string& name : power.keys()) {
    if (name != "source") out.benchmarked_power[name] = power.quantity<Watts>(name);
  }
  power.text("source");
  fields.reject_unknown();
  if (!problems.empty()) return problems;
  return out;
}

template <class Constants>
const Constants& named(const std::map<std::string, Constants>& entries, const std::string& name) {
  const auto found = entries.find(name);
  return found != entries.end() ? found->second : entries.at(kDefault);
}

}  // namespace

const FrameworkConstants& StepConstants::framework(const std::string& name) const {
  return named(frameworks, name);
}

const ArchitectureConstants& StepConstants::architecture(const std::string& name) const {
  return named(architectures, name);
}

const NetworkConstants& StepConstants::network(const std::string& name) const {
  return named(networks, name);
}

Result<StepConstants> step_constants_from(const Document& estimated, const Document* fitted) {
  Document all = estimated;
  if (fitted) overlay(all.root, fitted->root);
  return constants_from(all);
}

Result<Document> embedded_step_estimates() {
  return embedded_document(kStepFiles.estimated);
}

Result<StepConstants> estimated_step_constants() {
  const auto estimated = embedded_step_estimates();
  if (!estimated) return estimated.problems();
  return step_constants_from(*estimated, nullptr);
}

namespace {

Result<StepConstants> embedded_constants() {
  const auto entries = embedded_entries(kStepFiles);
  if (!entries) return entries.problems();
  return constants_from(*entries);
}

}  // namespace

const Result<StepConstants>& step_constants() {
  static const Result<StepConstants> constants = embedded_constants();
  return constants;
}

}  // namespace headway
