#include "report/infer/parts.hpp"

#include <algorithm>

#include "base/formatted.hpp"
#include "base/text.hpp"

namespace headway {
namespace {

void write_quantiles(JsonWriter& out, std::string_view name, const Quantiles& of) {
  out.key(name);
  out.begin_object();
  out.member("p50", of.median.value());
  out.member("p90", of.p90.value());
  out.member("p99", of.p99.value());
  out.end_object();
}

}  // namespace

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

void write_asked(JsonWriter& out, const Serving& serving, const Load& load, std::int64_t gpus) {
  out.member("model", serving.model.name);
  out.member("cluster", serving.cluster.name);
  out.member("engine", serving.engine.name);
  out.member("gpus", gpus);
  out.member("weights", serving.weights->name);
  out.member("cache", to_name(serving.cache));
  out.member("input_len", load.input);
  out.member("output_len", load.output);
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

void write_amount(JsonWriter& out, const ServingSplit& split, const Load& load) {
  if (load.arrivals == Arrivals::random) {
    out.member("rate", load.rate * static_cast<double>(split.dp));
  } else {
    out.member(load.arrivals == Arrivals::clients ? "concurrency" : "batch", load.batch);
  }
}

void write_gained(JsonWriter& out, const Cluster& cluster, const ServingSplit& split,
                  const Served& served) {
  out.member("ttft_s", served.first_token.value());
  out.member("tpot_s", served.each_token.value());
  out.member("latency_s", served.latency.value());
  out.member("throughput_output_tok_s", served.output_per_second);
  out.member("throughput_total_tok_s", served.total_per_second);
  if (served.each_token > Seconds(0)) {  // an answer of one token has no others
    out.member("tokens_per_s_per_user", 1 / served.each_token.value());
  }
  out.member("tokens_per_s_per_gpu", served.output_per_second / static_cast<double>(split.ranks()));
  out.member("sequences", served.sequences);
  if (served.first_quantiles) {
    out.key("quantiles");
    out.begin_object();
    write_quantiles(out, "ttft_s", *served.first_quantiles);
    write_quantiles(out, "tpot_s", *served.each_quantiles);
    write_quantiles(out, "latency_s", *served.latency_quantiles);
    out.end_object();
  }
  if (served.good) out.member("share_within_limits", *served.good);
  const double price = price_per_million(cluster, split, served);
  if (price > 0) out.member("price_per_million_tokens", price);
}

void write_memory(JsonWriter& out, const ServingMemory& memory) {
  out.key("memory_bytes");
  out.begin_object();
  out.member("weights", memory.weights.value());
  out.member("reserved", memory.reserved.value());
  out.member("capacity", memory.capacity.value());
  out.member("cache_of_token", memory.cache_of_token.value());
  out.end_object();
  out.member("kv_tokens", std::max(0.0, memory.cached_tokens));
}

}  // namespace headway
