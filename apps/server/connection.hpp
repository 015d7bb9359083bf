// One connection as bytes, with bounds: how long a request may take to come, and how large it may
// be.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace headway {

/// Why the head of a request was not taken.
enum class HeaderFault { none, long_line, large, late };

class Connection {
 public:
  /// Takes the socket; `stopping` ends waits.
  Connection(int socket, const std::atomic<bool>& stopping);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Waits for the first byte of a request; false where none comes. Then the header's bounds hold.
  bool wait_for_request(std::chrono::milliseconds patience);
  /// From here on the request may have so many more bytes and take so long.
  void allow(std::size_t bytes, std::chrono::milliseconds time);

  /// Up to `size` bytes; 0 at the end, -1 where a bound is reached.
  long read(char* into, std::size_t size);
  /// Gathers what is small; -1 where nobody reads.
  long write(const char* data, std::size_t size);
  bool flush();
  /// Whether a bound ended the reading of the request.
  bool cut_off() const { return cut_off_; }
  /// What of a request line or a header was too large, or did not come in time, since
  /// wait_for_request(); from allow() on nothing.
  HeaderFault header_fault() const { return fault_; }
  /// Whether the first line of the request is not whole yet.
  bool lacks_request_line() const { return in_first_line_; }

  /// What is written is sent at once.
  void send_at_once() { at_once_ = true; }
  /// No further request: some of this one is not read.
  void close_after() { close_after_ = true; }
  bool is_last() const { return close_after_; }
  int socket() const { return socket_; }

 private:
  bool wait(short events, std::chrono::steady_clock::time_point end) const;
  void look_at_head(std::string_view bytes);

  int socket_;
  const std::atomic<bool>& stopping_;
  static constexpr std::size_t kBuffer = 16 * 1024;  // bytes read at a time, and gathered

  std::array<char, kBuffer> in_;
  std::size_t at_ = 0, filled_ = 0;  // of in_
  std::string out_;
  std::size_t allowed_ = 0;  // bytes that may still be read of this request
  std::chrono::steady_clock::time_point end_;
  bool cut_off_ = false, at_once_ = false, close_after_ = false, broken_ = false;
  bool in_head_ = false, in_first_line_ = false;  // of what is read of the request
  std::size_t line_ = 0;                          // bytes of the line so far
  HeaderFault fault_ = HeaderFault::none;
};

/// Whether the other side has closed the connection.
bool has_hung_up(int socket);

}  // namespace headway
