#include "trace/recording/operation.hpp"

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

}  // namespace headway
