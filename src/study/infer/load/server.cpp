#include "study/infer/load/server.hpp"

#include <algorithm>
#include <cmath>

namespace headway {
namespace {

double as_double(std::size_t count) {
  return static_cast<double>(count);
}

}  // namespace

void Server::take(Request request, double when) {
  if (!busy()) now_ = std::max(now_, when);
  to_prefill_ += request.left;
  waiting_.push_back(request);
}

// Tokens of the cache to speak for when it is taken in. Of a sequence that grows the last block is
// half empty in the mean.
double Server::needs(const Request& request) const {
  const double prompt = request.cached + request.left;
  if (policy_.reserve) {
    return in_blocks(prompt + static_cast<double>(request.steps) * request.a_step, policy_.block);
  }
  return prompt + static_cast<double>(policy_.block - 1) / 2;
}

// Whether a step begins with a look at new requests: after so many that decoded, or one of prompts,
// or where there is nothing else to do.
bool Server::looks() {
  const bool now = since_look_ >= policy_.polls || (taken_.empty() && decoding_.empty());
  if (now) since_look_ = 0;
  return now;
}

// [INFER-10] Whether prompts that are taken in wait for more of them; one that was begun ends.
// Steps count on over those that decode nothing, as TensorRT-LLM's do.
bool Server::gathers() {
  if (policy_.gathers == 0 || taken_.empty() || decoding_.empty()) return false;
  if (taken_.front().cached > taken_.front().hit) return false;
  const double all = static_cast<double>(policy_.most_tokens) * steps_.ways();
  const double decoded = as_double(decoding_.size()) * steps_.checked;
  const double budget = std::max(1.0, all - decoded);
  double tokens = 0;
  for (const Request& request : taken_) {
    if (policy_.whole_prompts && tokens > 0 && tokens + request.left > budget) break;
    tokens += request.left;
  }
  if (!policy_.whole_prompts) tokens = std::min(tokens, budget);
  if (gathered_ < policy_.gathers && tokens + decoded < policy_.gathered * all) return true;
  gathered_ = 0;
  return false;
}

void Server::take_in() {
  const auto most = static_cast<std::size_t>(policy_.most_at_a_time(steps_.ways(), steps_.checked));
  while (!waiting_.empty()) {
    const Request& next = waiting_.front();
    const bool alone = taken_.empty() && decoding_.empty() && emptying_.empty();
    // What the next step adds to those that are there comes before those that wait.
    const double spoken_for = held_ + (policy_.reserve ? 0 : growth_);
    const std::size_t taken = taken_.size() + emptying_.size() + decoding_.size();
    const bool full = taken >= most || spoken_for + needs(next) > room_;
    if (!alone && full) return;
    held_ += needs(next);
    if (next.left > 0) {
      taken_.push_back(next);
    } else {
      Request request = next;
      if (request.first < 0) request.first = now_;
      decode(request);
    }
    waiting_.pop_front();
  }
}

void Server::decode(Request request) {
  cached_ += request.cached;
  growth_ += request.a_step;
  std::size_t place = places_.size();
  if (free_.empty()) {
    places_.push_back({step_, order_++, request});
  } else {
    place = free_.back();
    free_.pop_back();
    places_[place] = {step_, order_++, request};
  }
  decoding_.push_back({step_ + request.steps, place});
  std::push_heap(decoding_.begin(), decoding_.end(), later);
}

// [INFER-15] Whoever came last goes out, first of all that wait: what it had in the cache is
// computed anew as a prompt, which also brings its next token.
void Server::put_back_one() {
  ++put_back_;
  if (!taken_.empty()) {
    Request request = taken_.back();
    taken_.pop_back();
    held_ -= needs(request);
    to_prefill_ += request.cached - request.hit;
    request.left += request.cached - request.hit;
    request.cached = request.hit;
    waiting_.push_front(request);
    return;
  }
  const auto last =
      std::max_element(decoding_.begin(), decoding_.end(), [this](const Ends& a, const Ends& b) {
        return places_[a.place].order < places_[b.place].order;
      });
  const Decoding& decoding = places_[last->place];
  Request request = decoding.request;
  const double made = static_cast<double>(step_ - decoding.since) * request.a_step;
  growth_ -= request.a_step;
  cached_ -= request.cached + made;
  held_ -= needs(request) + made;
  request.steps = last->step - step_;
  request.left = request.cached + made - request.hit;
  request.cached = request.hit;
  to_prefill_ += request.left;
  free_.push_back(last->place);
  *last = decoding_.back();
  decoding_.pop_back();
  std::make_heap(decoding_.begin(), decoding_.end(), later);
  waiting_.push_front(request);
}

// Steps of decoding alone until a sequence ends, the cache is full, or one more would begin behind
// `horizon`: n of them take n·(first + (n - 1)/2·more).
std::int64_t Server::steps_alike(std::int64_t decoding, double horizon) const {
  std::int64_t most = decoding_.front().step - step_;
  if (!policy_.reserve && taken_.size() + decoding_.size() > 1) {
    most = std::min(most, static_cast<std::int64_t>((room_ - held_) / growth_));
  }
  // Whoever waits may be taken in at the next look.
  if (policy_.polls > 1 && !waiting_.empty()) most = std::min(most, policy_.polls - since_look_);
  if (!taken_.empty()) most = std::min(most, policy_.gathers - gathered_);
  if (most <= 1 || !std::isfinite(horizon)) return std::max<std::int64_t>(1, most);
  const double sequences = static_cast<double>(decoding);
  const double first = steps_.of({.decoding = sequences, .cached = cached_});
  const double more = steps_.of({.decoding = sequences, .cached = cached_ + growth_}) - first;
  const double time = horizon - now_, straight = first - more / 2;
  const double fit = time <= 0 ? 1
                     : more * time > 1e-9 * straight * straight
                         ? (std::sqrt(straight * straight + 2 * more * time) - straight) / more
                         : time / straight;
  return fit >= static_cast<double>(most)
             ? most
             : std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(fit)));
}

std::vector<Request> Server::leave() {
  std::vector<Request> out;
  while (!decoding_.empty() && decoding_.front().step <= step_) {
    std::pop_heap(decoding_.begin(), decoding_.end(), later);
    const std::size_t place = decoding_.back().place;
    const Decoding& done = places_[place];
    const double made = static_cast<double>(step_ - done.since) * done.request.a_step;
    cached_ -= done.request.cached + made;
    growth_ -= done.request.a_step;
    held_ -= needs(done.request) + (policy_.reserve ? 0 : made);
    out.push_back(done.request);
    out.back().end = now_;
    decoding_.pop_back();
    free_.push_back(place);
  }
  return out;
}

double Server::left_for_prompts(const StepLoad& work) const {
  return std::max(1.0, static_cast<double>(policy_.most_tokens) * steps_.ways() -
                           work.decoding * steps_.checked);
}
double Server::left_in_a_way(const StepLoad& work) const {
  return std::max(1.0, left_for_prompts(work) / steps_.ways());
}

// Of prompts what is left of the step, of each no more than follows itself through the stages.
std::size_t Server::take_pieces(StepLoad& work) {
  const bool whole = policy_.whole_prompts;
  double budget = left_for_prompts(work);
  const double a_way = left_in_a_way(work), most = std::floor(a_way * steps_.stages);
  std::size_t ended = 0;
  for (Request& request : taken_) {
    if (budget <= 0) break;
    if (whole && request.left > budget && work.prompt > 0) break;
    const double tokens = whole ? request.left : std::min({budget, request.left, most});
    const double begin = request.cached, end = begin + tokens;
    work.prompt += tokens;
    if (begin <= request.hit) work.prompts += 1;
    work.pairs += end * end - begin * begin;
    work.piece = std::max(work.piece, whole ? tokens : std::min(tokens, a_way));
    request.cached = end;
    request.left -= tokens;
    request.passing = tokens;
    budget -= tokens;
    if (request.left <= 0) ++ended;
  }
  to_prefill_ -= work.prompt;
  return ended;
}

// [INFER-18] Seconds from the end of its step until the last piece of a prompt is through. A
// shorter one waits for the one before it.
double Server::emptying_time(const Request& request, const StepLoad& work, double seconds) const {
  const double a_way = left_in_a_way(work), computed = request.cached - request.hit;
  if (policy_.whole_prompts || steps_.stages <= 1 || computed <= a_way) return 0;
  const double pieces = std::ceil(request.passing / a_way);
  const auto pass = [&](double end, double tokens) {
    StepLoad of_piece = work;
    of_piece.prompts = 0;
    of_piece.prompt = of_piece.piece = tokens;
    of_piece.pairs = end * end - (end - tokens) * (end - tokens);
    return steps_.of(of_piece);
  };
  const double tokens = request.passing - (pieces - 1) * a_way;
  const double last = pass(request.cached, tokens);
  const double before = pass(request.cached - tokens, std::min(a_way, computed - tokens));
  return steps_.emptying(seconds, pieces, last, std::max(last, before));
}

double Server::next_through() const {
  double out = std::numeric_limits<double>::infinity();
  for (const Emptying& each : emptying_) out = std::min(out, each.until);
  return out;
}

void Server::decode_those_through() {
  for (auto each = emptying_.begin(); each != emptying_.end();) {
    if (each->until > now_) {
      ++each;
      continue;
    }
    decode(each->request);
    each = emptying_.erase(each);
  }
}

// Prompts that ended bring a token; they may stand anywhere where pieces are bounded.
void Server::end_prompts(std::size_t ended, const StepLoad& work, double seconds,
                         std::vector<Request>& out) {
  for (auto each = taken_.begin(); ended > 0 && each != taken_.end();) {
    if (each->left > 0) {
      ++each;
      continue;
    }
    Request request = *each;
    each = taken_.erase(each);
    --ended;
    const double through = now_ + emptying_time(request, work, seconds);
    const bool again = request.first >= 0;  // computed anew: the token is one of its others
    if (!again) request.first = through;
    if (again && request.steps > 0) --request.steps;
    if (request.steps > 0 && through > now_) {
      emptying_.push_back({through, request});
    } else if (request.steps > 0) {
      decode(request);
    } else {
      held_ -= needs(request);
      request.end = through;
      out.push_back(request);
    }
  }
}

std::vector<Request> Server::step(double horizon) {
  decode_those_through();
  if (looks()) take_in();
  horizon = std::min(horizon, next_through());
  if (taken_.empty() && decoding_.empty()) {  // all that is there is in the stages
    now_ = horizon > now_ ? horizon : next_through();
    return {};
  }
  const bool gathering = gathers();
  const bool apart = policy_.prompts_first && !taken_.empty() && !gathering;
  const std::int64_t put_back = put_back_;
  if (!policy_.reserve && !apart) {
    while (taken_.size() + decoding_.size() > 1 && held_ + growth_ > room_) put_back_one();
  }
  StepLoad work;
  if (!apart) {
    work.decoding = as_double(decoding_.size());
    work.cached = cached_;
  }
  most_ = std::max(most_, work.decoding);
  const std::size_t ended = gathering ? 0 : take_pieces(work);
  std::int64_t made = apart ? 0 : 1;
  double seconds = steps_.of(work);
  // Who was put back may be taken in again in the next.
  if ((taken_.empty() || gathering) && !decoding_.empty() && put_back_ == put_back) {
    const auto decoding = static_cast<std::int64_t>(decoding_.size());
    made = steps_alike(decoding, horizon);
    if (made > 1) {
      work.cached += growth_ * static_cast<double>(made - 1);
      seconds = static_cast<double>(made) * (seconds + steps_.of(work)) / 2;
    }
  }
  now_ += seconds;
  if (gathering) gathered_ += made;
  since_look_ = work.prompt > 0 ? policy_.polls : (since_look_ + made - 1) % policy_.polls + 1;
  if (!apart) {
    step_ += made;
    cached_ += growth_ * static_cast<double>(made);
    if (!policy_.reserve) held_ += growth_ * static_cast<double>(made);
  }
  std::vector<Request> out = leave();
  end_prompts(ended, work, seconds, out);
  return out;
}

}  // namespace headway
