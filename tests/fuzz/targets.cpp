// The table of all fuzz targets. A reader of launch configurations is a row and no
// more, a reader of traces not even that (trace/formats.hpp); what else must be checked stands in
// NAME_fuzz.cpp.
#include "targets.hpp"

#include <string>

#include "launch_checks.hpp"
#include "trace_checks.hpp"

namespace headway::fuzz {
namespace {

template <Launcher launcher>
void launch(std::string_view bytes) {
  check_launch(launcher, bytes);
}

const Target kTargets[] = {
    {"toml", toml},
    {"json", json},
    {"quantity", quantity},
    {"config", config},
    {"cluster", cluster},
    {"limits", limits},
    {"run", run},
    {"scale", scale},
    {"serving", serving},
    {"shard", shard},
    {"request", request},
    {"form", form},
    {"corpus", corpus},
    {"benchmarks", benchmarks},
    {"own_runs", own_runs},
    {"kernel_names", kernel_names},
    {"requests", requests},
    {"stages", stages},
    {"replay_ops", replay_ops},
    {"recording", recording},
    {"network", network_file},
    {"profile", profile},
    {"job_stream", job_stream},
    {"steps_law", steps_law},
    {"live_list", live_list},
    {"launch_megatron", launch<Launcher::megatron>},
    {"launch_torchtitan", launch<Launcher::torchtitan>},
    {"launch_deepspeed", launch<Launcher::deepspeed>},
    {"launch_nanotron", launch<Launcher::nanotron>},
    {"trace_nsight", trace_nsight},
    {"trace_open", trace_open},
};

// What is asked of a reader of traces, each in its row.
const TraceFormat* reader_named(std::string_view name) {
  constexpr std::string_view kPrefix = "trace_";
  if (!name.starts_with(kPrefix)) return nullptr;
  for (const TraceFormat& format : trace_formats()) {
    if (format.name == name.substr(kPrefix.size()) && format.read != nullptr) return &format;
  }
  return nullptr;
}

}  // namespace

std::optional<Target> target_named(std::string_view name) {
  for (const Target& target : kTargets) {
    if (target.name == name) return target;
  }
  const TraceFormat* format = reader_named(name);
  if (format == nullptr) return std::nullopt;
  return Target{name, [format](std::string_view bytes) { check_reader(format->read, bytes); }};
}

std::string target_names() {
  std::string out;
  for (const Target& target : kTargets) out += std::string(target.name) + ", ";
  for (const TraceFormat& format : trace_formats()) {
    if (format.read != nullptr) out += "trace_" + std::string(format.name) + ", ";
  }
  return out.substr(0, out.size() - 2);
}

}  // namespace headway::fuzz
