// The fuzz targets, one for each parser: each takes any bytes, and ends the program where what must
// hold does not.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace headway::fuzz {

void cluster(std::string_view bytes);
void config(std::string_view bytes);
void corpus(std::string_view bytes);
void benchmarks(std::string_view bytes);
void own_runs(std::string_view bytes);
void form(std::string_view bytes);
void json(std::string_view bytes);
void kernel_names(std::string_view bytes);
void limits(std::string_view bytes);
void live_list(std::string_view text);
void quantity(std::string_view bytes);
void request(std::string_view bytes);
void run(std::string_view bytes);
void recording(std::string_view bytes);
void replay_ops(std::string_view bytes);
void network_file(std::string_view text);
void profile(std::string_view text);
void job_stream(std::string_view text);
void steps_law(std::string_view text);
void scale(std::string_view bytes);
void requests(std::string_view text);
void serving(std::string_view bytes);
void shard(std::string_view bytes);
void stages(std::string_view bytes);
void toml(std::string_view bytes);
void trace_nsight(std::string_view bytes);
void trace_open(std::string_view bytes);

struct Target {
  std::string_view name;
  std::function<void(std::string_view bytes)> run;
};

/// Nothing where there is none of that name.
std::optional<Target> target_named(std::string_view name);

/// All names, for messages.
std::string target_names();

}  // namespace headway::fuzz
