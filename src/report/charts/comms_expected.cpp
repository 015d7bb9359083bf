#include "report/comms_expected.hpp"

#include "base/text.hpp"
#include "report/charts/traffic.hpp"

namespace headway {

std::vector<OutputFile> expected_plots(const ExpectedCalls& e, const std::string& folder) {
  const std::vector<TrafficCall> calls = calls_of_mean_rank(e.traffic);
  const std::string of = printable(e.run.model.name, 60) + " on " +
                         printable(e.run.cluster.name, 40) + ", " +
                         std::to_string(e.traffic.ranks) + " ranks";
  return {{folder + "/volume.svg", plot_volume(calls, of)},
          {folder + "/sizes.svg", plot_sizes(calls, of)}};
}

}  // namespace headway
