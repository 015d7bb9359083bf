#include "api/comms_expected.hpp"

#include <iterator>

#include "api/comms.hpp"
#include "base/quantity_text.hpp"

namespace headway {
namespace {

// Below which size a message is small; empty: where latency is more than half of its time.
Result<std::optional<Bytes>> small_below(const std::string& text) {
  if (text.empty()) return std::optional<Bytes>();
  const auto size = parse_quantity<Bytes>(text, FieldName("small"));
  if (!size) return size.problems();
  if (!(size->value() > 0))
    return Problem{FieldName("small"), "must be more than nothing, as 16 KiB is"};
  return std::optional<Bytes>(*size);
}

// Forecast and traffic of a legal run.
Result<ExpectedCalls> expect(const Run& run, std::optional<Bytes> small) {
  const auto forecast = predict(run);
  if (!forecast) return forecast.problems();
  const auto calibration = calibration_for(run.cluster, run.job.software);
  if (!calibration) return calibration.problems();
  ExpectedCalls out{.run = run,
                    .forecast = *forecast,
                    .traffic = {},
                    .textbook = {},
                    .small = {},
                    .notes = forecast->notes};
  out.traffic = traffic_of(run.model, run.job, run.layout, run.cluster, *calibration, small);
  out.textbook = textbook_volumes(run.model, run.job, run.layout, run.cluster, out.traffic);
  out.small = small ? "below " + to_text(*small) : "more than half of their time is latency";
  for (const std::string& assumption : run.assumptions) {
    out.notes.push_back("assumed: " + assumption);
  }
  return out;
}

}  // namespace

CommandOutput comms_expected(const GivenRun& given, const CommsRequest& request) {
  // What is asked for, or everything that is wrong with it.
  Problems problems;
  if (given.run_file.empty() && given.fields.empty()) {
    problems.push_back({"comms",
                        "needs a run (RUN.toml, or --model, --cluster, --gpus, --seq and "
                        "--global-batch), traces, or --study",
                        Trouble::missing});
    return {.problems = std::move(problems)};
  }
  if (!request.save.empty()) {
    problems.push_back({FieldName("save"),
                        "writes what was measured, and there are no traces here; --csv OUT.csv "
                        "writes the expected calls"});
  }
  const auto small = small_below(request.small);
  if (!small) append(problems, small.problems());
  const auto fields = fields_of(given);
  if (!fields) append(problems, fields.problems());
  const auto run = fields ? make_run(*fields) : Result<Run>(Problems{});
  if (fields && !run) append(problems, run.problems());
  if (!problems.empty()) return {.problems = std::move(problems)};

  // The calls, with their times and sums.
  const auto expected = expect(*run, *small);
  if (!expected) return {.problems = expected.problems()};

  // Everything that is to be written, in one piece.
  std::vector<OutputFile> files;
  if (!request.csv.empty()) files.push_back({request.csv, expected_csv(*expected)});
  if (!request.plot.empty()) {
    auto plots = expected_plots(*expected, request.plot);
    std::move(plots.begin(), plots.end(), std::back_inserter(files));
  }
  if (Problems failed = write_files(files, request.plot); !failed.empty()) {
    return {.problems = std::move(failed)};
  }
  return {.text = request.json ? expected_json(*expected) : expected_text(*expected)};
}

}  // namespace headway
