// The tables that laws of batches are fitted to, and the files that they are kept in.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "base/document/toml_text.hpp"
#include "base/formatted.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "platform/embedded.hpp"
#include "study/laws/steps_law.hpp"

namespace headway {
namespace {

constexpr std::string_view kPublic = "measurements/steps_to_target.csv";
constexpr std::size_t kMostRows = 100'000;
constexpr std::size_t kMostLaws = 1000;

// The columns that say how far training went, the first that stands there.
constexpr std::string_view kProgress[] = {"steps",         "samples",       "progress_median",
                                          "epochs_median", "progress_mean", "epochs_mean"};

std::optional<std::size_t> first_column(const Csv& table, std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    if (const auto at = table.column(name)) return at;
  }
  return std::nullopt;
}

std::vector<std::string> words_in(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

struct Row {
  StepsPoint point;
  std::string unit;
  std::vector<std::string> rounds;
};

// Of rows of one name those of the last round that lists two batches or more; without one all rows.
StepsSeries series_of(const std::string& name, const std::vector<Row>& rows,
                      const std::string& source) {
  std::set<std::string> rounds;
  for (const Row& row : rows) rounds.insert(row.rounds.begin(), row.rounds.end());
  const auto made = [&](const std::string* round) {
    StepsSeries out{.name = name, .unit = rows.front().unit, .source = source, .points = {}};
    for (const Row& row : rows) {
      const bool in = round == nullptr ||
                      std::find(row.rounds.begin(), row.rounds.end(), *round) != row.rounds.end();
      if (!in) continue;
      out.points.push_back(row.point);
      out.unit = row.unit;
    }
    if (round != nullptr) out.source += ", round " + *round;
    return out;
  };
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    StepsSeries out = made(&*round);
    if (out.points.size() > 1) return out;
  }
  return made(nullptr);
}

}  // namespace

Result<std::vector<StepsSeries>> read_steps_points(const Csv& table) {
  constexpr std::string_view kNames[] = {"name", "benchmark"};
  constexpr std::string_view kBatches[] = {"batch", "global_batch"};
  const auto name = first_column(table, kNames);
  const auto batch = first_column(table, kBatches);
  const auto progress = first_column(table, kProgress);
  const auto unit = table.column("unit"), rounds = table.column("rounds");
  Problems problems;
  const Where head(table.file, table.header_line);
  if (!batch) problems.push_back({head, "has no column batch", Trouble::missing});
  if (!progress) {
    problems.push_back(
        {head, "has no column steps, samples, epochs_median or epochs_mean", Trouble::missing});
  }
  if (table.rows.empty()) problems.push_back({head, "has no rows", Trouble::missing});
  if (table.rows.size() > kMostRows) problems.push_back({head, "has more than 100,000 rows"});
  if (!problems.empty()) return problems;
  const bool steps = table.header[*progress] == "steps";
  std::map<std::string, std::vector<Row>> rows;
  for (const CsvRow& each : table.rows) {
    const auto number = [&](std::size_t column) {
      const std::string& text = each.cells[column];
      const double value = real_number(text).value_or(0);
      if (!(value > 0 && value <= 1e18)) {
        problems.push_back(
            {Where(table.file, each.line, FieldName(table.header[column])),
             "'" + printable(text, 40) + "' is not a number above 0, at most 10^18"});
      }
      return value;
    };
    Row row;
    row.point = {number(*batch), number(*progress)};
    if (steps) row.point.progress *= row.point.batch;
    row.unit = unit ? printable(each.cells[*unit]) : steps ? "samples" : table.header[*progress];
    if (rounds) row.rounds = words_in(printable(each.cells[*rounds], 1000));
    rows[name ? printable(each.cells[*name]) : "points"].push_back(std::move(row));
  }
  if (!problems.empty()) return problems;
  if (rows.size() > kMostLaws) return Problem{head, "has points of more than 1,000 names"};
  const std::string file = printable(table.file.substr(table.file.rfind('/') + 1), 200);
  std::vector<StepsSeries> out;
  for (const auto& [each, of_name] : rows) {
    out.push_back(series_of(each, of_name, "points of " + file));
  }
  return out;
}

Result<std::vector<StepsSeries>> public_steps_points() {
  const auto text = embedded_file(kPublic);
  if (!text) return Problem{"laws", "data/" + std::string(kPublic) + " is missing"};
  const auto table = parse_csv(*text, "data/" + std::string(kPublic));
  if (!table) return table.problems();
  return read_steps_points(*table);
}

std::string to_toml(const std::vector<StepsLaw>& laws, const std::string& date) {
  std::string out =
      "# Progress to a target by the batch, E(B) = progress x (1 + B / critical_batch)\n"
      "# (headway calibrate --steps; docs/laws.md).\n";
  for (const StepsLaw& law : laws) {
    out += "\n[[law]]\nname = " + toml_text(law.name) + "\nunit = " + toml_text(law.unit) +
           "\nprogress = " + shortest_text(law.progress) + "\n";
    if (std::isfinite(law.critical)) {
      out += "critical_batch = " + shortest_text(law.critical) + "\n";
    }
    out += "rms = " + formatted("%.4g", law.rms) + "\npoints = " + std::to_string(law.points) +
           "\nleast_batch = " + shortest_text(law.least_batch) +
           "\nmost_batch = " + shortest_text(law.most_batch) +
           "\nkind = \"fitted\"\ndate = " + toml_text(date) +
           "\nsource = " + toml_text(law.source) + "\n";
  }
  return out;
}

Result<std::vector<StepsLaw>> steps_laws_of(const Document& document) {
  Problems problems;
  Fields root(document, problems);
  std::vector<StepsLaw> out;
  for (Fields& each : root.tables("law")) {
    StepsLaw law;
    const auto above_zero = [&](const char* key, double fallback) {
      const double value = fallback > 0 ? each.number_or(key, fallback) : each.number(key);
      if (!(value > 0 && value <= 1e18)) each.fail(key, "must be above 0, at most 10^18");
      return value;
    };
    law.name = printable(each.text("name"));
    law.unit = printable(each.text_or("unit", "samples"));
    law.progress = above_zero("progress", 0);
    law.critical = each.has("critical_batch") ? above_zero("critical_batch", 0)
                                              : std::numeric_limits<double>::infinity();
    law.rms = each.number_or("rms", 0);
    law.points = static_cast<std::size_t>(each.natural_or("points", 0));
    law.least_batch = above_zero("least_batch", 1e-3);
    law.most_batch = above_zero("most_batch", 1e18);
    law.source = printable(each.text_or("source", "the user's"), 300);
    for (const char* text : {"kind", "date"}) each.text_or(text, "");
    each.reject_unknown();
    out.push_back(std::move(law));
  }
  if (out.empty() && problems.empty()) {
    root.fail("law", "must list the laws, as headway calibrate --steps writes them",
              Trouble::missing);
  }
  root.reject_unknown();
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway
