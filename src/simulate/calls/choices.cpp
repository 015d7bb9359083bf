#include "simulate/calls/choices.hpp"

#include <algorithm>
#include <memory>

#include "base/text.hpp"
#include "simulate/calls/topology_of.hpp"
#include "simulate/collectives/collective.hpp"

namespace headway {
namespace {

constexpr std::string_view kBest = "best";
const FieldName kAlgorithm("algorithm");

std::optional<network::Collective> placeable(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::all_reduce:
      return network::Collective::all_reduce;
    case CollectiveOp::all_gather:
      return network::Collective::all_gather;
    case CollectiveOp::reduce_scatter:
      return network::Collective::reduce_scatter;
    case CollectiveOp::all_to_all:
      return network::Collective::all_to_all;
    case CollectiveOp::broadcast:
    case CollectiveOp::send_receive:
      break;
  }
  return std::nullopt;
}

std::string text_of(Group group, CollectiveOp op) {
  return std::string(to_name(group)) + "." + std::string(to_name(op));
}

// One choice, or what is wrong with it: all of it.
void read_choice(const std::string& text, std::vector<CallChoice>& into, Problems& problems) {
  const auto fail = [&](std::string message, Trouble kind) {
    problems.push_back({kAlgorithm, "'" + printable(text) + "': " + std::move(message), kind});
  };
  const std::size_t dot = text.find('.'), equals = text.find('=');
  if (dot == text.npos || equals == text.npos || dot > equals) {
    return fail("needs a group, an operation and a name, as tp.all_reduce=ring", Trouble::illegal);
  }
  CallChoice choice;
  std::vector<std::string> groups, operations;
  bool good = true;
  const auto named = [&](std::string_view what, std::span<const std::string> legal) {
    fail(not_known(what, legal), Trouble::unknown);
    good = false;
  };
  const std::string group = lower(text.substr(0, dot));
  const auto row = std::find_if(kGroups.begin(), kGroups.end(),
                                [&](const GroupRow& each) { return each.name == group; });
  for (const GroupRow& each : kGroups) groups.emplace_back(each.name);
  if (row == kGroups.end()) named(group, groups);
  if (row != kGroups.end()) choice.group = row->group;

  std::string op = lower(text.substr(dot + 1, equals - dot - 1));
  std::replace(op.begin(), op.end(), '-', '_');
  bool known = false;
  for (const CollectiveRow& each : kCollectives) {
    if (!placeable(each.op)) continue;
    operations.emplace_back(each.name);
    if (each.name != op) continue;
    choice.op = each.op;
    known = true;
  }
  if (!known) named(op, operations);

  const std::string algorithm = text.substr(equals + 1);
  if (lower(algorithm) != kBest) {
    std::vector<std::string> names = network::algorithm_names();
    const auto found = network::algorithm_named(algorithm);
    names.emplace_back(kBest);
    if (!found) named(algorithm, names);
    if (found) choice.algorithm = *found;
  }
  if (!good) return;
  std::erase_if(into, [&](const CallChoice& before) {  // the last of a repeated one wins
    return before.group == choice.group && before.op == choice.op;
  });
  into.push_back(std::move(choice));
}

network::TrafficKind traffic_of(std::string_view algorithm, CollectiveOp op) {
  if (algorithm == "switch") return network::TrafficKind::in_network;
  if (algorithm == "double-binary-tree") return network::TrafficKind::trees;
  return op == CollectiveOp::all_to_all ? network::TrafficKind::exchange
                                        : network::TrafficKind::rings;
}

struct Placed {
  std::string algorithm;
  Seconds time;
};

// What common libraries choose from, whose calls are priced [COLL-2, 3, 4, 5].
std::vector<std::string> usual_names(CollectiveOp op) {
  if (op == CollectiveOp::all_to_all) return {"pairwise", "direct"};
  std::vector<std::string> out = {"ring", "rings", "hierarchical"};
  if (op == CollectiveOp::all_reduce) out.insert(out.end(), {"double-binary-tree", "switch"});
  return out;
}

// By the fastest of these algorithms, each at its own efficiency.
Result<Placed> place_call(const Call& call, const std::vector<std::string>& names,
                          const GroupSpan& span, const Cluster& cluster,
                          const LevelParameters& parameters) {
  const network::Call asked{*placeable(call.op), call.bytes};
  std::optional<Placed> best;
  Problems problems;
  for (const std::string& name : names) {
    const auto on = network::network_of(span, cluster, parameters, traffic_of(name, call.op));
    if (!on) return on.problems();
    const auto found = network::simulate_collective(asked, on->on, {.algorithm = name});
    if (!found) {
      append(problems, found.problems());
      continue;
    }
    const Seconds time = on->base + found->time;
    if (!best || time < best->time) best = Placed{name, time};
  }
  if (best) return *best;
  if (names.size() == 1) return problems;
  return Problem{kAlgorithm, "no algorithm does " + std::string(to_name(call.op)) + " there"};
}

// Calls of blocks and stages that a choice is about, each size once.
// `once_a_domain`: whether one of them sends to domains rather than to ranks.
std::vector<ChosenCall> calls_of(const CallChoice& choice, const Step& step, bool& once_a_domain) {
  std::vector<ChosenCall> out;
  const auto add = [&](const std::vector<Item>& items) {
    for (const Call& call : only<Call>(items)) {
      if (call.group != choice.group || call.op != choice.op) continue;
      once_a_domain = once_a_domain || call.choices > 1;
      const auto known = std::find_if(
          out.begin(), out.end(), [&](const ChosenCall& each) { return each.bytes == call.bytes; });
      if (known == out.end()) {
        out.push_back({.group = call.group,
                       .op = call.op,
                       .bytes = call.bytes,
                       .count = call.count,
                       .algorithm = choice.algorithm,
                       .time = {},
                       .usual = {},
                       .priced = {}});
      } else {
        known->count += call.count;
      }
    }
  };
  for (const Block& block : step.blocks) add(block.items);
  for (const StageClass& stage : step.stages) add(stage.items);
  std::stable_sort(out.begin(), out.end(),
                   [](const ChosenCall& a, const ChosenCall& b) { return a.bytes > b.bytes; });
  return out;
}

// Calls of a step that an algorithm may be chosen for.
std::vector<std::string> choosable(const Step& step) {
  std::vector<std::string> out;
  const auto add = [&](const std::vector<Item>& items) {
    for (const Call& call : only<Call>(items)) {
      if (!placeable(call.op)) continue;
      std::string text = text_of(call.group, call.op);
      if (std::find(out.begin(), out.end(), text) == out.end()) out.push_back(std::move(text));
    }
  };
  for (const Block& block : step.blocks) add(block.items);
  for (const StageClass& stage : step.stages) add(stage.items);
  return out;
}

}  // namespace

Result<std::vector<CallChoice>> read_call_choices(std::span<const std::string> texts) {
  std::vector<CallChoice> out;
  Problems problems;
  for (const std::string& text : texts) read_choice(text, out, problems);
  if (!problems.empty()) return problems;
  return out;
}

Result<std::vector<ChosenCall>> chosen_calls(std::span<const CallChoice> choices, const Run& run,
                                             const Step& step, const Calibration& calibration) {
  std::vector<ChosenCall> out;
  Problems problems;
  for (const CallChoice& choice : choices) {
    bool once_a_domain = false;
    std::vector<ChosenCall> calls = calls_of(choice, step, once_a_domain);
    const std::string name = text_of(choice.group, choice.op);
    if (once_a_domain) {
      problems.push_back({kAlgorithm,
                          name + " goes once to each domain (--dispatch once); algorithms place "
                                 "calls among all ranks: --dispatch copies",
                          Trouble::unsupported});
      continue;
    }
    if (calls.empty()) {
      const std::vector<std::string> made = choosable(step);
      problems.push_back({kAlgorithm, "the step makes no " + name + "; it makes " +
                                          (made.empty() ? std::string("none") : join(made, ", "))});
      continue;
    }
    const GroupSpan& span = span_of_group(step.spans, choice.group);
    for (ChosenCall& each : calls) {
      const Call call{
          .op = each.op, .group = each.group, .phase = {}, .dtype = {}, .bytes = each.bytes};
      const std::vector<std::string> names =
          choice.algorithm.empty() ? network::algorithm_names() : std::vector{choice.algorithm};
      const auto placed = place_call(call, names, span, run.cluster, calibration.levels);
      if (!placed) {
        for (Problem problem : placed.problems()) {
          problem.message = name + ": " + problem.message;
          problems.push_back(std::move(problem));
        }
        break;
      }
      each.algorithm = placed->algorithm;
      each.time = placed->time;
      const auto usual =
          place_call(call, usual_names(call.op), span, run.cluster, calibration.levels);
      each.usual = usual ? usual->time : placed->time;
      each.priced = collective_time(each.op, each.bytes, span, run.cluster, calibration.levels);
      out.push_back(std::move(each));
    }
  }
  if (!problems.empty()) return problems;
  return out;
}

Result<std::vector<ChosenCall>> chosen_calls(std::span<const CallChoice> choices, const Run& run) {
  if (choices.empty()) return std::vector<ChosenCall>();
  const auto calibration = calibration_for(run);
  if (!calibration) return calibration.problems();
  return chosen_calls(choices, run, lower(run), *calibration);
}

std::vector<ChosenCall> against_usual(std::vector<ChosenCall> calls) {
  for (ChosenCall& each : calls) each.time = each.priced * (each.time / each.usual);
  return calls;
}

OtherTimes times_of(std::vector<ChosenCall> calls) {
  if (calls.empty()) return {};
  return [calls = std::make_shared<const std::vector<ChosenCall>>(std::move(calls))](
             const Call& call) -> std::optional<Seconds> {
    for (const ChosenCall& each : *calls) {
      if (each.group == call.group && each.op == call.op && each.bytes == call.bytes) {
        return each.time;
      }
    }
    return std::nullopt;
  };
}

}  // namespace headway
