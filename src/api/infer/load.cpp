// How many requests, how long and when.
#include <algorithm>
#include <array>
#include <charconv>

#include "api/infer/question.hpp"
#include "base/document/csv.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "platform/files.hpp"
#include "study/infer/load/listed.hpp"

namespace headway {
namespace {

constexpr std::size_t kLargestList = std::size_t{64} << 20;  // bytes

class LoadReader {
 public:
  LoadReader(const InferRequest& request, const Model& model, std::int64_t copies,
             Problems& problems)
      : request_(request), model_(model), copies_(copies), problems_(problems) {}

  Load read() {
    limits();
    lengths();
    arrivals();
    if (request_.count) {
      if (request_.batch) fail("count", "is of --concurrency and --rate: a batch is all there is");
      out_.count = *request_.count;
    }
    if (request_.prefix_hit) {
      const double hit = *request_.prefix_hit;
      if (!(hit >= 0 && hit < 1)) fail("prefix-hit", "must be from 0 up to, and less than, 1");
      if (request_.batch) fail("prefix-hit", "is of --concurrency and --rate");
      out_.prefix_hit = hit;
    }
    return out_;
  }

 private:
  void fail(std::string_view field, std::string why, Trouble kind = Trouble::illegal) {
    problems_.push_back({FieldName(field), std::move(why), kind});
  }

  // "uniform:0.8", "normal:0.3", "log-normal:1.2".
  LengthSpread spread(std::string_view option, const std::string& text) {
    if (text.empty()) return {};
    if (request_.batch) fail(option, "is of --concurrency and --rate: a batch ends together");
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string kind = text.substr(0, colon);
    const std::string_view number = std::string_view(text).substr(std::min(colon + 1, text.size()));
    double of = -1;
    const auto [rest, status] = std::from_chars(number.data(), number.data() + number.size(), of);
    const bool read = status == std::errc() && rest == number.data() + number.size();
    if (kind == "uniform" && read && of >= 0 && of <= 1) return {LengthSpread::Kind::share, of};
    if (kind == "normal" && read && of >= 0 && of <= 1) return {LengthSpread::Kind::normal, of};
    if (kind == "log-normal" && read && of >= 0 && of <= 10) {
      return {LengthSpread::Kind::log_normal, of};
    }
    fail(option, "'" + printable(text) +
                     "' is not as uniform:0.8 (evenly from this share up, 0 to 1), normal:0.3 or "
                     "log-normal:1.2 (deviation over mean, 0 to 1 and to 10)");
    return {};
  }

  // A file, where it can be read.
  void list(const std::string& path, std::string_view option, const ListedColumns& needed) {
    if (path.empty()) return;
    if (request_.batch || request_.best) fail(option, "is of --concurrency and --rate");
    const auto text = read_file(path, kLargestList);
    if (!text) return append(problems_, text.problems());
    const auto csv = parse_csv(*text, path);
    if (!csv) return append(problems_, csv.problems());
    auto listed = listed_requests(*csv, needed, model_.maximum_sequence);
    if (!listed) return append(problems_, listed.problems());
    const bool moments = csv->column("arrival_s").has_value();
    if (listed->front().input > 0) mean_lengths(*listed);
    timed_ = timed_ || moments;
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
    out_.input = request_.input.value_or(1);
    out_.output = request_.output.value_or(1);
    out_.longest = model_.maximum_sequence;
    out_.input_spread = spread("input-spread", request_.input_spread);
    out_.output_spread = spread("output-spread", request_.output_spread);
    if (!request_.requests.empty() && !request_.arrivals.empty()) {
      fail("arrivals", "stand in the file of --requests, in its column arrival_s");
    }
    list(request_.requests, "requests", {});
    list(request_.arrivals, "arrivals", {.lengths = false, .moments = true});
    const bool said = !request_.requests.empty() || listed_lengths_;
    if (said) {
      const bool twice = request_.input || request_.output || !request_.input_spread.empty() ||
                         !request_.output_spread.empty();
      if (twice) fail("requests", "has the lengths: --input-len and --output-len cannot be given");
      return;
    }
    if (!request_.input) fail("input-len", "is missing", Trouble::missing);
    if (!request_.output) fail("output-len", "is missing", Trouble::missing);
    const std::int64_t most = model_.maximum_sequence;
    if (most > 0 && out_.input + out_.output > most) {
      fail("output-len", "with the prompt these are " + std::to_string(out_.input + out_.output) +
                             " tokens; the model was made for " + std::to_string(most));
    }
  }

  void arrivals() {
    const int given =
        (request_.batch ? 1 : 0) + (request_.clients ? 1 : 0) + (request_.rate ? 1 : 0);
    if (request_.best) {
      if (given > 0) fail("best", "searches how many clients; no load can be given");
    } else if (given == 0 && !timed_ && request_.arrivals.empty() && !request_.goodput) {
      fail("batch", "it, --concurrency, --rate or moments in a file must be given",
           Trouble::missing);
    } else if (given > 1 || (given == 1 && timed_)) {
      fail("batch", "one of it, --concurrency, --rate and moments in a file can be given");
    }
    if (request_.rate && !(*request_.rate > 0 && *request_.rate <= 1e9)) {
      fail("rate", "must be above 0 and at most 1e9 requests a second");
    }
    if (request_.clients) out_.arrivals = Arrivals::clients;
    if (request_.rate || request_.goodput) out_.arrivals = Arrivals::random;
    if (given == 0 && timed_) out_.arrivals = Arrivals::listed;
    out_.batch = request_.clients.value_or(request_.batch.value_or(1));
    // Copies take turns.
    out_.rate = request_.rate.value_or(0) / static_cast<double>(std::max<std::int64_t>(1, copies_));
  }

  void limits() {
    out_.first_limit = limit("ttft", request_.first_limit);
    out_.each_limit = limit("tpot", request_.each_limit);
    if (request_.batch && (out_.first_limit || out_.each_limit)) {
      fail("ttft", "limits are of --concurrency and --rate: all sequences of a batch take as long");
    }
    if (out_.each_limit && request_.output == 1) {
      fail("tpot", "answers of one token have none after the first");
    }
    if (!request_.goodput) return;
    if (!(*request_.goodput > 0 && *request_.goodput < 1)) {
      fail("goodput", "must be above 0 and less than 1, a share of the answers");
    }
    if (!out_.first_limit && !out_.each_limit) {
      fail("goodput", "is of limits: --ttft, --tpot or both must be given", Trouble::missing);
    }
    if (request_.clients || request_.batch || request_.best || !request_.arrivals.empty()) {
      fail("goodput", "is the highest rate; --rate alone can be beside it");
    }
  }

  std::optional<Seconds> limit(std::string_view name, const std::string& said) {
    if (said.empty()) return std::nullopt;
    const auto time = parse_quantity<Seconds>(said, Where(FieldName(name)));
    if (!time) {
      append(problems_, time.problems());
      return std::nullopt;
    }
    if (time->value() <= 0) fail(name, "must be greater than zero");
    return *time;
  }

  const InferRequest& request_;
  const Model& model_;
  std::int64_t copies_;
  Problems& problems_;
  bool timed_ = false, listed_lengths_ = false;
  Load out_;
};

}  // namespace

Load asked_load(const InferRequest& request, const Model& model, std::int64_t copies,
                Problems& problems) {
  return LoadReader(request, model, copies, problems).read();
}

void ask_policy(const InferRequest& request, Policy& policy, Problems& problems) {
  policy.most_tokens = request.step_tokens.value_or(policy.most_tokens);
  policy.most_sequences = request.step_sequences.value_or(policy.most_sequences);
  policy.block = request.block.value_or(policy.block);
  // One of two words.
  const auto choose = [&](const std::string& said, std::string_view option, bool& into,
                          const std::array<std::string, 2>& words) {
    if (said.empty()) return;
    if (said != words[0] && said != words[1]) {
      problems.push_back({FieldName(option), not_known(said, words), Trouble::unknown});
    }
    into = said == words[0];
  };
  choose(request.prompts, "prompts", policy.prompts_first, {"first", "beside"});
  choose(request.admit, "admit", policy.reserve, {"whole", "prompt"});
}

}  // namespace headway
