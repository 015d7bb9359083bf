#include "report/predict.hpp"

#include <algorithm>
#include <cmath>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"

namespace headway {
namespace {

// How often a step: "0.002" of what comes once in 500 steps.
std::string times_text(double count) {
  return count > 0 && count < 1 ? formatted("%.3g", count) : count_text(count);
}

// A bar of up to 30 characters.
std::string bar(double share) {
  return std::string(static_cast<std::size_t>(std::lround(30 * std::clamp(share, 0.0, 1.0))), '#');
}

std::string layout_line(const Run& run) {
  const Layout& l = run.layout;
  std::string out =
      std::to_string(l.ranks()) + (l.ranks() == 1 ? " accelerator:" : " accelerators:");
  const Layout usual;
  for (const char* name :
       {"dp", "tp", "cp", "pp", "vpp", "ep", "etp", "micro-batch", "zero", "recompute"}) {
    const FieldRow& row = *field_row(name);
    const auto& access = std::get<FieldAccess<Layout>>(row.access);
    const bool always = row.member == "dp" || row.member == "micro_batch";
    if (!always && access.get(l) == access.get(usual)) continue;
    out += " " + std::string(name) + " " + text_of(row.field.form, access.get(l));
  }
  return out;
}

std::string job_line(const Run& run) {
  const Job& job = run.job;
  return std::string(name_of(job.framework)) + ", " + std::string(job.recipe->name) +
         ", attention " + std::string(kAttentionKernelNames[static_cast<int>(job.attention)]) +
         ", " + count_text(static_cast<double>(job.global_batch)) +
         (run.model.is_network()
              ? " x " + printable(run.model.sample)
              : " sequences of " + count_text(static_cast<double>(job.sequence)) + " tokens");
}

std::string parts_table(const Forecast& f) {
  std::vector<std::vector<std::string>> rows;
  for (const PartRow& row : kParts) {
    const Seconds seconds = f.parts[row.part];
    if (seconds.value() <= 0) continue;
    rows.push_back(
        {"  " + std::string(row.name), to_text(seconds), percent_text(seconds / f.step_time)});
  }
  std::string out = aligned(rows);
  // The bars go behind the table, so that its columns stay aligned to the right.
  std::string with_bars;
  std::size_t begin = 0;
  for (const PartRow& row : kParts) {
    const Seconds seconds = f.parts[row.part];
    if (seconds.value() <= 0) continue;
    const std::size_t end = out.find('\n', begin);
    with_bars += out.substr(begin, end - begin) + "  " + bar(seconds / f.step_time);
    with_bars.erase(with_bars.find_last_not_of(' ') + 1);
    with_bars += '\n';
    begin = end + 1;
  }
  return with_bars;
}

std::string memory_table(const Forecast& f) {
  return aligned({{"  parameters", to_text(f.memory.parameters)},
                  {"  gradients", to_text(f.memory.gradients)},
                  {"  optimizer", to_text(f.memory.optimizer)},
                  {"  activations", to_text(f.memory.activations)},
                  {"  buffers", to_text(f.memory.buffers)},
                  {"  other", to_text(f.memory.other)}});
}

std::string calls_table(const Cluster& cluster, const Forecast& f) {
  std::vector<const PricedCall*> calls;
  for (const PricedCall& call : f.calls) {
    if (call.each.value() > 0) calls.push_back(&call);
  }
  std::stable_sort(calls.begin(), calls.end(), [](const PricedCall* a, const PricedCall* b) {
    return a->each * a->call.count > b->each * b->call.count;
  });
  if (calls.size() > 8) calls.resize(8);
  std::vector<std::vector<std::string>> rows = {
      {"  group op", "phase", "level", "ranks", "size", "count", "each", "exposed"}};
  for (const PricedCall* priced : calls) {
    const Call& call = priced->call;
    rows.push_back({"  " + std::string(to_name(call.group)) + " " + std::string(to_name(call.op)),
                    std::string(to_name(call.phase)),
                    printable(cluster.levels[static_cast<std::size_t>(priced->level)].name, 20),
                    std::to_string(priced->ranks), to_text(call.bytes), times_text(call.count),
                    to_text(priced->each), to_text(priced->exposed)});
  }
  return calls.empty() ? "" : "\ncalls of one rank, the longest first\n" + aligned(rows);
}

// What is held may exceed what there is by gaps alone [FORECAST-15].
std::string verdict(const Forecast& f) {
  if (!f.fits) return ", DOES NOT FIT\n";
  if (f.memory.total() <= f.capacity) return ", fits\n";
  return ", fits:\n  " + to_text(f.gaps) + " of it are gaps that the allocator gives back\n";
}

// Rows shown; what is left is told in one.
constexpr std::size_t kMostOps = 24;

std::string flops_text(Flops flops) {
  return flops > Flops(0) ? to_text(flops) : "-";
}

std::vector<std::string> op_line(const OpRow& row, Seconds total) {
  const bool kernel = row.flops > Flops(0);
  std::string what = row.name;
  if (!row.module.empty()) what = row.module + ": " + what;
  if (!row.phase.empty()) what += ", " + row.phase;
  return {row.part,
          what,
          count_text(row.count),
          flops_text(row.flops),
          row.bytes > Bytes(0) ? to_text(row.bytes) : "-",
          kernel ? formatted("%.4g", row.intensity()) : "-",
          to_text(row.time()),
          percent_text(row.time() / total),
          std::string(to_name(row.times.most())),
          printable(row.level)};
}

}  // namespace

std::string op_table_text(const OpTable& table) {
  std::vector<const OpRow*> longest;
  for (const OpRow& row : table.rows) longest.push_back(&row);
  std::stable_sort(longest.begin(), longest.end(),
                   [](const OpRow* a, const OpRow* b) { return a->time() > b->time(); });
  const Seconds total = table.total.total();
  std::vector<std::vector<std::string>> rows = {
      {"part", "op", "count", "FLOP", "bytes", "FLOP/B", "time", "share", "bound", "level"}};
  OpRow rest;
  for (std::size_t i = 0; i < longest.size(); ++i) {
    if (i < kMostOps) {
      rows.push_back(op_line(*longest[i], total));
      continue;
    }
    rest.count += longest[i]->count;
    rest.flops += longest[i]->flops;
    rest.bytes += longest[i]->bytes;
    rest.times += longest[i]->times;
  }
  if (longest.size() > kMostOps) {
    rest.part = "all";
    rest.name = std::to_string(longest.size() - kMostOps) + " others";
    rows.push_back(op_line(rest, total));
  }
  std::string out = aligned(rows, 2) + "bound by";
  for (std::size_t i = 0; i < kBoundNames.size(); ++i) {
    out += (i > 0 ? ", " : " ") + std::string(kBoundNames[i]) + " " +
           percent_text(table.total[static_cast<Bound>(i)] / total);
  }
  return out + "\n";
}

std::string run_heading(const Run& run) {
  return printable(run.model.name) + " on " + printable(run.cluster.name) + ", " +
         layout_line(run) + "\n" + job_line(run) + "\n";
}

std::string predict_text(const RequestedRun& run, const Forecast& f, const OpTable* ops) {
  std::string out = run_heading(run) + "\n";
  const std::string pace = run.model.is_network() ? "samples/s" : "tokens/s";
  out += aligned({{"step time", to_text(f.step_time)},
                  {pace, count_text(f.tokens_per_second)},
                  {pace + " per accelerator", count_text(f.tokens_per_second_per_accelerator)},
                  {std::string("MFU (attention ") +
                       (run.convention == AttentionFlops::full ? "in full)" : "causal)"),
                   percent_text(f.mfu)},
                  {"model FLOP/s per accelerator", to_text(f.model_flops_per_accelerator)},
                  {"energy of a step", to_text(f.energy)}});
  if (f.step_time_interval) {
    out += "80 % of measured runs: " + to_text(f.step_time_interval->low) + " to " +
           to_text(f.step_time_interval->high) + " a step";
    if (f.memory_interval) {
      out += ", " + to_text(f.memory_interval->low) + " to " + to_text(f.memory_interval->high) +
             " of memory";
    }
    out += '\n';
  }
  out += "\nwhere the time goes (communication: what nothing hides)\n" + parts_table(f);
  if (ops != nullptr) {
    out += "\nops of the rank that sets the pace, the longest first\n" + op_table_text(*ops);
  }
  out += "\nmemory of the fullest rank: " + to_text(f.memory.total()) + " of " +
         to_text(f.capacity) + verdict(f) + memory_table(f);
  out += calls_table(machine_of_calls(run, f.pace_is_far), f);
  for (const std::string& note : f.notes) out += "\nnote: " + printable(note, 1000);
  for (const std::string& assumption : run.assumptions)
    out += "\nassumed: " + printable(assumption, 1000);
  if (!f.notes.empty() || !run.assumptions.empty()) out += "\n";
  return out;
}

}  // namespace headway
