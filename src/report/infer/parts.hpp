// What the answers of `infer` share: words, and members of documents. Internal to report/infer.
#pragma once

#include <string>

#include "report/json/writer.hpp"
#include "study/infer/serving.hpp"

namespace headway {

/// US dollars for a million output tokens; 0: the cluster has no price.
double price_per_million(const Cluster& cluster, const ServingSplit& split, const Served& served);

/// "tp 8, bf16 weights, bf16 cache".
std::string words_of(const Serving& serving);
/// "16 clients".
std::string words_of(const Load& load);

/// What is served on how many, and the lengths.
void write_asked(JsonWriter& out, const Serving& serving, const Load& load, std::int64_t gpus);
void write_layout(JsonWriter& out, const ServingSplit& split);
/// Clients or sequences of each copy, or requests a second to all.
void write_amount(JsonWriter& out, const ServingSplit& split, const Load& load);
/// What requests get: times, tokens a second, money.
void write_gained(JsonWriter& out, const Cluster& cluster, const ServingSplit& split,
                  const Served& served);
/// In which four of five measured ones lie; nothing where this build has no intervals.
void write_intervals(JsonWriter& out, const Serving& serving, const Load& load,
                     const Served& served);
std::string intervals_text(const Serving& serving, const Load& load, const Served& served);
void write_memory(JsonWriter& out, const ServingMemory& memory);

}  // namespace headway
