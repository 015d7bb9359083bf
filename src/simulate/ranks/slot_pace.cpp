#include "simulate/ranks/slot_pace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace headway {
namespace {

using Index = TaskList::Index;

constexpr std::size_t kMostKnownPaces = 4096;  // of a section

// What each task waits for: its needs, and the one before it on its stream.
std::vector<std::vector<Index>> waits_of(const TaskList& list) {
  std::vector<std::vector<Index>> out;
  std::array<std::int64_t, kStreams> last;
  last.fill(-1);
  for (const StreamTask& task : list.tasks()) {
    const auto needs = list.needs_of(task);
    auto& waits = out.emplace_back(needs.begin(), needs.end());
    std::int64_t& before = last[task.stream];
    if (before >= 0) waits.push_back(static_cast<Index>(before));
    before = static_cast<std::int64_t>(out.size()) - 1;
  }
  return out;
}

// Whether all tasks before it end before it, and all behind it begin behind it.
bool parts_others(const std::vector<std::vector<Index>>& waits, Index task) {
  std::vector<bool> before(task + std::size_t{1}, false), behind(waits.size(), false);
  before[task] = true;
  for (Index i = task + 1; i-- > 0;) {
    if (!before[i]) return false;
    for (const Index each : waits[i]) before[each] = true;
  }
  behind[task] = true;
  for (std::size_t i = task + std::size_t{1}; i < waits.size(); ++i) {
    behind[i] = std::any_of(waits[i].begin(), waits[i].end(),
                            [&](Index each) { return each >= task && behind[each]; });
    if (!behind[i]) return false;
  }
  return true;
}

// What makes sections the same.
using SectionKey = std::vector<std::tuple<StreamId, Part, double, bool, std::vector<Index>>>;

}  // namespace

SlotPace::SlotPace(const SlotProgram& program, double interference)
    : program_(program), interference_(interference) {
  const auto tasks = program.list.tasks();
  const std::vector<std::vector<Index>> waits = waits_of(program.list);
  std::map<SectionKey, std::size_t> known;
  Index from = 0;  // the first task of the section
  for (Index i = 0; i < tasks.size(); ++i) {
    const bool last = i + std::size_t{1} == tasks.size();
    const bool joins = tasks[i].stream == kKernels && !(tasks[i].work > Seconds(0));
    if (!last && (!joins || !parts_others(waits, i))) continue;
    SlotSection section;
    SectionKey key;
    for (Index t = from; t <= i; ++t) {
      std::vector<Index> needs;
      for (const Index need : program.list.needs_of(tasks[t])) {
        if (need >= from) needs.push_back(need - from);
      }
      const StreamTask& task = tasks[t];
      const Index at = section.list.add(task.stream, task.part, task.work, needs, "");
      if (task.attends) section.list.attends(at);
      key.emplace_back(task.stream, task.part, task.work.value(), task.attends, std::move(needs));
    }
    from = i + 1;
    const auto [place, is_new] = known.try_emplace(std::move(key), sections_.size());
    if (is_new) sections_.push_back(std::move(section));
    sections_[place->second].count += 1;
    order_.push_back(place->second);
  }
  for (SlotSection& section : sections_) {
    Seconds all(0);
    for (const StreamTask& task : section.list.tasks()) {
      all += task.work;
      if (task.stream != kKernels) continue;
      section.kernels += task.work;
      if (task.attends) section.attention += task.work;
    }
    const std::vector<PlacedTask> placed = run_tasks(section.list, interference);
    section.time = end_of(placed);
    section.parts = exposed_parts(section.list, placed);
    // No two tasks have run at the same time: each has begun as the one before it ended, so that it
    // waits for it, whatever they take.
    section.is_chain = std::abs((all - section.time).value()) <= 1e-12 * section.time.value();
    kernels_ += section.kernels * section.count;
    attention_ += section.attention * section.count;
  }
}

PacedSlot SlotPace::at(SlotSection& section, const TaskPace& pace) const {
  if (section.is_chain) {
    PacedSlot out{section.time, section.parts};
    const Seconds more = section.kernels * (pace.kernels - 1) +
                         section.attention * (pace.kernels * (pace.attention - 1));
    out.time += more;
    out.parts.compute += more;
    return out;
  }
  const auto key = std::pair(pace.kernels, pace.attention);
  if (const auto found = section.known.find(key); found != section.known.end()) {
    return found->second;
  }
  const std::vector<PlacedTask> placed = run_tasks(section.list, interference_, pace);
  const PacedSlot out{end_of(placed), exposed_parts(section.list, placed)};
  if (section.known.size() < kMostKnownPaces) section.known.emplace(key, out);
  return out;
}

PacedSlot SlotPace::at(const TaskPace& pace) {
  if (pace.is_usual()) return {program_.time, program_.parts};
  if (pace.outages != nullptr) {  // it hangs on the clock
    const std::vector<PlacedTask> placed = run_tasks(program_.list, interference_, pace);
    return {end_of(placed), exposed_parts(program_.list, placed)};
  }
  PacedSlot out;
  for (SlotSection& section : sections_) {
    const PacedSlot each = at(section, pace);
    out.time += each.time * section.count;
    for (const PartRow& row : kParts) out.parts[row.part] += each.parts[row.part] * section.count;
  }
  return out;
}

}  // namespace headway
