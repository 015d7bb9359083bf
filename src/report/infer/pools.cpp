// What the answers about prefill and decode apart share.
#include <cmath>

#include "base/text.hpp"
#include "report/infer/parts.hpp"

namespace headway {
namespace {

std::string words_of_pool(const Serving& part, std::int64_t copies) {
  return std::to_string(copies) + (copies == 1 ? " copy of " : " copies of ") +
         words_of_split(part);
}

void write_pool(JsonWriter& out, std::string_view name, const Serving& part, std::int64_t copies,
                const ServingMemory& memory, bool fits, double rate) {
  out.key(name);
  out.begin_object();
  write_layout(out, "layout", part);
  out.member("copies", copies);
  out.member("gpus", copies * part.ranks());
  out.member("step_tokens", part.engine.policy.most_tokens);
  out.member("fits", fits);
  write_memory(out, memory);
  if (std::isfinite(rate) && rate > 0) out.member("capacity_requests_per_s", rate);
  out.end_object();
}

}  // namespace

std::string pool_text(const ServingSplit& split, std::int64_t copies) {
  return std::to_string(copies) + " x " + split_text(split);
}

std::string pools_text(const ServingApart& apart) {
  return pool_text(apart.prefill, apart.prefill_copies) + ", " +
         pool_text(apart.decode, apart.decode_copies);
}

std::string words_of(const ServingApart& apart) {
  const Serving& part = apart.decode;
  return printable(part.model.name) + " on " + std::to_string(apart.ranks()) + " " +
         printable(part.cluster.accelerator.title) + ", " + std::string(weights_name(part)) +
         " weights, " + std::string(cache_name(part)) +
         " cache\nprefill: " + words_of_pool(apart.prefill, apart.prefill_copies) +
         "; decode: " + words_of_pool(apart.decode, apart.decode_copies) + "\n";
}

std::string why_not_text(const ServedApart& served) {
  std::string out;
  const auto add = [&](const char* pool, bool fits, const ServingMemory& memory) {
    if (fits) return;
    out += std::string(out.empty() ? "of " : ", of ") + pool + " " + std::string(too_large(memory));
  };
  add("prefill", served.prefill_fits, served.prefill);
  add("decode", served.decode_fits, served.all.memory);
  return out;
}

void write_pools(JsonWriter& out, const ServingApart& apart, const ServedApart& served) {
  write_pool(out, "prefill", apart.prefill, apart.prefill_copies, served.prefill,
             served.prefill_fits, served.rates.prefill);
  write_pool(out, "decode", apart.decode, apart.decode_copies, served.all.memory,
             served.decode_fits, served.rates.decode);
}

}  // namespace headway
