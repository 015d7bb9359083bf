#include "trace/recording/operation.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace headway {
namespace {

// Lower case, letters only: "c10d::_allgather_base_" -> "callgatherbase"; digits go too.
std::string letters(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c >= 'a' && c <= 'z') out += c;
    if (c >= 'A' && c <= 'Z') out += static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// What a name contains decides; the longer names stand before those they contain.
constexpr std::pair<std::string_view, Operation> kContained[] = {
    {"sendrecv", Operation::send_receive},
    {"sendreceive", Operation::send_receive},
    {"reducescatter", Operation::reduce_scatter},
    {"allreduce", Operation::all_reduce},
    {"allgather", Operation::all_gather},
    {"alltoall", Operation::all_to_all},
    {"broadcast", Operation::broadcast},
    {"bcast", Operation::broadcast},
    {"barrier", Operation::barrier},
    {"reduce", Operation::reduce},
    {"gather", Operation::gather},
    {"scatter", Operation::scatter},
    {"send", Operation::send},
    {"recv", Operation::receive},
    {"receive", Operation::receive},
};

std::optional<Operation> by_letters(std::string_view text) {
  for (const auto& [part, op] : kContained) {
    if (text.find(part) != std::string_view::npos) return op;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Operation> operation_from(std::string_view name) {
  return name.size() > 200 ? std::nullopt : by_letters(letters(name));
}

std::optional<Operation> operation_of_kernel(std::string_view kernel) {
  const auto contains = [&](std::string_view part) {
    return kernel.find(part) != std::string_view::npos;
  };
  // DeepSeek's expert exchange and vLLM's all-reduce by peer memory communicate without NCCL.
  if (contains("deep_ep::")) {
    const bool exchanges = contains("dispatch") || contains("combine");
    return exchanges ? std::optional(Operation::all_to_all) : std::nullopt;
  }
  if (contains("cross_device_reduce")) return Operation::all_reduce;
  const std::size_t at = kernel.find("cclKernel");
  const std::size_t device = kernel.find("cclDevKernel");
  const std::size_t symmetric = kernel.find("cclSymk");
  const std::size_t start = std::min({at, device, symmetric});
  if (start == std::string_view::npos) return std::nullopt;
  // "..._AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)": the name ends before "(".
  const std::string_view own = kernel.substr(start, kernel.find('(', start) - start);
  return by_letters(letters(own)).value_or(Operation::other);
}

}  // namespace headway
