#include "fit/serving/words/words.hpp"

#include <algorithm>

#include "base/document/document.hpp"
#include "base/text.hpp"
#include "platform/files.hpp"
#include "study/infer/serving.hpp"

namespace headway::serving_words {
namespace {

std::vector<Releases> read_releases(Fields& word, std::string_view name) {
  std::vector<Releases> out;
  for (Fields& fields : word.tables(name)) {
    out.push_back({fields.text("before"), fields.text_or("until", ""), fields.text("is")});
    fields.reject_unknown();
  }
  return out;
}

std::vector<Word> read_words(Fields& root, std::string_view table, std::string_view name) {
  std::vector<Word> out;
  for (Fields& fields : root.tables(table)) {
    const Word word{fields.text("has"), name.empty() ? "" : fields.text_or(name, ""),
                    fields.text_or("skip", ""), read_releases(fields, "earlier"),
                    read_releases(fields, "starts")};
    fields.reject_unknown();
    out.push_back(word);
  }
  return out;
}

std::string read_cache(Fields& fields, std::string_view otherwise) {
  std::string cache = fields.text_or("cache", otherwise);
  if (cache != otherwise && cache_format(cache) == nullptr) {
    fields.fail("cache", "no format is " + cache);
  }
  return cache;
}

std::map<std::string, Format, std::less<>> read_formats(Fields& root, std::string_view table,
                                                        std::string_view name) {
  std::map<std::string, Format, std::less<>> out;
  for (Fields& fields : root.tables(table)) {
    const Format format{fields.text(name), fields.text_or("block", ""),
                        fields.text_or("experts", ""), read_cache(fields, "bf16")};
    for (const std::string& said : fields.texts_or_empty("said")) out[said] = format;
    fields.reject_unknown();
  }
  return out;
}

Most read_most(Fields& recipe, std::string_view key) {
  Fields fields = recipe.table(key);
  const Most out{fields.number_or("inputs", 0),  fields.number_or("outputs", 0),
                 fields.number_or("batches", 0), fields.number_or("clients", 0),
                 fields.number_or("more", 0),    fields.number_or("least", 0)};
  fields.reject_unknown();
  return out;
}

std::vector<Recipe> read_recipes(Fields& root) {
  std::vector<Recipe> out;
  for (Fields& fields : root.tables("recipes")) {
    Recipe recipe;
    recipe.source = fields.text("source");
    recipe.engine = fields.text_or("engine", "");
    recipe.has = fields.text_or("has", "");
    recipe.guesses = fields.count_or("guesses", 0);
    recipe.acceptance = fields.number_or("acceptance", 0);
    recipe.lengths = fields.naturals_or_empty("lengths");
    recipe.most_ranks = fields.count_or("most_ranks", 0);
    recipe.least_batch = fields.count_or("least_batch", 0);
    recipe.most_batch = fields.count_or("most_batch", 0);
    recipe.since = fields.text_or("since", "");
    recipe.until = fields.text_or("until", "");
    recipe.cache = read_cache(fields, "");
    recipe.memory = fields.number_or("memory", 0);
    Fields gathers = fields.table("gathers");
    recipe.gathers = gathers.count_or("steps", 0);
    recipe.gathered = gathers.number_or("share", 1);
    gathers.reject_unknown();
    recipe.sized = fields.flag_or("sized", false);
    recipe.cuts = fields.flag_or("cuts", false);
    recipe.library = fields.flag_or("library", false);
    recipe.alike = fields.flag_or("alike", false);
    recipe.accelerator = fields.text_or("accelerator", "");
    recipe.weights = fields.texts_or_empty("weights");
    recipe.models = fields.texts_or_empty("models");
    if (fields.has("experts")) recipe.experts = fields.flag_or("experts", false);
    if (fields.has("copies")) recipe.copies = fields.flag_or("copies", false);
    recipe.tokens = read_most(fields, "most_tokens");
    recipe.sequences = read_most(fields, "most_sequences");
    for (Fields& polls : fields.tables("polls")) {
      recipe.polls[polls.natural("batch")] = polls.natural("steps");
      polls.reject_unknown();
    }
    fields.reject_unknown();
    out.push_back(std::move(recipe));
  }
  return out;
}

std::optional<Limits> read_limits(Fields& benchmark, std::string_view key) {
  if (!benchmark.has(key)) return std::nullopt;
  Fields fields = benchmark.table(key);
  const Limits out{fields.quantity<Seconds>("ttft"), fields.quantity<Seconds>("tpot")};
  fields.reject_unknown();
  return out;
}

TunedRows read_tuned(Fields& root) {
  Fields fields = root.table("tuned", true);
  TunedRows out;
  out.source = fields.text("source");
  out.offline = fields.text("offline");
  out.interactive = fields.text("interactive");
  out.share = fields.number("share");
  Fields policy = fields.table("policy", true);
  out.policy = {policy.number("memory"), policy.naturals_or_empty("most_tokens")};
  policy.reject_unknown();
  for (Fields& by : fields.tables("by")) {
    out.by.push_back({by.text("architecture"), by.text("engine"), by.text("weights")});
    by.reject_unknown();
  }
  for (Fields& each : fields.tables("benchmarks")) {
    out.benchmarks.push_back({each.text("has"), each.count("input"), each.count("output"),
                              each.number("input_spread"), each.number("output_spread"),
                              each.count("longest"), read_limits(each, "server"),
                              read_limits(each, "interactive")});
    each.reject_unknown();
  }
  fields.reject_unknown();
  return out;
}

Result<Words> read() {
  const auto document = embedded_document("corpus/inference.toml");
  if (!document) return document.problems();
  Problems problems;
  Fields root(*document, problems);
  Words out;
  out.models = read_words(root, "models", "model");
  out.engines = read_words(root, "engines", "engine");
  out.notes = read_words(root, "notes", "");
  out.formats = read_formats(root, "formats", "recipe");
  out.caches = read_formats(root, "caches", "format");
  for (Fields& fields : root.tables("shortest")) {
    out.shortest[fields.text("source")] = fields.number("share");
    fields.reject_unknown();
  }
  for (Fields& fields : root.tables("cold")) {
    out.cold[fields.text("source")] = fields.number("share");
    fields.reject_unknown();
  }
  for (Fields& fields : root.tables("machines")) {
    out.machines.push_back({fields.text("source"), fields.text("said"), fields.text("is")});
    fields.reject_unknown();
  }
  Fields apart = root.table("apart", true);
  out.apart = apart.text("has");
  out.apart_prefill = apart.text("prefill");
  out.apart_decode = apart.text("decode");
  for (Fields& exchange : apart.tables("exchange")) {
    out.exchanging.push_back({exchange.text("engine"), exchange.text_or("accelerator", ""),
                              exchange.count_or("redundant", 0)});
    exchange.reject_unknown();
  }
  apart.reject_unknown();
  Fields others = root.table("others", true);
  out.others = others.text("has");
  for (Fields& lengths : others.tables("but")) {
    out.but.emplace_back(lengths.natural("input"), lengths.natural("output"));
    lengths.reject_unknown();
  }
  others.reject_unknown();
  out.recipes = read_recipes(root);
  for (Fields& fields : root.tables("cut")) {
    out.cut.push_back(
        {fields.text("source"), fields.text("engine"), fields.texts_or_empty("alone")});
    fields.reject_unknown();
  }
  for (Fields& fields : root.tables("requests")) {
    out.requests.push_back({fields.text("source"), fields.count("input"), fields.count("output"),
                            fields.count("count")});
    fields.reject_unknown();
  }
  out.tuned = read_tuned(root);
  out.blocks = root.texts_or_empty("blocks");
  out.unfitted = root.texts_or_empty("unfitted");
  out.pooled = root.texts_or_empty("pooled");
  out.gibibytes = root.texts_or_empty("gibibytes");
  for (Fields& fields : root.tables("dates")) {
    out.dates[fields.text("source")] = fields.text("measured");
    fields.reject_unknown();
  }
  out.block_scaled = root.texts_or_empty("block_scaled");
  out.experts_alone = root.texts_or_empty("experts_alone");
  out.batches = root.texts_or_empty("static");
  root.reject_unknown();
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace

const Result<Words>& Words::embedded() {
  static const Result<Words> words = read();
  return words;
}

const Word* word_in(const std::vector<Word>& words, std::string_view text) {
  const auto found = std::find_if(words.begin(), words.end(), [&](const Word& word) {
    return text.find(word.has) != std::string_view::npos;
  });
  return found == words.end() ? nullptr : &*found;
}

}  // namespace headway::serving_words
