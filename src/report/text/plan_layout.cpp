// A layout in words and as flags.
#include "report/plan.hpp"
#include "run/network_fields.hpp"
#include "study/plan/space/fields.hpp"

namespace headway {

std::string layout_flags(const Run& run, const Layout& layout) {
  std::string out;
  for (const GivenField& field : layout_fields(run.model, run.job, layout)) {
    out += (out.empty() ? "--" : " --") + field.name;
    if (field.text != "true") out += " " + field.text;
  }
  return out;
}

std::string layout_words(const Layout& layout) {
  const Layout usual;
  std::string out;
  for (const PlanField& field : plan_fields()) {
    const bool always = field.name == "dp" || field.name == "micro-batch";
    // What the framework does anyway is no news.
    const bool overlap = field.name == "overlap-gradients" || field.name == "overlap-parameters" ||
                         (field.name == "overlap-tensor" && layout.overlap_tensor != Choice::on);
    if (!always && (overlap || field.value(layout) == field.value(usual))) continue;
    out += (out.empty() ? "" : " ") + std::string(field.name) + " " + value_text(field, layout);
  }
  for (const std::string_view name : fields_of_networks()) {
    const FieldRow& row = *field_row(name);
    const auto& access = std::get<FieldAccess<Layout>>(row.access);
    if (access.get(layout) == access.get(usual)) continue;
    out += " " + std::string(name) + " " + text_of(row.field.form, access.get(layout));
  }
  return out;
}

}  // namespace headway
