// Connections that wait for a request: where there are too many, the one that waited longest gives
// way to who has something to ask.
#pragma once

#include <list>
#include <mutex>

namespace headway {

class IdleConnections {
 public:
  /// One that waits, as long as this lives.
  class Wait {
   public:
    Wait(IdleConnections& all, int socket);
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

   private:
    IdleConnections& all_;
    std::list<int>::iterator at_;
  };

  /// Ends the wait of the oldest, whose socket is then at its end; false where none waits.
  bool end_oldest();

 private:
  std::mutex door_;
  std::list<int> waiting_;  // sockets, the oldest first; -1: told to end
};

}  // namespace headway
