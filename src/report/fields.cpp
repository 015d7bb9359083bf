#include "report/fields.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.hpp"
#include "layout/fields.hpp"
#include "study/infer/question/options.hpp"
#include "study/plan/space/fields.hpp"

namespace headway {
namespace {

using Kind = FieldForm::Kind;

constexpr double kMany = 1e12;  // a bound that only keeps numbers finite

// The names that may be given, without the one that nothing given stands for.
std::vector<std::string> names_of(const FieldForm& form) {
  const std::size_t first = std::isnan(form.none) ? 0 : 1;
  return {form.names.begin() + static_cast<std::ptrdiff_t>(std::min(first, form.names.size())),
          form.names.end()};
}

std::string in_code(const std::vector<std::string>& names) {
  return "`" + join(names, "` `") + "`";
}

// What may be given, as a cell of a table.
std::string may_be(const RunField& field) {
  const FieldForm& form = field.form;
  switch (form.kind) {
    case Kind::whole:
      return form.most < kMany ? text_of(form, form.least) + " to " + text_of(form, form.most)
                               : "a whole number from " + text_of(form, form.least);
    case Kind::number:
      return "a number from " + text_of(form, form.least) + " to " + text_of(form, form.most);
    case Kind::name:
      return form.lists ? in_code(names_of(form)) : "an order, as `" + text_of(form, 0) + "`";
    case Kind::names:
      return "of " + in_code(names_of(form));
    case Kind::flag:
      return "a switch";
    case Kind::month:
      return "a month, as `2025-06`";
    case Kind::bytes:
      return "a size, as `25 MiB`";
    case Kind::text:
    case Kind::model:
    case Kind::cluster:
    case Kind::own_runs:
    case Kind::amount:
    case Kind::list:
      break;
  }
  // What cannot be told by the form of a text.
  constexpr std::pair<std::string_view, std::string_view> kTexts[] = {
      {"slice", "levels with a number each, as `node=4,rail=64`"},
      {"board-power", "a power, as `500 W`"},
      {"memory-bandwidth", "a rate, as `2.04 TB/s`"},
      {"network", "a class, as `roce` (models/cluster.md)"},
      {"network-bandwidth", "a rate, as `50 GB/s`, or `8 x 400 Gb/s`"},
      {"calibration", "a file"},
      {"ttft", "a time, as `2 s`"},
      {"tpot", "a time, as `50 ms`"},
      {"input-spread", "`uniform:S`, `normal:D` or `log-normal:D`"},
      {"output-spread", "the same"},
      {"prefill", "a split, as `tp=4,copies=2`"},
      {"decode", "a split, as `tp=8,ep=8`"}};
  for (const auto& [name, words] : kTexts) {
    if (field.name == name) return std::string(words);
  }
  return "a name or a file";
}

bool is_searched(const FieldRow& row) {
  const auto fields = plan_fields();
  return std::any_of(fields.begin(), fields.end(),
                     [&](const PlanField& field) { return field.row == &row; });
}

// The kind of question that the page asks, and the values that it offers.
struct Asked {
  const char* kind;
  std::vector<std::string> choices = {};
};
Asked asked(const RunField& field) {
  const FieldForm& form = field.form;
  switch (form.kind) {
    case Kind::model:
      return {"model"};
    case Kind::cluster:
      return {"cluster"};
    case Kind::whole: {
      if (form.most - form.least > 9) return {"count"};
      Asked out{"choice"};
      for (double i = form.least; i <= form.most; ++i) out.choices.push_back(text_of(form, i));
      return out;
    }
    case Kind::number:
      return {"number"};
    case Kind::name:
      if (form.lists) return {"choice", names_of(form)};
      break;
    case Kind::flag:
      return {"switch"};
    case Kind::text:
    case Kind::own_runs:
    case Kind::names:
    case Kind::month:
    case Kind::bytes:
    case Kind::amount:
    case Kind::list:
      break;
  }
  return {"text"};
}

// A field as the page has it.
std::string typescript_of(const RunField& field) {
  const auto [kind, choices] = asked(field);
  std::string out = "  { name: \"" + std::string(field.name) + "\", group: \"" +
                    std::string(field.group) + "\", kind: \"" + kind + "\"";
  if (!choices.empty()) out += ", choices: [\"" + join(choices, "\", \"") + "\"]";
  return out + " },\n";
}

}  // namespace

std::string fields_markdown() {
  std::string out;
  for (const std::string_view group : kFieldGroups) {
    out += (out.empty() ? "## " : "\n## ") + std::string(group) +
           "\n\n| field | may be | where nothing is given | searched | what it is |\n"
           "|---|---|---|---|---|\n";
    for (const FieldRow& row : field_rows()) {
      if (row.field.group != group) continue;
      out += "| `" + std::string(row.field.name) + "` | " + may_be(row.field) + " | " +
             default_text(row) + " | " + (is_searched(row) ? "yes" : "") + " | " + row.field.help +
             " |\n";
    }
  }
  return out;
}

std::string fields_typescript() {
  std::string out =
      "// The fields of a run. Made from src/layout/field_rows.cpp by scripts/update-golden.\n\n"
      "export const kFields = [\n";
  for (const std::string_view group : kFieldGroups) {
    for (const FieldRow& row : field_rows()) {
      if (row.field.group != group || row.field.form.kind == Kind::own_runs) continue;
      out += typescript_of(row.field);
    }
  }
  out +=
      "] as const;\n\nexport type FieldName = (typeof kFields)[number][\"name\"];\n\n"
      "// What a search varies, by its own names, and whether \"at most\" has a meaning.\n"
      "export const kSearched = [\n";
  for (const PlanField& field : plan_fields()) {
    out += "  { name: \"" + std::string(field.name) + "\", field: \"" +
           std::string(field.row->field.name) +
           "\", counts: " + (field.counts() ? "true" : "false") + " },\n";
  }
  return out + "] as const;\n";
}

std::string serving_fields_markdown() {
  std::string out;
  for (const std::string_view group : kServingGroups) {
    out += (out.empty() ? "" : "\n") + std::string("| ") + std::string(group) +
           " | may be | where nothing is given | what it is |\n|---|---|---|---|\n";
    for (const ServingOption& row : serving_options()) {
      const RunField& field = row.field;
      if (field.group != group) continue;
      out += "| `" + std::string(field.name) + "` | " + may_be(field) + " | " +
             std::string(field.otherwise) + " | " + field.help + " |\n";
    }
  }
  return out;
}

std::string serving_fields_typescript() {
  std::string out =
      "// What serving is asked. Made from src/study/infer/question/option_rows.cpp by "
      "scripts/update-golden.\n\nexport const kServingFields = [\n";
  for (const ServingOption& row : serving_options()) out += typescript_of(row.field);
  return out +
         "] as const;\n\nexport type ServingFieldName = (typeof "
         "kServingFields)[number][\"name\"];\n";
}

}  // namespace headway
