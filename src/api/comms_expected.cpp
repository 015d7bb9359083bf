#include "api/comms.hpp"

namespace headway {

CommandOutput comms_expected(const GivenRun&, const CommsRequest&) {
  return {.problems = {{"comms", "expected calls: not built yet"}}};
}

}  // namespace headway
