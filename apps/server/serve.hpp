// headway serve: the page and the API on a port of this machine.
#pragma once

#include <memory>
#include <string>

#include "site.hpp"

namespace headway {

/// A site on a port, served by threads of its own until it is destroyed.
class HttpServer {
 public:
  /// `port` 0: any free one. Whether the port could be had is says port().
  HttpServer(const SiteOptions& options, int port);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// The port listened on; 0: it could not be had.
  int port() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct ServeOptions {
  SiteOptions site;
  int port = 8080;
  bool quiet = false;  // do not print the address
};

/// Serves until SIGINT or SIGTERM. The exit code of the program: 2 where the port cannot be had.
int serve(const ServeOptions& options);

}  // namespace headway
