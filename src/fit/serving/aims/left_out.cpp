#include "fit/serving/aims/left_out.hpp"

#include "base/document/toml_text.hpp"
#include "base/formatted.hpp"
#include "fit/serving/aims/aims.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

std::string summary_text(const ErrorSummary& of) {
  return formatted("{ median = %.4f, mean = %.4f, p90 = %.4f, bias = %.4f }", of.median, of.mean,
                   of.p90, of.bias);
}

ErrorSummary summary_in(Fields fields, std::size_t rows) {
  ErrorSummary out;
  out.rows = rows;
  out.median = fields.number("median");
  out.mean = fields.number("mean");
  out.p90 = fields.number("p90");
  out.bias = fields.number("bias");
  fields.reject_unknown();
  return out;
}

}  // namespace

const LeftOutErrors* ServedLeftOut::of(const std::string& aim) const {
  for (const LeftOutErrors& each : errors) {
    if (each.aim == aim) return &each;
  }
  return nullptr;
}

ServedLeftOut left_out_of(const ServedAims& aims, const std::vector<ServedCase>& cases,
                          const HostFit& fit, const ServingIntervalFit& intervals) {
  ServedLeftOut out;
  for (const ServedAim& aim : aims.aims) {
    std::vector<double> source, model;
    for (const ServedResidual& each : fit.residuals) {
      if (each.quantity != aim.quantity || !aim.is_of(cases[each.of].row)) continue;
      source.push_back(residual_error(each, each.without_source));
      model.push_back(residual_error(each, each.without_model));
    }
    if (!source.empty()) out.errors.push_back({aim.id, summarise(source), summarise(model)});
  }
  out.held = intervals.held;
  return out;
}

std::string to_toml(const ServedLeftOut& left_out, const std::string& date) {
  std::string out =
      "# Errors of serving by constants that did not see what they predict: without the row's "
      "source, without its source's rows of its model; of the rows of each aim "
      "(data/serving/aims.toml).\n# held: of what sources measured, the share inside their 80 % "
      "intervals by such constants; by_others: by intervals that did not see the source, either; "
      "high over low. Written by\n# `headway calibrate serving --corpus FILE --left-out --write`.\n"
      "date = " +
      toml_text(date) + "\nerrors = [\n";
  for (const LeftOutErrors& each : left_out.errors) {
    out += "  { aim = " + toml_text(each.aim) + formatted(", rows = %zu", each.no_source.rows) +
           ", no_source = " + summary_text(each.no_source) +
           ", no_model = " + summary_text(each.no_model) + " },\n";
  }
  out += "]\nheld = [\n";
  for (const HeldServing& each : left_out.held) {
    out += "  { source = " + toml_text(each.source) + ", quantity = " + toml_text(each.quantity) +
           formatted(", rows = %zu, inside = %.4f, by_others = %.4f, width = %.3f },\n", each.rows,
                     each.inside, each.inside_by_others, each.width);
  }
  return out + "]\n";
}

Result<ServedLeftOut> served_left_out_from(const Document& document) {
  Problems problems;
  Fields root(document, problems);
  ServedLeftOut out;
  out.date = root.text("date");
  for (Fields& fields : root.tables("errors")) {
    const std::string aim = fields.text("aim");
    const auto rows = static_cast<std::size_t>(fields.natural("rows"));
    out.errors.push_back({aim, summary_in(fields.table("no_source", true), rows),
                          summary_in(fields.table("no_model", true), rows)});
    fields.reject_unknown();
  }
  for (Fields& fields : root.tables("held")) {
    out.held.push_back({fields.text("source"), fields.text("quantity"),
                        static_cast<std::size_t>(fields.natural("rows")), fields.number("inside"),
                        fields.number("by_others"), fields.number("width")});
    fields.reject_unknown();
  }
  root.reject_unknown();
  if (!problems.empty()) return problems;
  return out;
}

const Result<ServedLeftOut>& served_left_out() {
  static const Result<ServedLeftOut> read = [] {
    const auto document = embedded_document("serving/left_out.toml");
    return document ? served_left_out_from(*document) : Result<ServedLeftOut>(document.problems());
  }();
  return read;
}

}  // namespace headway
