// What a replay by NCCL did, as a recording: written at its end.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan.hpp"
#include "trace/recording/record_file.hpp"

namespace headway::replay::nccl {

class Recording {
 public:
  /// Of `rank` as it runs its part of the plan.
  Recording(const NcclPlan& plan, int rank, const std::string& library);

  void step(std::int64_t number, std::uint64_t start_ns);
  /// The call of that number, in the order in which its communicator ran it.
  void call(std::size_t number, std::uint64_t start_ns, std::uint64_t duration_ns);

  /// False: it cannot be written, or is there.
  bool write(const std::string& folder) const;

 private:
  void text(const std::string& json);

  const NcclPlan& plan_;
  std::size_t rank_;
  std::vector<const LiveItem*> calls_;
  std::map<std::uint32_t, std::uint32_t> sequences_;  // by lane
  std::string header_;
  std::string bytes_;
};

}  // namespace headway::replay::nccl
