#include "study/lifetime/batch_law.hpp"

#include <charconv>
#include <cmath>

#include "base/text.hpp"
#include "platform/files.hpp"
#include "study/lifetime/assumption_fields.hpp"

namespace headway {
namespace {

// The law of a file that holds one, of sequences or tokens.
void read_law_file(const GivenField& given, Problems& problems, GivenAssumptions& out) {
  const auto document = read_document(given.text);
  auto laws =
      document ? steps_laws_of(*document) : Result<std::vector<StepsLaw>>(document.problems());
  if (!laws) return append(problems, laws.problems());
  if (laws->size() != 1) {
    problems.push_back(
        {given.where, "names a file of " + std::to_string(laws->size()) + " laws; one is needed"});
    return;
  }
  out.batch_law = std::move(laws.value().front());
}

// Tokens of what a law's batch is counted in; nothing of what is no language.
std::optional<double> tokens_of_unit(const std::string& unit, std::int64_t sequence) {
  if (unit == "tokens") return 1;
  if (unit == "sequences" || unit == "samples") return static_cast<double>(sequence);
  const std::size_t of = unit.find("sequences of ");
  if (of == std::string::npos) return std::nullopt;
  double length = 0;
  const char* const begin = unit.data() + of + std::string_view("sequences of ").size();
  std::from_chars(begin, unit.data() + unit.size(), length);
  return length > 0 ? std::optional(length) : std::nullopt;
}

void read_public_law(std::string_view name, Problems& problems, GivenAssumptions& out) {
  const auto points = public_steps_points();
  if (!points) return append(problems, points.problems());
  for (const StepsSeries& series : *points) {
    if (series.name != name) continue;
    auto law = fit_steps_law(series);
    if (!law) return append(problems, law.problems());
    out.batch_law = std::move(law).value();
    out.batch_law->source = "fitted to " + series.source;
  }
}

void take_published_by_tokens(Problems& problems, GivenAssumptions& out) {
  const auto laws = embedded_convergence_laws();
  if (!laws) return append(problems, laws.problems());
  out.critical_batch = laws->by_tokens.tokens;
  out.critical_at = laws->by_tokens.at;
  out.critical_exponent = laws->by_tokens.exponent;
  out.tokens_law_source = laws->by_tokens.source;
}

}  // namespace

void read_batch_law(AssumptionReader& in, Problems& problems, GivenAssumptions& out) {
  RequestReader& reader = in.reader();
  std::size_t law = 0;
  reader.choice("batch-law", kBatchLaws, law);
  const GivenField* critical = reader.find("critical-batch");
  // A request names no file of this machine.
  const bool file = critical != nullptr && critical->text.ends_with(".toml") &&
                    critical->where.place.kind != Place::Kind::member;
  if (file) {
    read_law_file(*critical, problems, out);
  } else if (critical != nullptr) {
    out.critical_batch = 0;
    in.count("critical-batch", *out.critical_batch);
  }
  const bool own = critical != nullptr || reader.has("critical-batch-at") ||
                   reader.has("critical-batch-exponent");
  if (law == 1 && !own) return take_published_by_tokens(problems, out);
  for (const auto& [name, value] : {std::pair("critical-batch-at", &out.critical_at),
                                    std::pair("critical-batch-exponent", &out.critical_exponent)}) {
    const bool given = reader.has(name);
    if (law != 1) {
      if (given) reader.fail(name, "is of --batch-law by-tokens alone");
    } else if (!given) {
      problems.push_back(
          {FieldName(name),
           "is missing: a law of your own has all three, the published one none of them",
           Trouble::missing});
    }
  }
  if (law == 1 && (critical == nullptr || file)) {
    problems.push_back({FieldName("critical-batch"),
                        "is missing: in tokens, at --critical-batch-at", Trouble::missing});
  }
  if (law == 1) {
    if (reader.has("critical-batch-at")) {
      out.critical_at = 1;
      in.count("critical-batch-at", *out.critical_at);
    }
    in.number("critical-batch-exponent", out.critical_exponent);
  }
  if (law > 1) {
    if (critical != nullptr) {
      reader.fail("critical-batch", "cannot stand beside --batch-law " +
                                        std::string(kBatchLaws[law]) + ", which says it");
    } else {
      read_public_law(kBatchLaws[law], problems, out);
    }
  }
  if (out.batch_law && !tokens_of_unit(out.batch_law->unit, 1)) {
    reader.fail("critical-batch", "has a law of " + printable(out.batch_law->unit, 40) +
                                      ": tokens or sequences are needed");
  } else if (out.batch_law && !std::isfinite(out.batch_law->critical)) {
    reader.fail("critical-batch", "has a law that is flat: its points show no critical batch");
  }
}

// [LAW-16] Sparse training reaches on s D tokens what dense training reaches on D.
double loss_reached(const GivenAssumptions& given, double parameters) {
  return loss_of(given.loss, parameters, given.tokens / given.factors.samples);
}

namespace {

double dense_critical_batch(const GivenAssumptions& given, double loss, std::int64_t sequence) {
  if (given.batch_law) {
    return given.batch_law->critical * tokens_of_unit(given.batch_law->unit, sequence).value_or(1);
  }
  if (given.critical_batch && given.critical_at && given.critical_exponent) {
    return *given.critical_batch *
           std::pow(given.tokens / *given.critical_at, *given.critical_exponent);
  }
  return given.critical_batch.value_or(critical_batch(given.critical_law, loss));
}

}  // namespace

// [LAW-23] C of points, in tokens; C₀·(D/D₀)^x of tokens D, published or the user's; else
// [SCALE-11]. [LAW-16] Steps s E0/B + t E0/C are those of a law of E0' = s E0 and C' = C s/t.
double critical_batch_of(const GivenAssumptions& given, double loss, std::int64_t sequence) {
  return given.factors.samples / given.factors.steps * dense_critical_batch(given, loss, sequence);
}

}  // namespace headway
