#include "idle_connections.hpp"

#include <sys/socket.h>

namespace headway {

IdleConnections::Wait::Wait(IdleConnections& all, int socket) : all_(all) {
  const std::lock_guard lock(all_.door_);
  at_ = all_.waiting_.insert(all_.waiting_.end(), socket);
}

IdleConnections::Wait::~Wait() {
  const std::lock_guard lock(all_.door_);
  all_.waiting_.erase(at_);
}

bool IdleConnections::end_oldest() {
  const std::lock_guard lock(door_);
  for (int& socket : waiting_) {
    if (socket < 0) continue;
    ::shutdown(socket, SHUT_RD);  // still its owner's: it closes after its wait
    socket = -1;
    return true;
  }
  return false;
}

}  // namespace headway
