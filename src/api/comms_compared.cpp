#include "api/comms.hpp"

namespace headway {

CommandOutput comms_compared(const GivenRun&, const std::vector<std::string>&,
                             const CommsRequest&) {
  return {.problems = {{"comms", "comparison: not built yet"}}};
}

}  // namespace headway
