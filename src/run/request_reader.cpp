#include "run/request_reader.hpp"

#include <algorithm>
#include <utility>

#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/whole_number.hpp"
#include "base/written_count.hpp"
#include "cluster/load.hpp"
#include "run/words.hpp"

namespace headway {
namespace {

// "0, 1, 2, 3"; of many "1 to 1000".
std::string range_of(const FieldForm& form) {
  if (form.most - form.least > 10) {
    return text_of(form, form.least) + " to " + text_of(form, form.most);
  }
  std::string out;
  for (double number = form.least; number <= form.most; ++number) {
    out += (out.empty() ? "" : ", ") + text_of(form, number);
  }
  return out;
}

// What stands for a framework that is not among them.
std::string instead_of(std::string_view field) {
  std::string out;
  for (std::size_t i = 0; field == "framework" && i < framework_names().size(); ++i) {
    const std::string_view told = told_of(static_cast<Framework>(i));
    if (told.empty()) continue;
    out += "; '" + std::string(framework_names()[i]) + "': " + std::string(told);
  }
  return out;
}

std::string not_among(std::string_view field, const FieldForm& form, std::string_view name) {
  const std::vector<std::string> known(form.names.begin(), form.names.end());
  return "'" + printable(name) + "' " + std::string(form.wrong) +
         value_hint(field, name, form.names) + (form.lists ? "; legal: " + join(known, ", ") : "") +
         instead_of(field);
}

// One of 64, by the ends and the length of a name.
std::uint64_t bit_of(std::string_view name) {
  if (name.empty()) return 1;
  const auto of = [](char letter) { return static_cast<unsigned char>(letter); };
  return std::uint64_t{1} << ((7U * of(name.front()) + 3U * of(name.back()) + name.size()) % 64U);
}

}  // namespace

Result<Cluster> cluster_of(const GivenField& given) {
  return given.document == nullptr ? load_cluster(given.text)
                                   : cluster_from_document(*given.document, given.text);
}

RequestReader::RequestReader(const RunRequest& request, Problems& problems,
                             std::span<const RunField> known)
    : request_(request), problems_(problems) {
  for (const GivenField& given : request) {
    given_ |= bit_of(given.name);
    const bool is_known = std::any_of(known.begin(), known.end(), [&](const RunField& field) {
      return field.name == given.name;
    });
    if (is_known) continue;
    std::vector<std::string> names;
    for (const RunField& field : known) names.emplace_back(field.name);
    const bool is_flag = given.where.place.kind == Place::Kind::argument;
    const std::string said = hint(given.name, names, is_flag ? "--" : "");
    problems_.push_back(
        {given.where,
         "is not a known field" + (said.empty() ? suggestion(given.name, names) : said),
         Trouble::unknown});
  }
}

const GivenField* RequestReader::find(std::string_view name) const {
  if ((given_ & bit_of(name)) == 0) return nullptr;
  for (auto it = request_.rbegin(); it != request_.rend(); ++it) {
    if (it->name == name) return &*it;
  }
  return nullptr;
}

void RequestReader::fail(std::string_view name, const Problems& of_file) {
  for (const Problem& problem : of_file) {
    const bool of_name = problem.place.kind != Place::Kind::file;  // and of nothing in a file
    problems_.push_back(
        {of_name ? find(name)->where : problem.where(), problem.message, problem.kind});
  }
}

void RequestReader::fail(std::string_view name, std::string message, Trouble kind,
                         std::vector<std::int64_t> near) {
  const GivenField* given = find(name);
  refused_.emplace_back(name);
  problems_.push_back({given != nullptr ? given->where : FieldName(name), std::move(message), kind,
                       std::move(near)});
}

bool RequestReader::refused(std::string_view name) const {
  return std::find(refused_.begin(), refused_.end(), name) != refused_.end();
}

std::optional<std::string> RequestReader::text(std::string_view name, bool required) {
  if (const GivenField* given = find(name)) return given->text;
  if (required) fail(name, "is missing", Trouble::missing);
  return std::nullopt;
}

void RequestReader::count(std::string_view name, std::int64_t& into, std::int64_t least) {
  const GivenField* given = find(name);
  if (given == nullptr) return;
  const auto value = written_count(given->text);
  if (!value)
    return fail(name, "'" + printable(given->text) + "' is not a whole number", Trouble::malformed);
  if (*value < least || *value > 1'000'000'000'000) {
    return fail(name, "is " + std::to_string(*value) + "; must be from " + std::to_string(least) +
                          " to 10^12");
  }
  into = *value;
}

void RequestReader::number(std::string_view name, double& into, double least, double most) {
  const GivenField* given = find(name);
  if (given == nullptr) return;
  const auto value = real_number(given->text);
  if (!value || !(*value >= least && *value <= most)) {
    const std::string range = formatted("%g to %g", least, most);
    return fail(name, "'" + printable(given->text) + "' is not a number from " + range,
                Trouble::malformed);
  }
  into = *value;
}

bool RequestReader::flag(std::string_view name) {
  const GivenField* given = find(name);
  if (given == nullptr || given->text == "false") return false;
  if (given->text.empty() || given->text == "true") return true;
  fail(name, "'" + printable(given->text) + "' is not true or false", Trouble::malformed);
  return false;
}

std::optional<double> RequestReader::value(const RunField& field) {
  using Kind = FieldForm::Kind;
  const std::string_view name = field.name;
  const FieldForm& form = field.form;
  const GivenField* given = find(name);
  if (given == nullptr) return std::nullopt;
  std::optional<double> out = number_of(form, given->text);
  switch (form.kind) {
    case Kind::text:
    case Kind::model:
    case Kind::cluster:
    case Kind::own_runs:
    case Kind::amount:
    case Kind::list:
      break;
    case Kind::whole: {
      std::int64_t whole = 0;
      count(name, whole, static_cast<std::int64_t>(form.least));
      if (out && *out > form.most && !refused(name)) {
        fail(name, "is " + given->text + "; legal: " + range_of(form));
      }
      break;
    }
    case Kind::number: {
      double number = 0;
      this->number(name, number, form.least, form.most);
      break;
    }
    case Kind::flag:
      flag(name);
      break;
    case Kind::name:
      if (!out) fail(name, not_among(name, form, given->text), Trouble::unknown);
      break;
    case Kind::names:
      if (out) break;
      for (const std::string_view item : items_of(given->text)) {
        const bool known =
            std::find(form.names.begin(), form.names.end(), item) != form.names.end();
        if (!known) fail(name, not_among(name, form, item), Trouble::unknown);
      }
      break;
    case Kind::month:
      if (!out) {
        fail(name, "'" + printable(given->text) + "' is not a year and month, as 2025-06",
             Trouble::malformed);
      }
      break;
    case Kind::bytes: {
      const auto size = parse_quantity<Bytes>(given->text, given->where);
      if (!size) {
        for (const Problem& problem : size.problems()) {
          fail(name, problem.message, Trouble::malformed);
        }
      } else if (size->value() < form.least || size->value() > form.most) {
        fail(name, "is " + given->text + "; legal: " + range_of(form));
      }
      break;
    }
  }
  return refused(name) ? std::nullopt : out;
}

}  // namespace headway
