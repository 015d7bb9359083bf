#include "simulate/codesign/synchronisation.hpp"

#include <algorithm>
#include <vector>

#include "base/statistics.hpp"
#include "simulate/codesign/compression.hpp"
#include "step/methods/waiting.hpp"

namespace headway {
namespace {

// What follows of each call of gradients: any number of items.
template <class Change>
void change_gradients(Step& step, const Change& change) {
  for (StageClass& stage : step.stages) {
    std::vector<Item> items;
    for (Item& item : stage.items) {
      const auto* call = std::get_if<Call>(&item.what);
      if (call == nullptr || !carries_gradients(*call)) {
        items.push_back(std::move(item));
      } else {
        change(std::move(item), items);
      }
    }
    stage.items = std::move(items);
  }
}

}  // namespace

std::string synchronisation_problem(const Synchronisation& by, const Run& run, const Step& step) {
  if (by.by == Agreement::synchronous) return {};
  if (run.layout.dp <= 1) return "needs several replicas";
  if (!std::any_of(step.stages.begin(), step.stages.end(), sends_gradients)) {
    return "needs gradients that travel once a step (--zero 0, 1 or 2)";
  }
  if (by.by != Agreement::stale && run.layout.zero > 0) {
    return "needs weights and states whole on each replica; they are shared out (--zero 0)";
  }
  return {};
}

double waiting_of(const Synchronisation& by, std::int64_t replicas) {
  if (replicas <= 1) return 0;
  Method method;
  switch (by.by) {
    case Agreement::synchronous:
      break;
    case Agreement::local:
      method.meeting = Meeting::seldom;
      method.every = by.number;
      break;
    case Agreement::stale:
      method.meeting = Meeting::late;
      method.delay = by.number;
      break;
    case Agreement::gossip:
      method.meeting = Meeting::neighbours;
      method.neighbours = by.number;
      break;
  }
  return waiting_part(method, replicas) * expected_maximum(static_cast<double>(replicas));
}

void without_gradients(Step& step) {
  change_gradients(step, [](Item, std::vector<Item>&) {});
}

void gradients_behind(Step& step) {
  change_gradients(step, [](Item item, std::vector<Item>& into) {
    std::get<Call>(item.what).hidden_by = HiddenBy::nothing;
    into.push_back(std::move(item));
  });
}

void to_neighbours(Step& step, std::int64_t neighbours) {
  change_gradients(step, [&](Item item, std::vector<Item>& into) {
    Call& call = std::get<Call>(item.what);
    call.op = CollectiveOp::send_receive;
    call.count *= static_cast<double>(neighbours);
    into.push_back(std::move(item));
  });
}

}  // namespace headway
