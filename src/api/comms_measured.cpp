#include "api/comms.hpp"

namespace headway {

CommandOutput comms_measured(const std::vector<std::string>&, const CommsRequest&) {
  return {.problems = {{"comms", "measured calls: not built yet"}}};
}

}  // namespace headway
