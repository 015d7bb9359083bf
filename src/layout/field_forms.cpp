// Between the numbers of fields and what stands for them in text and documents.
#include <charconv>
#include <cmath>

#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "base/written_count.hpp"
#include "layout/fields.hpp"

namespace headway {
namespace {

using Kind = FieldForm::Kind;

// In whatever case the name is written.
std::optional<double> index_of(std::string_view written, std::span<const std::string_view> names) {
  const std::string name = lower(written);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<double>(i);
  }
  return std::nullopt;
}

// A bit for each name between commas.
std::optional<double> bits_of(std::string_view text, std::span<const std::string_view> names) {
  if (text == "none") return 0;
  double bits = 0;
  for (const std::string_view item : items_of(text)) {
    const auto index = index_of(item, names);
    if (!index) return std::nullopt;
    const double bit = std::exp2(*index);
    if (std::fmod(std::floor(bits / bit), 2) == 0) bits += bit;
  }
  return bits;
}

// The month in the middle of which years_of() puts a date.
std::string month_text(double years) {
  const double year = std::floor(years);
  const auto month = static_cast<int>(std::floor((years - year) * 12)) + 1;
  return std::to_string(static_cast<int>(year)) + (month < 10 ? "-0" : "-") + std::to_string(month);
}

// In the largest unit of which it is a whole number: "25 MiB", "160 MB".
std::string size_text(double bytes) {
  constexpr std::pair<std::string_view, double> kUnits[] = {{"GiB", 1073741824.0}, {"GB", 1e9},
                                                            {"MiB", 1048576.0},    {"MB", 1e6},
                                                            {"KiB", 1024.0},       {"kB", 1e3}};
  for (const auto& [name, unit] : kUnits) {
    if (bytes < unit || std::fmod(bytes, unit) != 0) continue;
    return shortest_text(bytes / unit) + " " + std::string(name);
  }
  return shortest_text(bytes) + " B";
}

}  // namespace

std::vector<std::string_view> items_of(std::string_view list) {
  std::vector<std::string_view> out;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view item = list.substr(0, comma);
    while (item.starts_with(' ')) item.remove_prefix(1);
    out.push_back(item);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return out;
}

std::optional<double> number_of(const FieldForm& form, std::string_view text) {
  switch (form.kind) {
    case Kind::text:
    case Kind::model:
    case Kind::cluster:
    case Kind::own_runs:
    case Kind::amount:
    case Kind::list:
      return std::nullopt;
    case Kind::whole:
      if (const auto whole = written_count(text)) return static_cast<double>(*whole);
      return std::nullopt;
    case Kind::number: {
      double value = 0;
      const char* const end = text.data() + text.size();
      const auto [rest, status] = std::from_chars(text.data(), end, value);
      if (status != std::errc() || rest != end) return std::nullopt;
      return value;
    }
    case Kind::name:
      if (const auto index = index_of(text, form.names)) return index;
      for (const OtherName& other : form.also) {
        if (other.said == lower(text)) return static_cast<double>(other.means);
      }
      return std::nullopt;
    case Kind::names:
      return bits_of(text, form.names);
    case Kind::flag:
      if (text != "true" && text != "false" && !text.empty()) return std::nullopt;
      return (text == "false") != form.sets ? 1 : 0;
    case Kind::month:
      return years_of(text);
    case Kind::bytes:
      if (const auto size = parse_quantity<Bytes>(text, Where())) return size->value();
      return std::nullopt;
  }
  return std::nullopt;
}

Node value_of(const FieldForm& form, double number) {
  if (number == form.none) return {};
  switch (form.kind) {
    case Kind::text:
    case Kind::model:
    case Kind::cluster:
    case Kind::own_runs:
    case Kind::amount:
    case Kind::list:
      return {};
    case Kind::whole:
      return {static_cast<std::int64_t>(number)};
    case Kind::number:
      return {number};
    case Kind::name:
      return {std::string(form.names[static_cast<std::size_t>(number)])};
    case Kind::names: {
      Node::Array items;
      for (std::size_t i = 0; i < form.names.size(); ++i) {
        const bool holds = (static_cast<std::uint64_t>(number) >> i & 1) != 0;
        if (holds) items.push_back({std::string(form.names[i])});
      }
      return {std::move(items)};
    }
    case Kind::flag:
      return {(number != 0) == form.sets};
    case Kind::month:
      return {month_text(number)};
    case Kind::bytes:
      return {size_text(number)};
  }
  return {};
}

std::string text_of(const FieldForm& form, double number) {
  if (form.kind == Kind::name) return std::string(form.names[static_cast<std::size_t>(number)]);
  const Node value = value_of(form, number);
  if (const auto* text = std::get_if<std::string>(&value.value)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&value.value)) return std::to_string(*whole);
  if (const auto* flag = std::get_if<bool>(&value.value)) return *flag ? "true" : "false";
  if (const auto* real = std::get_if<double>(&value.value)) {
    return shortest_text(*real);
  }
  std::string out;
  if (const Node::Array* items = value.array()) {
    for (const Node& item : *items) {
      out += (out.empty() ? "" : ",") + std::get<std::string>(item.value);
    }
  }
  return out.empty() ? "none" : out;
}

Node shown_value(const FieldRow& row, const Layout& layout) {
  const double number = row.shown != nullptr
                            ? row.shown(layout)
                            : std::get<FieldAccess<Layout>>(row.access).get(layout);
  if (row.field.form.kind == Kind::flag) return {number != 0};
  return value_of(row.field.form, number);
}

}  // namespace headway
