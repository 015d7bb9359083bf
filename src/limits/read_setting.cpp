#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "limits/forms/low_communication.hpp"
#include "limits/load.hpp"
#include "limits/machine/read.hpp"
#include "limits/machine/scaling.hpp"
#include "platform/embedded.hpp"
#include "platform/files.hpp"

namespace headway::limits {
namespace {

constexpr std::size_t kMostSettings = 1000;
constexpr std::int64_t kWidestModel = std::int64_t{1} << 26;  // d_model
constexpr double kMostBatchTokens = 1e12;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> out;
  for (const std::string& path : embedded_files(folder)) {
    if (!path.ends_with(".toml")) continue;
    out.push_back(path.substr(folder.size() + 1, path.size() - folder.size() - 6));
  }
  return out;
}

BatchLaw read_batch(Fields fields) {
  BatchLaw out;
  const std::string law = fields.text_or("law", "critical");
  const std::vector<std::string> known = {"critical", "deepseek", "constant"};
  if (std::find(known.begin(), known.end(), law) == known.end()) {
    fields.fail("law", "'" + printable(law) + "' is not a law" + suggestion(law, known));
  }
  if (law == "deepseek") out = {.tokens = 0.2920, .flop = 1, .exponent = 0.3271};
  out.constant = law == "constant";
  out.tokens = number_between(fields, "tokens", out.tokens, 1e-9, kMostBatchTokens);
  if (out.constant) {
    for (const char* key : {"flop", "exponent"}) {
      if (fields.has(key)) fields.fail(key, "has no meaning for a constant batch");
    }
  }
  out.flop = number_between(fields, "flop", out.flop, 1, 1e40);
  out.exponent = number_between(fields, "exponent", out.exponent, -1, 1);
  fields.reject_unknown();
  return out;
}

LayerLaw read_layers(Fields fields) {
  LayerLaw out;
  out.coefficient = number_between(fields, "coefficient", out.coefficient, 1e-6, 1e6);
  out.exponent = number_between(fields, "exponent", out.exponent, 0, 0.5);
  fields.reject_unknown();
  return out;
}

SparsityLaw read_sparsity(Fields fields) {
  SparsityLaw out;
  out.sparse = fields.flag_or("sparse", !fields.keys().empty());
  out.experts = number_between(fields, "experts", out.experts, 1, 1e6);
  out.width = number_between(fields, "width", out.width, 1, 1e9);
  out.exponent = number_between(fields, "exponent", out.exponent, 0, 2);
  fields.reject_unknown();
  return out;
}

Overlap read_overlap(Fields fields) {
  Overlap out;
  out.tensor = fields.flag_or("tensor", out.tensor);
  out.pipeline = fields.flag_or("pipeline", out.pipeline);
  out.data = fields.flag_or("data", out.data);
  fields.reject_unknown();
  return out;
}

// The machine that the field names or, as a table, describes.
Result<Machine> machine_of(Fields& fields, const Document& document, const OpenMachine& open) {
  const Node* node = document.root.find("machine");
  if (node != nullptr && node->table() != nullptr) {
    fields.table("machine");
    return read_machine(Document{document.file, *node}, "machine of " + document.file, open);
  }
  const std::string name = fields.text("machine");
  if (node != nullptr && std::holds_alternative<std::string>(node->value) && name.empty()) {
    fields.fail("machine", "must be the name of a machine, or a path, in quotes");
  }
  if (name.empty()) return Problems{};  // reported
  const Where where(document.file, node->line, FieldName("machine"));
  const Result<Document> opened = open(name, document.file, where);
  if (!opened) return opened.problems();
  return read_machine(*opened, name, open);
}

// Of 16 bits where the machine has it, else what it has.
Precision usual_precision(const Machine& machine) {
  for (const Precision p : {Precision::bf16, Precision::fp16, Precision::fp32, Precision::tf32,
                            Precision::fp8, Precision::fp4}) {
    if (machine.gpu.peak_of(p) > FlopsPerSecond()) return p;
  }
  return Precision::bf16;
}

void read_precision(Fields& fields, Setting& setting) {
  setting.precision = usual_precision(setting.machine);
  const std::string name = fields.text_or("precision", to_name(setting.precision));
  std::vector<std::string> known;
  for (int i = 0; i < kPrecisions; ++i) {
    if (setting.machine.gpu.peak[i] > FlopsPerSecond()) known.emplace_back(kPrecisionNames[i]);
  }
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    fields.fail("precision", "the machine states no peak for '" + printable(name) + "'" +
                                 suggestion(name, known));
    return;
  }
  setting.precision = *precision_from(name);
}

void read_models(Fields& fields, Setting& out) {
  out.layers = read_layers(fields.table("layers"));
  out.sparsity = read_sparsity(fields.table("sparsity"));
  out.batch = read_batch(fields.table("batch"));
  out.tokens_per_parameter =
      number_between(fields, "tokens_per_parameter", out.tokens_per_parameter, 0.01, 1e6);
  out.feed_forward_ratio = fields.count_or("feed_forward_ratio", out.feed_forward_ratio);
  if (out.feed_forward_ratio > 64) fields.fail("feed_forward_ratio", "must be from 1 to 64");
  out.sequence = fields.count_or("sequence", out.sequence);
  if (out.sequence > 100'000'000) fields.fail("sequence", "must be from 1 to 100000000");
  out.first_d_model = fields.count_or("first_d_model", out.first_d_model);
  out.last_d_model = fields.count_or("last_d_model", out.last_d_model);
  if (out.last_d_model > kWidestModel) {
    fields.fail("last_d_model", "must be at most " + std::to_string(kWidestModel));
  } else if (widths(out).empty()) {
    fields.fail("last_d_model",
                "no width lies between first_d_model and last_d_model; widths are 1, 3, 5 ... 15 "
                "times 2^11 to 2^21");
  }
}

void read_run(Fields& fields, Setting& out) {
  const double months = out.duration.value() / kSecondsOfAMonth;
  out.duration =
      Seconds(number_between(fields, "duration_months", months, 1e-4, 1200) * kSecondsOfAMonth);
  out.optimizer_words = number_between(fields, "optimizer_words", out.optimizer_words, 0, 1000);
  out.recompute_activations = fields.flag_or("recompute_activations", out.recompute_activations);
  out.steps_between_syncs =
      number_between(fields, "steps_between_syncs", out.steps_between_syncs, 1, 1e9);
  out.overlap = read_overlap(fields.table("overlap"));
  out.as_published = fields.flag_or("as_published", out.as_published);
  out.linear_share = number_between(fields, "linear_share", out.linear_share, 0.001, 1);
  out.least_utilization =
      number_between(fields, "least_utilization", out.least_utilization, 1e-9, 1);
}

Result<Setting> read_setting(const Document& document, const OpenMachine& open) {
  Problems problems;
  Fields fields(document, problems);
  fields.text_or("title", "");  // of the comparison
  Setting out;
  Result<Machine> machine = machine_of(fields, document, open);
  if (machine) {
    out.machine = std::move(machine).value();
    read_precision(fields, out);
  } else {
    append(problems, machine.problems());
    fields.text_or("precision", "");
  }
  out.name = fields.text_or("name", out.machine.name);
  if (out.name.empty()) fields.fail("name", "must not be empty");
  read_models(fields, out);
  read_run(fields, out);
  const bool is_relaxed = fields.has("relaxation");
  const RelaxationWishes wishes = read_relaxation(fields.table("relaxation"));
  fields.reject_unknown();
  if (!problems.empty()) return problems;
  if (!is_relaxed) return out;
  const std::string own_name = out.name;
  Result<Setting> so_relaxed = relaxed(out, wishes);
  if (!so_relaxed) {
    for (Problem problem : so_relaxed.problems()) {
      problem.place = Where(document.file).place;
      for (FieldName& field : problem.fields) field.name = "relaxation." + field.name;
      problems.push_back(std::move(problem));
    }
    return problems;
  }
  if (fields.has("name")) so_relaxed.value().name = own_name;
  return so_relaxed;
}

}  // namespace

Result<Comparison> read_comparison(const Document& document, const std::string& name,
                                   const OpenMachine& open) {
  Comparison out;
  out.name = name;
  const Node* title = document.root.find("title");
  const auto* text = title != nullptr ? std::get_if<std::string>(&title->value) : nullptr;
  out.title = text != nullptr ? *text : name;

  const Node* list = document.root.find("settings");
  if (list == nullptr) {
    Result<Setting> setting = read_setting(document, open);
    if (!setting) return setting.problems();
    out.settings.push_back(std::move(setting).value());
    return out;
  }
  Problems problems;
  Fields fields(document, problems);
  const std::size_t count = fields.tables("settings").size();
  if (!problems.empty()) return problems;
  if (count == 0 || count > kMostSettings) {
    fields.fail("settings", "must be 1 to " + std::to_string(kMostSettings) + " tables");
    return problems;
  }
  Node common = document.root;
  std::erase_if(std::get<Node::Table>(common.value),
                [](const auto& member) { return member.first == "settings"; });
  std::set<std::string> names;
  for (const Node& own : *list->array()) {
    Document one{document.file, common};
    overlay(one.root, own);
    one.root.line = own.line;
    Result<Setting> setting = read_setting(one, open);
    if (!setting) {
      append(problems, setting.problems());
    } else if (!names.insert(setting->name).second) {
      problems.push_back({{document.file, own.line, FieldName("name")},
                          "'" + printable(setting->name) + "' names another setting as well"});
    } else {
      out.settings.push_back(std::move(setting).value());
    }
  }
  if (!problems.empty()) return problems;
  return out;
}

std::vector<std::string> machine_names() {
  return names_in("limits/machines");
}

std::vector<std::string> comparison_names() {
  return names_in("limits/comparisons");
}

Result<Comparison> embedded_comparison(const std::string& name) {
  const std::string path = "limits/comparisons/" + name + ".toml";
  if (!embedded_file(path)) {
    return Problem{member("preset"),
                   "'" + printable(name) + "' is not a known comparison" +
                       suggestion(name, comparison_names()),
                   Trouble::unknown};
  }
  const Result<Document> document = embedded_document(path);
  if (!document) return document.problems();
  return read_comparison(*document, name);
}

Setting setting_on(Machine machine) {
  Setting out;
  out.name = machine.name;
  out.precision = usual_precision(machine);
  out.machine = std::move(machine);
  return out;
}

}  // namespace headway::limits
