// A layout in words and as the fields of a run.
#include "api/plan.hpp"
#include "study/plan/fields.hpp"

namespace headway {

RunRequest layout_fields(const Layout& layout) {
  const Layout usual;
  RunRequest out;
  for (const PlanField& field : plan_fields()) {
    if (field.value(layout) == field.value(usual)) continue;
    const std::string name(field.row->field.name);
    const bool is_switch = field.row->form.kind == FieldForm::Kind::flag;
    out.push_back({name, is_switch ? "true" : value_text(field, layout), "plan"});
  }
  // What a run takes otherwise when it is not given.
  if (layout.dp == usual.dp) out.push_back({"dp", "1", "plan"});
  if (layout.zero == usual.zero) out.push_back({"zero", "0", "plan"});
  return out;
}

std::string layout_flags(const Layout& layout) {
  std::string out;
  for (const GivenField& field : layout_fields(layout)) {
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
  return out;
}

}  // namespace headway
