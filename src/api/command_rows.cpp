// The rows: every command of the library. Its options stand beside what it runs.
#include "api/command.hpp"
#include "api/options.hpp"

namespace headway {

std::span<const CommandRow> command_rows() {
  static const std::vector<CommandRow> rows = {
      {"predict", predict_command},     {"plan", plan_command},         {"comms", comms_command},
      {"advise", advise_command},       {"scale", scale_command},       {"limits", limits_command},
      {"validate", validate_command},   {"list", list_command},         {"bench", bench_command},
      {"calibrate", calibrate_command}, {"simulate", simulate_command}, {"infer", infer_command},
      {"design", design_command},       {"jobs", jobs_command}};
  return rows;
}

}  // namespace headway
