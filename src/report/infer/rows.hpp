// What answers of `infer` have in common. Internal to src/report/infer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/json/writer.hpp"
#include "study/infer/serving.hpp"

namespace headway {

using TextTable = std::vector<std::vector<std::string>>;

/// US dollars for a million output tokens; 0: the cluster has no price.
double price_per_million(const Cluster& cluster, std::int64_t ranks, const Served& served);

std::string words_of(const Load& load);
std::string words_of_split(const ServingSplit& split);
/// Times, rates and what one costs; the parts of a pass of each; memory of a rank.
TextTable served_rows(const Served& served, const Load& load, std::int64_t ranks,
                      const Cluster& cluster);
TextTable pass_rows(const Served& served);
TextTable memory_rows(const ServingMemory& memory);
std::string not_stable_text(const Served& served);

/// What is searched: the line above the front, and the same members.
std::string best_title(const Serving& base, const Load& asked, std::int64_t accelerators,
                       std::size_t tried, std::string_view ways);
void write_best_title(JsonWriter& out, const Serving& base, const Load& asked,
                      std::int64_t accelerators, std::size_t tried);

void write_layout(JsonWriter& out, std::string_view name, const ServingSplit& split);
void write_load(JsonWriter& out, const Load& load);
void write_served(JsonWriter& out, const Served& served, const Load& load, std::int64_t ranks,
                  const Cluster& cluster);
void write_memory(JsonWriter& out, std::string_view name, const ServingMemory& memory);
void write_fluid(JsonWriter& out, const Fluid& closed);

}  // namespace headway
