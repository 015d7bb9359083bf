// Runs the list of one rank on its GPU [LIVE-6]: the host hands all of it over beforehand, streams
// wait for each other as the list says, and events have the times.
#pragma once

#include <map>
#include <vector>

#include "libraries.hpp"
#include "plan.hpp"
#include "ranks.hpp"

namespace headway::replay::nccl {

/// From when a repeat began, on the host's clock, and how long it took; its calls beside that.
struct Repeat {
  struct Call {
    double start = 0, duration = 0;  // seconds, from the begin of the repeat
  };
  std::uint64_t begin_ns = 0;
  double seconds = 0;
  std::vector<Call> calls;
};

class DeviceRank {
 public:
  /// Makes communicators, memory and streams, and connects: every call and product that differs,
  /// once. Called by all ranks of the plan.
  DeviceRank(const Libraries& of, const NcclPlan& plan, const Place& place, Meeting& meeting,
             bool multiplies);
  ~DeviceRank();
  DeviceRank(const DeviceRank&) = delete;
  DeviceRank& operator=(const DeviceRank&) = delete;

  Repeat step();
  Repeat single();
  /// The longest of each of all ranks.
  std::vector<double> longest(const std::vector<double>& own);

 private:
  struct Times {
    Event *begin = nullptr, *end = nullptr;
  };

  void make_communicators(const Place& place, Meeting& meeting);
  void make_memory();
  void make_streams();
  void connect();
  void load_products();

  Stream* stream_of(std::int32_t number);
  void meet(Comm comm);
  void begin(Repeat& out);
  void end(Repeat& out);
  void call(const LiveItem& item, std::uint32_t lane, Comm comm, Stream* on);
  void among_all(const LiveItem& item, std::uint32_t lane, Comm comm, Stream* on);
  void compute(const LiveItem& item);

  const Libraries& of_;
  const NcclPlan& plan_;
  std::size_t rank_;
  bool multiplies_;
  const std::vector<LiveItem>& items_;
  std::vector<const LiveItem*> calls_;
  std::vector<Comm> comms_;  // of lanes; null: not of this rank
  std::vector<int> places_;  // of this rank among the members of each
  Comm world_ = nullptr;
  char* sent_ = nullptr;
  std::vector<char*> received_;  // of lanes
  char* products_[3] = {};
  Stream* main_ = nullptr;
  std::map<std::int32_t, Stream*> streams_;
  std::vector<Times> times_;  // of calls
  std::vector<Event*> handed_;
  Event* zero_ = nullptr;
  Blas* blas_ = nullptr;
};

}  // namespace headway::replay::nccl
