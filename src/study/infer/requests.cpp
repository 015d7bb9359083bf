// Every step each sequence that decodes gets a token, and prompts, the longest waiting first, as
// many tokens as are left of a step's; engines differ in what else they do [INFER-10]. A request is
// taken in once the cache has room for all of it; the last tokens of its prompt bring its first
// one.
#include "study/infer/requests.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <queue>

#include "base/random/random.hpp"

namespace headway {
namespace {

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

class Requests {
 public:
  Requests(const StepTimes& steps, const Load& load, double room)
      : steps_(steps),
        load_(load),
        room_(room),
        by_(steps.scheduling()),
        at_random_(load.arrivals == Arrivals::random),
        to_come_(at_random_ ? kRandomRequests : load.batch * kRequestsOfClient) {}

  Answered run() {
    if (at_random_) {
      comes_ = pause();
    } else {
      for (std::int64_t i = 0; i < load_.batch; ++i) send(now_);
    }
    while (true) {
      const bool idle = waiting_.empty() && taken_.empty() && decoding_.empty();
      if (idle && to_come_ == 0) break;
      if (idle) now_ = std::max(now_, comes_);
      for (; at_random_ && to_come_ > 0 && comes_ <= now_; comes_ += pause()) send(comes_);
      step();
    }
    out_.elapsed = Seconds(now_);
    return out_;
  }

 private:
  // Between 0 and 1, which it is not.
  double uniform() { return static_cast<double>(numbers_.next() >> 11U) * 0x1p-53; }
  double pause() { return -std::log(1 - uniform()) / load_.rate; }

  std::int64_t drawn(std::int64_t length) {
    const double share = load_.shortest + (1 - load_.shortest) * uniform();
    return std::max<std::int64_t>(1,
                                  static_cast<std::int64_t>(share * static_cast<double>(length)));
  }

  void send(double when) {
    if (to_come_ == 0) return;
    --to_come_;
    Request request;
    request.begin = when;
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

  // Whether this step begins with a look at new requests: after so many that decoded, or one of
  // prompts, or where there is nothing else to do.
  bool looks() {
    const bool now = since_look_ >= by_.polls || (taken_.empty() && decoding_.empty());
    if (now) since_look_ = 0;
    return now;
  }

  void step() {
    if (looks()) take_in();
    const bool apart = by_.prompts_apart && !taken_.empty();
    const auto decoding = apart ? 0 : static_cast<std::int64_t>(decoding_.size());
    out_.most = std::max(out_.most, static_cast<double>(decoding_.size()));
    // Of prompts, those that end in this step.
    std::int64_t budget = std::max<std::int64_t>(1, by_.step_tokens - decoding), prompt = 0;
    std::size_t ended = 0;
    for (Request& request : taken_) {
      if (by_.whole_prompts && request.left > budget && prompt > 0) break;
      if (by_.whole_prompts) budget = std::max(budget, request.left);
      if (budget == 0) break;
      const std::int64_t now = std::min(budget, request.left);
      request.left -= now;
      budget -= now;
      prompt += now;
      if (request.left == 0) ++ended;
    }
    now_ += steps_.of(static_cast<double>(decoding), cached_, static_cast<double>(prompt));
    since_look_ = prompt > 0 ? by_.polls : since_look_ + 1;
    if (!apart) ++step_;
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
    out_.first_token.push_back(request.first - request.begin);
    out_.latency.push_back(now_ - request.begin);
    const double others = static_cast<double>(std::max<std::int64_t>(1, request.output - 1));
    out_.each_token.push_back((now_ - request.first) / others);
    out_.tokens += static_cast<double>(request.output);
    if (!at_random_) send(now_);
  }

  const StepTimes& steps_;
  const Load& load_;
  double room_;
  Scheduling by_;
  bool at_random_;
  std::int64_t to_come_;
  double comes_ = 0;  // the next random one, seconds
  SplitMix numbers_{1};
  std::deque<Request> waiting_, taken_;  // outside, with room in the cache
  std::priority_queue<Ends> decoding_;
  double now_ = 0, held_ = 0, cached_ = 0;  // seconds; tokens that are spoken for, that are there
  std::int64_t step_ = 0;                   // that decoded
  std::int64_t since_look_ = 0;             // steps
  Answered out_;
};

}  // namespace

Answered answered(const StepTimes& steps, const Load& load, double room) {
  return Requests(steps, load, room).run();
}

}  // namespace headway
