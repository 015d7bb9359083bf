#include "run/refused_fields.hpp"

#include <algorithm>
#include <utility>

#include "layout/run.hpp"
#include "model/count.hpp"

namespace headway {
namespace {

// What stands in for a refused field is its default. Most rules are mildest there (a degree of 1
// divides everything); these, on the first field, may be broken by the default of the second alone.
constexpr std::pair<std::string_view, std::string_view> kReads[] = {
    {"document", "seq"},
    {"seq", "cp-exchange"},
    {"seq", "not-causal"},
    {"seq", "no-sp"},
    {"pp", "vpp"},
    {"pp", "first-stage-layers"},
    {"pp", "last-stage-layers"},
    {"first-stage-layers", "pp"},
    {"vpp", "pp"},
    {"vpp", "global-batch"},
    {"vpp", "framework"},
    {"schedule", "pp"},
    {"schedule", "global-batch"},
    {"offload", "zero"},
    {"offload", "framework"},
    {"param-dtype", "framework"},
    {"reduce-dtype", "framework"},
    {"bucket-size", "framework"},
    {"quantized-weights", "framework"},
    {"quantized-weights", "zero"},
    {"quantized-gradients", "framework"},
    {"quantized-gradients", "zero"},
    {"secondary-shard", "framework"},
    {"secondary-shard", "zero"},
};

// Whether a rule about these fields has to do with a refused one.
bool concerns_refused(const FieldNames& fields, const RequestReader& reader) {
  return std::any_of(fields.begin(), fields.end(), [&](const FieldName& field) {
    const bool reads = std::any_of(std::begin(kReads), std::end(kReads), [&](const auto& pair) {
      return pair.first == field.name && reader.refused(pair.second);
    });
    return reads || reader.refused(field.name);
  });
}

}  // namespace

// With some fields refused, the rules that hold whatever those turn out to be. dp, which may follow
// from them, stands at 1, and rules on what depends on it are left out.
Problems independent_problems(const Run& run, const RequestReader& reader) {
  Run trial = run;
  trial.layout.dp = 1;
  if (has_experts(run.model)) trial.layout.ep = trial.layout.etp = 1;
  trial.layout.shard = trial.layout.secondary = 0;
  trial.job.method = {};
  follow(trial.job.method, trial.layout);
  trial.job.quantized_gradients = false;
  trial.job.sequence = std::max<std::int64_t>(1, trial.job.sequence);
  trial.job.global_batch = std::max<std::int64_t>(1, trial.job.global_batch);
  Problems out = check(trial);
  std::erase_if(out,
                [&](const Problem& problem) { return concerns_refused(problem.fields, reader); });
  return out;
}

}  // namespace headway
