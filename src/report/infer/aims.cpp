#include "report/infer/aims.hpp"

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/text.hpp"
#include "fit/serving/tables.hpp"
#include "report/json/writer.hpp"

namespace headway {
namespace {

std::string number_of(const JudgedAim& aim, const std::optional<double>& value) {
  if (!value) return "";
  return aim.percent ? in_percent(*value) + " %" : formatted("%.2f", *value);
}

std::string bound_of(const JudgedAim& aim) {
  const auto round = [&](double value) {
    return aim.percent ? formatted("%.0f %%", 100 * value) : formatted("%.1f", value);
  };
  if (aim.at_least) return round(*aim.at_least) + " to " + round(*aim.at_most);
  return "at most " + round(*aim.at_most);
}

std::string count_of(std::size_t rows) {
  return rows > 0 ? std::to_string(rows) : "";
}

UnitTable aims_table(std::span<const JudgedAim> aims) {
  UnitTable table = {{"what", "measure", "aim", "rows", "now", "left out", "no model", "no source",
                      "met", "peers"},
                     {"", "", "", "", "", "rows", "", "", "", "%"}};
  for (const JudgedAim& aim : aims) {
    const auto met = aim.met();
    table.push_back({printable(aim.what, 80), aim.measure, bound_of(aim), count_of(aim.rows),
                     number_of(aim, aim.now), count_of(aim.left_out_rows),
                     number_of(aim, aim.no_model), number_of(aim, aim.no_source),
                     met ? (*met ? "yes" : "no") : "", aim.peers});
  }
  return table;
}

UnitTable left_out_table(const ServedLeftOut& left_out) {
  UnitTable table = {{"source left out", "quantity", "rows", "in 80 %", "by others", "width"},
                     {"", "", "", "%", "%", ""}};
  for (const HeldServing& each : left_out.held) {
    table.push_back({printable(each.source, 30), each.quantity, std::to_string(each.rows),
                     in_percent(each.inside), in_percent(each.inside_by_others),
                     formatted("%.2f", each.width)});
  }
  return table;
}

}  // namespace

std::string served_aims_text(std::span<const JudgedAim> aims, const ServedLeftOut& left_out) {
  return "aims; now: these rows by the constants in force; left out: the rows that those were "
         "fitted on, by constants\nwithout their source's rows of their model, and without their "
         "source (" +
         left_out.date + "), which decides\n" + aligned(aims_table(aims), 3) + "\n" +
         aligned(left_out_table(left_out), 2);
}

void write_served_aims(JsonWriter& out, std::span<const JudgedAim> aims,
                       const ServedLeftOut& left_out) {
  const auto optional = [&](std::string_view name, const std::optional<double>& value) {
    out.key(name);
    value ? out.value(*value) : out.null();
  };
  out.key("aims");
  out.begin_array();
  for (const JudgedAim& aim : aims) {
    out.begin_object();
    out.member("id", aim.id);
    out.member("what", aim.what);
    out.member("measure", aim.measure);
    optional("at_least", aim.at_least);
    optional("at_most", aim.at_most);
    out.member("rows", aim.rows);
    optional("now", aim.now);
    out.member("left_out_rows", aim.left_out_rows);
    optional("no_model", aim.no_model);
    optional("no_source", aim.no_source);
    out.key("met");
    const auto met = aim.met();
    met ? out.value(*met) : out.null();
    out.member("peers", aim.peers);
    out.end_object();
  }
  out.end_array();
  out.key("held");
  out.begin_array();
  for (const HeldServing& each : left_out.held) {
    out.begin_object();
    out.member("source", each.source);
    out.member("quantity", each.quantity);
    out.member("rows", each.rows);
    out.member("inside", each.inside);
    out.member("by_others", each.inside_by_others);
    out.member("width", each.width);
    out.end_object();
  }
  out.end_array();
}

GeneratedBlocks served_aims_blocks(std::span<const JudgedAim> aims, const ServedLeftOut& left_out) {
  return {{"serving-aims", markdown_of(aims_table(aims), 3)},
          {"serving-held", markdown_of(left_out_table(left_out), 2)}};
}

}  // namespace headway
