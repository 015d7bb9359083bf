#include "fit/workloads/words.hpp"

#include "base/document/document.hpp"
#include "base/text.hpp"
#include "platform/files.hpp"

namespace headway::workloads {
namespace {

template <class Enum, std::size_t N>
Enum named(Fields& fields, std::string_view key, const std::array<std::string_view, N>& names) {
  const std::string text = fields.text_or(key, names[0]);
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  fields.fail(key, "'" + printable(text) + "' is not known");
  return Enum{};
}

Network network_of(Fields& fields) {
  Network out{.is = fields.text("is"),
              .model = fields.text_or("model", ""),
              .sample = fields.text_or("sample", ""),
              .source = fields.text_or("source", ""),
              .note = fields.text_or("note", ""),
              .skip = fields.text_or("skip", "")};
  if (out.model.empty() == out.skip.empty()) {
    fields.fail("model", "either it or 'skip' must be given");
  }
  fields.reject_unknown();
  return out;
}

Note note_of(Fields& fields) {
  Note out{.has = fields.text("has"), .skip = fields.text_or("skip", "")};
  const std::string is = fields.text_or("is", "");
  out.recipe = recipe_from(is);
  if (!is.empty() && out.recipe == nullptr) fields.fail("is", "is no recipe");
  if (is.empty() == out.skip.empty()) fields.fail("is", "either it or 'skip' must be given");
  fields.reject_unknown();
  return out;
}

template <class Enum, std::size_t N>
std::optional<Enum> named_or_none(Fields& fields, std::string_view key,
                                  const std::array<std::string_view, N>& names) {
  if (!fields.has(key)) return std::nullopt;
  return named<Enum>(fields, key, names);
}

Habit habit_of(Fields& fields) {
  Habit out;
  out.source = fields.text("source");
  out.model = fields.text("model");
  out.architecture = fields.text_or("architecture", "");
  out.since = fields.text_or("since", "");
  out.before = fields.text_or("before", "");
  out.accelerator = fields.text_or("accelerator", "");
  out.from_accelerators = fields.natural_or("from_accelerators", 0);
  out.to_accelerators = fields.natural_or("to_accelerators", 0);
  out.gradients = named_or_none<Choice>(fields, "overlap_gradients", kChoiceNames);
  if (fields.has("copy_below")) out.copy_below = fields.natural_or("copy_below", 0);
  out.attention = named_or_none<AttentionKernel>(fields, "attention", kAttentionKernelNames);
  out.optimizer = named_or_none<Optimizer>(fields, "optimizer", kOptimizerNames);
  if (fields.has("attention_8_bit")) {
    out.attention_8_bit = fields.flag_or("attention_8_bit", false);
  }
  if (fields.has("bucket")) out.bucket = fields.quantity<Bytes>("bucket");
  if (fields.has("framework")) {
    out.framework = framework_from(fields.text("framework"));
    if (!out.framework) fields.fail("framework", "is not known");
  }
  out.graphs = named_or_none<Graphs>(fields, "graphs", kGraphNames);
  if (fields.has("table_cache")) out.table_cache = fields.number("table_cache");
  fields.reject_unknown();
  return out;
}

Setup setup_of(Fields& fields) {
  Setup out;
  out.source = fields.text("source");
  out.library = fields.text_or("library", "");
  const auto framework = framework_from(fields.text("framework"));
  if (!framework) fields.fail("framework", "is not known");
  out.framework = framework.value_or(Framework{});
  out.graphs = named<Graphs>(fields, "graphs", kGraphNames);
  out.reduced = named<WireFormat>(fields, "reduced", kWireFormatNames);
  out.zero = static_cast<int>(fields.natural_or("zero", 0));
  out.fused = fields.flag_or("fused", true);
  fields.reject_unknown();
  return out;
}

Precision precision_of(Fields& fields) {
  Precision out{.said = fields.text_or("said", ""),
                .model = fields.text_or("model", ""),
                .architecture = fields.text_or("architecture", ""),
                .since = fields.text_or("since", ""),
                .from_accelerators = fields.natural_or("from_accelerators", 0),
                .recipe = recipe_from(fields.text("is")),
                .assumed = fields.flag_or("assumed", false)};
  if (out.recipe == nullptr) fields.fail("is", "is no recipe");
  fields.reject_unknown();
  return out;
}

Round round_of(Fields& fields) {
  Round out{.is = fields.text("is")};
  const auto years = years_of(fields.text("date"));
  if (!years) fields.fail("date", "is no date, as 2022-06");
  out.software = years.value_or(0);
  fields.reject_unknown();
  return out;
}

Result<Words> read() {
  const auto document = embedded_document("corpus/workloads.toml");
  if (!document) return document.problems();
  Problems problems;
  Words words;
  Fields root(*document, problems);
  for (Fields& fields : root.tables("networks")) words.networks.push_back(network_of(fields));
  for (Fields& fields : root.tables("notes")) words.notes.push_back(note_of(fields));
  for (Fields& fields : root.tables("habits")) words.habits.push_back(habit_of(fields));
  for (Fields& fields : root.tables("setups")) words.setups.push_back(setup_of(fields));
  for (Fields& fields : root.tables("precisions")) {
    words.precisions.push_back(precision_of(fields));
  }
  for (Fields& fields : root.tables("rounds")) words.rounds.push_back(round_of(fields));
  root.table("sources");
  root.reject_unknown();
  if (!problems.empty()) return problems;
  return words;
}

}  // namespace

const Result<Words>& Words::embedded() {
  static const Result<Words> words = read();
  return words;
}

}  // namespace headway::workloads
