// What the server answers, apart from how bytes come and go: one question in, one reply out.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace headway {

/// One HTTP request, its body aside.
struct HttpQuestion {
  std::string method, path;
  // Headers, empty where there is none.
  std::string host, origin, fetch_site, accept, accept_encoding, content_type, if_none_match;
  /// Whether who asks has hung up: work for nobody is stopped.
  std::function<bool()> gone = [] { return false; };
};

/// Whether the body is a form with files, which may be large.
bool takes_files(const HttpQuestion& question);

/// Sends a piece of a reply; false where nobody reads any more.
using Send = std::function<bool(std::string_view)>;

struct HttpReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::function<void(const Send&)> stream = {};  // instead of a body, a reply in pieces
};

/// Lets few pieces of long work run at a time; others wait in line.
class WorkGate {
 public:
  WorkGate(int at_once, int in_line) : free_(at_once), places_(in_line) {}

  /// Whether a place was found before `patience` said no; then leave() must follow.
  bool enter(const std::function<bool()>& patience);
  void leave();

 private:
  std::mutex door_;
  std::condition_variable changed_;
  int free_, places_;
};

struct SiteOptions {
  std::string host = "127.0.0.1";  // as listened on: also a name by which the server may be asked
  std::string data;                // folder with measurements/; empty: those of the binary
  std::string page;                // folder of the page; empty: the embedded one
  int threads = 0;                 // of one piece of work; 0: all cores
  double longest_work_s = 300;     // then it is stopped
};

/// The largest bodies: a JSON request, and one with traces.
constexpr std::size_t kLargestJson = std::size_t{1} << 20;
constexpr std::size_t kLargestUpload = std::size_t{256} << 20;

/// All routes. Any number of threads may ask at the same time.
class Site {
 public:
  explicit Site(SiteOptions options);

  /// What can be said before a body is read: every answer to a GET, and refusals of the rest.
  /// Nothing: read the body and call post().
  std::optional<HttpReply> before_body(const HttpQuestion& question) const;
  HttpReply post(const HttpQuestion& question, std::string body);

  /// Stops all work, as for the end of the program.
  void stop() { stopping_ = true; }

 private:
  struct Work;
  bool is_own_host(std::string_view host) const;
  HttpReply get(const HttpQuestion& question) const;
  HttpReply answered(const Work& work) const;
  HttpReply streamed(std::shared_ptr<const Work> work) const;

  SiteOptions options_;
  std::atomic<bool> stopping_ = false;
  mutable WorkGate gate_;
};

/// A reply of problems: {"problems": [...]}.
HttpReply refusal(int status, Problems problems);

}  // namespace headway
