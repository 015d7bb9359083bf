// The events of a Kineto trace that say something about communication, before they are joined.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/io/json_value.hpp"
#include "trace/recording/recording.hpp"

namespace headway {

/// What the "args" of a record_param_comms or of an NCCL kernel say (since PyTorch 2.3).
struct KinetoComms {
  std::optional<Operation> op;
  std::optional<ElementType> type;
  double input_elements = -1;  // of one rank; negative: not said
  double output_elements = -1;
  std::optional<std::uint32_t> group;
  std::optional<std::int64_t> sequence, peer;
};

/// A GPU kernel that communicates.
struct KinetoKernel {
  Operation op = Operation::other;  // by its name, which may mislead
  bool described = false;           // `comms` is the kernel's own
  KinetoComms comms;
  std::int64_t start_ns = 0, duration_ns = 0;
  std::optional<std::int64_t> stream, correlation, external_id;
};

/// Where the host works on a call: "c10d::allreduce_" around "record_param_comms" around
/// "nccl:all_reduce". Each knows a part.
struct KinetoHostOp {
  enum class Kind : std::uint8_t { entry, parameters, annotation };
  Kind kind = Kind::entry;
  bool on_host = false;  // the call itself runs on the host (gloo, MPI)
  KinetoComms comms;
  std::uint64_t thread = 0;
  std::int64_t start_ns = 0, duration_ns = 0;
  std::optional<std::int64_t> external_id;
  std::optional<std::int64_t> record;  // the profiler's number of the operation
};

/// Where the host launches a kernel.
struct KinetoLaunch {
  std::int64_t correlation = 0;
  std::int64_t at_ns = 0;
  std::uint64_t thread = 0;
};

struct KinetoEvents {
  std::vector<KinetoKernel> kernels;
  std::vector<KinetoHostOp> host_ops;
  std::vector<KinetoLaunch> launches;
  std::vector<std::uint32_t> own_groups;  // that the trace says the rank is in
};

/// Joins the events to calls of the rank 0 of the recording. A kernel that does not describe itself
/// takes what the host operations around its launch say. Host operations without any kernel become
/// calls of their own, with the time of the host, only where no kernel communicates at all.
void join_kineto(KinetoEvents events, Recording& recording);

/// Names of kernels, and the matrix products that they work for: the host's operation of the same
/// "External id" says the shapes (record_shapes).
class KinetoProducts {
 public:
  /// The index of a kernel's name; kNone beyond the first kMostNames.
  std::uint32_t name_of(std::string_view name, Recording& recording);
  /// A host operation aten::mm, aten::addmm, aten::bmm or aten::baddbmm.
  void add(std::string_view name, const JsonValue& args);
  /// Kernel `index` of Recording::compute.
  void launched(std::size_t index, const JsonValue& args);
  void join(Recording& recording) const;

  static constexpr std::size_t kMostNames = 65536, kLongestName = 300;

 private:
  std::unordered_map<std::string, std::uint32_t> names_;
  std::unordered_map<std::int64_t, RecordedProduct> products_;  // by external id
  std::vector<std::pair<std::size_t, std::int64_t>> launched_;  // kernel, external id
};

}  // namespace headway
