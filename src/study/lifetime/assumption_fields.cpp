// The fields of a whole run beside those of a run: the one table of them.
#include "study/lifetime/assumption_fields.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "study/lifetime/assumptions.hpp"

namespace headway {
namespace {

constexpr FieldForm kAmount = {.kind = FieldForm::Kind::amount};
constexpr FieldForm number(double least, double most) {
  return {.kind = FieldForm::Kind::number, .least = least, .most = most};
}

std::vector<RunField> table() {
  return {
      {"tokens", "N", "tokens to train on: 15T, 300B, 2e12", kAmount},
      {"mtbf", "TIME|none", "time between interruptions of one accelerator", {}, {}, "50677 h"},
      {"hardware-share",
       "0..1",
       "of interruptions, those that send a node to repair",
       number(0, 1),
       {},
       "0.78"},
      {"restart", "TIME", "from an interruption until training goes on", {}, {}, "10 min"},
      {"repair", "TIME", "until a failed node is back as a spare", {}, {}, "24 h"},
      {"spares",
       "N",
       "spare nodes",
       {.kind = FieldForm::Kind::whole, .least = 0, .most = 1e12},
       {},
       "so many that the run costs least"},
      {"checkpoint-bandwidth",
       "RATE",
       "of the storage, all ranks together",
       {},
       {},
       "122 MB/s an accelerator"},
      {"checkpoint-size",
       "BYTES",
       "of a checkpoint",
       {},
       {},
       "weights, master copy and optimiser states"},
      {"checkpoint-blocking",
       "TIME",
       "that a checkpoint stops training, the rest of its write going on beside it",
       {},
       {},
       "all"},
      {"interval", "TIME", "between checkpoints", {}, {}, "the best"},
      {"step-noise",
       "X|FILE",
       "spread of one accelerator's step time, as 0.01, or a file of measured times",
       {.kind = FieldForm::Kind::number, .least = 0, .most = 1, .or_file = true},
       {},
       "0: the forecast's mean straggling"},
      {"price", "X", "US dollars for an accelerator's hour", number(0, 1e6), {}, "the cluster's"},
      {"pue", "X", "power usage effectiveness", number(1, 10), {}, "the cluster's"},
      {"carbon", "X", "kg of CO2 equivalent a kWh", number(0, 100), {}, "0.385"},
      {"loss-law",
       "NAME",
       "loss by parameters and tokens",
       {.kind = FieldForm::Kind::name, .names = loss_laws()}},
      {"critical-batch",
       "N|LAWS.toml",
       "tokens, or the law that headway calibrate --steps wrote",
       kAmount,
       {},
       "by --batch-law"},
      {"batch-law",
       "NAME",
       "what the critical batch goes by: Kaplan's law of the loss that the run reaches, the tokens "
       "it trains on, or MLPerf's published points of a language model",
       {.kind = FieldForm::Kind::name, .names = kBatchLaws},
       {},
       "by-loss"},
      {"critical-batch-at", "N", "by-tokens: the tokens after which --critical-batch is right",
       kAmount},
      {"critical-batch-exponent", "X",
       "by-tokens: the power of the tokens that it grows with; yours", number(0, 2)},
      {"sparse-samples",
       "X",
       "samples of sparse training (--method sparse) to a loss over those of dense, small batches",
       number(1e-3, 1e3),
       {},
       "1: no published number"},
      {"sparse-steps",
       "X",
       "the same of steps with a large batch",
       number(1e-3, 1e3),
       {},
       "1: no published number"},
  };
}

}  // namespace

std::span<const std::string_view> loss_laws() {
  static const std::vector<std::string> kept = [] {
    std::vector<std::string> out;
    const auto laws = embedded_convergence_laws();
    for (const LossLaw& law : laws->losses) out.push_back(law.name);  // a test reads them
    return out;
  }();
  static const std::vector<std::string_view> names(kept.begin(), kept.end());
  return names;
}

std::span<const RunField> scale_run_fields() {
  static const std::vector<RunField> out = [] {
    std::vector<RunField> fields = table();
    for (RunField& field : fields) {
      field.help = help_text(field, 0);
      field.group = "Whole run";
    }
    return fields;
  }();
  return out;
}

SplitRequest split(const RunRequest& request) {
  SplitRequest out;
  for (const GivenField& given : request) {
    const auto own = scale_run_fields();
    const bool scale = std::any_of(own.begin(), own.end(),
                                   [&](const RunField& field) { return field.name == given.name; });
    (scale ? out.scale : out.run).push_back(given);
  }
  return out;
}

void refuse_unknown(RunRequest& run, std::span<const RunField> more, Problems& problems) {
  std::vector<std::string> names;
  for (const auto fields : {run_fields(), scale_run_fields(), more}) {
    for (const RunField& field : fields) names.emplace_back(field.name);
  }
  std::erase_if(run, [&](const GivenField& given) {
    const bool known = std::find(names.begin(), names.end(), given.name) != names.end();
    if (!known) {
      problems.push_back(
          {given.where, "is not a known field" + suggestion(given.name, names), Trouble::unknown});
    }
    return !known;
  });
}

}  // namespace headway
