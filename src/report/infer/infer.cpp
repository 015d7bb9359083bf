#include "report/infer/infer.hpp"

#include <algorithm>
#include <utility>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/infer/parts.hpp"

namespace headway {
namespace {

// What most of a decode pass goes into.
std::string_view binding(const PassTime& pass) {
  const auto most = std::max_element(pass.parts.begin(), pass.parts.end());
  return kServingPartNames[static_cast<std::size_t>(most - pass.parts.begin())];
}

void write_pass(JsonWriter& out, const PassTime& pass) {
  out.begin_object();
  for (std::size_t i = 0; i < pass.parts.size(); ++i) {
    out.member(kServingPartNames[i], pass.parts[i].value());
  }
  out.end_object();
}

}  // namespace

std::string infer_text(const Serving& serving, const Load& load, const Served& served) {
  std::string out = printable(serving.model.name) + " on " + std::to_string(serving.ranks()) + " " +
                    printable(serving.cluster.accelerator.title) + ", " + words_of(serving) + "\n" +
                    count_text(static_cast<double>(load.input)) + " tokens in, " +
                    count_text(static_cast<double>(load.output)) + " out, " + words_of(load) +
                    (serving.dp > 1 ? " of each copy" : "") + "\n\n";
  const ServingMemory& memory = served.memory;
  const std::vector<std::vector<std::string>> held = {
      {"weights", to_text(memory.weights), "of a rank"},
      {"engine", to_text(memory.reserved), "activations, graphs, communicators"},
      {"for all", to_text(memory.capacity)},
      {"cache", to_text(memory.cache_of_token), "a token"},
      {"tokens that fit", count_text(std::max(0.0, memory.cached_tokens))}};
  if (!served.fits) {
    return out + aligned(held) + "\ndoes not fit: " +
           (memory.cached_tokens <= 0 ? "the weights alone are too large"
                                      : "the cache of these sequences is too large") +
           "; more tp or pp, smaller formats, or fewer sequences\n";
  }
  if (!served.stable()) {
    return out + aligned(held) + "\nnot stable: at most " + formatted("%.4g", *served.capacity) +
           " requests/s can be answered; more copies or accelerators, or fewer requests\n";
  }
  const auto quantiles = [](const std::optional<Quantiles>& of) {
    return of ? "p50 " + to_text(of->median) + ", p90 " + to_text(of->p90) + ", p99 " +
                    to_text(of->p99)
              : std::string();
  };
  std::vector<std::vector<std::string>> rows = {
      {"first token", to_text(served.first_token), quantiles(served.first_quantiles)},
      {"each token after it", to_text(served.each_token), quantiles(served.each_quantiles)},
      {"whole answer", to_text(served.latency), quantiles(served.latency_quantiles)},
      {"output", count_text(served.output_per_second) + " tokens/s",
       count_text(served.output_per_second / static_cast<double>(serving.ranks())) +
           " an accelerator"},
      {"with prompts", count_text(served.total_per_second) + " tokens/s"}};
  if (load.arrivals == Arrivals::random) {
    rows.push_back({"at most", formatted("%.4g requests/s", *served.capacity),
                    count_text(served.sequences) + " sequences at a time here"});
  } else if (served.sequences < static_cast<double>(load.batch)) {
    rows.push_back(
        {"at a time", count_text(served.sequences) + " sequences", "memory holds no more"});
  }
  if (served.good) rows.push_back({"within the limits", percent_text(*served.good)});
  const double price = price_per_million(serving.cluster, serving, served);
  if (price > 0) rows.push_back({"a million tokens out", formatted("$%.2f", price)});
  out += aligned(rows) + "\n" + intervals_text(serving, load, served);
  std::vector<std::vector<std::string>> parts = {{"", "prefill", "decode"}};
  for (std::size_t i = 0; i < kServingPartNames.size(); ++i) {
    parts.push_back({std::string(kServingPartNames[i]), to_text(served.prefill.parts[i]),
                     to_text(served.decode.parts[i])});
  }
  parts.push_back({"a pass", to_text(served.prefill.total()), to_text(served.decode.total())});
  return out + aligned(parts) + "\n" + aligned(held);
}

std::string infer_json(const Serving& serving, const Load& load, const Served& served) {
  JsonWriter out;
  out.begin_object();
  write_asked(out, serving, load, serving.ranks());
  write_layout(out, serving);
  write_amount(out, serving, load);
  out.member("fits", served.fits);
  if (served.capacity) out.member("capacity_requests_per_s", *served.capacity);
  if (served.fits && served.stable()) {
    write_gained(out, serving.cluster, serving, served);
    write_intervals(out, serving, load, served);
    out.key("parts_s");
    out.begin_object();
    out.key("prefill");
    write_pass(out, served.prefill);
    out.key("decode");
    write_pass(out, served.decode);
    out.end_object();
  }
  write_memory(out, served.memory);
  out.end_object();
  return out.take();
}

std::string infer_best_text(const Serving& base, const Load& asked, std::int64_t accelerators,
                            const BestOffers& best) {
  std::string out = printable(base.model.name) + " on " + std::to_string(accelerators) + " " +
                    printable(base.cluster.accelerator.title) + ", " +
                    std::string(base.weights->name) + " weights, " +
                    std::string(to_name(base.cache)) + " cache\n" +
                    count_text(static_cast<double>(asked.input)) + " tokens in, " +
                    count_text(static_cast<double>(asked.output)) + " out; " +
                    count_text(static_cast<double>(best.tried)) + " ways that fit\n\n";
  if (best.front.empty()) {
    return out + (best.tried == 0 ? "no way fits\n" : "no way keeps to the limits\n");
  }
  std::vector<std::vector<std::string>> rows = {
      {"tp", "pp", "ep", "dp", "clients", "tokens/s", "tokens/s", "first", "each", "$ for a",
       "most"},
      {"", "", "", "", "of each", "of a user", "of a GPU", "token", "token", "million", "in"}};
  for (const Offer& offer : best.front) {
    const ServingSplit& s = offer.split;
    const double price = price_per_million(base.cluster, s, offer.served);
    rows.push_back({std::to_string(s.tp), std::to_string(s.pp), std::to_string(s.ep),
                    std::to_string(s.dp), std::to_string(offer.load.batch),
                    formatted("%.1f", offer.of_user()), count_text(offer.of_accelerator()),
                    to_text(offer.served.first_token), to_text(offer.served.each_token),
                    price > 0 ? formatted("%.2f", price) : "-",
                    std::string(binding(offer.served.decode))});
  }
  return out + aligned(rows);
}

std::string infer_best_json(const Serving& base, const Load& asked, std::int64_t accelerators,
                            const BestOffers& best) {
  JsonWriter out;
  out.begin_object();
  write_asked(out, base, asked, accelerators);
  out.member("tried", best.tried);
  out.key("front");
  out.begin_array();
  for (const Offer& offer : best.front) {
    out.begin_object();
    write_layout(out, offer.split);
    write_amount(out, offer.split, offer.load);
    write_gained(out, base.cluster, offer.split, offer.served);
    out.member("binds", binding(offer.served.decode));
    out.end_object();
  }
  out.end_array();
  out.end_object();
  return out.take();
}

}  // namespace headway
