// Chakra nodes as JSON: {"workload_graph": [{"Id", "Name", "NodeType", "runtime" us, "comm_type",
// "comm_size", "is_cpu_op", "pg_name", ...}]}.
#include "trace/readers/chakra_node.hpp"
#include "trace/readers/json_pieces.hpp"
#include "trace/readers/readers.hpp"

namespace headway {

void read_chakra_json(ByteSource& source, Recording& recording) {
  ChakraCalls calls(recording);
  for_each_piece(
      source, JsonShape::document, recording, [&](std::string_view, const JsonValue& value) {
        const auto type = value["NodeType"].integer();
        if (!type) return;
        ChakraNode node;
        node.type = *type;
        node.id = static_cast<std::uint64_t>(value["Id"].integer().value_or(0));
        node.name = value["Name"].text().value_or("");
        for (const char* needs : {"data_deps", "ctrl_deps"}) {
          value[needs].each([&](const JsonValue& need) {
            if (const auto id = need.integer()) {
              node.needs.push_back(static_cast<std::uint64_t>(*id));
            }
          });
        }
        node.tag = value["comm_tag"].integer();
        node.work = value["num_ops"].number();
        if (value["is_cpu_op"].present()) {
          node.is_cpu_op = value["is_cpu_op"].is_true() || value["is_cpu_op"].integer() == 1;
        }
        node.collective = value["comm_type"].integer();
        node.bytes = value["comm_size"].number();
        node.duration_us = value["runtime"].number();
        node.source = value["comm_src"].integer();
        node.destination = value["comm_dst"].integer();
        node.group = value["pg_name"].text().value_or("");
        calls.add(node);
      });
  calls.finish();
}

}  // namespace headway
