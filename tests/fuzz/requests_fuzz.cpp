// Files of requests: any text becomes requests in order within bounds, or problems.
#include <cstdlib>

#include "study/infer/load/listed.hpp"
#include "targets.hpp"

void headway::fuzz::requests(std::string_view text) {
  const auto table = headway::parse_csv(text, "requests.csv");
  if (!table) return;
  for (const bool lengths : {true, false}) {
    const headway::ListedColumns needed{.lengths = lengths, .moments = !lengths};
    const auto read = headway::listed_requests(*table, needed, 4096);
    if (!read) {
      if (read.problems().empty()) std::abort();
      continue;
    }
    if (read->size() != table->rows.size() || read->empty()) std::abort();
    double last = 0;
    for (const headway::Listed& each : *read) {
      if (each.input < 0 || each.output < 0 || each.input + each.output > 4096) std::abort();
      if (lengths && (each.input == 0 || each.output == 0)) std::abort();
      if (!(each.arrival >= last)) std::abort();
      last = each.arrival;
    }
  }
}
