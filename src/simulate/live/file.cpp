#include "simulate/live/file.hpp"

#include <algorithm>
#include <array>

#include "base/document/document.hpp"
#include "base/formatted.hpp"
#include "base/text.hpp"
#include "simulate/live/check.hpp"

namespace headway {
namespace {

using Kind = LiveItem::Kind;

constexpr std::int64_t kMostBytes = 1'000'000'000'000;      // of a call
constexpr std::int64_t kLongestSide = 10'000'000;           // of a product
constexpr std::size_t kMostGroupRanks = 10'000'000;         // of all groups together
constexpr std::size_t kLongestLine = kLargestDocument - 1;  // of JSON
constexpr std::size_t kMostWrong = 20;
constexpr double kLongestCompute = 1e6;  // seconds

void write_item(const LiveItem& item, std::string& out) {
  switch (item.kind) {
    case Kind::call:
      out += "{\"call\": \"" + std::string(to_name(item.op)) +
             "\", \"group\": " + std::to_string(item.group) +
             ", \"bytes\": " + std::to_string(item.bytes) + ", \"type\": \"" +
             std::string(to_name(item.type)) + "\", \"stream\": " +
             (item.stream == kBesideStreams ? "\"beside\"" : std::to_string(item.stream));
      if (is_between_two(item.op) || has_root(item.op)) {
        out += ", \"peer\": " + std::to_string(item.peer);
      }
      if (is_between_two(item.op)) out += ", \"tag\": " + std::to_string(item.tag);
      if (!item.after.empty()) out += ", \"after\": " + json_list(item.after);
      break;
    case Kind::compute:
      out += "{\"compute\": " + shortest_text(item.time.value());
      if (const auto& p = item.product) {
        out += ", \"product\": " + json_list(std::array{p->m, p->n, p->k, p->batch});
      }
      break;
    case Kind::wait:
      out += "{\"wait\": " + std::to_string(item.awaited);
      break;
    case Kind::mark:
      out += std::string("{\"mark\": \"") +
             (item.mark == LiveItem::Mark::step ? "step" : "micro_batch") +
             "\", \"number\": " + std::to_string(item.number);
      break;
  }
  out += "}\n";
}

class ListReader {
 public:
  ListReader(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  Result<LiveList> read() {
    if (read_header()) {
      while (problems_.size() < kMostWrong && next_line()) read_line();
      if (problems_.empty() && list_.ranks.size() != static_cast<std::size_t>(ranks_)) {
        fail("ends behind " + std::to_string(list_.ranks.size()) + " of " + std::to_string(ranks_) +
             " ranks");
      }
    }
    if (!problems_.empty()) return problems_;
    Problems cannot = list_problems(list_);
    for (Problem& problem : cannot) problem.place = Where(file_).place;
    if (!cannot.empty()) return cannot;
    return std::move(list_);
  }

 private:
  void fail(const std::string& what) { problems_.push_back({Where(file_, line_number_), what}); }

  bool next_line() {
    while (!text_.empty()) {
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      line_ = text_.substr(0, end);
      text_.remove_prefix(std::min(end + 1, text_.size()));
      ++line_number_;
      if (line_.size() > kLongestLine) return fail("has a line that is too long"), false;
      if (line_.find_first_not_of(" \t\r") != std::string_view::npos) return true;
    }
    return false;
  }

  // The line as a table, its problems at the line of the file.
  bool parse(Document& out) {
    auto parsed = parse_json(line_, file_);
    if (!parsed) {
      for (Problem problem : parsed.problems()) {
        problem.place.line = line_number_;
        problems_.push_back(std::move(problem));
      }
      return false;
    }
    out = std::move(parsed).value();
    return true;
  }
  void finish(Fields& fields, Problems&& found) {
    fields.reject_unknown();  // adds to them
    for (Problem& problem : found) {
      problem.place.line = line_number_;
      problems_.push_back(std::move(problem));
    }
  }

  bool read_header() {
    Document document;
    if (!next_line()) return fail("is empty: it begins with {\"headway_list\": 1, ...}"), false;
    if (!parse(document)) return false;
    Problems found;
    Fields fields(document, found);
    if (!fields.has("headway_list")) {
      return fail("is no list: it begins with {\"headway_list\": 1, ...}"), false;
    }
    if (const auto version = fields.natural("headway_list"); version != kLiveListVersion) {
      return fail("is of version " + std::to_string(version) + "; this is version " +
                  std::to_string(kLiveListVersion)),
             false;
    }
    ranks_ = fields.count("ranks");
    if (ranks_ > kMostLiveRanks) {
      fields.fail("ranks", "are more than " + std::to_string(kMostLiveRanks));
    }
    list_.source = fields.text_or("source", "");
    std::size_t together = 0;
    for (Fields group : fields.tables("groups")) {
      list_.groups.push_back({group.text_or("name", ""), group.naturals_or_empty("ranks")});
      group.reject_unknown();
      together += list_.groups.back().ranks.size();
    }
    if (together > kMostGroupRanks) fields.fail("groups", "hold too many ranks");
    finish(fields, std::move(found));
    return problems_.empty();
  }

  void read_line() {
    Document document;
    if (!parse(document)) return;
    Problems found;
    Fields fields(document, found);
    if (fields.has("rank")) {
      const std::int64_t rank = fields.natural("rank");
      if (rank != static_cast<std::int64_t>(list_.ranks.size()) || rank >= ranks_) {
        fields.fail("rank", "is not the next one, " + std::to_string(list_.ranks.size()) + " of " +
                                std::to_string(ranks_));
      }
      list_.ranks.emplace_back();
      return finish(fields, std::move(found));
    }
    if (list_.ranks.empty()) return fail("has an item before the first {\"rank\": 0}");
    if (++items_ > kMostLiveItems) {
      line_number_ = 0;
      text_ = {};
      return fail("has more than " + std::to_string(kMostLiveItems) + " items");
    }
    LiveItem item;
    if (fields.has("call")) {
      read_call(document.root, fields, item);
    } else if (fields.has("compute")) {
      read_compute(fields, item);
    } else if (fields.has("wait")) {
      item.kind = Kind::wait;
      item.awaited = static_cast<std::uint32_t>(
          std::min<std::int64_t>(fields.natural("wait"), kMostLiveItems));
    } else {
      item.kind = Kind::mark;
      const std::string mark = fields.text("mark");
      if (mark != "step" && mark != "micro_batch") {
        fields.fail("mark", "is neither step nor micro_batch");
      }
      item.mark = mark == "step" ? LiveItem::Mark::step : LiveItem::Mark::micro_batch;
      item.number = fields.natural_or("number", 0);
    }
    list_.ranks.back().push_back(std::move(item));
    finish(fields, std::move(found));
  }

  static std::int64_t at_most(Fields& fields, std::string_view key, std::int64_t most) {
    const std::int64_t value = fields.natural_or(key, 0);
    if (value <= most) return value;
    fields.fail(key, "is more than " + std::to_string(most));
    return 0;
  }

  void read_call(const Node& root, Fields& fields, LiveItem& item) {
    item.kind = Kind::call;
    const std::string op = fields.text("call");
    const auto row = std::find_if(kOperations.begin(), kOperations.end(),
                                  [&](const OperationRow& each) { return each.name == op; });
    if (row == kOperations.end() || !runs_live(row->op)) {
      fields.fail("call", "is no operation that can be run");
    } else {
      item.op = row->op;
    }
    item.group = static_cast<std::uint32_t>(at_most(fields, "group", kMostLiveItems));
    item.bytes = at_most(fields, "bytes", kMostBytes);
    const std::string type = fields.text_or("type", to_name(ElementType::uint8));
    const auto known = std::find(kElementTypeNames.begin(), kElementTypeNames.end(), type);
    if (known == kElementTypeNames.end()) fields.fail("type", "is no type of elements");
    item.type = known == kElementTypeNames.end()
                    ? ElementType::uint8
                    : static_cast<ElementType>(known - kElementTypeNames.begin());
    const Node* stream = root.find("stream");
    if (stream != nullptr && std::holds_alternative<std::string>(stream->value)) {
      if (fields.text("stream") != "beside") {
        fields.fail("stream", "is no number and not \"beside\"");
      }
      item.stream = kBesideStreams;
    } else {
      item.stream = static_cast<std::int32_t>(at_most(fields, "stream", kMostLiveStreams - 1));
    }
    item.peer = at_most(fields, "peer", kMostLiveRanks);
    item.tag = at_most(fields, "tag", kMostTag);
    for (const std::int64_t other : fields.naturals_or_empty("after")) {
      item.after.push_back(static_cast<std::uint32_t>(std::min(other, kMostLiveItems)));
    }
  }

  void read_compute(Fields& fields, LiveItem& item) {
    const double time = fields.number("compute");
    if (!(time >= 0 && time <= kLongestCompute)) {
      fields.fail("compute", "is no number of seconds from 0 to 1000000");
    } else {
      item.time = Seconds(time);
    }
    if (!fields.has("product")) return;
    const auto sides = fields.naturals_or_empty("product");
    const bool right = sides.size() == 4 && std::all_of(sides.begin(), sides.end(), [](auto side) {
                         return side >= 1 && side <= kLongestSide;
                       });
    if (!right) return fields.fail("product", "is not [m, n, k, batch], each at least 1");
    item.product = {sides[0], sides[1], sides[2], sides[3]};
  }

  static constexpr std::int64_t kMostTag = 2'147'483'647;

  std::string_view text_, line_;
  std::string file_;
  int line_number_ = 0;
  std::int64_t ranks_ = 0, items_ = 0;
  LiveList list_;
  Problems problems_;
};

}  // namespace

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : printable(text, 1000)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string list_text(const LiveList& list) {
  std::string out = "{\"headway_list\": " + std::to_string(kLiveListVersion) +
                    ", \"ranks\": " + std::to_string(list.ranks.size()) +
                    ", \"source\": " + json_text(list.source) + ", \"groups\": [";
  for (std::size_t i = 0; i < list.groups.size(); ++i) {
    out += std::string(i > 0 ? ", " : "") + "{\"name\": " + json_text(list.groups[i].name) +
           ", \"ranks\": " + json_list(list.groups[i].ranks) + "}";
  }
  out += "]}\n";
  for (std::size_t r = 0; r < list.ranks.size(); ++r) {
    out += "{\"rank\": " + std::to_string(r) + "}\n";
    for (const LiveItem& item : list.ranks[r]) write_item(item, out);
  }
  return out;
}

Result<LiveList> read_list(std::string_view text, const std::string& file) {
  return ListReader(text, file).read();
}

}  // namespace headway
