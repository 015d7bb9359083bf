// What a row asks of its serving: requests, the engine's schedule, and how it is predicted.
#include <algorithm>
#include <memory>
#include <utility>

#include "fit/serving/rows/row.hpp"

namespace headway::serving_rows {
namespace {

constexpr std::int64_t kMostClients = 100'000;

class LoadReader {
 public:
  LoadReader(RowText& text, Loaded& loaded, Serving serving)
      : text_(text), loaded_(loaded), serving_(std::move(serving)) {}

  std::optional<AskedServing> run() {
    const Load load = requests();
    apart_ = apart_of(text_, loaded_, serving_);
    if (text_.cells.sound()) legal(load);
    if (!text_.cells.sound()) return std::nullopt;
    return asked(load);
  }

 private:
  Load requests() {
    Load out;
    out.input = text_.cells.count("input_len");
    out.output = text_.cells.count("output_len");
    const bool by_notes = text_.says_any(loaded_.words.batches);
    if (!by_notes && (text_.row.measured[kFirstToken] || text_.row.measured[kEachToken])) {
      out.arrivals = Arrivals::clients;
    }
    const auto drawn = loaded_.words.shortest.find(text_.row.source_key);
    const bool by_others = of_others(out);
    if (drawn != loaded_.words.shortest.end() && !by_others) {
      out.input_spread = out.output_spread = {LengthSpread::Kind::share, drawn->second};
    }
    if (!text_.cells.text("request_rate").empty()) {
      out.arrivals = Arrivals::random;
      out.rate = text_.cells.number("request_rate") / static_cast<double>(serving_.dp);
    }
    at_capacity_ = out.arrivals != Arrivals::random && text_.cells.text("batch").empty();
    const std::int64_t batch = text_.cells.count_or("batch", 1);
    if (batch > kMostClients) text_.cells.skip("more clients than are placed in time");
    if (cut_of(text_, loaded_.words) != nullptr) {
      std::int64_t& most = serving_.engine.policy.most_tokens;
      most = std::min(most, batch);  // its own passes are no longer
      return out;
    }
    // A batch is of all copies of attention.
    out.batch = std::max<std::int64_t>(1, (batch + serving_.dp / 2) / serving_.dp);
    if (by_others) return out;
    const auto cold = loaded_.words.cold.find(text_.row.source_key);
    if (cold != loaded_.words.cold.end()) cold_ = cold->second;
    schedule(batch, out);
    for (const serving_words::Requests& asked : loaded_.words.requests) {
      const bool are = text_.row.source_key.starts_with(asked.source) && asked.input == out.input &&
                       asked.output == out.output;
      if (are) out.count = std::max<std::int64_t>(1, asked.count / serving_.dp);
    }
    return out;
  }

  // A row of the source that others measured in their own way.
  bool of_others(const Load& load) const {
    const auto& but = loaded_.words.but;
    return text_.says(loaded_.words.others) &&
           std::find(but.begin(), but.end(), std::pair(load.input, load.output)) == but.end();
  }

  // As the source ran the engine; of engines that others join nothing is known.
  void schedule(std::int64_t batch, const Load& load) {
    if (text_.says(loaded_.words.apart)) return;
    const serving_words::Recipe* recipe = recipe_of(text_, loaded_.words, serving_, load, batch);
    if (recipe == nullptr) return;
    run_by(*recipe, load, batch, text_, serving_);
    alike_ = recipe->alike;
    sized_ = recipe->sized;
  }

  void legal(const Load& load) {
    const std::string together = why_together_only(serving_.engine);
    if (!together.empty() && (apart_ || at_capacity_ || load.arrivals != Arrivals::together)) {
      return text_.cells.skip("cannot be served so", together);
    }
    const Problems problems = apart_ ? check(*apart_) : check(serving_);
    if (!problems.empty()) return text_.cells.skip("cannot be served so", problems.front().message);
    if (apart_ && load.arrivals == Arrivals::together) {
      text_.cells.skip("prefill and decode apart, of a batch that starts together");
    }
  }

  // A batch that memory does not hold at once is answered in turns by engines whose requests come
  // and go. Its first token would be of the first turn.
  bool in_turns(const Load& load) const {
    if (apart_ || load.arrivals != Arrivals::together || text_.row.measured[kFirstToken] ||
        serving_.engine.whole.only()) {
      return false;
    }
    const double most =
        memory_of(serving_, load).sequences_that_fit(static_cast<double>(load.input + load.output));
    return most >= 1 && most < static_cast<double>(load.batch);
  }

  std::optional<AskedServing> asked(Load load) {
    auto constants = constants_of(text_, loaded_, serving_.cluster);
    if (constants == nullptr) return std::nullopt;
    if (sized_) size_steps(load, serving_);
    if (apart_) {  // clients are of all copies together
      load.batch = text_.cells.count_or("batch", 1);
      load.rate *= static_cast<double>(serving_.dp);
    } else if (at_capacity_) {  // as many as memory holds
      const double fit = memory_of(serving_, load).sequences_that_fit(load.under_way());
      load.batch = std::max<std::int64_t>(1, static_cast<std::int64_t>(fit));
      load.arrivals = Arrivals::clients;
      text_.assume("batch", std::to_string(load.batch));
    }
    const bool turns = in_turns(load);
    if (turns) {
      const auto all = static_cast<std::size_t>(load.batch * serving_.dp);
      load.listed =
          std::make_shared<const std::vector<Listed>>(all, Listed{0, load.input, load.output});
      load.arrivals = Arrivals::listed;
    }
    text_.row.precision = weights_name(serving_);
    text_.row.load = at_capacity_ && !apart_                        ? "full"
                     : turns || load.arrivals == Arrivals::together ? "together"
                                                                    : "clients";
    // Engines that others join, prefill and decode apart, have more between them than a host; how
    // alike sequences of one prompt stay is not known.
    const bool fitted = !apart_ && !alike_ && !text_.says_any(loaded_.words.unfitted);
    const bool pool = text_.says_any(loaded_.words.pooled);
    const double cold = apart_ ? 0 : cold_;
    const double prompts = static_cast<double>(load.batch * load.input) * load.input_spread.mean();
    const bool full = prompts >= static_cast<double>(serving_.engine.policy.most_tokens);
    return AskedServing{std::move(serving_),
                        std::move(apart_),
                        load,
                        std::move(constants),
                        fitted,
                        cold,
                        text_.start,
                        full,
                        pool,
                        at_capacity_,
                        turns};
  }

  RowText& text_;
  Loaded& loaded_;
  Serving serving_;
  std::optional<ServingApart> apart_;
  bool at_capacity_ = false, alike_ = false, sized_ = false;
  double cold_ = 0;
};

}  // namespace

std::optional<AskedServing> asked_of(RowText& text, Loaded& loaded, Serving serving) {
  return LoadReader(text, loaded, std::move(serving)).run();
}

}  // namespace headway::serving_rows
