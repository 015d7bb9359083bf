#include "report/limits_page.hpp"

#include "base/draw/table.hpp"
#include "report/limits.hpp"

namespace headway {
namespace {

void add_curves(const LimitsPage::Curves& of, GeneratedBlocks& blocks) {
  blocks[of.name] = markdown_table(limits_rows(of.report), 2);
  std::string statements;
  for (const LimitsCurve& curve : of.report.curves) {
    if (curve.setting.relaxation.method.empty()) continue;
    statements += "- " + relaxations_text({curve.setting});
  }
  if (!statements.empty()) blocks[of.name + "-penalties"] = statements;
}

std::string name_of(const RealCurve& curve) {
  return "real-" + std::to_string(curve.ideal.setting.sequence);
}

}  // namespace

GeneratedBlocks limits_blocks(const LimitsPage& page) {
  GeneratedBlocks out;
  for (const LimitsPage::Curves& of : page.curves) add_curves(of, out);
  out["sensitivity"] = markdown_table(sensitivity_rows(page.setting, page.sensitivities));
  out["improvements"] = "```\n" + improvements_text(page.setting, page.sensitivities) + "```\n";
  for (const RealCurve& curve : page.real) {
    out[name_of(curve)] =
        markdown_table(real_rows(curve), 0) + "\n```\n" + real_ends_text(curve) + "```\n";
  }
  std::string& weak = out["weak"];
  for (const std::string_view point : limits_weak_points())
    weak += "- " + std::string(point) + "\n";
  return out;
}

std::vector<OutputFile> limits_drawings(const LimitsPage& page, const std::string& folder) {
  std::vector<OutputFile> out;
  for (const LimitsPage::Curves& of : page.curves) {
    auto drawings = limits_plots(of.report, folder + "/" + of.name + "-");
    for (std::size_t i = 0; i < of.drawings; ++i) out.push_back(std::move(drawings[i]));
  }
  out.push_back({folder + "/sensitivity.svg", sensitivity_svg(page.setting, page.sensitivities)});
  for (const RealCurve& curve : page.real) {
    out.push_back({folder + "/" + name_of(curve) + ".svg", real_svg(curve)});
  }
  return out;
}

}  // namespace headway
