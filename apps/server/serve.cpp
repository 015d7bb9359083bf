// The one file that knows cpp-httplib: it reads requests and writes replies. Bounds on them are
// Connection's, routes are Site's.
#include "serve.hpp"

#include <httplib.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <system_error>
#include <thread>

#include "api/answer.hpp"
#include "base/text.hpp"
#include "connection.hpp"
#include "idle_connections.hpp"
#include "packing.hpp"

namespace headway {
namespace {

using std::chrono::milliseconds;

constexpr int kMostConnections = 256;  // each has a thread, which mostly waits
constexpr int kBacklog = 512;          // connections that wait to be taken
constexpr milliseconds kIdle(30'000);  // until a connection without a request is closed
constexpr milliseconds kBodyTime(60'000), kUploadTime(300'000);  // for a body to come
constexpr std::size_t kHeaderRoom = 64 * 1024;                   // of chunks of a body
constexpr int kMostUploads = 2;                                  // large bodies held at a time

// Headers of every reply.
const httplib::Headers kEveryReply = {
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Content-Security-Policy",
     "default-src 'self'; img-src 'self' data:; object-src 'none'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}};

// A thread for each connection; a few more take the news that there are too many.
class ThreadForEach : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> serve) override {
    {
      std::unique_lock lock(door_);
      changed_.wait(lock, [&] { return running_ < 2 * kMostConnections; });
      ++running_;
    }
    const auto work = [this, serve = std::move(serve)] {
      serve();
      // The queue may be gone once the door is open again.
      const std::lock_guard lock(door_);
      --running_;
      changed_.notify_all();
    };
    try {
      std::thread(work).detach();
    } catch (const std::system_error&) {
      work();  // no further thread is to be had: this one waits for the connection's end
    }
  }
  void shutdown() override {
    std::unique_lock lock(door_);
    changed_.wait(lock, [&] { return running_ == 0; });
  }

 private:
  std::mutex door_;
  std::condition_variable changed_;
  int running_ = 0;
};

// A connection in cpp-httplib's words.
class BoundedStream : public httplib::Stream {
 public:
  BoundedStream(int socket, const std::atomic<bool>& stopping) : connection_(socket, stopping) {}
  Connection& connection() { return connection_; }

  bool is_readable() const override { return true; }
  bool is_writable() const override { return !has_hung_up(connection_.socket()); }
  ssize_t read(char* into, size_t size) override { return connection_.read(into, size); }
  ssize_t write(const char* data, size_t size) override { return connection_.write(data, size); }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return connection_.socket(); }

 private:
  Connection connection_;
};

// The connection that this thread serves: the library hands handlers a request without it.
thread_local Connection* served = nullptr;

HttpQuestion question_of(const httplib::Request& request) {
  HttpQuestion out;
  out.method = request.method;
  out.path = request.path;
  out.host = request.get_header_value("Host");
  out.origin = request.get_header_value("Origin");
  out.fetch_site = request.get_header_value("Sec-Fetch-Site");
  out.accept = request.get_header_value("Accept");
  out.accept_encoding = request.get_header_value("Headway-Accept-Encoding");
  out.content_type = request.get_header_value("Headway-Content-Type");
  out.if_none_match = request.get_header_value("If-None-Match");
  out.gone = [socket = served->socket()] { return has_hung_up(socket); };
  return out;
}

// What would let two readers take the request for different ones: whose end is said twice, or not
// in whole numbers, or by another coding than chunks; that is for no host, or two (RFC 9112 §6).
std::optional<HttpReply> badly_framed(const httplib::Request& request) {
  const auto [begin, end] = request.headers.equal_range("Content-Length");
  const std::string length = begin == end ? "" : begin->second;
  const bool alike =
      std::all_of(begin, end, [&](const auto& each) { return each.second == length; });
  const bool whole = length.find_first_not_of("0123456789") == std::string::npos;
  if (!alike || !whole) {
    return refusal(400, {{"Content-Length", "must be one whole number"}});
  }
  if (request.has_header("Transfer-Encoding")) {
    if (begin != end) {
      return refusal(400, {{"Content-Length", "cannot stand beside Transfer-Encoding"}});
    }
    const bool chunked = request.get_header_value_count("Transfer-Encoding") == 1 &&
                         lower(request.get_header_value("Transfer-Encoding")) == "chunked";
    if (!chunked) return refusal(501, {{"Transfer-Encoding", "must be chunked, or not be there"}});
  }
  if (request.get_header_value_count("Host") != 1) {
    return refusal(400, {{"Host", "must stand there once"}});
  }
  return std::nullopt;
}

// Why the head of a request was not taken.
HttpReply refusal_of_head(HeaderFault fault, int otherwise = 400) {
  switch (fault) {
    case HeaderFault::long_line:
      return refusal(414, {{"request", "begins with a line of more than 8 KiB"}});
    case HeaderFault::large:
      return refusal(431, {{"request",
                            "has a header of more than 8 KiB, or all of them more than "
                            "32 KiB"}});
    case HeaderFault::late:
      return refusal(408, {{"request", "did not come in time"}});
    case HeaderFault::none:
      break;
  }
  return refusal(otherwise, {{"request", "is not HTTP as it should be"}});
}

// The bytes of a reply before which the library has read no request.
std::string bytes_of(const HttpReply& reply) {
  std::string out =
      "HTTP/1.1 " + std::to_string(reply.status) + " Refused\r\nConnection: close\r\n";
  for (const auto& [name, value] : kEveryReply) out += name + ": " + value + "\r\n";
  out += "Content-Type: " + reply.content_type +
         "\r\nContent-Length: " + std::to_string(reply.body.size()) + "\r\n\r\n" + reply.body;
  return out;
}

bool has_body(const httplib::Request& request) {
  const std::string length = request.get_header_value("Content-Length");
  return request.has_header("Transfer-Encoding") || (!length.empty() && length != "0");
}

void send(HttpReply reply, const httplib::Request& request, httplib::Response& response) {
  if (accepts_gzip(request.get_header_value("Headway-Accept-Encoding"))) {
    reply = packed(std::move(reply));
  }
  response.status = reply.status;
  response.set_header("Vary", "Accept-Encoding");
  for (const auto& [name, value] : reply.headers) response.set_header(name, value);
  if (served->is_last()) response.set_header("Connection", "close");
  if (!reply.stream) {
    response.body = std::move(reply.body);
    response.set_header("Content-Type", reply.content_type);
    return;
  }
  response.set_chunked_content_provider(
      reply.content_type, [stream = std::move(reply.stream)](std::size_t, httplib::DataSink& sink) {
        served->send_at_once();
        stream([&](std::string_view piece) { return sink.write(piece.data(), piece.size()); });
        sink.done();
        return true;
      });
}

// What the library would do of its own accord and should not: pack replies (a page is packed when
// it is built, documents are asked for by the thousand), cut ranges out of them, unpack bodies and
// take forms apart (by expressions that recurse for each byte of a line).
void take_over(httplib::Request& request) {
  for (const char* name : {"Accept-Encoding", "Content-Type"}) {
    const std::string own = std::string("Headway-") + name;
    request.headers.erase(own);
    request.headers.emplace(own, request.get_header_value(name));
  }
  for (const char* name : {"Accept-Encoding", "Range", "Content-Encoding", "Content-Type"}) {
    request.headers.erase(name);
  }
  request.ranges.clear();
  served->allow(kLargestJson + kHeaderRoom, kBodyTime);
}

// One of few places.
class Slot {
 public:
  Slot(std::atomic<int>& taken, int most) : taken_(taken), free_(++taken <= most) {}
  ~Slot() { --taken_; }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  bool is_free() const { return free_; }

 private:
  std::atomic<int>& taken_;
  bool free_;
};

class Server : public httplib::Server {
 public:
  explicit Server(const SiteOptions& options) : site_(options) {
    new_task_queue = [] { return new ThreadForEach; };
    set_tcp_nodelay(true);
    set_keep_alive_timeout(std::chrono::duration_cast<std::chrono::seconds>(kIdle).count());
    set_keep_alive_max_count(1'000'000);
    // Not the library's SO_REUSEPORT, with which a second server would take half of the requests.
    set_socket_options([](int socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    set_default_headers(kEveryReply);
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      auto reply = badly_framed(request);
      if (reply) {
        served->close_after();  // where the next request would begin is not known
      } else {
        reply = site_.before_body(question_of(request));
      }
      if (!reply) return HandlerResponse::Unhandled;
      // A body that nobody reads must not be taken for the next request.
      if (has_body(request)) served->close_after();
      headway::send(std::move(*reply), request, response);
      return HandlerResponse::Handled;
    });
    for (const std::string& command : answered_names()) {
      Post("/api/" + command, [this](const httplib::Request& request, httplib::Response& response,
                                     const httplib::ContentReader& content) {
        headway::send(posted(request, content), request, response);
      });
    }
    set_error_handler([](const httplib::Request& request, httplib::Response& response) {
      if (!response.body.empty()) return;
      served->close_after();  // where the next request would begin is not known
      headway::send(refusal_of_head(served->header_fault(), response.status), request, response);
    });
    set_exception_handler(
        [](const httplib::Request& request, httplib::Response& response, std::exception_ptr) {
          headway::send(refusal(500, {{"server", "failed at this request"}}), request, response);
        });
  }

  int bind(const std::string& host, int port) {
    const int found = port == 0 ? bind_to_any_port(host) : bind_to_port(host, port) ? port : -1;
    if (found > 0) ::listen(svr_sock_, kBacklog);
    return std::max(found, 0);
  }
  void stop_all() {
    site_.stop();
    stopping_ = true;
    stop();
  }

 private:
  HttpReply posted(const httplib::Request& request, const httplib::ContentReader& content) {
    const HttpQuestion question = question_of(request);
    const bool files = takes_files(question);
    const std::size_t most = files ? kLargestUpload : kLargestJson;
    if (files) served->allow(kLargestUpload + kHeaderRoom, kUploadTime);
    std::optional<Slot> slot;
    if (files) slot.emplace(uploads_, kMostUploads);
    const bool has_place = !slot || slot->is_free();
    std::string body;
    bool too_large = false;
    const bool whole = has_place && content([&](const char* data, std::size_t size) {
                         too_large = body.size() + size > most;
                         if (!too_large) body.append(data, size);
                         return !too_large;
                       });
    if (whole) return site_.post(question, std::move(body));
    served->close_after();
    if (!has_place) return refusal(503, {{"server", "is taking other files; try again"}});
    if (too_large) {
      return refusal(413, {{"request", files ? "is larger than 256 MiB" : "is larger than 1 MiB"}});
    }
    if (served->cut_off()) return refusal(408, {{"request", "did not come in time"}});
    return refusal(400, {{"request", "broke off"}});
  }

  bool waited_for_request(Connection& connection) {
    const IdleConnections::Wait wait(idle_, connection.socket());
    return connection.wait_for_request(kIdle);
  }

  static void refuse(BoundedStream& stream, const HttpReply& reply) {
    stream.Stream::write(bytes_of(reply));
    stream.connection().close_after();
  }

  bool process_and_close_socket(socket_t socket) override {
    BoundedStream stream(socket, stopping_);
    Connection& connection = stream.connection();
    served = &connection;
    const bool too_many = ++connections_ > kMostConnections && !idle_.end_oldest();
    try {
      if (too_many) {
        refuse(stream, refusal(503, {{"server", "has too many connections; try again"}}));
      }
      while (!connection.is_last() && waited_for_request(connection)) {
        bool closed = false;
        if (!process_request(stream, /*close_connection=*/false, closed, take_over)) {
          // The library says nothing where not even the first line came.
          if (connection.lacks_request_line() && connection.header_fault() != HeaderFault::none) {
            refuse(stream, refusal_of_head(connection.header_fault()));
          }
          break;
        }
        if (closed) break;
      }
    } catch (const std::exception&) {
      connection.close_after();  // no memory for a reply, as it is: others go on
    }
    --connections_;
    served = nullptr;
    return true;
  }

  Site site_;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> connections_ = 0, uploads_ = 0;
  IdleConnections idle_;
};

}  // namespace

struct HttpServer::State {
  explicit State(const SiteOptions& options) : server(options) {}
  Server server;
  int port = 0;
  std::thread listener;
};

HttpServer::HttpServer(const SiteOptions& options, int port)
    : state_(std::make_unique<State>(options)) {
  state_->port = state_->server.bind(options.host, port);
  if (state_->port > 0) {
    state_->listener = std::thread([this] { state_->server.listen_after_bind(); });
  }
}

HttpServer::~HttpServer() {
  if (!state_->listener.joinable()) return;
  while (!state_->server.is_running()) std::this_thread::sleep_for(milliseconds(1));
  state_->server.stop_all();
  state_->listener.join();
}

int HttpServer::port() const {
  return state_->port;
}

int serve(const ServeOptions& options) {
  // Signals come to this thread alone, which waits for them.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  const HttpServer server(options.site, options.port);
  const std::string& host = options.site.host;
  if (server.port() == 0) {
    std::fprintf(
        stderr,
        "headway: %s:%d cannot be listened on: another program does, or the address is not "
        "this machine's\n",
        host.c_str(), options.port);
    return 2;
  }
  if (!options.quiet) {
    const bool v6 = host.find(':') != std::string::npos;
    std::printf("http://%s%s%s:%d/\n", v6 ? "[" : "", host.c_str(), v6 ? "]" : "", server.port());
    std::fflush(stdout);
  }
  int signal = 0;
  sigwait(&ends, &signal);
  pthread_sigmask(SIG_UNBLOCK, &ends, nullptr);  // a second Ctrl-C ends at once
  return 0;
}

}  // namespace headway
