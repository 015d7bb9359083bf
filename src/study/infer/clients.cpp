// Every step each sequence that decodes gets a token, and prompts, the longest waiting first, as
// many tokens as are left of kMostTokens. A request is taken in once the cache has room for all of
// it; the last tokens of its prompt bring its first one.
#include "study/infer/clients.hpp"

#include <algorithm>
#include <deque>
#include <queue>

#include "base/random/random.hpp"

namespace headway {
namespace {

constexpr std::int64_t kRequestsOfClient = 10;

struct Request {
  double begin = 0, first = 0;                   // seconds
  std::int64_t input = 0, output = 0, left = 0;  // tokens; of the prompt those to come
};

// A sequence and the step in which it gets its last token.
struct Ends {
  std::int64_t step;
  Request request;
  friend bool operator<(const Ends& a, const Ends& b) {
    return a.step > b.step;
  }  // the first on top
};

class Clients {
 public:
  Clients(const StepTimes& steps, const Load& load, double room)
      : steps_(steps), load_(load), room_(room), to_come_(load.batch * kRequestsOfClient) {}

  Answered run() {
    for (std::int64_t i = 0; i < load_.batch; ++i) send();
    while (!waiting_.empty() || !taken_.empty() || !decoding_.empty()) step();
    const double requests = static_cast<double>(load_.batch * kRequestsOfClient);
    out_.first_token = first_ / requests;
    out_.latency = whole_ / requests;
    out_.each_token = each_ / requests;
    out_.elapsed = Seconds(now_);
    return out_;
  }

 private:
  std::int64_t drawn(std::int64_t length) {
    const double u = static_cast<double>(numbers_.next() >> 11U) * 0x1p-53;
    const double share = load_.shortest + (1 - load_.shortest) * u;
    return std::max<std::int64_t>(1,
                                  static_cast<std::int64_t>(share * static_cast<double>(length)));
  }

  void send() {
    if (to_come_ == 0) return;
    --to_come_;
    Request request;
    request.begin = now_;
    request.input = request.left = drawn(load_.input);
    request.output = drawn(load_.output);
    waiting_.push_back(request);
  }

  static double needs(const Request& request) {
    return static_cast<double>(request.input + request.output);
  }

  void take_in() {
    while (!waiting_.empty()) {
      const bool alone = taken_.empty() && decoding_.empty();
      if (!alone && held_ + needs(waiting_.front()) > room_) return;
      held_ += needs(waiting_.front());
      taken_.push_back(waiting_.front());
      waiting_.pop_front();
    }
  }

  void step() {
    take_in();
    const auto decoding = static_cast<std::int64_t>(decoding_.size());
    out_.most = std::max(out_.most, static_cast<double>(decoding));
    // Of prompts, those that end in this step.
    std::int64_t budget = std::max<std::int64_t>(1, kMostTokens - decoding), prompt = 0;
    std::size_t ended = 0;
    for (Request& request : taken_) {
      if (budget == 0) break;
      const std::int64_t now = std::min(budget, request.left);
      request.left -= now;
      budget -= now;
      prompt += now;
      if (request.left == 0) ++ended;
    }
    now_ += steps_.of(static_cast<double>(decoding), cached_, static_cast<double>(prompt));
    ++step_;
    cached_ += static_cast<double>(decoding);
    while (!decoding_.empty() && decoding_.top().step == step_) {
      finish(decoding_.top().request);
      cached_ -= needs(decoding_.top().request);
      decoding_.pop();
    }
    for (; ended > 0; --ended) {
      Request request = taken_.front();
      taken_.pop_front();
      request.first = now_;
      if (request.output == 1) {
        finish(request);
        continue;
      }
      cached_ += static_cast<double>(request.input + 1);
      decoding_.push({step_ + request.output - 1, request});
    }
  }

  void finish(const Request& request) {
    held_ -= needs(request);
    first_ += Seconds(request.first - request.begin);
    whole_ += Seconds(now_ - request.begin);
    const double others = static_cast<double>(std::max<std::int64_t>(1, request.output - 1));
    each_ += Seconds((now_ - request.first) / others);
    out_.tokens += static_cast<double>(request.output);
    send();
  }

  const StepTimes& steps_;
  const Load& load_;
  double room_;
  std::int64_t to_come_;
  SplitMix numbers_{1};
  std::deque<Request> waiting_, taken_;  // outside, with room in the cache
  std::priority_queue<Ends> decoding_;
  double now_ = 0, held_ = 0, cached_ = 0;  // seconds; tokens that are spoken for, that are there
  std::int64_t step_ = 0;
  Seconds first_, whole_, each_;
  Answered out_;
};

}  // namespace

Answered answered(const StepTimes& steps, const Load& load, double room) {
  return Clients(steps, load, room).run();
}

}  // namespace headway
