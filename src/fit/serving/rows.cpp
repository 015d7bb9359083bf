// One row of a file of measured serving: what was served.
#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include "base/text.hpp"
#include "cluster/load.hpp"
#include "fit/benchmarks/cells.hpp"
#include "fit/benchmarks/words.hpp"
#include "fit/serving/asked.hpp"
#include "fit/serving/pools.hpp"
#include "fit/serving/words.hpp"
#include "model/reading/load.hpp"
#include "study/infer/engines.hpp"

namespace headway {

using benchmarks::Cells;

namespace {

constexpr std::int64_t kMostClients = 100'000;

// What is loaded once.
struct Loaded {
  const serving_words::Words& words;
  const benchmarks::Words& machines;
  const std::vector<Engine>& engines;
  std::vector<std::string> models;  // built in
  std::map<std::string, Result<Model>> model = {};
  std::map<std::string, Result<Cluster>> cluster = {};
  std::map<std::string, Result<std::shared_ptr<const ServingConstants>>> constants = {};
};

template <class T, class Load>
const Result<T>& loaded_once(std::map<std::string, Result<T>>& all, const std::string& name,
                             const Load& load) {
  const auto found = all.find(name);
  return found != all.end() ? found->second : all.emplace(name, load(name)).first->second;
}

// The first two numbers of a release, "0.17.0"; none where it begins with no number.
using Release = std::pair<int, int>;
std::optional<Release> number_of(std::string_view release) {
  Release out{0, 0};
  const char* const end = release.data() + release.size();
  const auto [first, status] = std::from_chars(release.data(), end, out.first);
  if (status != std::errc()) return std::nullopt;
  if (first != end && *first == '.') std::from_chars(first + 1, end, out.second);
  return out;
}

class RowReader {
 public:
  RowReader(ServedRow& row, Cells& cells, Loaded& loaded)
      : row_(row), cells_(cells), loaded_(loaded), said_(benchmarks::plain(cells.text("notes"))) {}

  std::optional<AskedServing> run() {
    measurements();
    notes();
    model();
    machine();
    engine();
    formats();
    split();
    const Load load = requests();
    pools();
    if (cells_.sound()) legal(load);
    if (!cells_.sound()) return std::nullopt;
    return asked(load);
  }

 private:
  void assume(std::string_view cell, const std::string& value) {
    row_.assumed.push_back(std::string(cell) + "=" + value);
  }

  void measurements() {
    for (std::size_t i = 0; i < kServedQuantities.size(); ++i) {
      if (!cells_.text(kServedQuantities[i]).empty()) {
        row_.measured[i] = cells_.number(kServedQuantities[i]);
      }
    }
    if (!cells_.text("memory_gb").empty()) {
      const auto& binary = loaded_.words.gibibytes;
      const bool is_binary =
          std::find(binary.begin(), binary.end(), row_.source_key) != binary.end();
      row_.measured_memory_gb =
          cells_.number("memory_gb") * (is_binary ? 1024.0 * 1024 * 1024 / 1e9 : 1);
    }
    row_.ran_out = cells_.text("oom") == "1";
  }

  void notes() {
    const auto* word = serving_words::word_in(loaded_.words.notes, said_);
    if (word != nullptr) cells_.skip(word->skip);
  }

  void model() {
    const std::string& cell = cells_.text("model");
    const auto* word = serving_words::word_in(loaded_.words.models, benchmarks::plain(cell));
    row_.model = word != nullptr ? word->name : cell;
    const auto& known = loaded_.models;
    if (std::find(known.begin(), known.end(), row_.model) == known.end()) {
      return cells_.skip("no such model is built in", printable(cell));
    }
    const auto& read = loaded_once<Model>(loaded_.model, row_.model, load_model);
    if (read) serving_.model = *read;
  }

  void machine() {
    const std::string& cell = cells_.text("accelerator");
    const benchmarks::Machine* said = loaded_.machines.machine(cell);
    for (const serving_words::OtherMachine& other : loaded_.words.machines) {
      if (said == nullptr || other.source != row_.source_key || other.said != said->accelerator) {
        continue;
      }
      said = loaded_.machines.machine(other.is);
      assume("accelerator", other.is);
      break;
    }
    if (said == nullptr || cell.empty()) {
      return cells_.skip("no such accelerator is known", printable(cell));
    }
    if (!said->skip.empty()) return cells_.skip(said->skip);
    row_.machine = said->accelerator;
    if (said->cluster.empty()) {
      return cells_.skip("no cluster is known of this accelerator", said->accelerator);
    }
    const auto& read = loaded_once<Cluster>(loaded_.cluster, said->cluster, load_cluster);
    if (!read) return cells_.skip("no cluster is known of this accelerator", said->accelerator);
    serving_.cluster = *read;
  }

  void engine() {
    const std::string& cell = cells_.text("engine");
    const auto* word = serving_words::word_in(loaded_.words.engines, benchmarks::plain(cell));
    if (word != nullptr && !word->skip.empty()) return cells_.skip(word->skip);
    row_.engine = word != nullptr ? word->name : loaded_.engines.front().name;
    if (word == nullptr) assume("engine", row_.engine);
    if (word != nullptr && !word->before.empty() && is_before(word->before)) {
      row_.engine = word->then;
      const auto release = number_of(cells_.text("engine_version"));
      if (!word->earlier.empty() && release && is_before(word->earlier)) {
        row_.engine = word->earliest;
      }
    }
    for (const Engine& each : loaded_.engines) {
      if (each.name == row_.engine) serving_.engine = each;
    }
  }

  // Whether the row is of an earlier release than `release`. Of prefill and decode apart the
  // release is that of what joins their engines (Dynamo's 0.8 beside TensorRT-LLM 1.2).
  bool is_before(const std::string& release) const {
    if (said_.find(loaded_.words.apart) != std::string::npos) return false;
    const auto said = number_of(cells_.text("engine_version"));
    if (said) return *said < number_of(release).value_or(Release{});
    const auto& sources = loaded_.words.undated;
    return std::find(sources.begin(), sources.end(), row_.source_key) != sources.end();
  }

  // A format that the row does not name, 16 bit.
  const serving_words::Format* format(
      std::string_view column,
      const std::map<std::string, serving_words::Format, std::less<>>& all) {
    const std::string cell = benchmarks::plain(cells_.text(column));
    const auto found = all.find(cell);
    if (found == all.end()) {
      cells_.skip("no model of this format: " + std::string(column), printable(cell));
      return nullptr;
    }
    if (cell.empty()) assume(column, found->second.name);
    return &found->second;
  }

  void formats() {
    const auto* weights = format("precision_weights", loaded_.words.formats);
    if (weights == nullptr) return;
    const auto is_one = [&](const std::vector<std::string>& models, const std::string& name) {
      return !name.empty() && std::find(models.begin(), models.end(), row_.model) != models.end();
    };
    std::string name = weights->name;
    if (is_one(loaded_.words.block_scaled, weights->block)) name = weights->block;
    if (is_one(loaded_.words.experts_alone, weights->experts)) name = weights->experts;
    if (!set_weights(serving_, name)) {
      return cells_.skip("no model of this format: precision_weights", printable(name));
    }
    const bool small = serving_.stored == nullptr && serving_.weights->matmul >= Precision::fp8;
    if (cells_.text("precision_kv").empty()) {
      serving_.cache = cache_format(small ? "fp8" : "bf16");
      return assume("precision_kv", serving_.cache->name);
    }
    const auto* cache = format("precision_kv", loaded_.words.caches);
    if (cache == nullptr) return;
    serving_.cache = cache_format(cache->name);
  }

  // A degree that is not said, or 0, is 1; without tp it takes all accelerators.
  std::int64_t degree(std::string_view column) {
    return cells_.text(column) == "0" ? 1 : cells_.count_or(column, 1);
  }
  void split() {
    const std::int64_t all = degree("n_accel");
    if (all > 1 && serving_.engine.splits_layers) {
      return cells_.skip("whether accelerators share layers or rows of each is not stated");
    }
    serving_.pp = degree("pp");
    serving_.ep = degree("ep");
    serving_.dp = degree("dp");
    if (cells_.text("tp").empty()) {
      if (cells_.text("n_accel").empty()) return cells_.skip("cell missing: tp");
      serving_.tp = std::max<std::int64_t>(1, all / (serving_.pp * serving_.dp));
      assume("tp", std::to_string(serving_.tp));
    } else {
      serving_.tp = degree("tp");
    }
  }

  Load requests() {
    Load out;
    out.input = cells_.count("input_len");
    out.output = cells_.count("output_len");
    const auto& batches = loaded_.words.batches;
    const bool by_notes = std::any_of(batches.begin(), batches.end(), [&](const std::string& has) {
      return said_.find(has) != std::string::npos;
    });
    if (!by_notes && (row_.measured[kFirstToken] || row_.measured[kEachToken])) {
      out.arrivals = Arrivals::clients;
    }
    const auto drawn = loaded_.words.shortest.find(row_.source_key);
    const std::string& constant = loaded_.words.constant;
    const bool is_constant = !constant.empty() && said_.find(constant) != std::string::npos;
    if (drawn != loaded_.words.shortest.end() && !is_constant) {
      out.input_spread = out.output_spread = {LengthSpread::Kind::share, drawn->second};
    }
    if (!cells_.text("request_rate").empty()) {
      out.arrivals = Arrivals::random;
      out.rate = cells_.number("request_rate") / static_cast<double>(serving_.dp);
    }
    at_capacity_ = out.arrivals != Arrivals::random && cells_.text("batch").empty();
    const std::int64_t batch = cells_.count_or("batch", 1);
    if (batch > kMostClients) cells_.skip("more clients than are placed in time");
    // A batch is of all copies of attention.
    out.batch = std::max<std::int64_t>(1, (batch + serving_.dp / 2) / serving_.dp);
    schedule(batch, out);
    return out;
  }

  // As the source ran the engine; of engines that others join nothing is known.
  void schedule(std::int64_t batch, const Load& load) {
    if (said_.find(loaded_.words.apart) != std::string::npos) return;
    const bool experts = has_experts(serving_.model);
    for (const serving_words::Recipe& recipe : loaded_.words.recipes) {
      const bool holds =
          recipe.source == row_.source_key && recipe.engine == row_.engine &&
          said_.find(recipe.has) != std::string::npos &&
          (recipe.unless.empty() || said_.find(recipe.unless) == std::string::npos) &&
          row_.machine.starts_with(recipe.accelerator) &&
          recipe.experts.value_or(experts) == experts &&
          (recipe.lengths.empty() ||
           recipe.lengths == std::vector<std::int64_t>{load.input, load.output}) &&
          (recipe.most_ranks == 0 || serving_.tp <= recipe.most_ranks);
      if (!holds) continue;
      Policy& policy = serving_.engine.policy;
      const double tokens = recipe.inputs * static_cast<double>(load.input) +
                            recipe.outputs * static_cast<double>(load.output) +
                            recipe.batches * static_cast<double>(batch) + recipe.more;
      if (tokens > 0) policy.most_tokens = static_cast<std::int64_t>(tokens);
      const auto above = recipe.polls.upper_bound(batch);
      if (above != recipe.polls.begin()) policy.polls = std::prev(above)->second;
      chunk_ = recipe.chunk;
      if (recipe.library) serving_.engine.own_all_reduce = false;
      guess(serving_.dp > 1 ? recipe.guesses_of_copies : recipe.guesses, recipe.acceptance);
      return;
    }
  }

  // By the model's own prediction layers.
  void guess(std::int64_t tokens, double chance) {
    if (tokens == 0 || serving_.model.prediction_layers == 0) return;
    serving_.speculation = Speculation{Drafting{chance, tokens}, std::nullopt};
    assume("guesses", std::to_string(tokens));
  }

  // Prefill and decode on accelerators of their own.
  void pools() {
    const serving_words::Words& words = loaded_.words;
    if (said_.find(words.apart) == std::string::npos) return;
    const auto prefill = serving_words::pool_behind(words.apart_prefill, said_);
    const auto decode = serving_words::pool_behind(words.apart_decode, said_);
    if (!prefill || !decode) {
      return cells_.skip("prefill and decode apart, the number of copies is not stated");
    }
    ServingApart apart{serving_, serving_};
    static_cast<ServingSplit&>(apart.prefill) = prefill->split;
    static_cast<ServingSplit&>(apart.decode) = decode->split;
    apart.prefill_copies = prefill->copies;
    apart.decode_copies = decode->copies;
    apart_ = std::move(apart);
  }

  void legal(const Load& load) {
    const std::string together = why_together_only(serving_.engine);
    if (!together.empty() && (apart_ || load.arrivals != Arrivals::together)) {
      return cells_.skip("cannot be served so", together);
    }
    const Problems problems = apart_ ? check(*apart_) : check(serving_);
    if (!problems.empty()) return cells_.skip("cannot be served so", problems.front().message);
    if (apart_ && load.arrivals == Arrivals::together) {
      cells_.skip("prefill and decode apart, of a batch that starts together");
    }
  }

  // A batch that memory does not hold at once is answered in turns by engines whose requests come
  // and go. Its first token would be of the first turn.
  bool in_turns(const Load& load) const {
    if (apart_ || load.arrivals != Arrivals::together || row_.measured[kFirstToken] ||
        serving_.engine.whole.only()) {
      return false;
    }
    const double most =
        memory_of(serving_, load).sequences_that_fit(static_cast<double>(load.input + load.output));
    return most >= 1 && most < static_cast<double>(load.batch);
  }

  std::optional<AskedServing> asked(Load load) {
    const auto& constants = loaded_once<std::shared_ptr<const ServingConstants>>(
        loaded_.constants, serving_.cluster.name,
        [&](const std::string&) -> Result<std::shared_ptr<const ServingConstants>> {
          const auto read = serving_constants(serving_.cluster);
          if (!read) return read.problems();
          return std::make_shared<const ServingConstants>(*read);
        });
    if (!constants) {
      cells_.skip("no cluster is known of this accelerator");
      return std::nullopt;
    }
    if (apart_) {  // clients are of all copies together
      load.batch = cells_.count_or("batch", 1);
      load.rate *= static_cast<double>(serving_.dp);
    } else if (at_capacity_) {  // as many as memory holds
      const double context = static_cast<double>(load.input) + static_cast<double>(load.output) / 2;
      const ServingMemory memory = memory_of(serving_, load);
      load.batch =
          std::max<std::int64_t>(1, static_cast<std::int64_t>(memory.sequences_that_fit(context)));
      load.arrivals = Arrivals::clients;
      assume("batch", std::to_string(load.batch));
    }
    const bool turns = in_turns(load);
    if (turns) {
      const auto all = static_cast<std::size_t>(load.batch * serving_.dp);
      load.listed =
          std::make_shared<const std::vector<Listed>>(all, Listed{0, load.input, load.output});
      load.arrivals = Arrivals::listed;
    }
    row_.precision = weights_name(serving_);
    row_.load = at_capacity_ && !apart_                        ? "full"
                : turns || load.arrivals == Arrivals::together ? "together"
                                                               : "clients";
    // Engines that others join, prefill and decode apart, have more between them than a host.
    const auto& unfitted = loaded_.words.unfitted;
    const bool fitted =
        !apart_ && std::none_of(unfitted.begin(), unfitted.end(), [&](const std::string& has) {
          return said_.find(has) != std::string::npos;
        });
    const auto& pooled = loaded_.words.pooled;
    const bool pool = std::any_of(pooled.begin(), pooled.end(), [&](const std::string& has) {
      return said_.find(has) != std::string::npos;
    });
    return AskedServing{std::move(serving_),
                        std::move(apart_),
                        load,
                        *constants,
                        fitted,
                        chunk_,
                        pool,
                        at_capacity_,
                        turns};
  }

  ServedRow& row_;
  Cells& cells_;
  Loaded& loaded_;
  std::string said_;  // by its notes
  Serving serving_;
  std::optional<ServingApart> apart_;
  bool at_capacity_ = false;
  double chunk_ = 1;
};

const std::vector<std::string> kNeeded = {"source_key",
                                          "model",
                                          "accelerator",
                                          "n_accel",
                                          "tp",
                                          "pp",
                                          "ep",
                                          "dp",
                                          "engine",
                                          "batch",
                                          "precision_kv",
                                          "precision_weights",
                                          "input_len",
                                          "output_len",
                                          "ttft_s",
                                          "tpot_s",
                                          "latency_s",
                                          "notes",
                                          "oom",
                                          "request_rate",
                                          "throughput_output_tok_s",
                                          "throughput_total_tok_s"};

// What a row says was run.
std::string cells_of_run(const Csv& csv, const CsvRow& row) {
  std::string out;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const std::string& name = csv.header[i];
    const bool is_quantity = std::find(kServedQuantities.begin(), kServedQuantities.end(), name) !=
                             kServedQuantities.end();
    if (is_quantity || name == "id" || name == "source" || name == "memory_gb") continue;
    out += row.cells[i] + '\n';
  }
  return out;
}

}  // namespace

Result<std::vector<ServedCase>> read_serving(const Csv& csv) {
  Problems problems = missing_columns(csv, kNeeded);
  const auto& words = serving_words::Words::embedded();
  const auto& machines = benchmarks::Words::embedded();
  const auto& known = engines();
  if (!words) append(problems, words.problems());
  if (!machines) append(problems, machines.problems());
  if (!known) append(problems, known.problems());
  if (!problems.empty()) return problems;
  Loaded loaded{*words, *machines, *known, model_names()};
  std::vector<ServedCase> cases;
  cases.reserve(csv.rows.size());
  for (const CsvRow& from : csv.rows) {
    Cells cells(csv, from);
    ServedCase& each = cases.emplace_back();
    const std::string& id = cells.text("id");
    each.row.id = id.empty() ? std::to_string(from.line) : id;
    each.row.source_key = cells.text("source_key");
    each.row.cells = cells_of_run(csv, from);
    each.asked = RowReader(each.row, cells, loaded).run();
    each.row.skipped_reason = cells.reason;
    each.row.skipped_detail = cells.detail;
  }
  return cases;
}

}  // namespace headway
