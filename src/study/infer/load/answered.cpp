#include "study/infer/load/answered.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <queue>
#include <set>
#include <utility>

#include "study/infer/load/lengths.hpp"

namespace headway {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// A moment and what it is of.
template <class T>
struct Event {
  double when;
  std::int64_t order;  // of those of the same moment
  T what;
  friend bool operator<(const Event& a, const Event& b) {  // the first on top
    return a.when != b.when ? a.when > b.when : a.order > b.order;
  }
};
// What comes later than all before it, which most do, waits in line; a heap sorts the rest.
template <class T>
class Events {
 public:
  void add(double when, T what) {
    const bool last = line_.empty() || when >= line_.back().when;
    Event<T> event{when, order_++, std::move(what)};
    if (last) {
      line_.push_back(std::move(event));
    } else {
      rest_.push(std::move(event));
    }
  }
  double next() const {
    return std::min(line_.empty() ? kNever : line_.front().when,
                    rest_.empty() ? kNever : rest_.top().when);
  }
  T pop() {
    if (rest_.empty() || (!line_.empty() && rest_.top() < line_.front())) {
      T out = std::move(line_.front().what);
      line_.pop_front();
      return out;
    }
    T out = rest_.top().what;
    rest_.pop();
    return out;
  }

 private:
  std::deque<Event<T>> line_;
  std::priority_queue<Event<T>> rest_;
  std::int64_t order_ = 0;
};

// What the requests of a load are and when they are asked.
class Source {
 public:
  Source(const Load& load, const Drafting& guesses)
      : load_(load), guesses_(guesses), lengths_(load), to_come_(count_of(load)) {
    if (load.arrivals == Arrivals::clients) {
      for (std::int64_t i = 0; i < load.batch; ++i) ask(0);
    } else {
      draw_moment();
    }
  }

  double next() const { return asked_.next(); }
  Request pop() {
    Request out = asked_.pop();
    if (load_.arrivals != Arrivals::clients) draw_moment();
    return out;
  }
  void answered(double when) {
    if (load_.arrivals == Arrivals::clients) ask(when);
  }

 private:
  static std::int64_t count_of(const Load& load) {
    if (load.count > 0) return load.count;
    if (load.arrivals == Arrivals::clients) return load.batch * kRequestsOfClient;
    if (load.arrivals == Arrivals::random) return kRandomRequests;
    return load.listed != nullptr ? static_cast<std::int64_t>(load.listed->size()) : 0;
  }

  void draw_moment() {
    if (to_come_ == 0) return;
    if (load_.arrivals == Arrivals::random) {
      moment_ += lengths_.pause();
      return ask(moment_);
    }
    // A list begins anew behind its end where more are asked for.
    const auto& listed = *load_.listed;
    const auto size = static_cast<std::int64_t>(listed.size());
    const double round = static_cast<double>(turn_ / size) * listed.back().arrival;
    const double when = listed[static_cast<std::size_t>(turn_ % size)].arrival;
    ++turn_;
    ask(round + when);
  }

  void ask(double when) {
    if (to_come_ == 0) return;
    --to_come_;
    const Listed lengths = lengths_.next();
    Request request;
    request.begin = when;
    request.input = static_cast<double>(lengths.input);
    request.output = static_cast<double>(lengths.output);
    // The last token of a prompt is computed whatever is held of it.
    request.hit = std::min(std::floor(load_.prefix_hit * request.input), request.input - 1);
    request.cached = request.hit;
    request.left = request.input - request.hit;
    request.steps = steps_of(lengths.output - 1);
    if (request.steps > 0) {
      request.a_step = (request.output - 1) / static_cast<double>(request.steps);
    }
    asked_.add(when, request);
  }

  // Passes that make so many tokens, each of them one and the guesses that are right.
  std::int64_t steps_of(std::int64_t tokens) {
    if (guesses_.length == 0) return tokens;
    std::int64_t steps = 0;
    for (std::int64_t made = 0; made < tokens; ++steps) {
      ++made;
      for (std::int64_t g = 0; g < guesses_.length && uniform() < guesses_.chance; ++g) ++made;
    }
    return steps;
  }
  double uniform() { return static_cast<double>(numbers_.next() >> 11U) * 0x1p-53; }

  const Load& load_;
  Drafting guesses_;
  Lengths lengths_;
  SplitMix numbers_{2};
  Events<Request> asked_;
  double moment_ = 0;
  std::int64_t turn_ = 0, to_come_;
};

void note(Answered& out, const Request& request) {
  out.begin.push_back(request.begin);
  out.first_token.push_back(request.first - request.begin);
  out.latency.push_back(request.end - request.begin);
  out.each_token.push_back(request.output > 1 ? (request.end - request.first) / (request.output - 1)
                                              : std::numeric_limits<double>::quiet_NaN());
  out.tokens += request.output;
  out.prompts += request.input;
  out.elapsed = std::max(out.elapsed, Seconds(request.end));
}

}  // namespace

double Drafting::made() const {
  if (chance >= 1) return static_cast<double>(length + 1);
  return (1 - std::pow(chance, static_cast<double>(length + 1))) / (1 - chance);
}

// Of those that are under way at the end the part that lies before it.
double steady_rate(const Answered& by) {
  const double end = *std::max_element(by.begin.begin(), by.begin.end());
  if (end <= 0) return static_cast<double>(by.latency.size()) / by.elapsed.value();
  double answered = 0;
  for (std::size_t i = 0; i < by.begin.size(); ++i) {
    answered += std::min(1.0, (end - by.begin[i]) / by.latency[i]);
  }
  return answered / end;
}

Answered answered(const Engined& engine, const Load& load) {
  Source source(load, engine.guesses);
  Server server(engine.steps, engine.policy, engine.room);
  Answered out;
  while (true) {
    const double asked = source.next();
    if (asked <= server.now() || (!server.busy() && asked < kNever)) {
      Request request = source.pop();
      const double when = request.begin;
      server.take(request, when);
      continue;
    }
    if (!server.busy()) break;
    for (const Request& request : server.step(asked)) {
      note(out, request);
      source.answered(request.end);
    }
  }
  out.most = server.most();
  out.put_back = static_cast<double>(server.put_back());
  return out;
}

namespace {

// Copies of one part, and which of those that have something to do is first to be free.
class Copies {
 public:
  Copies(std::int64_t count, const Server& each)
      : all_(static_cast<std::size_t>(count), each), at_(all_.size(), kNever) {}

  const std::vector<Server>& all() const { return all_; }
  /// Of them, the earliest of equals in time; kNever where none has anything to do.
  double next() const { return busy_.empty() ? kNever : busy_.begin()->first; }
  std::size_t first() const { return busy_.begin()->second; }
  /// When the one behind it is free.
  double second() const { return busy_.size() < 2 ? kNever : std::next(busy_.begin())->first; }

  /// The least by `before` of those that a copy is taken for.
  template <class Before>
  std::size_t least(const Before& before) const {
    return static_cast<std::size_t>(std::min_element(all_.begin(), all_.end(), before) -
                                    all_.begin());
  }
  void take(std::size_t i, Request request, double when) {
    all_[i].take(request, when);
    settle(i);
  }
  /// What first() answers in its next steps, of which none but the first begins after `horizon`.
  std::vector<Request> step(double horizon = kNever) {
    const std::size_t i = first();
    std::vector<Request> out = all_[i].step(horizon);
    settle(i);
    return out;
  }

 private:
  void settle(std::size_t i) {
    if (at_[i] != kNever) busy_.erase({at_[i], i});
    at_[i] = all_[i].busy() ? all_[i].now() : kNever;
    if (at_[i] != kNever) busy_.insert({at_[i], i});
  }

  std::vector<Server> all_;
  std::vector<double> at_;  // as they stand in busy_
  std::set<std::pair<double, std::size_t>> busy_;
};

// Prefill and decode apart: what happens next, in whichever server or between them, happens first.
class ApartRun {
 public:
  ApartRun(const Apart& apart, const Load& load)
      : apart_(apart),
        source_(load, apart.decode.guesses),
        prefill_(apart.prefill_copies, server_of(apart.prefill)),
        decode_(apart.decode_copies, server_of(apart.decode)),
        link_free_(prefill_.all().size(),
                   std::vector<double>(static_cast<std::size_t>(apart.lanes), 0.0)) {}

  Answered run() {
    while (true) {
      const double asked = source_.next(), moved = moved_.next();
      const double of_prefill = prefill_.next(), of_decode = decode_.next();
      const double next = std::min({asked, moved, of_prefill, of_decode});
      if (next == kNever) break;
      if (next == asked) {
        ask(source_.pop());
      } else if (next == moved) {
        join(moved_.pop(), moved);
      } else if (next == of_prefill) {
        compute();
      } else {
        const double horizon = std::min({asked, moved, of_prefill, decode_.second()});
        for (const Request& request : decode_.step(horizon)) done(request);
      }
    }
    for (const Server& server : decode_.all()) {
      out_.most = std::max(out_.most, server.most());
      out_.put_back += static_cast<double>(server.put_back());
    }
    return std::move(out_);
  }

 private:
  static Server server_of(const Engined& engine) {
    return Server(engine.steps, engine.policy, engine.room);
  }

  void ask(Request request) {
    // Of equals the one that is free first.
    const std::size_t to = prefill_.least([](const Server& a, const Server& b) {
      if (a.to_prefill() != b.to_prefill()) return a.to_prefill() < b.to_prefill();
      return a.now() < b.now();
    });
    request.after = std::exchange(request.steps, 0);
    prefill_.take(to, request, request.begin);
  }

  void compute() {
    std::vector<double>& links = link_free_[prefill_.first()];
    for (Request& request : prefill_.step()) {
      if (request.after == 0) {
        done(request);
        continue;
      }
      const double moving = apart_.move_start + apart_.move_token * request.input;
      double& link = *std::min_element(links.begin(), links.end());
      link = std::max(request.end + apart_.exposed * moving, link + moving);
      request.first = -1;
      request.steps = request.after;
      moved_.add(link, request);
    }
  }

  void join(Request request, double when) {
    const std::size_t to = decode_.least(
        [](const Server& a, const Server& b) { return a.sequences() < b.sequences(); });
    decode_.take(to, request, when);
  }

  void done(const Request& request) {
    note(out_, request);
    source_.answered(request.end);
  }

  const Apart& apart_;
  Source source_;
  Copies prefill_, decode_;
  std::vector<std::vector<double>> link_free_;  // until when each lane of each is taken
  Events<Request> moved_;
  Answered out_;
};

}  // namespace

Answered answered(const Apart& apart, const Load& load) {
  return ApartRun(apart, load).run();
}

}  // namespace headway
