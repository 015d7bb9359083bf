// What GPU kernels do, by their names: data/traces/kernels.toml.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/document/document.hpp"
#include "trace/recording/recording.hpp"

namespace headway {

/// What a kernel's name says.
struct KernelKind {
  std::optional<Operation> op;  // nothing: it computes
  bool looks_alike = false;     // it computes for want of a row, but its name speaks of exchange

  friend bool operator==(const KernelKind&, const KernelKind&) = default;
};

/// One row of the table.
struct KernelName {
  std::string part;             // of the kernel's own name, from the beginning of a word
  std::optional<Operation> op;  // nothing: it computes
  bool named = false;           // the rest of the name says the operation
};

struct KernelNames {
  std::vector<KernelName> rows;         // the first that fits decides
  std::vector<std::string> look_alike;  // letters
};

/// The table that a document holds, or all that is wrong with it.
Result<KernelNames> read_kernel_names(const Document& document);

/// By the table that the binary carries. Generic kernels ("ncclDevKernel_Generic") are `other`: the
/// name does not tell.
KernelKind kind_of_kernel(std::string_view kernel);

/// The name of a kernel without its result, template arguments and parameters, as its source writes
/// it: "dpsk::ep::internode::dispatch" of "_ZN4dpsk2ep9internode8dispatchILb0EEEvv".
std::string own_name(std::string_view kernel);

/// The kernels of one trace: each name is looked at once.
class SeenKernels {
 public:
  /// What a kernel communicates; nothing: it computes.
  std::optional<Operation> op_of(std::string_view kernel);
  /// Says which kernels look like communication and are not known.
  void note(Recording& recording) const;

 private:
  struct Seen {
    KernelKind kind;
    std::int64_t count = 0;
  };
  std::unordered_map<std::string, Seen> names_;
};

}  // namespace headway
