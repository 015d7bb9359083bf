#include "engine.hpp"

#include <algorithm>

namespace headway::replay {

using Kind = LiveItem::Kind;

Engine::Engine(const std::vector<LiveItem>& items, MpiTransport& transport, Compute& compute)
    : items_(items), transport_(transport), compute_(compute) {
  for (const LiveItem& item : items) {
    if (item.kind == Kind::call) calls_.push_back(&item);
  }
}

bool Engine::is_ready(std::uint32_t call, Clock::time_point now) const {
  const auto& after = calls_[call]->after;
  return from_[call] <= now &&
         std::all_of(after.begin(), after.end(), [&](std::uint32_t other) { return done_[other]; });
}

// Begins the first of those that wait on the stream, where it can.
bool Engine::begin_next(std::int32_t stream) {
  Stream& at = streams_[stream];
  if (at.runs || at.waiting.empty() || !is_ready(at.waiting.front(), Clock::now())) return false;
  const std::uint32_t call = at.waiting.front();
  at.waiting.pop_front();
  at.runs = true;
  running_.push_back({call, transport_.begin(*calls_[call])});
  return true;
}

void Engine::hand_over(std::uint32_t call) {
  from_[call] = device_;
  const std::int32_t stream = calls_[call]->stream;
  if (stream != kBesideStreams) {
    streams_[stream].waiting.push_back(call);
    begin_next(stream);
  } else if (is_ready(call, Clock::now())) {
    running_.push_back({call, transport_.begin(*calls_[call])});
  } else {
    beside_.push_back(call);
  }
}

// What is done makes room for what waited for it.
void Engine::progress() {
  for (std::size_t i = 0; i < running_.size();) {
    if (!transport_.done(running_[i].handle)) {
      ++i;
      continue;
    }
    const std::uint32_t call = running_[i].call;
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    done_[call] = 1;
    ended_[call] = Clock::now();
    const std::int32_t stream = calls_[call]->stream;
    if (stream != kBesideStreams) streams_[stream].runs = false;
  }
  for (auto& [stream, queue] : streams_) begin_next(stream);
  for (std::size_t i = 0; i < beside_.size();) {
    if (!is_ready(beside_[i], Clock::now())) {
      ++i;
      continue;
    }
    running_.push_back({beside_[i], transport_.begin(*calls_[beside_[i]])});
    beside_.erase(beside_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void Engine::step() {
  done_.assign(calls_.size(), 0);
  from_.assign(calls_.size(), {});
  ended_.assign(calls_.size(), {});
  device_ = Clock::now();
  std::uint32_t called = 0;
  for (const LiveItem& item : items_) {
    switch (item.kind) {
      case Kind::call:
        hand_over(called++);
        break;
      case Kind::compute:
        if (!compute_.multiplies()) {
          device_ += std::chrono::nanoseconds(static_cast<std::int64_t>(item.time.value() * 1e9));
          break;
        }
        compute_.run(item, [this] { progress(); });
        device_ = Clock::now();
        break;
      case Kind::wait:
        while (!done_[item.awaited]) progress();
        device_ = std::max(device_, ended_[item.awaited]);
        break;
      case Kind::mark:
        break;
    }
  }
  while (std::find(done_.begin(), done_.end(), 0) != done_.end()) progress();
  while (Clock::now() < device_) progress();
}

void Engine::single() {
  for (const LiveItem* call : calls_) {
    transport_.meet(call->group);
    transport_.call(*call);
  }
}

}  // namespace headway::replay
