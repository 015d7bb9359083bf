// nccl-tests -J: {"args": [...], "config": {"nthreads", "ngpus", "devices": [one a process]},
// "results": [{"size", "count", "type", "redop", "root", "out_of_place": {"time" us, "alg_bw",
// "bus_bw", "nwrong"}, "in_place": {...}}]}.
#include "trace/readers/json_pieces.hpp"
#include "trace/readers/nccl/tests_table.hpp"
#include "trace/readers/readers.hpp"

namespace headway {
namespace {

NcclTestsTime time_of(const JsonValue& value) {
  NcclTestsTime time;
  const auto us = value["time"].number();
  if (!us || *us < 0) return time;
  time.time_us = *us;
  time.algorithm_bandwidth = value["alg_bw"].number().value_or(-1);
  time.bus_bandwidth = value["bus_bw"].number().value_or(-1);
  time.checked = value["nwrong"].number().has_value();
  return time;
}

// "    -1" or -1.
bool is_rooted(const JsonValue& root) {
  if (const auto number = root.integer()) return *number >= 0;
  const std::string_view text = root.text().value_or("-1");
  return text.find('-') == std::string_view::npos;
}

}  // namespace

void read_nccl_tests_json(ByteSource& source, Recording& recording) {
  NcclTestsTable table;
  for_each_piece(
      source, JsonShape::document, recording, [&](std::string_view key, const JsonValue& value) {
        if (key == "args") {
          if (!table.op) table.op = operation_of_program(value.text().value_or(""));
        } else if (key == "config") {
          const auto processes = static_cast<std::int64_t>(value["devices"].size());
          const auto threads = value["nthreads"].integer(), gpus = value["ngpus"].integer();
          const auto is_sound = [](std::int64_t number) { return number > 0 && number < 4096; };
          if (processes > 0 && is_sound(threads.value_or(1)) && is_sound(gpus.value_or(1))) {
            table.ranks = processes * threads.value_or(1) * gpus.value_or(1);
          }
        } else if (key == "results") {
          const auto size = value["size"].number(), elements = value["count"].number();
          if (!size || !elements || *size < 0 || *elements < 0) {
            return omit(recording, "rows that could not be read");
          }
          NcclTestsRow row;
          row.size = *size;
          row.elements = *elements;
          row.type = element_type_from(value["type"].text().value_or(""));
          row.reduces = value["redop"].text().value_or("none") != "none";
          row.rooted = is_rooted(value["root"]);
          row.out_of_place = time_of(value["out_of_place"]);
          row.in_place = time_of(value["in_place"]);
          table.rows.push_back(row);
        }
      });
  add_table(table, recording);
}

}  // namespace headway
