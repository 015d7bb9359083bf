#include "progress.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace headway {
namespace {

volatile std::sig_atomic_t stop_asked = 0;  // a handler reaches nothing but globals

void ask_to_stop(int) {
  stop_asked = 1;
}

std::string grouped(std::size_t number) {
  std::string out = std::to_string(number);
  for (std::size_t at = out.size(); at > 3;) out.insert(at -= 3, ",");
  return out;
}

}  // namespace

ProgressLine::ProgressLine(std::string doing, std::string things, bool quiet)
    : doing_(std::move(doing)),
      things_(std::move(things)),
      visible_(!quiet && isatty(STDERR_FILENO) != 0),
      begun_(std::chrono::steady_clock::now()),
      next_(begun_ + std::chrono::milliseconds(500)) {
  std::signal(SIGINT, ask_to_stop);
}

void ProgressLine::erase() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

ProgressLine::~ProgressLine() {
  erase();
  std::signal(SIGINT, SIG_DFL);
}

Progress ProgressLine::callback() {
  return [this](std::size_t done, std::size_t of) { return show(done, of); };
}

bool ProgressLine::interrupted() {
  return stop_asked != 0;
}

bool ProgressLine::show(std::size_t done, std::size_t of) {
  const auto now = std::chrono::steady_clock::now();
  if (visible_ && now >= next_) {
    const double seconds = std::chrono::duration<double>(now - begun_).count();
    const double rate = static_cast<double>(done) / seconds;
    std::fprintf(stderr, "\r\033[K%s %s of %s %s, %s a second", doing_.c_str(),
                 grouped(done).c_str(), grouped(of).c_str(), things_.c_str(),
                 grouped(static_cast<std::size_t>(rate)).c_str());
    if (done > 0 && of >= done) {
      std::fprintf(stderr, ", %.0f s left", static_cast<double>(of - done) / rate);
    }
    std::fflush(stderr);
    shown_ = true;
    next_ = now + std::chrono::milliseconds(100);
  }
  return !interrupted();
}

void end_interrupted() {
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);
  std::_Exit(130);  // in case SIGINT is blocked
}

}  // namespace headway
