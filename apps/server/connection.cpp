#include "connection.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace headway {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kLargestHeader = 32 * 1024;  // request line and headers, bytes
constexpr std::size_t kLongestLine = 8 * 1024;     // one of them, as the HTTP library takes them
constexpr milliseconds kHeaderTime(10'000);
constexpr milliseconds kWriteTime(20'000);  // for the other side to take some bytes
constexpr milliseconds kGlance(200);        // between looks at `stopping`

// Takes what the other side still sends, so that the reply is not lost with it (TCP resets a
// connection that is closed with bytes unread).
void linger(int socket) {
  ::shutdown(socket, SHUT_WR);
  char discarded[4096];
  const auto end = Clock::now() + milliseconds(500);
  for (std::size_t taken = 0; taken < (std::size_t{4} << 20) && Clock::now() < end;) {
    pollfd ready{socket, POLLIN, 0};
    if (::poll(&ready, 1, 100) < 0) return;
    if (ready.revents == 0) continue;
    const ssize_t got = ::recv(socket, discarded, sizeof discarded, 0);
    if (got <= 0) return;
    taken += static_cast<std::size_t>(got);
  }
}

}  // namespace

Connection::Connection(int socket, const std::atomic<bool>& stopping)
    : socket_(socket), stopping_(stopping) {}

Connection::~Connection() {
  flush();
  if (close_after_) linger(socket_);
  ::shutdown(socket_, SHUT_RDWR);
  ::close(socket_);
}

bool Connection::wait(short events, Clock::time_point end) const {
  while (!stopping_ || (events & POLLOUT) != 0) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    pollfd ready{socket_, events, 0};
    const int found = ::poll(&ready, 1, static_cast<int>(std::min(left, kGlance).count()));
    if (found > 0) return true;
    if (found < 0 && errno != EINTR) return false;
  }
  return false;
}

bool Connection::wait_for_request(milliseconds patience) {
  if (close_after_ || broken_ || !flush()) return false;
  at_once_ = false;
  if (at_ == filled_ && !wait(POLLIN, Clock::now() + patience)) return false;
  allow(kLargestHeader, kHeaderTime);
  in_head_ = in_first_line_ = true;
  line_ = 0;
  return true;
}

void Connection::allow(std::size_t bytes, milliseconds time) {
  allowed_ = bytes;
  end_ = Clock::now() + time;
  in_head_ = false;
  fault_ = HeaderFault::none;
}

void Connection::look_at_head(std::string_view bytes) {
  for (const char c : bytes) {
    if (c == '\n') {
      line_ = 0;
      in_first_line_ = false;
    } else if (++line_ > kLongestLine && fault_ == HeaderFault::none) {
      fault_ = in_first_line_ ? HeaderFault::long_line : HeaderFault::large;
    }
  }
}

long Connection::read(char* into, std::size_t size) {
  if (at_ == filled_) {
    if (!flush()) return -1;  // "100 Continue" is waited for
    ssize_t got = -1;
    if (wait(POLLIN, end_)) {
      got = ::recv(socket_, in_.data(), in_.size(), 0);
    } else if (in_head_ && !stopping_) {
      fault_ = HeaderFault::late;
    }
    at_ = 0;
    filled_ = got > 0 ? static_cast<std::size_t>(got) : 0;
    if (got <= 0) {
      cut_off_ = close_after_ = true;
      return got < 0 ? -1 : 0;
    }
  }
  if (allowed_ == 0) {
    if (in_head_ && fault_ == HeaderFault::none) fault_ = HeaderFault::large;
    cut_off_ = close_after_ = true;
    return -1;
  }
  const std::size_t count = std::min({size, filled_ - at_, allowed_});
  std::copy_n(in_.data() + at_, count, into);
  if (in_head_) look_at_head({into, count});
  at_ += count;
  allowed_ -= count;
  return static_cast<long>(count);
}

long Connection::write(const char* data, std::size_t size) {
  out_.append(data, size);
  if ((at_once_ || out_.size() >= kBuffer) && !flush()) return -1;
  return broken_ ? -1 : static_cast<long>(size);
}

bool Connection::flush() {
  std::size_t sent = 0;
  while (!broken_ && sent < out_.size()) {
    const ssize_t count =
        ::send(socket_, out_.data() + sent, out_.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      sent += static_cast<std::size_t>(count);
    } else if ((errno != EAGAIN && errno != EINTR) || !wait(POLLOUT, Clock::now() + kWriteTime)) {
      broken_ = true;
    }
  }
  out_.clear();
  return !broken_;
}

bool has_hung_up(int socket) {
  pollfd state{socket, POLLRDHUP, 0};
  return ::poll(&state, 1, 0) > 0 && (state.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

}  // namespace headway
