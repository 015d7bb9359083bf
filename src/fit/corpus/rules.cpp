#include "fit/corpus/rules.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

bool any_of(const std::vector<std::string>& parts, const auto& holds) {
  return std::any_of(parts.begin(), parts.end(), holds);
}

bool text_holds(const Condition& c, const std::string& text) {
  const auto contains = [&](const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const auto equals = [&](const std::string& other) { return text == other; };
  const auto begins = [&](const std::string& part) { return text.starts_with(part); };
  return (c.is.empty() || any_of(c.is, equals)) && !any_of(c.not_is, equals) &&
         (c.has.empty() || any_of(c.has, contains)) && !any_of(c.lacks, contains) &&
         (c.begins.empty() || any_of(c.begins, begins)) && (!c.before || text < *c.before) &&
         (!c.not_before || text >= *c.not_before) && (!c.stated || *c.stated == !text.empty());
}

bool number_holds(const Condition& c, std::optional<double> number, const RowFacts& facts) {
  if (c.stated && *c.stated != number.has_value()) return false;
  if (!c.equals && !c.above && !c.below && !c.since) return true;
  const std::optional<double> one = 1.0;
  const auto times = c.times.empty() ? one : number_fact(c.times, facts);
  const auto of = c.of.empty() ? one : number_fact(c.of, facts);
  if (!number || !times || !of) return false;
  const double value = *number * *times;
  return (!c.equals || value == *c.equals) && (!c.above || value > *c.above * *of) &&
         (!c.below || value < *c.below * *of) && (!c.since || value >= *c.since);
}

bool holds(const Condition& c, const RowFacts& facts) {
  if (c.is_number) return number_holds(c, number_fact(c.fact, facts), facts);
  const std::string text = text_fact(c.fact, facts);
  return text_holds(c, c.in_lower_case ? lower(text) : text);
}

std::optional<double> number_or_nothing(Fields& fields, std::string_view key) {
  if (!fields.has(key)) return std::nullopt;
  return fields.number(key);
}

std::optional<std::string> text_or_nothing(Fields& fields, std::string_view key) {
  if (!fields.has(key)) return std::nullopt;
  return fields.text(key);
}

Condition read_condition(Fields fields, std::string fact, const CorpusRules& rules) {
  constexpr std::string_view kLower = "lower ";
  Condition out;
  out.in_lower_case = fact.starts_with(kLower);
  out.fact = out.in_lower_case ? fact.substr(kLower.size()) : fact;
  out.is_number = is_number_fact(out.fact) || rules.numbers.contains(out.fact);
  if (!out.is_number && !is_text_fact(out.fact)) {
    fields.fail("", "'" + printable(fact) + "' is no fact of a row");
  }
  if (out.is_number) {
    out.equals = number_or_nothing(fields, "is");
    out.above = number_or_nothing(fields, "above");
    out.below = number_or_nothing(fields, "below");
    if (const auto date = text_or_nothing(fields, "since")) {
      out.since = years_of(*date);
      if (!out.since) fields.fail("since", "'" + printable(*date) + "' is no date, as 2025-06");
    }
    out.of = fields.text_or("of", "");
    out.times = fields.text_or("times", "");
  } else {
    out.is = fields.texts_or_empty("is");
    out.not_is = fields.texts_or_empty("not");
    out.has = fields.texts_or_empty("has");
    out.lacks = fields.texts_or_empty("lacks");
    out.begins = fields.texts_or_empty("begins");
    out.before = text_or_nothing(fields, "before");
    out.not_before = text_or_nothing(fields, "not_before");
  }
  if (fields.has("stated")) out.stated = fields.flag_or("stated", false);
  fields.reject_unknown();
  return out;
}

Rule read_rule(Fields& fields, const CorpusRules& rules) {
  Rule out;
  Fields when = fields.table("when");
  for (const std::string& fact : when.keys()) {
    out.when.push_back(read_condition(when.table(fact), fact, rules));
  }
  out.is = fields.text_or("is", "");
  out.from = fields.text_or("from", "");
  out.assumed = fields.flag_or("assumed", false);
  out.family = fields.flag_or("family", false);
  out.unsupported = fields.text_or("unsupported", "");
  if (!out.from.empty() && !is_number_fact(out.from) && !rules.numbers.contains(out.from)) {
    fields.fail("from", "'" + printable(out.from) + "' is no number of a row");
  }
  if (out.is.empty() && out.from.empty() && out.unsupported.empty()) {
    fields.fail("is", "is missing");
  }
  fields.reject_unknown();
  return out;
}

void read_pieces(Fields fields, CorpusRules& out) {
  fields.text("source");
  Fields phrases = fields.table("phrases");
  for (const std::string& phrase : phrases.keys()) {
    out.pieces.phrases.emplace_back(phrase, phrases.texts_or_empty(phrase));
  }
  out.pieces.listed_after = fields.text("listed_after");
  out.pieces.listed_until = fields.text("listed_until");
  Fields words = fields.table("words");
  for (const std::string& word : words.keys()) {
    out.pieces.words.emplace_back(word, words.text(word));
  }
  fields.reject_unknown();
}

}  // namespace

Result<CorpusRules> read_corpus_rules(const Document& document) {
  Problems problems;
  Fields fields(document, problems);
  CorpusRules out;
  Fields numbers = fields.table("numbers");
  for (const std::string& name : numbers.keys()) out.numbers[name] = numbers.text(name);
  Fields software = fields.table("software");
  software.text("source");
  out.releases = software.texts_or_empty("releases");
  software.reject_unknown();
  Fields decisive = fields.table("decisive");
  decisive.text("source");
  out.decisive = {decisive.texts_or_empty("memory"), decisive.texts_or_empty("batch"),
                  decisive.texts_or_empty("split"), decisive.texts_or_empty("work")};
  decisive.reject_unknown();
  Fields tuned = fields.table("tuned");
  tuned.text("source");
  out.tuned = tuned.texts_or_empty("sources");
  tuned.reject_unknown();
  read_pieces(fields.table("pieces"), out);
  for (Fields& row : fields.tables("policy")) {
    out.policy.push_back({row.text("cell"), row.text("rule")});
    row.reject_unknown();
  }
  Fields sources = fields.table("sources");
  for (const std::string& column : sources.keys()) {
    sources.text(column);
    for (Fields& rule : fields.tables(column)) {
      out.columns[column].push_back(read_rule(rule, out));
    }
  }
  fields.reject_unknown();  // a column without a source, too
  if (!problems.empty()) return problems;
  return out;
}

const CorpusRules& corpus_rules() {
  static const CorpusRules kept = [] {
    return read_corpus_rules(embedded_document("corpus/training.toml").value()).value();
  }();
  return kept;
}

std::optional<Decision> decide(std::string_view column, const RowFacts& facts) {
  const auto found = corpus_rules().columns.find(column);
  if (found == corpus_rules().columns.end()) return std::nullopt;
  for (const Rule& rule : found->second) {
    if (!std::all_of(rule.when.begin(), rule.when.end(),
                     [&](const Condition& each) { return holds(each, facts); })) {
      continue;
    }
    Decision out{rule.is, &rule};
    const auto number = rule.from.empty() ? std::optional<double>() : number_fact(rule.from, facts);
    if (number) out.value = std::to_string(static_cast<std::int64_t>(*number));
    return out;
  }
  return std::nullopt;
}

}  // namespace headway
