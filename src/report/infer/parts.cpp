#include "report/infer/parts.hpp"

#include <algorithm>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"

namespace headway {
namespace {

std::string count_of(double number, const char* of) {
  return count_text(number) + " " + plural(of, number);
}

std::string quantiles_text(const std::optional<Quantiles>& of) {
  return of ? "p50 " + to_text(of->median) + ", p90 " + to_text(of->p90) + ", p99 " +
                  to_text(of->p99)
            : std::string();
}

void write_quantiles(JsonWriter& out, std::string_view name, const Quantiles& of, Seconds mean) {
  out.key(name);
  out.begin_object();
  out.member("mean", mean.value());
  out.member("p50", of.median.value());
  out.member("p90", of.p90.value());
  out.member("p99", of.p99.value());
  out.end_object();
}

void write_fluid(JsonWriter& out, const Fluid& closed) {
  out.key("closed_form");
  out.begin_object();
  out.member("ttft_s", closed.first_token);
  out.member("tpot_s", closed.each_token);
  out.member("requests_per_s", closed.rate);
  out.member("sequences", closed.decoding);
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

double price_per_million(const Cluster& cluster, std::int64_t ranks, const Served& served) {
  const double an_hour = cluster.price_per_accelerator_hour;
  return an_hour * static_cast<double>(ranks) / 3600 / served.output_per_second * 1e6;
}

TokenPrices prices_of(const Load& load, const Served& served, double per_million) {
  const double in = static_cast<double>(load.input), out = static_cast<double>(load.output);
  return {per_million * served.prompt_share * out / in, per_million * (1 - served.prompt_share)};
}

std::string words_of(const Load& load) {
  switch (load.arrivals) {
    case Arrivals::random:
      return formatted("%.4g requests/s", load.rate);
    case Arrivals::listed:
      return count_text(static_cast<double>(load.listed->size())) + " requests of a file";
    case Arrivals::clients:
      return count_of(static_cast<double>(load.batch), "client");
    case Arrivals::together:
      break;
  }
  return count_of(static_cast<double>(load.batch), "sequence") + " at a time";
}

std::string words_of(const Serving& serving) {
  return words_of_split(serving) + ", " + std::string(weights_name(serving)) + " weights, " +
         std::string(cache_name(serving)) + " cache";
}

std::string words_of_split(const ServingSplit& split) {
  std::string out = "tp " + std::to_string(split.tp);
  const auto add = [&](const char* name, std::int64_t degree) {
    if (degree > 1) out += std::string(", ") + name + " " + std::to_string(degree);
  };
  add("pp", split.pp);
  add("ep", split.ep);
  add("dp", split.dp);
  add("cp", split.cp);
  return out;
}

TextTable served_rows(const Served& served, const Load& load, std::int64_t ranks,
                      const Cluster& cluster) {
  TextTable rows = {
      {"first token", to_text(served.first_token), quantiles_text(served.first_quantiles)}};
  if (load.output > 1) {
    rows.push_back(
        {"each token after it", to_text(served.each_token), quantiles_text(served.each_quantiles)});
  }
  rows.push_back(
      {"whole answer", to_text(served.latency), quantiles_text(served.latency_quantiles)});
  rows.push_back(
      {"output", count_text(served.output_per_second) + " tokens/s",
       count_text(served.output_per_second / static_cast<double>(ranks)) + " an accelerator"});
  rows.push_back({"with prompts", count_text(served.total_per_second) + " tokens/s"});
  if (load.arrivals == Arrivals::random) {
    rows.push_back({"at most", formatted("%.4g requests/s", *served.capacity),
                    count_of(served.sequences, "sequence") + " at a time here"});
  } else if (load.arrivals != Arrivals::listed && load.output > 1 &&
             served.sequences < static_cast<double>(load.batch)) {
    rows.push_back({"at a time", count_of(served.sequences, "sequence"),
                    load.arrivals == Arrivals::together ? "memory holds no more"
                                                        : "of a copy, the others wait"});
  }
  if (served.put_back > 0) {
    rows.push_back({"computed anew", formatted("%.3g times", served.put_back), "a request"});
  }
  if (served.good) {
    rows.push_back({"within the limits", percent_text(*served.good),
                    formatted("%.4g requests/s", served.goodput)});
  }
  if (served.rate_within) {
    rows.push_back({"highest rate within", formatted("%.4g requests/s", *served.rate_within)});
  }
  if (served.closed) {
    std::string each;
    if (load.output > 1) each = "each " + to_text(Seconds(served.closed->each_token));
    rows.push_back({"in closed form", "first " + to_text(Seconds(served.closed->first_token)),
                    each + (each.empty() ? "" : ", ") + "without the way in and out"});
  }
  const double price = price_per_million(cluster, ranks, served);
  if (price > 0) {
    std::string each;
    if (served.prompt_share > 0) {
      const TokenPrices shares = prices_of(load, served, price);
      each = formatted("or $%.2f in", shares.input) + formatted(", $%.2f out", shares.output);
    }
    rows.push_back({"a million tokens out", formatted("$%.2f", price), each});
  }
  if (served.energy_of_token > Joules(0)) {
    rows.push_back({"energy of a token", formatted("%.2f J", served.energy_of_token.value()),
                    to_text(served.mean_power) + " an accelerator"});
  }
  return rows;
}

TextTable pass_rows(const Served& served) {
  TextTable parts = {{"", "prefill", "decode"}};
  for (std::size_t i = 0; i < kServingPartNames.size(); ++i) {
    parts.push_back({std::string(kServingPartNames[i]), to_text(served.prefill.parts[i]),
                     to_text(served.decode.parts[i])});
  }
  parts.push_back({"a pass", to_text(served.prefill.total()), to_text(served.decode.total())});
  if (served.prompt_passes > 1) {
    parts.push_back({"a prompt takes",
                     count_text(served.prompt_passes) + " x " +
                         count_text(static_cast<double>(served.prefill_work.tokens)) + " tokens",
                     ""});
  } else if (served.prompt_passes < 1) {
    parts.push_back({"prompts at once", count_text(1 / served.prompt_passes), ""});
  }
  if (served.draft > Seconds(0)) parts.push_back({"its guesses", "", to_text(served.draft)});
  if (served.decode_power > Watts(0)) {
    parts.push_back({"power", to_text(served.prefill_power), to_text(served.decode_power)});
  }
  return parts;
}

TextTable memory_rows(const ServingMemory& memory) {
  TextTable rows = {{"weights", to_text(memory.weights), "of a rank"},
                    {"engine", to_text(memory.reserved),
                     "context " + to_text(memory.parts.context) + ", activations " +
                         to_text(memory.parts.activations) + ","},
                    {"", "",
                     "head " + to_text(memory.parts.head) + ", communicators " +
                         to_text(memory.parts.communicators)},
                    {"for all", to_text(memory.capacity)}};
  if (memory.graphs > Bytes(0)) rows.push_back({"graphs", to_text(memory.graphs), "beside it"});
  rows.push_back({"cache", to_text(memory.cache_of_token), "a token"});
  if (memory.state_of_sequence > Bytes(0)) {
    rows.push_back({"state", to_text(memory.state_of_sequence), "a sequence"});
  }
  if (memory.cache_of_token > Bytes(0)) {
    rows.push_back({"tokens that fit", count_text(std::max(0.0, memory.cached_tokens))});
  } else {
    rows.push_back({"sequences that fit", count_text(std::max(0.0, memory.sequences_that_fit(0)))});
  }
  return rows;
}

std::string not_stable_text(const Served& served) {
  return "\nnot stable: at most " + formatted("%.4g", *served.capacity) +
         " requests/s can be answered; more copies or accelerators, or fewer requests\n";
}

std::string_view too_large(const ServingMemory& memory) {
  return memory.cached_tokens <= 0 ? "the weights alone are too large"
                                   : "the cache of these sequences is too large";
}

std::string split_text(const ServingSplit& split) {
  std::string out = "tp" + std::to_string(split.tp);
  const auto add = [&](const char* name, std::int64_t degree) {
    if (degree > 1) out += std::string(" ") + name + std::to_string(degree);
  };
  add("pp", split.pp);
  add("ep", split.ep);
  add("dp", split.dp);
  add("cp", split.cp);
  return out;
}

std::string best_title(const Searched& searched) {
  const auto& [base, asked, space, accelerators, tried, placed] = searched;
  const std::string formats =
      space.formats.size() > 1
          ? std::to_string(space.formats.size()) + " formats of weights and cache"
          : std::string(weights_name(base)) + " weights, " + std::string(cache_name(base)) +
                " cache";
  return printable(base.model.name) + " on " + std::to_string(accelerators) + " " +
         printable(base.cluster.accelerator.title) + ", " + formats + "\n" +
         count_text(static_cast<double>(asked.input)) + " tokens in, " +
         count_text(static_cast<double>(asked.output)) + " out; " +
         count_text(static_cast<double>(tried)) + " ways in closed form, " +
         count_text(static_cast<double>(placed)) + " in time\n\n";
}

std::string no_front_text(const Searched& searched, std::optional<std::int64_t> would_fit) {
  if (searched.tried > 0) return "no way keeps to the limits\n";
  return "no way fits" + (would_fit ? "; of " + count_text(static_cast<double>(*would_fit)) +
                                          " accelerators some would\n"
                                    : "\n");
}

void write_asked(JsonWriter& out, const Serving& serving, const Load& load, std::int64_t gpus) {
  out.member("model", serving.model.name);
  out.member("cluster", serving.cluster.name);
  out.member("engine", serving.engine.name);
  out.member("gpus", gpus);
  write_formats(out, serving);
  out.member("step_tokens", serving.engine.policy.most_tokens);
  out.member("input_len", load.input);
  out.member("output_len", load.output);
}

void begin_front(JsonWriter& out, const Searched& searched) {
  out.begin_object();
  write_asked(out, searched.base, searched.asked, searched.accelerators);
  out.member("tried", searched.tried);
  out.member("placed", searched.placed);
  out.key("formats");
  out.begin_array();
  Serving each = searched.base;
  for (const ServingFormats& formats : searched.space.formats) {
    set_formats(each, formats);
    out.begin_object();
    write_formats(out, each);
    out.end_object();
  }
  out.end_array();
  out.key("front");
  out.begin_array();
}

void write_formats(JsonWriter& out, const Serving& serving) {
  out.member("weights", weights_name(serving));
  out.member("cache", serving.cache->name);
}

void write_layout(JsonWriter& out, std::string_view name, const ServingSplit& split) {
  out.key(name);
  out.begin_object();
  out.member("tp", split.tp);
  out.member("pp", split.pp);
  out.member("ep", split.ep);
  out.member("dp", split.dp);
  out.member("cp", split.cp);
  out.end_object();
}

void write_amount(JsonWriter& out, std::int64_t copies, const Load& load) {
  switch (load.arrivals) {
    case Arrivals::random:
      return out.member("rate", load.rate * static_cast<double>(copies));
    case Arrivals::listed:
      return out.member("requests", load.listed->size());
    case Arrivals::clients:
      return out.member("concurrency", load.batch);
    case Arrivals::together:
      return out.member("batch", load.batch);
  }
}

void write_gained(JsonWriter& out, const Cluster& cluster, std::int64_t ranks, const Load& load,
                  const Served& served) {
  out.member("ttft_s", served.first_token.value());
  out.member("tpot_s", served.each_token.value());
  out.member("latency_s", served.latency.value());
  out.member("throughput_output_tok_s", served.output_per_second);
  out.member("throughput_total_tok_s", served.total_per_second);
  if (served.each_token > Seconds(0)) {  // an answer of one token has no others
    out.member("tokens_per_s_per_user", 1 / served.each_token.value());
  }
  out.member("tokens_per_s_per_gpu", served.output_per_second / static_cast<double>(ranks));
  out.member("sequences", served.sequences);
  if (served.first_quantiles) {
    out.key("quantiles");
    out.begin_object();
    write_quantiles(out, "ttft_s", *served.first_quantiles, served.first_token);
    write_quantiles(out, "tpot_s", *served.each_quantiles, served.each_token);
    write_quantiles(out, "latency_s", *served.latency_quantiles, served.latency);
    out.end_object();
    out.member("computed_anew", served.put_back);
  }
  if (served.good) {
    out.member("share_within_limits", *served.good);
    out.member("goodput_requests_per_s", served.goodput);
  }
  if (served.rate_within) out.member("rate_within_limits", *served.rate_within);
  if (served.closed) write_fluid(out, *served.closed);
  if (served.energy_of_token > Joules(0)) {
    out.member("energy_j_per_token", served.energy_of_token.value());
    out.key("power_w");
    out.begin_object();
    out.member("mean", served.mean_power.value());
    out.member("prefill", served.prefill_power.value());
    out.member("decode", served.decode_power.value());
    out.end_object();
  }
  const double price = price_per_million(cluster, ranks, served);
  if (!(price > 0)) return;
  out.member("price_per_million_tokens", price);
  if (!(served.prompt_share > 0)) return;
  const TokenPrices shares = prices_of(load, served, price);
  out.member("price_per_million_input_tokens", shares.input);
  out.member("price_per_million_output_tokens", shares.output);
}

void write_passes(JsonWriter& out, const Served& served) {
  out.key("parts_s");
  out.begin_object();
  out.key("prefill");
  write_pass(out, served.prefill);
  out.key("decode");
  write_pass(out, served.decode);
  out.end_object();
  out.member("prompt_passes", served.prompt_passes);
  if (served.draft > Seconds(0)) out.member("draft_s", served.draft.value());
}

std::string bound_text(const BoundShares& bounds) {
  const Bound most = most_of(bounds);
  return std::string(to_name(most)) + " " +
         formatted("%.0f %%", 100 * bounds[static_cast<std::size_t>(most)]);
}

void write_bounds(JsonWriter& out, const BoundShares& bounds) {
  out.member("bound", to_name(most_of(bounds)));
  out.key("bound_shares");
  out.begin_object();
  for (std::size_t i = 0; i < kBoundNames.size(); ++i) out.member(kBoundNames[i], bounds[i]);
  out.end_object();
}

void write_memory(JsonWriter& out, const ServingMemory& memory) {
  out.key("memory_bytes");
  out.begin_object();
  out.member("weights", memory.weights.value());
  out.member("reserved", memory.reserved.value());
  out.member("context", memory.parts.context.value());
  out.member("activations", memory.parts.activations.value());
  out.member("head", memory.parts.head.value());
  out.member("communicators", memory.parts.communicators.value());
  out.member("graphs", memory.graphs.value());
  out.member("capacity", memory.capacity.value());
  out.member("cache_of_token", memory.cache_of_token.value());
  out.member("state_of_sequence", memory.state_of_sequence.value());
  out.end_object();
  out.member("kv_tokens", std::max(0.0, memory.cached_tokens));
}

void write_notes(JsonWriter& out, std::span<const std::string> notes) {
  out.key("notes");
  out.begin_array();
  for (const std::string& note : notes) out.value(note);
  out.end_array();
}

std::string notes_text(std::span<const std::string> notes) {
  std::string out = notes.empty() ? "" : "\n";
  for (const std::string& note : notes) out += wrapped("note: " + note, 0, 2);
  return out;
}

}  // namespace headway
