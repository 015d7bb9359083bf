// A bare HTTP client for tests: it can also say what no client should.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>

namespace headway::testing {

struct HttpAnswer {
  int status = 0;  // 0: none came
  std::map<std::string, std::string> headers;
  std::string body;
};

class TestClient {
 public:
  explicit TestClient(int port) : port_(port), socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~TestClient() { close(); }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  void send(const std::string& bytes) {
    std::size_t sent = 0;
    while (connected_ && sent < bytes.size()) {
      const ssize_t count = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return;
      sent += static_cast<std::size_t>(count);
    }
  }
  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }

  HttpAnswer post(const std::string& path, const std::string& body,
                  const std::string& type = "application/json", const std::string& more = {}) {
    send("POST " + path + " HTTP/1.1\r\nHost: " + host() + "\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + more + "\r\n" + body);
    return receive();
  }
  HttpAnswer get(const std::string& path, const std::string& more = {}) {
    send("GET " + path + " HTTP/1.1\r\nHost: " + host() + "\r\n" + more + "\r\n");
    return receive();
  }

  /// More bytes into what is held; false where none come within a minute: a busy machine under the
  /// sanitizers may take half of that.
  bool fill() {
    pollfd ready{socket_, POLLIN, 0};
    if (::poll(&ready, 1, 60'000) <= 0) return false;
    char bytes[16384];
    const ssize_t got = ::recv(socket_, bytes, sizeof bytes, 0);
    if (got <= 0) return false;
    held_.append(bytes, static_cast<std::size_t>(got));
    return true;
  }
  const std::string& held() const { return held_; }

  /// One whole answer.
  HttpAnswer receive() {
    HttpAnswer out;
    std::size_t end = 0;
    while ((end = held_.find("\r\n\r\n")) == std::string::npos) {
      if (!fill()) return out;
    }
    std::string head = held_.substr(0, end + 2);
    held_.erase(0, end + 4);
    out.status = std::atoi(head.substr(head.find(' ') + 1, 3).c_str());
    for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
      const std::size_t stop = head.find("\r\n", at), colon = head.find(": ", at);
      if (colon < stop)
        out.headers[head.substr(at, colon - at)] = head.substr(colon + 2, stop - colon - 2);
      at = stop + 2;
    }
    if (out.headers["Transfer-Encoding"] == "chunked") {
      for (;;) {
        const std::string size = line();
        const std::size_t bytes = std::strtoul(size.c_str(), nullptr, 16);
        out.body += take(bytes);
        line();
        if (bytes == 0) return out;
      }
    }
    out.body = take(std::strtoul(out.headers["Content-Length"].c_str(), nullptr, 10));
    return out;
  }

 private:
  std::string take(std::size_t bytes) {
    while (held_.size() < bytes && fill()) {
    }
    std::string out = held_.substr(0, bytes);
    held_.erase(0, bytes);
    return out;
  }
  std::string line() {
    std::size_t end = 0;
    while ((end = held_.find("\r\n")) == std::string::npos) {
      if (!fill()) return {};
    }
    std::string out = held_.substr(0, end);
    held_.erase(0, end + 2);
    return out;
  }

  int port_, socket_;
  bool connected_ = false;
  std::string held_;
};

}  // namespace headway::testing
