// The table of all fuzz targets. A reader of traces or of launch configurations is a row and no
// more; what else must be checked stands in NAME_fuzz.cpp.
#include "targets.hpp"

#include <string>

#include "launch_checks.hpp"
#include "trace_checks.hpp"

namespace headway::fuzz {
namespace {

template <void (*reader)(ByteSource&, Recording&)>
void trace(std::string_view bytes) {
  check_reader(reader, bytes);
}

template <Launcher launcher>
void launch(std::string_view bytes) {
  check_launch(launcher, bytes);
}

constexpr Target kTargets[] = {
    {"toml", toml},
    {"json", json},
    {"quantity", quantity},
    {"config", config},
    {"cluster", cluster},
    {"limits", limits},
    {"run", run},
    {"scale", scale},
    {"request", request},
    {"form", form},
    {"corpus", corpus},
    {"launch_megatron", launch<Launcher::megatron>},
    {"launch_torchtitan", launch<Launcher::torchtitan>},
    {"launch_deepspeed", launch<Launcher::deepspeed>},
    {"launch_nanotron", launch<Launcher::nanotron>},
    {"trace_kineto", trace<read_kineto>},
    {"trace_execution_trace", trace<read_execution_trace>},
    {"trace_chakra", trace<read_chakra>},
    {"trace_chakra_json", trace<read_chakra_json>},
    {"trace_nccl_debug", trace<read_nccl_debug>},
    {"trace_nccl_profiler", trace<read_nccl_profiler>},
    {"trace_nccl_profiler_chrome", trace<read_nccl_profiler_chrome>},
    {"trace_nccl_inspector", trace<read_nccl_inspector>},
    {"trace_flight_recorder", trace<read_flight_recorder>},
    {"trace_flight_recorder_pickle", trace<read_flight_recorder_pickle>},
    {"trace_deepspeed", trace<read_deepspeed>},
    {"trace_nccl_tests", trace<read_nccl_tests>},
    {"trace_nccl_tests_json", trace<read_nccl_tests_json>},
    {"trace_osu", trace<read_osu>},
    {"trace_nsight", trace_nsight},
    {"trace_open", trace_open},
};

}  // namespace

const Target* target_named(std::string_view name) {
  for (const Target& target : kTargets) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

std::string target_names() {
  std::string out;
  for (const Target& target : kTargets) out += (out.empty() ? "" : ", ") + std::string(target.name);
  return out;
}

}  // namespace headway::fuzz
