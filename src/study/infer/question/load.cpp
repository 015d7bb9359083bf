// How many requests, how long and when.
#include <algorithm>

#include "base/document/csv.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "platform/files.hpp"
#include "study/infer/load/listed.hpp"
#include "study/infer/question/parts.hpp"

namespace headway {
namespace {

constexpr std::size_t kLargestList = std::size_t{64} << 20;  // bytes

class LoadReader {
 public:
  LoadReader(RequestReader& in, Problems& problems, const ServingAsked& asked,
             const ServingFiles& files, std::int64_t longest, std::int64_t copies)
      : in_(in), problems_(problems), asked_(asked), files_(files), longest_(longest) {
    // Copies take turns.
    out_.rate = asked.rate.value_or(0) / static_cast<double>(std::max<std::int64_t>(1, copies));
  }

  Load read() {
    const bool alike = asked_.batch || asked_.curve == CurveOf::batch;
    for (const char* drawn :
         {"ttft", "tpot", "goodput", "count", "prefix-hit", "input-spread", "output-spread"}) {
      if (!alike || !in_.has(drawn)) continue;
      in_.fail(drawn, "is of clients and rates: all sequences of a batch take as long");
    }
    for (const char* queued : {"step-sequences", "prompts", "admit"}) {
      if (!alike || !in_.has(queued)) continue;
      in_.fail(queued, "is of clients and rates: a batch starts and ends together");
    }
    limits();
    lengths();
    amount();
    out_.count = asked_.count.value_or(0);
    out_.prefix_hit = asked_.prefix_hit.value_or(0);
    return out_;
  }

 private:
  // "uniform:0.8", "normal:0.3", "log-normal:1.2".
  LengthSpread spread(std::string_view option, const std::optional<std::string>& text) {
    if (!text) return {};
    const std::size_t colon = std::min(text->find(':'), text->size());
    const std::string kind = text->substr(0, colon);
    const std::string_view number =
        std::string_view(*text).substr(std::min(colon + 1, text->size()));
    const double of = real_number(number).value_or(-1);
    if (kind == "uniform" && of >= 0 && of <= 1) return {LengthSpread::Kind::share, of};
    if (kind == "normal" && of >= 0 && of <= 1) return {LengthSpread::Kind::normal, of};
    if (kind == "log-normal" && of >= 0 && of <= 10) {
      return {LengthSpread::Kind::log_normal, of};
    }
    in_.fail(option, "'" + printable(*text) +
                         "' is not as uniform:0.8 (evenly from this share up, 0 to 1), normal:0.3 "
                         "or log-normal:1.2 (deviation over mean, 0 to 1 and to 10)");
    return {};
  }

  // Options that name files of this machine are no fields: problems of theirs stand by themselves.
  void fail(std::string_view option, std::string why) {
    problems_.push_back({FieldName(option), std::move(why)});
  }

  // A file, where it can be read.
  void list(const std::string& path, std::string_view option, const ListedColumns& needed) {
    if (path.empty()) return;
    if (asked_.batch || asked_.best || asked_.curve) {
      fail(option, "is of clients, of rates and of its own moments");
    }
    unread_ = true;  // until it is
    const auto text = read_file(path, kLargestList);
    if (!text) return append(problems_, text.problems());
    const auto csv = parse_csv(*text, path);
    if (!csv) return append(problems_, csv.problems());
    auto listed = listed_requests(*csv, needed, longest_);
    if (!listed) return append(problems_, listed.problems());
    unread_ = false;
    timed_ = timed_ || csv->column("arrival_s").has_value();
    if (listed->front().input > 0) mean_lengths(*listed);
    out_.listed = std::make_shared<const std::vector<Listed>>(std::move(*listed));
  }
  void mean_lengths(const std::vector<Listed>& listed) {
    double input = 0, output = 0;
    for (const Listed& each : listed) {
      input += static_cast<double>(each.input);
      output += static_cast<double>(each.output);
    }
    const double count = static_cast<double>(listed.size());
    out_.input = std::max<std::int64_t>(1, static_cast<std::int64_t>(input / count + 0.5));
    out_.output = std::max<std::int64_t>(1, static_cast<std::int64_t>(output / count + 0.5));
    listed_lengths_ = true;
  }

  void lengths() {
    out_.input = asked_.input.value_or(1);
    out_.output = asked_.output.value_or(1);
    out_.longest = longest_;
    out_.input_spread = spread("input-spread", asked_.input_spread);
    out_.output_spread = spread("output-spread", asked_.output_spread);
    if (!files_.requests.empty() && !files_.arrivals.empty()) {
      fail("arrivals", "stand in the file of requests, in its column arrival_s");
    }
    list(files_.requests, "requests", {});
    list(files_.arrivals, "arrivals", {.lengths = false, .moments = true});
    const bool of_file = !files_.requests.empty() || listed_lengths_;
    for (const char* length : {"input-len", "output-len"}) {
      if (!in_.has(length) && !of_file) in_.fail(length, "is missing", Trouble::missing);
    }
    for (const char* length : {"input-len", "output-len", "input-spread", "output-spread"}) {
      if (in_.has(length) && of_file) in_.fail(length, "is what the file of requests has");
    }
    if (!of_file && longest_ > 0 && out_.input + out_.output > longest_) {
      in_.fail("output-len", "with the prompt these are " +
                                 std::to_string(out_.input + out_.output) +
                                 " tokens; the model was made for " + std::to_string(longest_));
    }
  }

  // One of the loads, unless it is what the question is about.
  void amount() {
    if (asked_.clients) out_.arrivals = Arrivals::clients;
    if (asked_.rate || (asked_.goodput && !asked_.best)) out_.arrivals = Arrivals::random;
    out_.batch = asked_.clients.value_or(asked_.batch.value_or(1));
    int given = 0;
    for (const char* load : {"batch", "concurrency", "rate"}) {
      if (!in_.has(load)) continue;
      ++given;
      if (asked_.best) in_.fail(load, "is searched; it cannot be given beside best");
      if (asked_.curve) in_.fail(load, "is what the curve goes along; it cannot be given");
    }
    if (asked_.best || asked_.curve || in_.refused("curve") || in_.refused("best")) return;
    if (given == 0 && timed_ && !asked_.goodput) out_.arrivals = Arrivals::listed;
    // What could not be read may have had them.
    const bool moments = timed_ || unread_;
    if (given == 0 && !moments && !in_.has("goodput")) {
      in_.fail("batch", "is missing, or instead of it concurrency or rate", Trouble::missing);
    }
    if (given > 1 || (given == 1 && timed_)) {
      in_.fail("batch",
               "concurrency, rate and moments of a file are loads, each of its own: give "
               "one");
    }
  }

  void limits() {
    out_.first_limit = asked_.first_limit;
    out_.each_limit = asked_.each_limit;
    if (out_.each_limit && asked_.output == 1) {
      in_.fail("tpot", "answers of one token have none after the first");
    }
    if (!in_.has("goodput")) return;
    if (asked_.goodput && !(*asked_.goodput > 0 && *asked_.goodput < 1)) {
      in_.fail("goodput", "must be above 0 and less than 1, a share of the answers");
    }
    if (!in_.has("ttft") && !in_.has("tpot")) {
      in_.fail("goodput", "is of limits: ttft, tpot or both must be given", Trouble::missing);
    }
    if (asked_.best) {
      out_.good_share = asked_.goodput.value_or(0);
    } else if (asked_.clients || asked_.curve || !files_.arrivals.empty()) {
      in_.fail("goodput", "is the highest rate; rate alone can be beside it");
    }
  }

  RequestReader& in_;
  Problems& problems_;
  const ServingAsked& asked_;
  const ServingFiles& files_;
  std::int64_t longest_;
  bool timed_ = false, listed_lengths_ = false, unread_ = false;
  Load out_;
};

}  // namespace

Load asked_load(RequestReader& in, Problems& problems, const ServingAsked& asked,
                const ServingFiles& files, std::int64_t longest, std::int64_t copies) {
  return LoadReader(in, problems, asked, files, longest, copies).read();
}

}  // namespace headway
