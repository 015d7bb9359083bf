#include "report/infer/infer.hpp"

#include <algorithm>
#include <utility>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/json/writer.hpp"
#include "study/infer/intervals.hpp"

namespace headway {
namespace {

// US dollars for a million output tokens; 0: the cluster has no price.
double price_per_million(const Cluster& cluster, const ServingSplit& split, const Served& served) {
  const double an_hour = cluster.price_per_accelerator_hour;
  return an_hour * static_cast<double>(split.ranks()) / 3600 / served.output_per_second * 1e6;
}

std::string words_of(const Serving& serving) {
  std::string out = "tp " + std::to_string(serving.tp);
  const auto add = [&](const char* name, std::int64_t degree) {
    if (degree > 1) out += std::string(", ") + name + " " + std::to_string(degree);
  };
  add("pp", serving.pp);
  add("ep", serving.ep);
  add("dp", serving.dp);
  return out + ", " + std::string(serving.weights->name) + " weights, " +
         std::string(to_name(serving.cache)) + " cache";
}

std::string words_of(const Load& load) {
  if (load.arrivals == Arrivals::random) return formatted("%.4g requests/s", load.rate);
  return count_text(static_cast<double>(load.batch)) +
         (load.arrivals == Arrivals::clients ? " clients" : " sequences at a time");
}

void write_layout(JsonWriter& out, const ServingSplit& split) {
  out.key("layout");
  out.begin_object();
  out.member("tp", split.tp);
  out.member("pp", split.pp);
  out.member("ep", split.ep);
  out.member("dp", split.dp);
  out.end_object();
}

// What most of a decode pass goes into.
std::string_view binding(const PassTime& pass) {
  const auto most = std::max_element(pass.parts.begin(), pass.parts.end());
  return kServingPartNames[static_cast<std::size_t>(most - pass.parts.begin())];
}

void write_quantiles(JsonWriter& out, std::string_view name, const Quantiles& of) {
  out.key(name);
  out.begin_object();
  out.member("p50", of.median.value());
  out.member("p90", of.p90.value());
  out.member("p99", of.p99.value());
  out.end_object();
}

void write_pass(JsonWriter& out, const PassTime& pass) {
  out.begin_object();
  for (std::size_t i = 0; i < pass.parts.size(); ++i) {
    out.member(kServingPartNames[i], pass.parts[i].value());
  }
  out.end_object();
}

}  // namespace

namespace {

// The quantities that an interval is told of, as predicted.
struct Told {
  const char* quantity;
  const char* name;
  double value;
};
std::vector<Told> told_of(const Served& served) {
  return {{"ttft_s", "first token", served.first_token.value()},
          {"tpot_s", "each token after it", served.each_token.value()},
          {"latency_s", "whole answer", served.latency.value()},
          {"throughput_output_tok_s", "output", served.output_per_second}};
}

// [INFER-11]; nothing where this build has none.
std::optional<std::pair<double, double>> interval_of(const Serving& serving, const Load& load,
                                            const Served& served, const Told& told) {
  const auto& intervals = serving_intervals();
  if (!intervals) return std::nullopt;
  const bool full = load.arrivals == Arrivals::clients &&
                    served.sequences < static_cast<double>(load.batch);
  const auto factors =
      intervals->of(interval_class(*intervals, serving, load, full, told.quantity));
  if (!factors) return std::nullopt;
  return std::pair(factors->low * told.value, factors->high * told.value);
}

void write_intervals(JsonWriter& out, const Serving& serving, const Load& load,
                     const Served& served) {
  if (!serving_intervals()) return;
  out.key("interval");
  out.begin_object();
  for (const Told& told : told_of(served)) {
    const auto interval = interval_of(serving, load, served, told);
    if (!interval) continue;
    out.key(told.quantity);
    out.begin_array();
    out.value(interval->first);
    out.value(interval->second);
    out.end_array();
  }
  out.end_object();
}

std::string intervals_text(const Serving& serving, const Load& load, const Served& served) {
  std::vector<std::vector<std::string>> rows;
  for (const Told& told : told_of(served)) {
    const auto interval = interval_of(serving, load, served, told);
    if (!interval) continue;
    const bool rate = std::string_view(told.quantity).starts_with("throughput");
    const auto text = [&](double value) {
      return rate ? count_text(value) + " tokens/s" : to_text(Seconds(value));
    };
    rows.push_back({told.name, text(interval->first), text(interval->second)});
  }
  if (rows.empty()) return {};
  rows.insert(rows.begin(), {"four of five measured", "from", "to"});
  return aligned(rows) + "\n";
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
  out.member("model", serving.model.name);
  out.member("cluster", serving.cluster.name);
  out.member("engine", serving.engine.name);
  out.member("gpus", serving.ranks());
  write_layout(out, serving);
  out.member("weights", serving.weights->name);
  out.member("cache", to_name(serving.cache));
  out.member("input_len", load.input);
  out.member("output_len", load.output);
  if (load.arrivals == Arrivals::random) {
    out.member("rate_per_copy", load.rate);
  } else {
    out.member(load.arrivals == Arrivals::clients ? "concurrency" : "batch", load.batch);
  }
  out.member("fits", served.fits);
  if (served.capacity) out.member("capacity_requests_per_s", *served.capacity);
  if (served.fits && served.stable()) {
    out.member("ttft_s", served.first_token.value());
    out.member("tpot_s", served.each_token.value());
    out.member("latency_s", served.latency.value());
    out.member("throughput_output_tok_s", served.output_per_second);
    out.member("throughput_total_tok_s", served.total_per_second);
    out.member("tokens_per_s_per_gpu",
               served.output_per_second / static_cast<double>(serving.ranks()));
    out.member("sequences", served.sequences);
    write_intervals(out, serving, load, served);
    if (served.first_quantiles) {
      out.key("quantiles");
      out.begin_object();
      write_quantiles(out, "ttft_s", *served.first_quantiles);
      write_quantiles(out, "tpot_s", *served.each_quantiles);
      write_quantiles(out, "latency_s", *served.latency_quantiles);
      out.end_object();
    }
    if (served.good) out.member("share_within_limits", *served.good);
    out.key("parts_s");
    out.begin_object();
    out.key("prefill");
    write_pass(out, served.prefill);
    out.key("decode");
    write_pass(out, served.decode);
    out.end_object();
    const double price = price_per_million(serving.cluster, serving, served);
    if (price > 0) out.member("price_per_million_tokens", price);
  }
  out.key("memory_bytes");
  out.begin_object();
  out.member("weights", served.memory.weights.value());
  out.member("reserved", served.memory.reserved.value());
  out.member("capacity", served.memory.capacity.value());
  out.member("cache_of_token", served.memory.cache_of_token.value());
  out.end_object();
  out.member("kv_tokens", std::max(0.0, served.memory.cached_tokens));
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
  out.member("model", base.model.name);
  out.member("cluster", base.cluster.name);
  out.member("engine", base.engine.name);
  out.member("gpus", accelerators);
  out.member("weights", base.weights->name);
  out.member("cache", to_name(base.cache));
  out.member("input_len", asked.input);
  out.member("output_len", asked.output);
  out.member("tried", best.tried);
  out.key("front");
  out.begin_array();
  for (const Offer& offer : best.front) {
    out.begin_object();
    write_layout(out, offer.split);
    out.member("concurrency", offer.load.batch);
    out.member("ttft_s", offer.served.first_token.value());
    out.member("tpot_s", offer.served.each_token.value());
    out.member("latency_s", offer.served.latency.value());
    out.member("tokens_per_s_per_user", offer.of_user());
    out.member("tokens_per_s_per_gpu", offer.of_accelerator());
    out.member("throughput_output_tok_s", offer.served.output_per_second);
    const double price = price_per_million(base.cluster, offer.split, offer.served);
    if (price > 0) out.member("price_per_million_tokens", price);
    out.member("binds", binding(offer.served.decode));
    out.end_object();
  }
  out.end_array();
  out.end_object();
  return out.take();
}

}  // namespace headway
