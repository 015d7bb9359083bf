#include "method/methods.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/document/sources.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "base/written_count.hpp"
#include "platform/embedded.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

const std::string kFolder = "methods";
constexpr std::string_view kSynchronous = "synchronous";
constexpr std::size_t kLongestText = 1000;

// As people read it; shortest_text() is what is read back.
std::string number_text(double value) {
  return formatted("%.9g", value);
}

// The number that a text stands for; nothing where it stands for none.
std::optional<double> number_of(const MethodField& field, const std::string& text) {
  using Form = MethodField::Form;
  const auto quantity = [](const auto& read) {
    return read ? std::optional(read->value()) : std::nullopt;
  };
  switch (field.form) {
    case Form::compressor:
      for (const CompressorRow& row : kCompressors) {
        if (row.name == text) return static_cast<double>(row.compressor);
      }
      return std::nullopt;
    case Form::zeros: {
      const auto at = std::find(kSparsityForms.begin(), kSparsityForms.end(), text);
      if (at == kSparsityForms.end()) return std::nullopt;
      return static_cast<double>(at - kSparsityForms.begin());
    }
    case Form::bandwidth:
      return quantity(parse_quantity<BytesPerSecond>(text, FieldName("method")));
    case Form::latency:
      return quantity(parse_quantity<Seconds>(text, FieldName("method")));
    case Form::whole: {
      const auto count = written_count(text);
      return count ? std::optional(static_cast<double>(*count)) : std::nullopt;
    }
    case Form::number:
      break;
  }
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool percent = field.most <= 1 && std::string_view(end) == "%";
  if (end == text.c_str() || (*end != 0 && !percent) || !std::isfinite(value)) return std::nullopt;
  return percent ? value / 100 : value;
}

std::string legal_of(const MethodField& field) {
  using Form = MethodField::Form;
  if (field.form == Form::compressor) {
    std::vector<std::string> names;
    for (const CompressorRow& row : kCompressors) names.emplace_back(row.name);
    return "legal: " + join(names, ", ");
  }
  if (field.form == Form::zeros) return "legal: none, 2:4, blocks";
  if (field.form == Form::bandwidth) return "legal: a rate with its unit, as 10 Gb/s";
  if (field.form == Form::latency) return "legal: a time with its unit, as 10 ms";
  return (field.form == Form::whole ? "legal: a whole number from " : "legal: a number from ") +
         number_text(field.least) + " to " + number_text(field.most);
}

// What fields of a method say against each other; empty: nothing.
std::string clash_of(const Method& method) {
  if (method.fragments > method.every) {
    return "exchanges " + std::to_string(method.fragments) + " fragments in " +
           std::to_string(method.every) + " steps; at most one a step (fragments <= every)";
  }
  if (method.meeting == Meeting::seldom && method.delay > method.every) {
    return "lets an exchange run beside " + std::to_string(method.delay) +
           " steps, when the next one begins after " + std::to_string(method.every) +
           " (delay <= every)";
  }
  const bool linked = method.bandwidth.value() > 0;
  if (linked && method.replicas == 0)
    return "states a bandwidth between replicas: how many are there (replicas=N)?";
  if (!linked && method.latency.value() > 0)
    return "states the latency of a link without its bandwidth";
  if (method.sparsity.form == SparsityForm::two_four && method.sparsity.density > 0.5) {
    return "has zeros in 2 of 4, which are half of all (density <= 0.5)";
  }
  const Compressor by = method.compression.by;
  const bool shares = by == Compressor::top_k || by == Compressor::masked;
  const Method& usual = method.row->usual;
  if (!shares && method.compression.share != usual.compression.share) {
    return "states a share, which top-k and masked read alone";
  }
  if (by != Compressor::powersgd && method.compression.rank != usual.compression.rank) {
    return "states a rank, which powersgd reads alone";
  }
  return {};
}

// One "field=value" of a method.
void read_field(std::string_view item, Method& method, const Where& where, Problems& problems) {
  const auto fail = [&](std::string message, Trouble kind) {
    problems.push_back({where, "of " + method.row->name + " " + std::move(message), kind});
  };
  const std::size_t equals = item.find('=');
  const std::string name(item.substr(0, equals));
  const std::vector<std::string>& known = method.row->fields;
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    return fail("'" + printable(name) + "' is not to be stated; legal: " + join(known, ", "),
                Trouble::unknown);
  }
  const MethodField& field = *method_field(name);
  const std::string text(equals == std::string_view::npos ? "" : item.substr(equals + 1));
  const auto number = number_of(field, text);
  if (!number || !(*number >= field.least && *number <= field.most)) {
    return fail(name + " '" + printable(text) + "' is none; " + legal_of(field),
                Trouble::malformed);
  }
  field.set(method, *number);
}

std::vector<MethodRow> embedded_methods() {
  std::vector<MethodRow> out;
  for (const std::string& path : embedded_files(kFolder)) {
    if (!path.ends_with(".toml")) continue;
    const std::string name = path.substr(kFolder.size() + 1, path.size() - kFolder.size() - 6);
    const Document document = embedded_document(path).value();
    out.push_back(read_method(document, name).value());  // a test reads them: there is no problem
  }
  for (MethodRow& row : out) row.usual.row = nullptr;
  return out;
}

}  // namespace

const std::vector<MethodRow>& methods() {
  static const std::vector<MethodRow> kept = embedded_methods();
  return kept;
}

const MethodRow* method_row(std::string_view name) {
  for (const MethodRow& row : methods()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

Result<MethodRow> read_method(const Document& document, const std::string& name) {
  Problems problems;
  Fields fields(document, problems);
  MethodRow out;
  out.name = name;
  out.title = fields.text("title");
  out.what = fields.text("what");
  const std::string meeting = fields.text("meeting");
  const auto at = std::find(kMeetingNames.begin(), kMeetingNames.end(), meeting);
  if (at == kMeetingNames.end()) {
    fields.fail("meeting", not_known(meeting, std::vector<std::string>(kMeetingNames.begin(),
                                                                       kMeetingNames.end())));
  } else {
    out.usual.meeting = static_cast<Meeting>(at - kMeetingNames.begin());
  }
  out.usual.forward_only = fields.flag_or("forward_only", false);
  Fields usual = fields.table("usual");
  for (const MethodField& field : method_fields()) {
    if (!usual.has(field.name)) continue;
    const bool named =
        field.form == MethodField::Form::compressor || field.form == MethodField::Form::zeros;
    const auto number =
        named ? number_of(field, usual.text(field.name)) : std::optional(usual.number(field.name));
    if (number && *number >= field.least && *number <= field.most) {
      field.set(out.usual, *number);
    } else {
      usual.fail(field.name, "is none; " + legal_of(field));
    }
  }
  usual.reject_unknown();
  out.fields = fields.texts_or_empty("fields");
  for (const std::string& each : out.fields) {
    if (method_field(each) == nullptr) fields.fail("fields", "'" + each + "' is no field");
  }
  out.blocks = fields.count_or("blocks", out.blocks);
  out.outermost = fields.flag_or("outermost", false);
  out.sample_penalty = fields.number_or("sample_penalty", 1);
  if (!(out.sample_penalty >= 1)) fields.fail("sample_penalty", "must be at least 1");
  out.penalty = fields.text("penalty");
  out.source = read_sources(fields, document, problems);
  fields.reject_unknown();
  if (!problems.empty()) return problems;
  return out;
}

Result<Method> method_from(std::string_view text, const Where& where) {
  const std::size_t colon = text.find(':');
  const std::string name(text.substr(0, colon));
  if (text == kSynchronous) return Method{};
  std::vector<std::string> names = {std::string(kSynchronous)};
  for (const MethodRow& row : methods()) names.push_back(row.name);
  const MethodRow* row = text.size() > kLongestText ? nullptr : method_row(name);
  if (row == nullptr) {
    return Problem{where,
                   "'" + printable(name) + "' is not a known method" + suggestion(name, names) +
                       "; legal: " + join(names, ", "),
                   Trouble::unknown};
  }
  Problems problems;
  Method out = row->usual;
  out.row = row;
  std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (colon != std::string_view::npos && rest.empty()) {
    return Problem{where, "of " + name + " nothing is stated behind ':'", Trouble::malformed};
  }
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    read_field(rest.substr(0, comma), out, where, problems);
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  if (!problems.empty()) return problems;
  if (const std::string clash = clash_of(out); !clash.empty()) {
    return Problem{where, name + " " + clash, Trouble::illegal};
  }
  return out;
}

std::string text_of(const Method& method) {
  if (method.row == nullptr) return std::string(kSynchronous);
  std::string out;
  for (const MethodField& field : method_fields()) {
    const double number = field.get(method);
    if (number == field.get(method.row->usual)) continue;
    using Form = MethodField::Form;
    out += (out.empty() ? ":" : ",") + std::string(field.name) + "=" +
           (field.form == Form::compressor ? std::string(row_of(method.compression.by).name)
            : field.form == Form::zeros
                ? std::string(kSparsityForms[static_cast<std::size_t>(method.sparsity.form)])
            : field.form == Form::bandwidth ? shortest_text(number) + " B/s"
            : field.form == Form::latency   ? shortest_text(number) + " s"
                                            : shortest_text(number));
  }
  return method.row->name + out;
}

std::string statement_of(const Method& method, std::int64_t replicas) {
  const auto steps = [](std::int64_t count) {
    return std::to_string(count) + (count == 1 ? " step" : " steps");
  };
  std::string out = method.row->title;
  const std::string who = std::to_string(replicas) + " replicas";
  switch (method.meeting) {
    case Meeting::every_step:
      break;
    case Meeting::late:
      out += ": gradients are used up to " + steps(method.delay) + " late";
      break;
    case Meeting::seldom:
      out += ": " + who + " meet every " + steps(method.every);
      if (method.fragments > 1) out += ", in " + std::to_string(method.fragments) + " fragments";
      if (method.delay > 0) out += ", an exchange beside " + steps(method.delay);
      break;
    case Meeting::neighbours:
      out += ": " + who + " send to " + std::to_string(method.neighbours) +
             (method.neighbours == 1 ? " neighbour" : " neighbours");
      if (method.delay > 0) out += ", beside the steps that follow";
      break;
    case Meeting::never:
      out += ": " + who + " never meet";
      break;
  }
  const Compressor by = method.compression.by;
  if (by != Compressor::none) out += "; sent: " + std::string(row_of(by).what);
  if (by == Compressor::top_k || by == Compressor::masked) {
    out += ", " + number_text(100 * method.compression.share) + " %";
  }
  if (by == Compressor::powersgd) out += ", rank " + std::to_string(method.compression.rank);
  if (method.submodels > 1) {
    out += "; each trains 1/" + std::to_string(method.submodels) + " of the neurons and heads";
  }
  if (method.blocks > 1) out += "; " + std::to_string(method.blocks) + " losses in each stage";
  if (method.parts > 1) {
    out += ": " + std::to_string(method.parts) +
           " parts of the layers, one after another; a step " +
           "is one of each, data passed over " +
           (method.epochs == 1 ? "once" : std::to_string(method.epochs) + " times");
  }
  if (method.sparsity.density < 1) {
    constexpr std::array<std::string_view, 3> kUse = {
        "anywhere: no product is shorter", "2 of 4: hardware runs half of two products in three",
        "in blocks of 32 x 32, which are left out"};
    out += ": " + number_text(100 * method.sparsity.density) + " % of the layers' weights, zeros " +
           std::string(kUse[static_cast<std::size_t>(method.sparsity.form)]) +
           "; MFU counts all of them";
  }
  if (method.selected < 1) {
    out += ": " + number_text(100 * method.selected) +
           " % of what other ranks hold of a sequence; MFU counts attention to all of it";
  }
  if (method.meeting == Meeting::seldom) out += "; times and calls are means over a cycle";
  return out;
}

std::string penalty_of(const Method& method) {
  return "data for the same loss x " + number_text(method.row->sample_penalty) + " (" +
         method.row->penalty + ")";
}

}  // namespace headway
