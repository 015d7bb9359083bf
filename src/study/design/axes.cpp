#include "study/design/axes.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "base/whole_number.hpp"

namespace headway {
namespace {

constexpr std::int64_t kMostValues = 200;

const AxisRow* row_named(std::string_view name) {
  // The usual name of the memories beside accelerators.
  const std::string_view known = name == "hbm" ? "memory" : name;
  for (const AxisRow& row : axis_rows()) {
    if (row.name == known) return &row;
  }
  return nullptr;
}

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (c == by) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

class AxesReader {
 public:
  /// Null: what it means for one is not asked.
  explicit AxesReader(const DesignWorkload* workload) : workload_(workload) {}

  Result<std::vector<DesignAxis>> read(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) read(text);
    if (workload_ != nullptr) {
      for (const DesignAxis& axis : axes_) check(axis);
    }
    check_together();
    if (!problems_.empty()) return problems_;
    return std::move(axes_);
  }

 private:
  void fail(std::string why, Trouble kind = Trouble::illegal) {
    problems_.push_back({FieldName("vary"), std::move(why), kind});
  }
  const DesignAxis* given(std::string_view name) const {
    for (const DesignAxis& axis : axes_) {
      if (axis.row->name == name) return &axis;
    }
    return nullptr;
  }

  void read(const std::string& text) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const AxisRow* row = row_named(name);
    if (row == nullptr) {
      std::vector<std::string> names;
      for (const AxisRow& each : axis_rows()) names.emplace_back(each.name);
      return fail(not_known(name, names), Trouble::unknown);
    }
    if (equals == std::string::npos || equals + 1 == text.size()) {
      return fail(name + " has no values, as " + name +
                      (row->is_number() ? "=FROM..TO:COUNT or " : "=") + "A,B",
                  Trouble::malformed);
    }
    if (given(row->name) != nullptr) return fail(name + " stands twice");
    DesignAxis axis{row, {}};
    const std::string values = text.substr(equals + 1);
    const std::size_t dots = values.find("..");
    if (dots != std::string::npos && row->is_number()) {
      read_range(values, dots, axis);
    } else {
      for (const std::string& value : split(values, ',')) {
        if (const auto number = number_of(value, *row)) axis.values.push_back({value, *number});
      }
    }
    std::set<double> seen;
    for (const AxisValue& value : axis.values) {
      if (!seen.insert(value.number).second) fail(name + " has '" + value.text + "' twice");
    }
    axes_.push_back(std::move(axis));
  }

  std::optional<double> number_of(const std::string& text, const AxisRow& row) {
    const auto read = row.read(text, Where(FieldName("vary", std::string(row.name))));
    if (read) return *read;
    for (Problem problem : read.problems()) {
      problem.fields = {FieldName("vary")};
      problem.message = std::string(row.name) + ": " + problem.message;
      problems_.push_back(std::move(problem));
    }
    return std::nullopt;
  }

  // "1TB/s..16TB/s:9", each as many times the one before.
  void read_range(const std::string& text, std::size_t dots, DesignAxis& axis) {
    const AxisRow& row = *axis.row;
    const std::size_t colon = text.rfind(':');
    const auto count = colon != std::string::npos && colon > dots
                           ? whole_number(text.substr(colon + 1))
                           : std::nullopt;
    if (!count || *count < 2 || *count > kMostValues) {
      return fail(std::string(row.name) + ": '" + text +
                      "' must end in how many values, :2 to :" + std::to_string(kMostValues),
                  Trouble::malformed);
    }
    const auto first = number_of(text.substr(0, dots), row);
    const auto last = number_of(text.substr(dots + 2, colon - dots - 2), row);
    if (!first || !last) return;
    if (!(*last > *first)) return fail(std::string(row.name) + ": '" + text + "' must go upwards");
    for (std::int64_t i = 0; i < *count; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(*count - 1);
      double number = i + 1 == *count ? *last : *first * std::pow(*last / *first, share);
      if (row.whole) number = std::round(number);
      if (!axis.values.empty() && number == axis.values.back().number) continue;
      axis.values.push_back({row.write(number), number});
    }
  }

  // Whether the axis means anything on this machine, for this workload.
  void check(const DesignAxis& axis) {
    const auto& known = technologies();
    if (!known) return append(problems_, known.problems());
    const Cluster& base = workload_->base;
    const std::string name(axis.row->name);
    const MachineParts* parts = parts_of(*known, base.accelerator);
    const bool of_parts = name == "memory" || name == "units" || name == "memory-energy" ||
                          axis.row->of == AxisOf::power;
    if (parts == nullptr && (of_parts || axis.row->needs_dies)) {
      return fail(name + ": what " + base.accelerator.name +
                      " is made of is not known, as it is of the accelerators that headway list "
                      "accelerators has; bandwidth, capacity and peak can be varied",
                  Trouble::unsupported);
    }
    if (axis.row->needs_dies && !parts->dies) {
      return fail(name + ": the logic dies of " + base.accelerator.name +
                      " are of two kinds, or of an area or a node that nobody states; peak can be "
                      "varied",
                  Trouble::unsupported);
    }
    if (name == "memory") check_on_die(axis, *parts, *known);
    if (axis.row->of == AxisOf::link && workload_->accelerators == 1) {
      fail(name + ": one accelerator has no links to others");
    }
    if (axis.row->of == AxisOf::network || name == "domain") check_network(axis);
    const std::size_t level = axis.row->of == AxisOf::network ? 1 : 0;
    if ((name == "link-energy" || name == "network-energy") && level < base.levels.size() &&
        technology_of(base.levels[level], *known) == nullptr) {
      fail(name + ": what a bit takes now is not known of " + base.levels[level].network,
           Trouble::unsupported);
    }
  }

  void check_on_die(const DesignAxis& axis, const MachineParts& parts, const Technologies& known) {
    for (const AxisValue& value : axis.values) {
      const MemoryTechnology& memory = known.memories[static_cast<std::size_t>(value.number)];
      if (!memory.on_die()) continue;
      if (!parts.dies) {
        fail("memory: " + memory.name + " needs the area of the logic dies, which is not known");
      }
      if (given("units") != nullptr) {
        fail("memory: " + memory.name + " has no units to vary; its area is the cache's");
      }
    }
  }

  void check_network(const DesignAxis& axis) {
    const Cluster& base = workload_->base;
    const std::string name(axis.row->name);
    if (base.levels.size() < 2)
      return fail(name + ": " + base.name + " has no network beyond links");
    if (name == "domain") {
      if (base.levels.front().topology != Topology::switched) {
        fail("domain: the links of " + base.name +
             " go from one accelerator to the next: only switches can join another number");
      }
      for (const AxisValue& value : axis.values) {
        if (value.number < 2) fail("domain: must be at least 2");
      }
      return check_domain(axis);
    }
    double least = static_cast<double>(base.levels.front().size);
    if (const DesignAxis* domain = given("domain")) {
      for (const AxisValue& value : domain->values) least = std::min(least, value.number);
    }
    if (static_cast<double>(workload_->accelerators) <= least) {
      fail(name + ": " + std::to_string(workload_->accelerators) +
           " accelerators lie in one domain of links; no network is crossed");
    }
  }

  // Where all lie in one domain as it is and in each that is asked for, none is another machine.
  void check_domain(const DesignAxis& axis) {
    const auto all = static_cast<double>(workload_->accelerators);
    const bool holds_all = static_cast<double>(workload_->base.levels.front().size) >= all &&
                           std::all_of(axis.values.begin(), axis.values.end(),
                                       [&](const AxisValue& value) { return value.number >= all; });
    if (!holds_all || axis.values.empty()) return;
    fail("domain: " + std::to_string(workload_->accelerators) +
         " accelerators lie in one domain of " +
         std::to_string(workload_->base.levels.front().size) +
         " as it is, and in each of these: nothing changes");
  }

  void check_together() {
    if (axes_.empty() && problems_.empty()) fail("is missing: what to vary", Trouble::missing);
    if (given("peak") != nullptr && given("power") != nullptr) {
      fail("peak and power: each decides the other");
    }
    std::size_t combinations = 1;
    for (const DesignAxis& axis : axes_) {
      combinations *= std::max<std::size_t>(1, axis.values.size());
      if (combinations > 1'000'000'000) break;
    }
    if (combinations > kMostCombinations) {
      fail("makes " + std::to_string(combinations) + " combinations, of at most " +
           std::to_string(kMostCombinations));
    }
  }

  const DesignWorkload* workload_;
  std::vector<DesignAxis> axes_;
  Problems problems_;
};

}  // namespace

Result<std::vector<DesignAxis>> read_axes(const std::vector<std::string>& texts,
                                          const DesignWorkload& workload) {
  return AxesReader(&workload).read(texts);
}

Problems problems_of_axes(const std::vector<std::string>& texts) {
  const auto read = AxesReader(nullptr).read(texts);
  return read ? Problems{} : read.problems();
}

}  // namespace headway
