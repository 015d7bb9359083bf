#include "report/comms_expected.hpp"

#include "base/document/csv.hpp"

namespace headway {

std::string expected_csv(const ExpectedCalls& e) {
  std::string out =
      "first_stage,stages,class_ranks,sets_pace,group,op,phase,dtype,ranks,level,bytes,count,"
      "algorithm_bytes,wire_bytes,seconds_each,latency_s,exposed_s,hidden_by,small";
  for (const std::string_view name : kModuleNames) out += ",wire_bytes_" + std::string(name);
  out += '\n';
  for (const ClassTraffic& stage : e.traffic.classes) {
    for (const TrafficCall& call : stage.calls) {
      const std::string level =
          csv_cell(e.run.cluster.levels[static_cast<std::size_t>(call.level)].name);
      for (const std::string& cell :
           {std::to_string(stage.first), std::to_string(stage.stages), std::to_string(stage.ranks),
            std::string(stage.sets_pace ? "true" : "false"), std::string(to_name(call.call.group)),
            std::string(to_name(call.call.op)), std::string(to_name(call.call.phase)),
            std::string(to_name(call.call.dtype)), std::to_string(call.ranks), level,
            csv_number(call.call.bytes.value()), csv_number(call.call.count),
            csv_number(call.algorithm.value()), csv_number(call.wire.value()),
            csv_number(call.each.value()), csv_number(call.latency.value()),
            csv_number(call.exposed.value()), std::string(to_name(call.call.hidden_by))}) {
        out += cell + ",";
      }
      out += call.small ? "true" : "false";
      for (const double share : call.serves) out += "," + csv_number(share * call.wire.value());
      out += '\n';
    }
  }
  return out;
}

}  // namespace headway
