// MLCommons Chakra (schema/protobuf/et_def.proto): messages one after the other, each with its
// length before it as a varint; first the metadata, then the nodes.
#include <algorithm>
#include <protozero/pbf_reader.hpp>
#include <utility>

#include "trace/readers/chakra_node.hpp"
#include "trace/readers/readers.hpp"

namespace headway {
namespace {

constexpr std::size_t kLargestNode = 64 * 1024 * 1024;

enum NodeField : protozero::pbf_tag_type {
  kId = 1,
  kName = 2,
  kType = 3,
  kControlNeeds = 4,
  kDataNeeds = 5,
  kStart = 6,
  kDuration = 7,
  kAttribute = 10,
};

struct Attribute {
  std::string name, text;
  std::optional<double> number;
};

// AttributeProto: the name and one value in the field of its type.
Attribute attribute_of(protozero::pbf_reader message) {
  Attribute attribute;
  while (message.next()) {
    const protozero::pbf_tag_type tag = message.tag();
    const protozero::pbf_wire_type type = message.wire_type();
    if (tag == 1 && type == protozero::pbf_wire_type::length_delimited) {
      attribute.name = message.get_string();
    } else if ((tag == 29 || tag == 31) && type == protozero::pbf_wire_type::length_delimited) {
      attribute.text = message.get_string();
    } else if (type == protozero::pbf_wire_type::varint) {
      const bool zigzag = tag == 15 || tag == 17;
      attribute.number = static_cast<double>(zigzag ? message.get_sint64() : message.get_int64());
    } else if (tag == 3 && type == protozero::pbf_wire_type::fixed64) {
      attribute.number = message.get_double();
    } else if (tag == 5 && type == protozero::pbf_wire_type::fixed32) {
      attribute.number = static_cast<double>(message.get_float());
    } else if (type == protozero::pbf_wire_type::fixed64) {
      attribute.number = static_cast<double>(message.get_sfixed64());
    } else if (type == protozero::pbf_wire_type::fixed32) {
      attribute.number = static_cast<double>(message.get_sfixed32());
    } else {
      message.skip();
    }
  }
  return attribute;
}

std::optional<std::int64_t> whole(const std::optional<double>& number) {
  if (!number || !(*number > -9e15 && *number < 9e15)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

ChakraNode node_of(std::string_view bytes) {
  ChakraNode node;
  protozero::pbf_reader message(bytes.data(), bytes.size());
  while (message.next()) {
    const protozero::pbf_wire_type type = message.wire_type();
    const bool varint = type == protozero::pbf_wire_type::varint;
    const bool text = type == protozero::pbf_wire_type::length_delimited;
    const bool needs = message.tag() == kControlNeeds || message.tag() == kDataNeeds;
    if (message.tag() == kId && varint) {
      node.id = message.get_uint64();
    } else if (needs && varint) {
      node.needs.push_back(message.get_uint64());
    } else if (needs && text) {
      for (const std::uint64_t need : message.get_packed_uint64()) node.needs.push_back(need);
    } else if (message.tag() == kName && text) {
      node.name = message.get_string();
    } else if (message.tag() == kType && varint) {
      node.type = message.get_int32();
    } else if (message.tag() == kStart && varint) {
      node.start_us = static_cast<double>(message.get_uint64());
    } else if (message.tag() == kDuration && varint) {
      node.duration_us = static_cast<double>(message.get_uint64());
    } else if (message.tag() == kAttribute && text) {
      const Attribute attribute = attribute_of(message.get_message());
      if (attribute.name == "is_cpu_op" && attribute.number) {
        node.is_cpu_op = *attribute.number != 0;
      }
      if (attribute.name == "comm_type") node.collective = whole(attribute.number);
      if (attribute.name == "comm_size") node.bytes = attribute.number;
      if (attribute.name == "comm_src") node.source = whole(attribute.number);
      if (attribute.name == "comm_dst") node.destination = whole(attribute.number);
      if (attribute.name == "comm_tag") node.tag = whole(attribute.number);
      if (attribute.name == "num_ops") node.work = attribute.number;
      if (attribute.name == "tid" || attribute.name == "stream") {
        node.stream = whole(attribute.number);
      }
      if (attribute.name == "pg_name" || attribute.name == "comm_group") {
        node.group = attribute.text.empty() && attribute.number
                         ? std::to_string(whole(attribute.number).value_or(0))
                         : attribute.text;
      }
    } else {
      message.skip();
    }
  }
  return node;
}

// The next varint; nothing at the end.
std::optional<std::size_t> next_length(ByteSource& source) {
  std::size_t length = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    char byte = 0;
    if (source.read(&byte, 1) == 0) return std::nullopt;
    length |= static_cast<std::size_t>(static_cast<unsigned char>(byte) & 0x7f) << shift;
    if ((static_cast<unsigned char>(byte) & 0x80) == 0) return length;
  }
  return kLargestNode + 1;  // no length at all
}

// Reads a source byte by byte without asking it for every one.
class Buffered : public ByteSource {
 public:
  explicit Buffered(ByteSource& source) : source_(source), buffer_(256 * 1024, '\0') {}
  std::size_t read(char* to, std::size_t most) override {
    if (at_ == end_) {
      end_ = source_.read(buffer_.data(), buffer_.size());
      at_ = 0;
    }
    const std::size_t got = std::min(most, end_ - at_);
    std::copy_n(buffer_.data() + at_, got, to);
    at_ += got;
    return got;
  }
  std::string_view damage() const override { return source_.damage(); }

 private:
  ByteSource& source_;
  std::string buffer_;
  std::size_t at_ = 0, end_ = 0;
};

}  // namespace

void read_chakra(ByteSource& source, Recording& recording) {
  Buffered bytes(source);
  ChakraCalls calls(recording);
  bool metadata = true;
  while (const auto length = next_length(bytes)) {
    if (*length > kLargestNode) {
      // Behind a wrong length nothing can be found again.
      omit(recording, "the rest, behind a damaged length");
      break;
    }
    const std::string message = read_up_to(bytes, *length);
    if (message.size() < *length) {
      omit(recording, "the file ends in the middle");
      break;
    }
    if (std::exchange(metadata, false)) continue;
    try {
      const ChakraNode node = node_of(message);
      ++recording.records_read;
      calls.add(node);
    } catch (const protozero::exception&) {
      omit(recording, "damaged records");
    }
  }
  calls.finish();
  if (!bytes.damage().empty()) omit(recording, bytes.damage());
}

}  // namespace headway
