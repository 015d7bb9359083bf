#include "site.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <memory>
#include <thread>

#include "api/answer.hpp"
#include "base/text.hpp"
#include "multipart.hpp"
#include "packing.hpp"
#include "page.hpp"
#include "uploads.hpp"

namespace headway {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostInLine = 32;  // long work that waits for its turn

bool is_command(std::string_view name) {
  const std::vector<std::string>& names = answered_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

// "predict" of "/api/predict".
std::string_view command_in(std::string_view path) {
  constexpr std::string_view kApi = "/api/";
  return path.starts_with(kApi) ? path.substr(kApi.size()) : std::string_view();
}

// Host without its port: "127.0.0.1:8080" -> "127.0.0.1", "[::1]:80" -> "[::1]".
std::string_view without_port(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  if (colon == std::string_view::npos || host.ends_with(']')) return host;
  return host.substr(0, colon);
}

// An address and no name: what no name server can point elsewhere.
bool is_address(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) return true;
  return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
    return c == '.' || std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
}

// One line of a document that is laid out over many: line ends stand between its parts only, for in
// its strings they are escaped.
std::string on_one_line(std::string_view document) {
  std::string out;
  out.reserve(document.size());
  for (std::size_t i = 0; i < document.size(); ++i) {
    if (document[i] != '\n') {
      out += document[i];
    } else {
      while (i + 1 < document.size() && document[i + 1] == ' ') ++i;
    }
  }
  return out;
}

std::string progress_line(std::size_t done, std::size_t of, std::string_view what) {
  return "{\"progress\":{\"done\":" + std::to_string(done) +
         ",\"of\":" + (of == 0 ? "null" : std::to_string(of)) + ",\"what\":\"" + std::string(what) +
         "\"}}\n";
}

HttpReply document(std::string text) {
  HttpReply out;
  out.headers.emplace_back("Cache-Control", "no-cache");
  out.body = std::move(text);
  return out;
}

HttpReply of_page(const HttpQuestion& question, const std::string& folder) {
  auto file = page_file(question.path, folder);
  if (!file) return refusal(404, {{"path", "'" + printable(question.path) + "' is not there"}});
  HttpReply out;
  out.content_type = file->content_type;
  // The files of the next build have the same names: a browser asks whether what it has still
  // holds.
  out.headers = {{"ETag", file->etag}, {"Cache-Control", "no-cache"}};
  // A page reads this of its own opening (PerformanceServerTiming): opened by another site, it
  // begins no long work before a person does something.
  const std::string& from = question.fetch_site;
  const bool by_another = from == "cross-site" || from == "same-site";
  if (by_another) out.headers.emplace_back("Server-Timing", "opened-by-another-site");
  if (question.if_none_match == file->etag && !by_another) {
    out.status = 304;
    return out;
  }
  if (file->gzipped) {
    // Who says nothing takes anything (RFC 9110 §12.5.3).
    const std::string& accepted = question.accept_encoding;
    if (!accepted.empty() && !accepts_gzip(accepted)) {
      return refusal(406, {{"Accept-Encoding", "must allow gzip for this file"}});
    }
    out.headers.emplace_back("Content-Encoding", "gzip");
  }
  out.body = std::move(file->content);
  return out;
}

}  // namespace

HttpReply refusal(int status, Problems problems) {
  HttpReply out;
  out.status = status;
  out.body = problems_json(problems);
  return out;
}

bool WorkGate::enter(const std::function<bool()>& patience) {
  std::unique_lock lock(door_);
  if (free_ == 0) {
    if (places_ == 0) return false;
    --places_;
    for (bool waits = true; free_ == 0 && waits;) {
      lock.unlock();  // patience may talk to somebody slow
      waits = patience();
      lock.lock();
      if (free_ == 0 && waits) changed_.wait_for(lock, std::chrono::milliseconds(100));
    }
    ++places_;
    if (free_ == 0) return false;
  }
  --free_;
  return true;
}

void WorkGate::leave() {
  {
    const std::lock_guard lock(door_);
    ++free_;
  }
  changed_.notify_one();
}

// A command and what keeps it going: somebody who waits, time, and the program itself.
struct Site::Work {
  const Site& site;
  HttpQuestion question;
  std::string command;
  std::string body;
  std::shared_ptr<const Uploads> uploads;  // null: none
  Clock::time_point end;

  bool late() const { return Clock::now() >= end; }
  bool wanted() const { return !site.stopping_ && !late() && !question.gone(); }

  // The answer, or that there is no place or time for it.
  std::pair<int, CommandOutput> run(const Progress& told, const Begun& first = {}) const;
};

std::pair<int, CommandOutput> Site::Work::run(const Progress& told, const Begun& first) const {
  const bool gated = is_long(command) || uploads != nullptr;
  if (gated && !site.gate_.enter([&] { return wanted() && told(0, 0); })) {
    return {503, {.problems = {{"server", "is busy with other work; ask again later"}}}};
  }
  bool stopped = false, failed = false;
  AnswerOptions options;
  options.data = site.options_.data;
  options.threads = site.options_.threads;
  if (uploads) options.traces = uploads->files();
  options.begun = first;
  options.progress = [&](std::size_t done, std::size_t of) {
    if (!wanted() || !told(done, of)) stopped = true;
    return !stopped;
  };
  CommandOutput output;
  try {
    output = answer(command, body, options);
  } catch (const std::exception&) {  // no memory, as it is
    output = {.problems = {{"server", "failed at this request"}}};
    failed = true;
  }
  if (gated) site.gate_.leave();
  if (failed) return {500, std::move(output)};
  if (uploads) {
    output.text = uploads->as_sent(std::move(output.text));
    for (Problem& problem : output.problems)
      problem.place.file = uploads->as_sent(problem.place.file);
  }
  if (output.problems.empty()) return {200, std::move(output)};
  if (!stopped) return {400, std::move(output)};
  const int limit = static_cast<int>(site.options_.longest_work_s);
  return {503,
          {.problems = {{"server", late() ? "stopped the work after " + std::to_string(limit) +
                                                " s; ask for less"
                                          : std::string("stopped the work")}}}};
}

Site::Site(SiteOptions options)
    : options_(std::move(options)),
      gate_(static_cast<int>(std::max(2U, std::thread::hardware_concurrency())), kMostInLine) {}

// By its own names only: another web page may make a browser ask a name that it points here.
bool Site::is_own_host(std::string_view host) const {
  const std::string name = lower(without_port(host));
  const bool everywhere = options_.host == "0.0.0.0" || options_.host == "::";
  if (everywhere && is_address(name)) return true;
  return name == "127.0.0.1" || name == "localhost" || name == "[::1]" || name == options_.host ||
         name == "[" + options_.host + "]";
}

std::optional<HttpReply> Site::before_body(const HttpQuestion& question) const {
  const bool api = question.path.starts_with("/api/");
  if (!is_own_host(question.host)) {
    return refusal(403, {{"Host", "'" + printable(question.host) + "' is not this server's name"}});
  }
  if (!question.origin.empty() && question.origin != "http://" + question.host) {
    return refusal(403, {{"Origin", "other web pages may not ask this server"}});
  }
  const std::string& site = question.fetch_site;
  if (api && !site.empty() && site != "same-origin" && site != "none") {
    return refusal(403, {{"Sec-Fetch-Site", "other web pages may not ask this server"}});
  }
  const bool read_only = question.method == "GET" || question.method == "HEAD";
  if (is_command(command_in(question.path))) {
    if (question.method == "POST") {
      const bool json = lower(question.content_type).starts_with("application/json");
      if (json || takes_files(question)) return std::nullopt;
      const bool comms = command_in(question.path) == "comms";
      return refusal(415, {{"Content-Type", comms ? "must be application/json, or "
                                                    "multipart/form-data with files"
                                                  : "must be application/json"}});
    }
    HttpReply out = refusal(405, {{"method", "must be POST"}});
    out.headers.emplace_back("Allow", "POST");
    return out;
  }
  if (read_only) return get(question);
  HttpReply out = refusal(api ? 404 : 405, {{"path", "takes no " + printable(question.method)}});
  if (!api) out.headers.emplace_back("Allow", "GET, HEAD");
  return out;
}

HttpReply Site::get(const HttpQuestion& question) const {
  const std::string_view path = question.path;
  if (!path.starts_with("/api/")) return of_page(question, options_.page);
  constexpr std::string_view kSchema = "/api/schema";
  if (path == kSchema) return document(schemas_json());
  if (path.starts_with("/api/schema/")) {
    if (auto schema = schema_json(path.substr(kSchema.size() + 1))) {
      return document(std::move(*schema));
    }
  }
  std::vector<std::string> routes = {std::string(kSchema)};
  for (const std::string& command : answered_names()) {
    routes.push_back("/api/" + std::string(command));
  }
  return refusal(404, {{"path", "'" + printable(question.path) + "' is not there" +
                                    suggestion(question.path, routes)}});
}

bool takes_files(const HttpQuestion& question) {
  return command_in(question.path) == "comms" && !form_boundary(question.content_type).empty();
}

HttpReply Site::post(const HttpQuestion& question, std::string body) {
  std::shared_ptr<Uploads> uploads;
  if (takes_files(question)) {
    const auto parts = form_parts(body, form_boundary(question.content_type));
    if (!parts) return refusal(400, parts.problems());
    uploads = std::make_shared<Uploads>();
    std::string request = "{}";
    Problems problems;
    for (const FormPart& part : *parts) {
      if (part.name == "request") {
        request = part.content;
      } else if (part.name == "trace") {
        append(problems, uploads->add(part));
      } else {
        problems.push_back(
            {printable(part.name), "is no part of this form; legal: request, trace"});
      }
    }
    if (!problems.empty()) return refusal(400, std::move(problems));
    body = std::move(request);
  }
  const auto limit = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(options_.longest_work_s));
  auto work =
      std::make_shared<const Work>(Work{*this, question, std::string(command_in(question.path)),
                                        std::move(body), std::move(uploads), Clock::now() + limit});
  const bool in_lines = question.accept.find("application/x-ndjson") != std::string::npos;
  return in_lines ? streamed(std::move(work)) : answered(*work);
}

HttpReply Site::answered(const Work& work) const {
  auto [status, output] = work.run([](std::size_t, std::size_t) { return true; });
  if (status != 200) return refusal(status, std::move(output.problems));
  HttpReply out;
  out.body = std::move(output.text);
  if (output.exit_code != 0) {
    out.headers.emplace_back("Headway-Exit", std::to_string(output.exit_code));
  }
  return out;
}

HttpReply Site::streamed(std::shared_ptr<const Work> work) const {
  HttpReply out;
  out.content_type = "application/x-ndjson";
  out.stream = [work = std::move(work)](const Send& send) {
    Clock::time_point next = Clock::now();
    const auto told = [&](std::size_t done, std::size_t of) {
      if (Clock::now() < next) return true;
      next = Clock::now() + std::chrono::milliseconds(100);
      return send(progress_line(done, of, progress_unit(work->command)));
    };
    const auto first = [&](const std::string& begun) {
      send("{\"first\":" + on_one_line(begun) + "}\n");
    };
    const auto [status, output] = work->run(told, first);
    if (status != 200) {
      send(on_one_line(problems_json(output.problems)) + "\n");
      return;
    }
    send("{\"result\":" + on_one_line(output.text) +
         ",\"exit\":" + std::to_string(output.exit_code) + "}\n");
  };
  return out;
}

}  // namespace headway
