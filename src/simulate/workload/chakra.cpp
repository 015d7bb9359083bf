// Chakra's protobuf (schema/protobuf/et_def.proto): messages behind their lengths, the metadata
// first.
#include <iterator>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>

#include "simulate/workload/files.hpp"
#include "simulate/workload/groups.hpp"
#include "step/program/group_ranks.hpp"

namespace headway {
namespace {

using protozero::pbf_writer;

// Numbers of fields of Node and AttributeProto.
enum NodeField : protozero::pbf_tag_type {
  kId = 1,
  kName = 2,
  kType = 3,
  kBehind = 4,
  kNeeds = 5,
  kStart = 6,
  kDuration = 7,
  kAttribute = 10
};
enum Value : protozero::pbf_tag_type { kInt32 = 7, kInt64 = 9, kBool = 27, kText = 29 };

// NodeType.
std::int32_t type_of(WorkloadNode::Kind kind) {
  switch (kind) {
    case WorkloadNode::Kind::send:
      return 5;
    case WorkloadNode::Kind::receive:
      return 6;
    case WorkloadNode::Kind::collective:
      return 7;
    default:
      return 4;
  }
}
// CollectiveCommType.
std::int64_t comm_type_of(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::all_gather:
      return 2;
    case CollectiveOp::broadcast:
      return 5;
    case CollectiveOp::all_to_all:
      return 6;
    case CollectiveOp::reduce_scatter:
      return 7;
    default:
      return 0;
  }
}

// ASTRA-sim wants names that are numbers: from 1 on.
std::string name_of(std::size_t group) {
  return std::to_string(group + 1);
}

std::string groups_json(const WorkloadGroups& groups) {
  std::string out = "{";
  const char* separator = "\n";
  for (std::size_t number = 0; number < groups.all().size(); ++number) {
    out += separator;
    out += "  \"" + name_of(number) + "\": [";
    const auto& ranks = groups.ranks(number);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (i > 0) out += ", ";
      out += std::to_string(ranks[i]);
    }
    out += "]";
    separator = ",\n";
  }
  return out + "\n}\n";
}

class TraceOfRank {
 public:
  TraceOfRank(const Workload& workload, const Layout& layout, std::int64_t rank,
              WorkloadGroups& groups)
      : workload_(workload), layout_(layout), rank_(rank), groups_(groups, layout, rank) {}

  std::string write() {
    pbf_writer metadata(message_);
    metadata.add_string(1, "0.0.4");
    end_message();
    const auto stage = static_cast<std::size_t>(stage_of(layout_, rank_));
    std::uint64_t id = 0;
    for (const WorkloadNode& node : workload_.stages[stage]) add(node, ++id);
    return std::move(out_);
  }

 private:
  void end_message() {
    protozero::write_varint(std::back_inserter(out_), message_.size());
    out_ += message_;
    message_.clear();
  }

  template <class Add>
  void attribute(pbf_writer& to, std::string_view name, Add&& value) {
    attribute_.clear();
    pbf_writer writer(attribute_);
    writer.add_string(1, name.data(), name.size());
    value(writer);
    to.add_message(kAttribute, attribute_);
  }
  void number(pbf_writer& to, std::string_view name, std::int64_t value) {
    attribute(to, name, [&](pbf_writer& writer) { writer.add_int64(kInt64, value); });
  }
  void small(pbf_writer& to, std::string_view name, std::int64_t value) {
    attribute(to, name, [&](pbf_writer& writer) {
      writer.add_int32(kInt32, static_cast<std::int32_t>(value));
    });
  }

  void add(const WorkloadNode& node, std::uint64_t id) {
    pbf_writer to(message_);
    to.add_uint64(kId, id);
    to.add_string(kName, workload_.names[node.name]);
    to.add_enum(kType, type_of(node.kind));
    if (node.behind != 0) to.add_packed_uint64(kBehind, &node.behind, &node.behind + 1);
    to.add_packed_uint64(kNeeds, node.needs.begin(), node.needs.end());
    to.add_uint64(kStart, static_cast<std::uint64_t>(node.start_us));
    to.add_uint64(kDuration, static_cast<std::uint64_t>(node.duration_us));
    attribute(to, "is_cpu_op", [&](pbf_writer& writer) {
      writer.add_bool(kBool, node.kind == WorkloadNode::Kind::host);
    });
    if (node.kind == WorkloadNode::Kind::collective) add_collective(node, to);
    const bool sends = node.kind == WorkloadNode::Kind::send;
    if (sends || node.kind == WorkloadNode::Kind::receive) {
      const std::int64_t other = groups_.peer_of(node);
      number(to, "comm_size", size_of(node.bytes));
      small(to, "comm_src", sends ? rank_ : other);
      small(to, "comm_dst", sends ? other : rank_);
      small(to, "comm_tag", node.tag);
    }
    end_message();
  }

  void add_collective(const WorkloadNode& node, pbf_writer& to) {
    const bool gathers = node.op == CollectiveOp::all_gather;
    const double parts = gathers ? static_cast<double>(groups_.ranks(node.group).size()) : 1;
    number(to, "comm_type", comm_type_of(node.op));
    number(to, "comm_size", size_of(node.bytes / parts));
    const std::string name = name_of(groups_.number(node.group));
    attribute(to, "pg_name", [&](pbf_writer& writer) { writer.add_string(kText, name); });
  }

  // ASTRA-sim takes no call without bytes.
  static std::int64_t size_of(Bytes bytes) {
    return std::max<std::int64_t>(1, std::llround(bytes.value()));
  }

  const Workload& workload_;
  const Layout& layout_;
  std::int64_t rank_;
  GroupsOfRank groups_;
  std::string out_, message_, attribute_;
};

}  // namespace

std::int64_t count_nodes(const Workload& workload, const Layout& layout) {
  std::int64_t of_a_pipeline = 0;
  for (const auto& stage : workload.stages) {
    of_a_pipeline += static_cast<std::int64_t>(stage.size());
  }
  return of_a_pipeline * (layout.ranks() / layout.pp);
}

std::vector<WorkloadFile> workload_files(const Workload& workload, const Run& run) {
  WorkloadGroups groups(run);
  std::vector<WorkloadFile> out;
  for (std::int64_t rank = 0; rank < run.layout.ranks(); ++rank) {
    out.push_back({"step." + std::to_string(rank) + ".et",
                   TraceOfRank(workload, run.layout, rank, groups).write()});
  }
  out.push_back({"groups.json", groups_json(groups)});
  return out;
}

}  // namespace headway
