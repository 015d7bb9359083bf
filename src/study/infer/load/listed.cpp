#include "study/infer/load/listed.hpp"

#include <algorithm>
#include <cmath>

#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"

namespace headway {
namespace {

constexpr std::int64_t kMostTokens = 10'000'000;
constexpr std::size_t kMostRequests = 1'000'000, kMostProblems = 20;
constexpr double kLastMoment = 1e9;  // seconds, of 30 years

class RequestReader {
 public:
  RequestReader(const Csv& csv, const ListedColumns& needed, std::int64_t longest)
      : csv_(csv), needed_(needed), longest_(longest) {}

  Result<std::vector<Listed>> read() {
    columns();
    if (!problems_.empty()) return problems_;
    if (csv_.rows.empty()) return Problem{Where(csv_.file), "has no requests"};
    if (csv_.rows.size() > kMostRequests) {
      return Problem{Where(csv_.file), "has more than 1,000,000 requests"};
    }
    std::vector<Listed> out;
    out.reserve(csv_.rows.size());
    for (const CsvRow& row : csv_.rows) {
      out.push_back(request_of(row));
      if (problems_.size() >= kMostProblems) break;
    }
    if (!problems_.empty()) return problems_;
    return out;
  }

 private:
  void columns() {
    const std::vector<std::string> all = {"input_len", "output_len", "arrival_s"};
    std::vector<std::string> must;
    if (needed_.lengths) must = {all[0], all[1]};
    if (needed_.moments) must.push_back(all[2]);
    problems_ = missing_columns(csv_, must);
    for (const std::string& name : csv_.header) {
      if (std::find(all.begin(), all.end(), name) != all.end()) continue;
      problems_.push_back(
          {Where(csv_.file, csv_.header_line),
           "column '" + printable(name) + "' is not of requests" + suggestion(name, all),
           Trouble::unknown});
    }
    input_ = csv_.column(all[0]);
    output_ = csv_.column(all[1]);
    moment_ = csv_.column(all[2]);
    if (input_.has_value() != output_.has_value() && problems_.empty()) {
      problems_ = missing_columns(csv_, {all[0], all[1]});
    }
  }

  void fail(const CsvRow& row, std::string_view column, std::string why) {
    problems_.push_back({Where(csv_.file, row.line, FieldName(column)), std::move(why)});
  }

  std::int64_t length(const CsvRow& row, std::optional<std::size_t> at, std::string_view column) {
    if (!at) return 0;
    const std::optional<std::int64_t> read = whole_number(row.cells[*at]);
    if (read && *read >= 1 && *read <= kMostTokens) return *read;
    fail(row, column,
         "'" + printable(row.cells[*at]) + "' is not a whole number from 1 to " +
             count_text(static_cast<double>(kMostTokens)));
    return 0;
  }

  double moment(const CsvRow& row) {
    if (!moment_) return 0;
    const std::string& cell = row.cells[*moment_];
    const double read = real_number(cell).value_or(-1);
    if (!(read >= 0 && read <= kLastMoment)) {
      fail(row, "arrival_s", "'" + printable(cell) + "' is not a number of seconds from 0 to 1e9");
    } else if (read < last_) {
      fail(row, "arrival_s", "comes before the request of the row above");
    } else {
      last_ = read;
    }
    return read;
  }

  Listed request_of(const CsvRow& row) {
    const Listed out{moment(row), length(row, input_, "input_len"),
                     length(row, output_, "output_len")};
    if (longest_ > 0 && out.input + out.output > longest_) {
      fail(row, "output_len",
           "with the prompt these are " + std::to_string(out.input + out.output) +
               " tokens; the model was made for " + std::to_string(longest_));
    }
    return out;
  }

  const Csv& csv_;
  ListedColumns needed_;
  std::int64_t longest_;
  std::optional<std::size_t> input_, output_, moment_;
  double last_ = 0;
  Problems problems_;
};

}  // namespace

Result<std::vector<Listed>> listed_requests(const Csv& csv, const ListedColumns& needed,
                                            std::int64_t longest) {
  return RequestReader(csv, needed, longest).read();
}

}  // namespace headway
