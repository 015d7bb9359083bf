#include "base/document/csv.hpp"
#include "base/formatted.hpp"
#include "base/text.hpp"
#include "report/comms/change.hpp"
#include "trace/analysis/call_table.hpp"

namespace headway {
namespace {

template <class Q>
std::string cell_of(const std::optional<Q>& quantity) {
  return quantity ? formatted("%.9g", quantity->value()) : std::string();
}

std::string cells_of(const Amounts& amounts) {
  return formatted("%.9g", amounts.count) + "," + cell_of(amounts.bytes) + "," +
         cell_of(amounts.time) + "," + cell_of(amounts.waiting);
}

}  // namespace

std::string change_csv(const Change& change) {
  std::string out =
      "per,group,op,size_bytes,before_count,before_bytes,before_s,before_waiting_s,after_count,"
      "after_bytes,after_s,after_waiting_s\n";
  for (const CallsChange& row : change.by_size) {
    const std::string group = row.group_before
                                  ? group_name(change.before_run.recording(), row.group_before)
                                  : std::string();
    out += std::string(to_name(change.per)) + "," + csv_cell(printable(group, 200)) + "," +
           std::string(to_name(row.op)) + "," + cell_of(row.size) + "," + cells_of(row.before) +
           "," + cells_of(row.after) + "\n";
  }
  return out;
}

}  // namespace headway
