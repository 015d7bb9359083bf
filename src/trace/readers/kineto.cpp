// The PyTorch profiler's trace: {"traceEvents": [{"ph": "X", "cat": "kernel", "name": ..., "ts":
// us, "dur": us, "args": {...}}, ...], "distributedInfo": {...}, "baseTimeNanoseconds": ...}. Most
// events say nothing about communication; they are told by their first fields and not parsed.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "base/whole_number.hpp"
#include "trace/readers/json_pieces.hpp"
#include "trace/readers/kineto_events.hpp"
#include "trace/readers/readers.hpp"
#include "trace/readers/text_fields.hpp"
#include "trace/recording/kernel_names.hpp"

namespace headway {
namespace {

// The fields that stand at the head of an event, before anything that is no text.
struct Head {
  std::string_view category, name;
};

// A field at the head of an event: goes over the space before it, takes a text in quotes.
std::optional<std::string_view> quoted_at(std::string_view event, std::size_t& at) {
  const auto is_between = [](char c) {
    return c == ' ' || c == '\n' || c == ',' || c == ':' || c == '\t' || c == '\r';
  };
  while (at < event.size() && is_between(event[at])) ++at;
  if (at >= event.size() || event[at] != '"') return std::nullopt;
  const std::size_t end = event.find('"', at + 1);
  if (end == std::string_view::npos || event[end - 1] == '\\') return std::nullopt;
  const std::string_view text = event.substr(at + 1, end - at - 1);
  at = end + 1;
  return text;
}

Head head_of(std::string_view event) {
  Head head;
  for (std::size_t at = 1; head.category.empty() || head.name.empty();) {
    const auto key = quoted_at(event, at);
    const auto value = key ? quoted_at(event, at) : std::nullopt;
    if (!value) break;
    if (*key == "cat") head.category = *value;
    if (*key == "name") head.name = *value;
  }
  return head;
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool is_host_op(std::string_view name) {
  for (const std::string_view start : {"c10d::", "record_param_comms", "nccl:", "rccl:", "gloo:",
                                       "mpi:", "ucc:", "xccl:", "hccl:"}) {
    if (name.starts_with(start)) return true;
  }
  return false;
}

// The number of a range by which a program names its own steps: "step 3", "## Step 3 ##".
std::optional<std::int64_t> named_step(std::string_view name) {
  constexpr std::string_view kWord = "step", kAround = " #_";
  const auto strip = [&] {
    while (!name.empty() && kAround.find(name.front()) != kAround.npos) name.remove_prefix(1);
  };
  while (!name.empty() && kAround.find(name.back()) != kAround.npos) name.remove_suffix(1);
  strip();
  if (name.size() <= kWord.size()) return std::nullopt;
  for (std::size_t i = 0; i < kWord.size(); ++i) {
    if ((name[i] | 0x20) != kWord[i]) return std::nullopt;
  }
  name.remove_prefix(kWord.size());
  strip();
  const auto number = whole_number(name);
  return number && *number >= 0 ? number : std::nullopt;
}

enum class Kind { nothing, kernel, launch, host_op, step, named_step, product };

// Categories in the words of 2020 ("Kernel", "Runtime", "Operator") and of today.
Kind kind_of(std::string_view category, std::string_view name) {
  if (is_one_of(category, {"kernel", "Kernel"})) return Kind::kernel;
  if (is_one_of(category, {"cuda_runtime", "cuda_driver", "hip_runtime", "Runtime"})) {
    return name.find("aunch") != std::string_view::npos ? Kind::launch : Kind::nothing;
  }
  if (is_one_of(category, {"cpu_op", "user_annotation", "Operator"})) {
    if (name.starts_with("ProfilerStep#")) return Kind::step;
    if (is_one_of(name, {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm"})) {
      return Kind::product;
    }
    if (category == "user_annotation" && named_step(name)) return Kind::named_step;
    return is_host_op(name) ? Kind::host_op : Kind::nothing;
  }
  return Kind::nothing;
}

std::uint64_t thread_of(std::int64_t process, std::int64_t thread) {
  return static_cast<std::uint64_t>(process) * 0x9e3779b97f4a7c15u +
         static_cast<std::uint64_t>(thread);
}

// A launch as the profiler writes it, every second event of some traces: numbers under their keys,
// nothing nested but "args". Nothing where the event looks otherwise, and has to be parsed.
std::optional<KinetoLaunch> launch_of(std::string_view event) {
  std::optional<std::int64_t> correlation, at_ns, process, thread;
  for (std::size_t at = 1; !correlation || !at_ns || !process || !thread;) {
    at = event.find('"', at);
    const std::size_t end = at == std::string_view::npos ? at : event.find('"', at + 1);
    if (end == std::string_view::npos || event[end - 1] == '\\') return std::nullopt;
    const std::string_view key = event.substr(at + 1, end - at - 1);
    at = end + 1;
    while (at < event.size() && (event[at] == ' ' || event[at] == ':')) ++at;
    if (at < event.size() && event[at] == '"') {  // a text: go over it
      at = event.find('"', at + 1);
      if (at == std::string_view::npos || event[at - 1] == '\\') return std::nullopt;
      ++at;
      continue;
    }
    const char *begin = event.data() + at, *limit = event.data() + event.size();
    if (key == "ts") {
      double us = 0;
      const auto read = std::from_chars(begin, limit, us);
      if (read.ec != std::errc() || !(std::abs(us) < 9e15)) return std::nullopt;
      at_ns = nanoseconds(us);
      if (!at_ns) return std::nullopt;
    } else if (key == "correlation" || key == "pid" || key == "tid") {
      std::int64_t number = 0;
      if (std::from_chars(begin, limit, number).ec != std::errc()) return std::nullopt;
      (key == "pid" ? process : key == "tid" ? thread : correlation) = number;
    }
  }
  return KinetoLaunch{*correlation, *at_ns, thread_of(*process, *thread)};
}

// What an event is by its head: nothing (of no interest), a launch, or to be parsed (no value). One
// with more than two opening braces has perhaps swallowed others for want of a quote: that must be
// seen.
std::optional<Kind> told_by_head(std::string_view event) {
  const Head head = head_of(event);
  if (head.category.empty() || head.name.empty()) return std::nullopt;
  const Kind kind = kind_of(head.category, head.name);
  if (kind != Kind::nothing && kind != Kind::launch) return std::nullopt;
  if (std::count(event.begin(), event.end(), '{') > 2) return std::nullopt;
  return kind;
}

// Elements in the tensors whose shapes `dims` lists: [384], or [[384], [2, 3]].
double elements_in(const JsonValue& dims, int depth = 0) {
  if (depth > 4) return -1;
  double product = 1, sum = 0;
  bool nested = false, known = true;
  dims.each([&](const JsonValue& entry) {
    if (entry.is_array()) {
      nested = true;
      const double inside = elements_in(entry, depth + 1);
      known = known && inside >= 0;
      sum += inside;
    } else if (const auto length = entry.number()) {
      product *= *length;
    }
  });
  if (!known) return -1;
  return nested ? sum : product;
}

std::vector<std::int64_t> ranks_in(std::string_view text) {
  std::vector<std::int64_t> ranks;
  if (text.find("...") != std::string_view::npos) return ranks;  // PyTorch shortens long lists
  std::int64_t number = -1;
  for (const char c : text) {
    if (c >= '0' && c <= '9' && number < (std::int64_t{1} << 40)) {
      number = std::max<std::int64_t>(number, 0) * 10 + (c - '0');
    } else if (number >= 0) {
      ranks.push_back(number);
      number = -1;
    }
  }
  return ranks;
}

class KinetoReader {
 public:
  KinetoReader(ByteSource& source, Recording& recording)
      : stream_(source, JsonShape::document), recording_(recording) {
    rank_index(recording_, recording_.source);
    recording_.whole_of_rank = true;
  }

  void read() {
    JsonPiece piece;
    while (stream_.next(piece)) {
      const bool event = piece.element && (piece.key == "traceEvents" || piece.key.empty());
      if (event && was_told_by_head(piece.text)) {
        ++recording_.records_read;
        continue;
      }
      const JsonValue value = parser_.parse(piece.text);
      if (!value.present()) {
        stream_.reject();
      } else if (event) {
        ++recording_.records_read;
        add_event(value);
      } else {
        add_member(piece.key, value);
      }
    }
    note_damage(stream_, recording_);
    finish();
  }

 private:
  bool was_told_by_head(std::string_view event) {
    const auto kind = told_by_head(event);
    if (!kind || *kind == Kind::nothing) return kind.has_value();
    const auto launch = launch_of(event);
    if (launch) events_.launches.push_back(*launch);
    return launch.has_value();
  }

  void add_member(std::string_view key, const JsonValue& value) {
    if (key == "baseTimeNanoseconds") base_ns_ = value.integer().value_or(0);
    if (key != "distributedInfo") return;
    RecordedRank& rank = recording_.ranks.front();
    rank.number = value["rank"].integer();
    rank.world_size = value["world_size"].integer();
    if (rank.number) rank.label = "rank " + std::to_string(*rank.number);
    value["pg_config"].each([&](const JsonValue& config) {
      const auto name = config["pg_name"].text();
      if (!name) return;
      const std::uint32_t index = group_index(recording_, *name, config["pg_size"].integer());
      RecordedGroup& group = recording_.groups[index];
      auto& own = events_.own_groups;
      if (std::find(own.begin(), own.end(), index) == own.end() && own.size() < kMostGroups) {
        own.push_back(index);
      }
      if (const auto text = config["pg_desc"].text()) group.description = *text;
      if (!group.ranks.empty()) return;
      config["ranks"].each([&](const JsonValue& number) {
        if (const auto member = number.integer()) group.ranks.push_back(*member);
      });
    });
  }

  void add_event(const JsonValue& event) {
    const std::string_view name = event["name"].text().value_or("");
    const Kind kind = kind_of(event["cat"].text().value_or(""), name);
    if (kind == Kind::nothing || event["ph"].text() != "X") return;
    const auto start = event["ts"].microseconds_as_ns();
    const auto duration = event["dur"].microseconds_as_ns();
    if (!start || !duration || *duration < 0) {
      omit(recording_, "events without a time");
      return;
    }
    const JsonValue args = event["args"];
    if (kind == Kind::kernel) return add_kernel(name, args, *start, *duration);
    if (kind == Kind::step) {
      ++recording_.marked_steps;
      const std::string_view text = name.substr(std::min(name.find('#'), name.size() - 1) + 1);
      const auto number = to_number<std::int64_t>(text);
      recording_.steps.push_back(
          {0, number.value_or(recording_.marked_steps - 1), *start, *duration});
      return;
    }
    if (kind == Kind::named_step) {
      named_steps_.push_back({0, *named_step(name), *start, *duration});
      return;
    }
    if (kind == Kind::product) return products_.add(name, args);
    const std::uint64_t thread =
        thread_of(event["pid"].integer().value_or(0), event["tid"].integer().value_or(0));
    if (kind == Kind::launch) {
      const auto correlation = args["correlation"].integer();
      if (correlation) events_.launches.push_back({*correlation, *start, thread});
      return;
    }
    add_host_op(name, args, thread, *start, *duration);
  }

  void add_kernel(std::string_view name, const JsonValue& args, std::int64_t start,
                  std::int64_t duration) {
    ++kernels_;
    const JsonValue collective = args["Collective name"];
    const auto op = seen_.op_of(name);
    const auto stream = args["stream"].integer();
    if (!op && !collective.present()) {
      RecordedCompute compute{0, static_cast<std::int32_t>(stream.value_or(0)), start, duration};
      compute.name = products_.name_of(name, recording_);
      products_.launched(recording_.compute.size(), args);
      recording_.compute.push_back(compute);
      return;
    }
    KinetoKernel kernel;
    kernel.op = op.value_or(Operation::other);
    kernel.start_ns = start;
    kernel.duration_ns = duration;
    kernel.stream = stream;
    kernel.correlation = args["correlation"].integer();
    kernel.external_id = args["External id"].integer();
    if (collective.present()) kernel.comms = comms_of(args);
    kernel.described = kernel.comms.op.has_value();
    events_.kernels.push_back(kernel);
  }

  void add_host_op(std::string_view name, const JsonValue& args, std::uint64_t thread,
                   std::int64_t start, std::int64_t duration) {
    KinetoHostOp op;
    op.thread = thread;
    op.start_ns = start;
    op.duration_ns = duration;
    op.external_id = args["External id"].integer();
    op.record = args["Record function id"].integer();
    const JsonValue dims = args["Input Dims"], types = args["Input type"];
    if (name == "record_param_comms") {
      op.kind = KinetoHostOp::Kind::parameters;
      op.comms = comms_of(args);
    } else {
      op.kind =
          name.starts_with("c10d::") ? KinetoHostOp::Kind::entry : KinetoHostOp::Kind::annotation;
      op.on_host = name.starts_with("gloo:") || name.starts_with("mpi:");
      op.comms.op = operation_from(name.substr(std::min(name.find(':'), name.size())));
    }
    const auto first_type = element_type_from(types.at(0).text().value_or(""));
    if (first_type) {
      if (!op.comms.type) op.comms.type = first_type;
      const bool two_buffers = op.kind == KinetoHostOp::Kind::entry && dims.size() >= 2 &&
                               element_type_from(types.at(1).text().value_or("")).has_value();
      if (two_buffers) {  // c10d's operations on plain tensors: output, then input
        op.comms.output_elements = elements_in(dims.at(0));
        op.comms.input_elements = elements_in(dims.at(1));
      } else if (op.comms.input_elements < 0 && dims.at(0).is_array()) {
        // A backend of the host lists its tensors, others the arguments.
        op.comms.input_elements = elements_in(op.on_host ? dims : dims.at(0));
      }
    }
    if (op.kind == KinetoHostOp::Kind::entry) op.comms.peer = other_end(args, op.comms.op);
    events_.host_ops.push_back(op);
  }

  // The first number among the arguments behind the tensors and the group: the root, or the other
  // end of a send or receive, within the group.
  std::optional<std::int64_t> other_end(const JsonValue& args, std::optional<Operation> op) {
    constexpr Operation kOnes[] = {Operation::broadcast, Operation::reduce, Operation::gather,
                                   Operation::scatter,   Operation::send,   Operation::receive};
    if (!op || std::find(std::begin(kOnes), std::end(kOnes), *op) == std::end(kOnes)) return {};
    std::optional<std::int64_t> found;
    args["Concrete Inputs"].each([&](const JsonValue& input) {
      if (!found) found = to_number<std::int64_t>(input.text().value_or(""));
    });
    return found;
  }

  KinetoComms comms_of(const JsonValue& args) {
    KinetoComms comms;
    comms.op = operation_from(args["Collective name"].text().value_or(""));
    if (!comms.op) return comms;  // "wait", "init"
    comms.type = element_type_from(args["dtype"].text().value_or(""));
    comms.input_elements = args["In msg nelems"].number().value_or(-1);
    comms.output_elements = args["Out msg nelems"].number().value_or(-1);
    comms.sequence = args["Seq"].integer();
    const auto peer = comms.op == Operation::receive ? args["Src Rank"] : args["Dst Rank"];
    comms.peer = peer.integer();
    const auto group_name = args["Process Group Name"].text();
    const auto size = args["Group size"].integer();
    const bool names_group = group_name && !group_name->empty();
    if (names_group || (size && *size > 0)) {
      comms.group = names_group ? group_index(recording_, *group_name, size)
                                : unnamed_group_index(recording_, *size);
      RecordedGroup& group = recording_.groups[*comms.group];
      if (const auto text = args["Process Group Description"].text()) group.description = *text;
      if (group.ranks.empty()) {
        group.ranks = ranks_in(args["Process Group Ranks"].text().value_or(""));
      }
    }
    return comms;
  }

  void finish() {
    products_.join(recording_);
    join_kineto(std::move(events_), recording_);
    seen_.note(recording_);
    if (kernels_ == 0) leave_unsaid(recording_, "no GPU kernel in the trace");
    if (recording_.calls.empty()) leave_unsaid(recording_, "no communication in the trace");
    // The profiler's own marks go before those that the program made.
    if (recording_.marked_steps == 0) {
      recording_.steps = std::move(named_steps_);
      std::set<std::int64_t> numbers;
      for (const RecordedStep& step : recording_.steps) numbers.insert(step.number);
      recording_.marked_steps = static_cast<std::int64_t>(numbers.size());
    }
    for (RecordedCall& call : recording_.calls) shift(*call.start_ns);
    for (RecordedCompute& compute : recording_.compute) shift(compute.start_ns);
    for (RecordedStep& step : recording_.steps) shift(step.start_ns);
  }

  // Times count from the base since 2024; nothing overflows: what does not fit stays as it is.
  void shift(std::int64_t& time) const {
    std::int64_t shifted = 0;
    if (!__builtin_add_overflow(time, base_ns_, &shifted)) time = shifted;
  }

  static constexpr std::size_t kMostGroups = 4096;

  std::vector<RecordedStep> named_steps_;
  JsonStream stream_;
  JsonParser parser_;
  Recording& recording_;
  KinetoEvents events_;
  SeenKernels seen_;
  KinetoProducts products_;
  std::int64_t base_ns_ = 0;
  std::int64_t kernels_ = 0;
};

}  // namespace

void read_kineto(ByteSource& source, Recording& recording) {
  KinetoReader(source, recording).read();
}

}  // namespace headway
