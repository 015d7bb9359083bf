#include "base/document/sources.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace headway {
namespace {

const std::vector<std::string> kKinds = {"datasheet", "measured", "fitted", "estimated"};

// Members that hold no number of their own, or have sources of their own.
constexpr std::array<std::string_view, 9> kWithoutSource = {
    "name", "title", "order", "sources", "source", "date", "accelerator", "base", "architecture"};

struct Value {
  std::string path;  // "levels.fabric.latency"
  int line = 0;
};

bool is_number(const Node& node) {
  if (std::holds_alternative<std::int64_t>(node.value)) return true;
  if (std::holds_alternative<double>(node.value)) return true;
  const auto* text = std::get_if<std::string>(&node.value);
  return text != nullptr && !text->empty() && text->front() >= '0' && text->front() <= '9';
}

// A value by itself: what is neither a table nor an array of tables.
bool is_value(const Node& node) {
  return node.table() == nullptr && !node.is_null();
}

void collect_values(const Node& node, const std::string& path, bool needs(const Node&),
                    std::vector<Value>& out) {
  if (const Node::Table* members = node.table()) {
    for (const auto& [key, member] : *members) {
      const bool skipped = path.empty() && std::find(kWithoutSource.begin(), kWithoutSource.end(),
                                                     key) != kWithoutSource.end();
      if (!skipped) collect_values(member, path.empty() ? key : path + "." + key, needs, out);
    }
  } else if (const Node::Array* elements = node.array()) {
    if (std::any_of(elements->begin(), elements->end(), needs)) {
      out.push_back({path, node.line});
    }
  } else if (needs(node)) {
    out.push_back({path, node.line});
  }
}

// "latency" and "levels.fabric" both cover "levels.fabric.latency".
bool covers(std::string_view field, std::string_view path) {
  const std::string whole = "." + std::string(path) + ".";
  return !field.empty() && whole.find("." + std::string(field) + ".") != std::string::npos;
}

bool is_date(std::string_view text) {  // YYYY, YYYY-MM or YYYY-MM-DD
  if (text.size() != 4 && text.size() != 7 && text.size() != 10) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 4 || i == 7;
    if (dash ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
  }
  return true;
}

std::string read_one(Fields& fields) {
  const std::string source = fields.text("source");
  const std::string kind = fields.text_or("kind", "");
  const std::string date = fields.text_or("date", "");
  if (!kind.empty() && std::find(kKinds.begin(), kKinds.end(), kind) == kKinds.end()) {
    fields.fail("kind",
                "'" + printable(kind) + "' is not a kind of source" + suggestion(kind, kKinds));
  }
  if (!date.empty() && !is_date(date)) {
    fields.fail("date", "'" + printable(date) +
                            "' is not a date; write YYYY, YYYY-MM or "
                            "YYYY-MM-DD");
  }
  if (kind.empty() && date.empty()) return source;
  return source + " (" + kind + (kind.empty() || date.empty() ? "" : ", ") + date + ")";
}

}  // namespace

std::string read_sources(Fields& fields, const Document& document, Problems& problems,
                         Sourced sourced) {
  std::vector<Value> values;
  collect_values(document.root, "", sourced == Sourced::values ? is_value : is_number, values);
  std::vector<std::string> sources;
  const bool whole_file = fields.has("source");
  if (whole_file) {
    sources.push_back(read_one(fields));
  } else {
    for (const char* key : {"kind", "date"}) {
      if (fields.has(key)) fields.fail(key, "stands without a source");
      fields.text_or(key, "");
    }
    fields.text_or("source", "");
  }

  std::vector<std::string> covered;
  Fields groups = fields.table("sources");
  const Node* groups_node = document.root.find("sources");
  for (const std::string& name : groups.keys()) {
    Fields group = groups.table(name);
    sources.push_back(read_one(group));
    // Of a base (whose lines are forgotten) fields may have been replaced by others.
    const Node* node = groups_node != nullptr ? groups_node->find(name) : nullptr;
    const bool own = node != nullptr && node->line > 0;
    for (const std::string& field : group.texts_or_empty("fields")) {
      covered.push_back(field);
      if (!own) continue;
      const bool known = std::any_of(values.begin(), values.end(),
                                     [&](const Value& value) { return covers(field, value.path); });
      if (!known) {
        std::vector<std::string> paths;
        for (const Value& value : values) paths.push_back(value.path);
        group.fail("fields", "'" + printable(field) + "' is no field with a number" +
                                 suggestion(field, paths));
      }
    }
    group.reject_unknown();
  }
  for (const Value& value : values) {
    const bool found =
        whole_file || std::any_of(covered.begin(), covered.end(), [&](const std::string& field) {
          return covers(field, value.path);
        });
    if (found) continue;
    problems.push_back({{document.file, value.line, FieldName(printable(value.path))},
                        "has no source; name it in the `fields` of a [sources.NAME] table, or "
                        "write one `source` for the whole file",
                        Trouble::missing});
  }
  return join(sources, "; ");
}

}  // namespace headway
