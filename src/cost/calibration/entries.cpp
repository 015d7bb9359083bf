#include "cost/calibration/entries.hpp"

#include "base/formatted.hpp"
#include "platform/files.hpp"

namespace headway {

std::string said_of(const AllowedRange& range) {
  const auto number = [](double value) { return formatted("%g", value); };
  const std::string least =
      (range.above ? "must be above " : "must be at least ") + number(range.least);
  const bool open = range.most == std::numeric_limits<double>::max();
  return open ? least : least + " and at most " + number(range.most);
}

void skip_provenance(Fields& fields) {
  for (const auto key : {"kind", "source", "date", "from"}) fields.text_or(key, "");
  for (const auto key : {"accelerators", "estimated", "systems", "sources", "held"}) {
    fields.texts_or_empty(key);
  }
  fields.table("residuals");
}

Result<Document> embedded_entries(const EntryFiles& files) {
  auto below = embedded_document(files.estimated);
  const auto above = embedded_document(files.fitted);
  Problems problems;
  if (!below) append(problems, below.problems());
  if (!above) append(problems, above.problems());
  if (!problems.empty()) return problems;
  overlay(below.value().root, above->root);
  return below;
}

}  // namespace headway
