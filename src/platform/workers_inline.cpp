// The one thread there is, as in WebAssembly.
#include "platform/workers.hpp"

namespace headway {

std::size_t cores() {
  return 1;
}

void on_workers(std::size_t count, const std::function<void(std::size_t)>& body) {
  for (std::size_t worker = 0; worker < count; ++worker) body(worker);
}

}  // namespace headway
