// What served the requests of a row: model, accelerators, engine, formats, degrees.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/text.hpp"
#include "cluster/load.hpp"
#include "fit/serving/rows/row.hpp"
#include "fit/serving/words/pools.hpp"
#include "model/named.hpp"
#include "model/reading/load.hpp"

namespace headway::serving_rows {
namespace {

// The first three numbers of a release, "0.17.0"; none where it begins with no number.
using Release = std::array<int, 3>;
std::optional<Release> number_of(std::string_view release) {
  Release out{};
  const char* at = release.data();
  const char* const end = at + release.size();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto [behind, status] = std::from_chars(at, end, out[i]);
    if (status != std::errc() && i == 0) return std::nullopt;
    if (status != std::errc() || behind == end || *behind != '.') break;
    at = behind + 1;
  }
  return out;
}

class ServingReader {
 public:
  ServingReader(RowText& text, Loaded& loaded) : text_(text), loaded_(loaded) {}

  Serving run() {
    benchmark_ = benchmark_of(text_, loaded_.words);
    model();
    machine();
    engine();
    formats();
    split();
    if (has_experts(serving_.model)) serving_.routing.power = usual_imbalance();
    return std::move(serving_);
  }

 private:
  // By the words of the source's own, else the built-in name that it has in it, else as it is.
  std::string name_of(const std::string& cell) const {
    const auto* word = serving_words::word_in(loaded_.words.models, benchmarks::plain(cell));
    if (word != nullptr) return word->name;
    const std::string name = built_in_of(cell, loaded_.models);
    return name.empty() ? cell : name;
  }

  void model() {
    const std::string& cell = text_.cells.text("model");
    const auto [named, first] = loaded_.named.try_emplace(cell);
    if (first) named->second = name_of(cell);
    text_.row.model = named->second;
    const auto& built_in = loaded_.models;
    if (std::find(built_in.begin(), built_in.end(), text_.row.model) == built_in.end()) {
      return text_.cells.skip("no such model is built in", printable(cell));
    }
    const auto& read = loaded_once<Model>(loaded_.model, text_.row.model, load_model);
    if (read) serving_.model = *read;
  }

  void machine() {
    const std::string& cell = text_.cells.text("accelerator");
    const benchmarks::Machine* said = loaded_.machines.machine(cell);
    for (const serving_words::OtherMachine& other : loaded_.words.machines) {
      if (said == nullptr || other.source != text_.row.source_key ||
          other.said != said->accelerator) {
        continue;
      }
      said = loaded_.machines.machine(other.is);
      text_.assume("accelerator", other.is);
      break;
    }
    if (said == nullptr || cell.empty()) {
      return text_.cells.skip("no such accelerator is known", printable(cell));
    }
    if (!said->skip.empty()) return text_.cells.skip(said->skip);
    text_.row.machine = said->accelerator;
    if (said->cluster.empty()) {
      return text_.cells.skip("no cluster is known of this accelerator", said->accelerator);
    }
    const auto& read = loaded_once<Cluster>(loaded_.cluster, said->cluster, load_cluster);
    if (!read)
      return text_.cells.skip("no cluster is known of this accelerator", said->accelerator);
    serving_.cluster = *read;
    if (benchmark_ == nullptr) return;
    by_ = tuned_by(loaded_.words, serving_.cluster.accelerator);
    if (by_ == nullptr)
      text_.cells.skip("how runs are tuned on it is not known", said->accelerator);
  }

  void engine() {
    text_.measured = date();
    std::string cell = text_.cells.text("engine");
    if (cell.empty() && by_ != nullptr) {
      cell = by_->engine;
      text_.assume("engine", cell);
    }
    const auto* word = serving_words::word_in(loaded_.words.engines, benchmarks::plain(cell));
    if (word != nullptr && !word->skip.empty()) return text_.cells.skip(word->skip);
    text_.row.engine = word != nullptr ? word->name : loaded_.engines.front().name;
    if (word == nullptr) text_.assume("engine", text_.row.engine);
    if (word != nullptr) {
      if (const auto* earlier = of_row(word->earlier)) text_.row.engine = earlier->is;
      if (const auto* start = of_row(word->starts)) text_.start = start->is;
    }
    for (const Engine& each : loaded_.engines) {
      if (each.name == text_.row.engine) serving_.engine = each;
    }
  }

  // null: of none of them.
  const serving_words::Releases* of_row(const std::vector<serving_words::Releases>& all) const {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& releases) { return is_of(releases); });
    return found != all.end() ? &*found : nullptr;
  }

  // By its number, else by when it was measured. Of prefill and decode apart the number is that of
  // what joins their engines (Dynamo's 0.8 beside TensorRT-LLM 1.2).
  bool is_of(const serving_words::Releases& releases) const {
    if (!text_.says(loaded_.words.apart)) {
      const auto said = number_of(text_.cells.text("engine_version"));
      if (said) return *said < number_of(releases.before).value_or(Release{});
    }
    return !text_.measured.empty() && text_.measured < releases.until;
  }

  // "2025 11 10", as far as the row or its source says when it was measured.
  std::string date() const {
    constexpr std::string_view kMeasured = "measured ";
    constexpr std::size_t kLength = std::string_view("2025 11 10").size();
    for (std::size_t at = text_.said.find(kMeasured); at != std::string::npos;
         at = text_.said.find(kMeasured, at + 1)) {
      const std::string after = text_.said.substr(at + kMeasured.size(), kLength);
      if (after.starts_with("20")) return after;
    }
    const auto source = loaded_.words.dates.find(text_.row.source_key);
    return source != loaded_.words.dates.end() ? source->second : std::string();
  }

  // A format that the row does not name, 16 bit.
  const serving_words::Format* format(
      std::string_view column,
      const std::map<std::string, serving_words::Format, std::less<>>& all) {
    const std::string cell = benchmarks::plain(text_.cells.text(column));
    const auto found = all.find(cell);
    if (found == all.end()) {
      text_.cells.skip("no model of this format: " + std::string(column), printable(cell));
      return nullptr;
    }
    if (cell.empty()) text_.assume(column, found->second.name);
    return &found->second;
  }

  // What logs of tuned runs tell is the format of the checkpoint, which is not what serves: theirs
  // is not used.
  const serving_words::Format* weights_format() {
    if (by_ == nullptr) return format("precision_weights", loaded_.words.formats);
    text_.assume("precision_weights", by_->weights);
    const auto found = loaded_.words.formats.find(by_->weights);
    if (found != loaded_.words.formats.end()) return &found->second;
    text_.cells.skip("no model of this format: precision_weights", by_->weights);
    return nullptr;
  }

  bool says_blocks(const serving_words::Format& weights) const {
    return !weights.block.empty() && text_.says_any(loaded_.words.blocks);
  }

  void formats() {
    const auto* weights = weights_format();
    if (weights == nullptr) return;
    const auto is_one = [&](const std::vector<std::string>& models, const std::string& name) {
      return !name.empty() &&
             std::find(models.begin(), models.end(), text_.row.model) != models.end();
    };
    std::string name = weights->name;
    if (is_one(loaded_.words.block_scaled, weights->block) || says_blocks(*weights)) {
      name = weights->block;
    }
    if (is_one(loaded_.words.experts_alone, weights->experts)) name = weights->experts;
    if (name == "bf16") name = sixteen_bits(serving_.cluster.accelerator);
    if (!set_weights(serving_, name)) {
      return text_.cells.skip("no model of this format: precision_weights", printable(name));
    }
    if (text_.cells.text("precision_kv").empty()) {
      serving_.cache = cache_format(weights->cache);
      return text_.assume("precision_kv", serving_.cache->name);
    }
    const auto* cache = format("precision_kv", loaded_.words.caches);
    if (cache == nullptr) return;
    serving_.cache = cache_format(cache->name);
  }

  // A degree that is not said, or 0, is 1; without tp it takes all accelerators.
  std::int64_t degree(std::string_view column) {
    return text_.cells.text(column) == "0" ? 1 : text_.cells.count_or(column, 1);
  }
  void split() {
    const std::int64_t all = degree("n_accel");
    if (by_ != nullptr) {  // until the best is chosen
      serving_.dp = all;
      return;
    }
    const auto* cut = cut_of(text_, loaded_.words);
    if (cut != nullptr) return stages(*cut, all);
    if (all > 1 && serving_.engine.splits_layers) {
      return text_.cells.skip("whether accelerators share layers or rows of each is not stated");
    }
    serving_.pp = degree("pp");
    serving_.ep = degree("ep");
    serving_.dp = degree("dp");
    if (text_.cells.text("tp").empty()) {
      if (text_.cells.text("n_accel").empty()) return text_.cells.skip("cell missing: tp");
      serving_.tp = std::max<std::int64_t>(1, all / (serving_.pp * serving_.dp));
      text_.assume("tp", std::to_string(serving_.tp));
    } else {
      serving_.tp = degree("tp");
    }
  }

  void stages(const serving_words::CutPrompts& cut, std::int64_t all) {
    const auto& alone = cut.alone;
    if (all > 1 && std::find(alone.begin(), alone.end(), text_.row.machine) != alone.end()) {
      return text_.cells.skip(
          "one of several of these reads the weights of all over the host's bus for every token");
    }
    serving_.pp = all;
    text_.assume("pp", std::to_string(all));
  }

  RowText& text_;
  Loaded& loaded_;
  Serving serving_;
  const serving_words::Benchmark* benchmark_ = nullptr;
  const serving_words::TunedBy* by_ = nullptr;
};

}  // namespace

bool RowText::says_any(const std::vector<std::string>& words) const {
  return std::any_of(words.begin(), words.end(), [&](const std::string& has) { return says(has); });
}

const serving_words::CutPrompts* cut_of(const RowText& text, const serving_words::Words& words) {
  const auto found = std::find_if(words.cut.begin(), words.cut.end(), [&](const auto& cut) {
    return cut.source == text.row.source_key && cut.engine == text.row.engine;
  });
  return found != words.cut.end() ? &*found : nullptr;
}

Serving serving_of(RowText& text, Loaded& loaded) {
  return ServingReader(text, loaded).run();
}

std::shared_ptr<const ServingConstants> constants_of(RowText& text, Loaded& loaded,
                                                     const Cluster& cluster) {
  const auto& constants = loaded_once<std::shared_ptr<const ServingConstants>>(
      loaded.constants, cluster.name,
      [&](const std::string&) -> Result<std::shared_ptr<const ServingConstants>> {
        const auto read = serving_constants(cluster);
        if (!read) return read.problems();
        return std::make_shared<const ServingConstants>(*read);
      });
  if (constants) return *constants;
  text.cells.skip("no cluster is known of this accelerator");
  return nullptr;
}

std::optional<ServingApart> apart_of(RowText& text, const Loaded& loaded, const Serving& serving) {
  const serving_words::Words& words = loaded.words;
  if (!text.says(words.apart)) return std::nullopt;
  const auto prefill = serving_words::pool_behind(words.apart_prefill, text.said);
  const auto decode = serving_words::pool_behind(words.apart_decode, text.said);
  if (!prefill || !decode) {
    text.cells.skip("prefill and decode apart, the number of copies is not stated");
    return std::nullopt;
  }
  ServingApart apart{serving, serving};
  static_cast<ServingSplit&>(apart.prefill) = prefill->split;
  static_cast<ServingSplit&>(apart.decode) = decode->split;
  apart.prefill_copies = prefill->copies;
  apart.decode_copies = decode->copies;
  const auto by = std::find_if(
      words.exchanging.begin(), words.exchanging.end(), [&](const serving_words::Exchanging& each) {
        return each.engine == text.row.engine && text.row.machine.starts_with(each.accelerator);
      });
  for (Serving* part : {&apart.prefill, &apart.decode}) {
    part->own_exchange = by != words.exchanging.end() && part->ep > part->tp;
    if (part->own_exchange) part->routing.redundant = by->redundant;
  }
  return apart;
}

}  // namespace headway::serving_rows
