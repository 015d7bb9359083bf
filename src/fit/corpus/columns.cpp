// What each column of data/corpus sets in a run.
#include <algorithm>
#include <charconv>

#include "fit/corpus/notes.hpp"
#include "fit/corpus/rules.hpp"
#include "fit/corpus/run.hpp"
#include "fit/corpus/stated.hpp"

namespace headway {
namespace {

// Each returns whether the value means something.
bool set_flag(const std::string& value, bool& into) {
  into = value == "1";
  return into || value == "0";
}

bool set_number(const std::string& value, auto& into) {
  const char* const end = value.data() + value.size();
  const auto [rest, status] = std::from_chars(value.data(), end, into);
  return status == std::errc() && rest == end;
}

template <class Enum, std::size_t N>
bool set_name(const std::string& value, const std::array<std::string_view, N>& names, Enum& into) {
  const auto found = std::find(names.begin(), names.end(), value);
  if (found == names.end()) return false;
  into = static_cast<Enum>(found - names.begin());
  return true;
}

constexpr std::array<std::string_view, 3> kChoices = {"framework", "off", "on"};

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> out;
  for (;;) {
    const std::size_t end = text.find(separator);
    out.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + separator.size());
  }
}

// "selective: norm latent-up": with these pieces; "full: 3": of one in three layers; "offload": of
// activations; "as-stated": of the row.
std::optional<Remedy> remedy_of(const std::string& text) {
  if (text == "as-stated") return Remedy{.as_stated = true};
  if (text == "offload") return Remedy{.offload_activations = true};
  Remedy out;
  const std::vector<std::string> parts = split(text, ": ");
  if (!set_name(parts.front(), kRecomputeNames, out.recompute)) return std::nullopt;
  if (parts.size() == 1) return out;
  if (out.recompute == Recompute::full) {
    return set_number(parts[1], out.one_in) ? std::optional(out) : std::nullopt;
  }
  out.pieces = 0;
  for (const std::string& name : split(parts[1], " ")) {
    Piece piece{};
    if (!set_name(name, kPieceNames, piece)) return std::nullopt;
    out.pieces = static_cast<std::uint8_t>(out.pieces | bit(piece));
  }
  return out;
}

bool set_remedies(CorpusRun& run, const std::string& value) {
  for (const std::string& text : split(value, "; ")) {
    const auto remedy = remedy_of(text);
    if (!remedy) return false;
    run.remedies.push_back(*remedy);
  }
  return true;
}

void shard_among(std::int64_t replicas, Layout& layout) {
  if (layout.zero > 0 && replicas > 1 && replicas < layout.dp && layout.dp % replicas == 0) {
    layout.shard = replicas;
  }
}

bool set_shard(CorpusRun& run, const std::string& value) {
  std::int64_t shard = 0;
  if (!set_number(value, shard)) return false;
  shard_among(shard, run.layout);
  return true;
}

// Accelerators that share one copy of the states.
bool set_slice(CorpusRun& run, const std::string& value) {
  Layout& layout = run.layout;
  std::int64_t accelerators = 0;
  if (!set_number(value, accelerators)) return false;
  shard_among(accelerators / (layout.tp * layout.cp * layout.pp), layout);
  return true;
}

bool set_oldest_software(CorpusRun& run, const std::string& value) {
  double most = 0;
  const bool known = set_number(value, most);
  run.job.software = std::min(run.job.software, most);
  return known;
}

// Embedding, head and prediction modules count as the layers that are missing to an even spread.
bool set_ends(CorpusRun& run, const std::string& value) {
  Layout& layout = run.layout;
  const std::int64_t layers = run.model.layers(), chunks = chunks_of_model(layout);
  bool count = false;
  if (!set_flag(value, count)) return false;
  if (!count || layers % chunks == 0) return true;
  const std::int64_t missing = chunks - layers % chunks;
  layout.embedding_slots = missing == 2 ? 1 : 0;
  layout.head_slots = missing - layout.embedding_slots;
  return true;
}

using Setter = bool (*)(CorpusRun&, const std::string&);
template <auto Member>
bool job_flag(CorpusRun& run, const std::string& value) {
  return set_flag(value, run.job.*Member);
}
template <auto Member>
bool layout_flag(CorpusRun& run, const std::string& value) {
  return set_flag(value, run.layout.*Member);
}
template <auto Member, const auto& Names>
bool job_name(CorpusRun& run, const std::string& value) {
  return set_name(value, Names, run.job.*Member);
}
template <auto Member, const auto& Names>
bool layout_name(CorpusRun& run, const std::string& value) {
  return set_name(value, Names, run.layout.*Member);
}

// In the order in which they are decided: a rule may ask for what stands above it.
struct Column {
  std::string_view name;
  Setter set;
};
constexpr Column kColumns[] = {
    {"reshard", layout_flag<&Layout::reshard_after_forward>},
    {"shard", set_shard},
    {"slice", set_slice},
    {"ep",
     [](CorpusRun& run, const std::string& value) { return set_number(value, run.layout.ep); }},
    {"etp",
     [](CorpusRun& run, const std::string& value) { return set_number(value, run.layout.etp); }},
    {"fused", job_flag<&Job::fused>},
    {"param_dtype", job_name<&Job::param_dtype, kWireFormatNames>},
    {"reduce_dtype", job_name<&Job::reduce_dtype, kWireFormatNames>},
    {"padding_mask", job_flag<&Job::padding_mask>},
    {"fused_loss", job_name<&Job::fused_loss, kChoices>},
    {"loss_metrics",
     [](CorpusRun& run, const std::string& value) {
       return set_number(value, run.job.loss_metrics);
     }},
    {"software_at_most", set_oldest_software},
    {"sp", layout_flag<&Layout::sequence_parallel>},
    {"tensor_mode",
     [](CorpusRun& run, const std::string& value) {
       run.layout.sequence_parallel = false;
       return value == "all-reduce";
     }},
    {"blocking_transfers", job_flag<&Job::blocking_transfers>},
    {"first_rank_reports",
     [](CorpusRun& run, const std::string& value) {
       return set_flag(value, run.first_rank_reports);
     }},
    {"checked_collectives", job_flag<&Job::checked_collectives>},
    {"keep_gathered", layout_flag<&Layout::keep_gathered>},
    {"overlap_gradients", layout_name<&Layout::overlap_gradients, kChoices>},
    {"overlap_parameters", layout_name<&Layout::overlap_parameters, kChoices>},
    {"offload_activations", layout_flag<&Layout::offload_activations>},
    {"offload", [](CorpusRun&, const std::string& value) { return value == "none"; }},
    {"recompute", layout_name<&Layout::recompute, kRecomputeNames>},
    {"remedies", set_remedies},
    {"small_gradients", job_flag<&Job::small_gradients>},
    {"overlap_tensor", layout_name<&Layout::overlap_tensor, kChoices>},
    {"adapters", job_name<&Job::adapters, kAdapterNames>},
    {"document",
     [](CorpusRun& run, const std::string& value) { return set_number(value, run.job.document); }},
    {"vpp",
     [](CorpusRun& run, const std::string& value) { return set_number(value, run.layout.vpp); }},
    {"ends_are_layers", set_ends},
    {"dispatch", layout_name<&Layout::dispatch, kDispatchNames>},
    {"graphs", job_name<&Job::graphs, kGraphNames>},
    {"fused_experts", job_flag<&Job::fused_experts>},
    {"attention_8_bit", job_flag<&Job::attention_8_bit>},
    {"overlap_experts", layout_name<&Layout::overlap_experts, kChoices>},
};

// What run_of() and model_of() ask for by themselves.
constexpr std::array<std::string_view, 11> kDecidedElsewhere = {
    "cluster",   "family",      "publisher",    "model",      "task",           "precision",
    "attention", "whole_batch", "batch_tokens", "convention", "tied_embeddings"};

}  // namespace

Problems meaningless_rules(const CorpusRules& rules) {
  Problems out;
  for (const auto& [name, list] : rules.columns) {
    const auto column = std::find_if(std::begin(kColumns), std::end(kColumns),
                                     [&](const Column& each) { return each.name == name; });
    if (column == std::end(kColumns)) {
      const bool elsewhere = std::find(kDecidedElsewhere.begin(), kDecidedElsewhere.end(), name) !=
                             kDecidedElsewhere.end();
      if (!elsewhere) out.push_back({name, "is a column that nothing reads"});
      continue;
    }
    for (const Rule& rule : list) {
      CorpusRun run;
      if (!rule.is.empty() && !column->set(run, rule.is)) {
        out.push_back({name, "'" + rule.is + "' is no value of it"});
      }
    }
  }
  return out;
}

void set_by_rules(const CorpusRow& row, CorpusRun& run) {
  for (const Column& column : kColumns) {
    if (row.states(column.name)) continue;
    const auto decided = decide(column.name, {row, &run});
    if (!decided) continue;
    column.set(run, decided->value);
    std::erase_if(run.assumed, [&](const std::string& each) {
      return each.starts_with(std::string(column.name) + "=");
    });
    if (decided->rule->assumed) {
      run.assumed.push_back(std::string(column.name) + "=" + decided->value);
    }
  }
  set_stated(row, run);  // where a rule of another name sets the same, as slice does shard
  if (run.layout.recompute != Recompute::selective) return;
  if (const auto pieces = pieces_of(row.notes); pieces && *pieces != 0) {
    run.layout.recompute_pieces = *pieces;
  }
}

}  // namespace headway
