#include "simulate/collectives/question.hpp"

#include <algorithm>

#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "simulate/topology/file.hpp"
#include "simulate/topology/read.hpp"

namespace headway::network {
namespace {

// Of a port of 400 Gb/s and a message through one switch, where nothing is said.
constexpr std::string_view kBandwidth = "50 GB/s", kLatency = "2 us";
constexpr std::int64_t kMostChunks = 1'000'000;

class Reader {
 public:
  Reader(const CollectiveText& asked, Problems& problems) : asked_(asked), problems_(problems) {}

  Call call() {
    Call out;
    std::string op = lower(asked_.op);
    std::replace(op.begin(), op.end(), '-', '_');
    const auto names = collective_names();
    const auto found = std::find(names.begin(), names.end(), op);
    if (asked_.op.empty()) {
      missing("op");
    } else if (found == names.end()) {
      fail("op", not_known(asked_.op, std::vector<std::string>(names.begin(), names.end())),
           Trouble::unknown);
    } else {
      out.op = static_cast<Collective>(found - names.begin());
    }
    if (asked_.bytes.empty()) return missing("bytes"), out;
    // The field's name says the unit: a bare number is so many bytes.
    const bool bare = whole_number(asked_.bytes).has_value();
    const auto bytes = parse_quantity<Bytes>(asked_.bytes + (bare ? " B" : ""), FieldName("bytes"));
    if (!bytes) return append(problems_, bytes.problems()), out;
    if (*bytes <= Bytes(0)) fail("bytes", "must be greater than zero");
    out.bytes = *bytes;
    return out;
  }

  CollectiveOptions options() {
    CollectiveOptions out{.every_rank = asked_.every_rank};
    if (!asked_.algorithm.empty()) {
      const auto name = algorithm_named(asked_.algorithm);
      if (name) out.algorithm = *name;
      if (!name)
        fail("algorithm", not_known(asked_.algorithm, algorithm_names()), Trouble::unknown);
    }
    out.chunks = static_cast<std::uint32_t>(whole("chunks", asked_.chunks, 1, kMostChunks));
    return out;
  }

  std::optional<Topology> topology(const std::optional<Result<Document>>& file) {
    const auto ranks =
        static_cast<std::uint32_t>(whole("ranks", asked_.ranks, 2, kMostTopologyRanks));
    if (asked_.topology.empty()) return missing("topology"), std::nullopt;
    if (file) return of_file(*file, ranks);
    Speeds speeds;
    const bool bad = !list("bandwidth", asked_.bandwidth, kBandwidth, speeds.bandwidth, 1e-9) ||
                     !list("latency", asked_.latency, kLatency, speeds.latency, 0);
    if (bad) speeds = {{BytesPerSecond(1)}, {Seconds(0)}};
    if (asked_.seed < 0) fail("seed", "is negative");
    // Where ranks are wrong the rest is still looked at.
    const bool wrong = asked_.ranks && ranks == 0;
    auto read = read_topology(asked_.topology, wrong ? 2 : ranks,
                              static_cast<std::uint64_t>(asked_.seed), speeds);
    if (read) return std::move(read).value();
    for (const Problem& each : read.problems()) {
      if (!wrong || each.fields != FieldNames{FieldName("ranks")}) problems_.push_back(each);
    }
    return std::nullopt;
  }

 private:
  void fail(std::string_view field, std::string message, Trouble kind = Trouble::illegal) {
    problems_.push_back({FieldName(field), std::move(message), kind});
  }
  void missing(std::string_view field) { fail(field, "is missing", Trouble::missing); }

  // 0 where it is not given, or wrong.
  std::int64_t whole(std::string_view field, std::optional<std::int64_t> given, std::int64_t least,
                     std::int64_t most) {
    if (!given) return 0;
    if (*given >= least && *given <= most) return *given;
    fail(field, "is " + std::to_string(*given) + "; from " + std::to_string(least) + " to " +
                    std::to_string(most));
    return 0;
  }

  std::optional<Topology> of_file(const Result<Document>& file, std::uint32_t ranks) {
    for (const auto& [field, given] : {std::pair("bandwidth", !asked_.bandwidth.empty()),
                                       std::pair("latency", !asked_.latency.empty())}) {
      if (given) fail(field, "stands in the file of the topology already");
    }
    if (!file) return append(problems_, file.problems()), std::nullopt;
    auto read = read_topology_file(*file);
    if (!read) return append(problems_, read.problems()), std::nullopt;
    if (ranks != 0 && ranks != read->ranks) {
      fail("ranks",
           "are " + std::to_string(ranks) + "; the file has " + std::to_string(read->ranks));
    }
    return std::move(read).value();
  }

  // Quantities between commas, none below `least`.
  template <class Q>
  bool list(std::string_view field, std::string_view given, std::string_view usual,
            std::vector<Q>& into, double least) {
    std::string_view rest = given.empty() ? usual : given;
    const std::size_t before = problems_.size();
    for (;;) {
      const std::size_t comma = rest.find(',');
      std::string_view part = rest.substr(0, comma);
      while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
      const auto value = parse_quantity<Q>(part, FieldName(field));
      if (!value) {
        append(problems_, value.problems());
      } else if (value->value() < least) {
        fail(field, least > 0 ? "must be greater than zero" : "must not be negative");
      } else {
        into.push_back(*value);
      }
      if (comma == rest.npos) return problems_.size() == before;
      rest.remove_prefix(comma + 1);
    }
  }

  const CollectiveText& asked_;
  Problems& problems_;
};

}  // namespace

bool names_topology_file(const std::string& topology) {
  return topology.ends_with(".toml");
}

Result<CollectiveQuestion> read_collective(const CollectiveText& asked,
                                           const std::optional<Result<Document>>& file) {
  Problems problems;
  Reader reader(asked, problems);
  CollectiveQuestion out;
  out.call = reader.call();
  out.options = reader.options();
  auto on = reader.topology(file);
  if (!problems.empty()) return problems;
  out.on = std::move(*on);
  return out;
}

Result<LinksQuestion> read_network_of(const CollectiveText& asked,
                                      const std::optional<Result<Document>>& file) {
  Problems problems;
  Reader reader(asked, problems);
  CollectiveOptions options = reader.options();
  auto on = reader.topology(file);
  if (!problems.empty()) return problems;
  return LinksQuestion{std::move(*on), std::move(options)};
}

}  // namespace headway::network
