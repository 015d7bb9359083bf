#include <algorithm>
#include <map>
#include <tuple>

#include "study/jobs/machine.hpp"
#include "study/ramp/step_time.hpp"

namespace headway {
namespace {

// The servers of all parts, one after another, each coordinate renamed by when it came up first: an
// all-reduce asks how many groups, racks and places there are, and which parts share a server.
std::string pattern_of(const RampPlacement& placement) {
  std::map<int, char> groups, racks, places;
  const auto named = [](std::map<int, char>& names, int value) {
    return names.emplace(value, static_cast<char>('a' + names.size())).first->second;
  };
  std::string out;
  for (const auto& servers : placement.servers) {
    for (const RampServer& at : servers) {
      out += named(groups, at.group);
      out += named(racks, at.rack);
      out += named(places, at.place);
    }
    out += ';';
  }
  return out;
}

// The servers of each block that is tried for so many parts, in order.
using IndexedBlocks = std::vector<std::vector<std::size_t>>;

IndexedBlocks indexed_blocks(const RampMachine& machine, int count) {
  IndexedBlocks out;
  for (const auto& block : candidate_blocks(machine, count)) {
    out.emplace_back();
    for (const RampServer& server : block) out.back().push_back(machine.index(server));
  }
  return out;
}

// The first block without a busy server; -1: none.
int first_free(const IndexedBlocks& blocks, const BusyServers& busy) {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const bool free = std::none_of(blocks[i].begin(), blocks[i].end(),
                                   [&](std::size_t server) { return busy[server]; });
    if (free) return static_cast<int>(i);
  }
  return -1;
}

// What a kind at a degree is split into.
struct KindSplit {
  std::vector<int> split;  // of each operation
  std::vector<int> sizes;  // that stand in it, each once
  StepGraph graph;
};

class RampJobMachine : public JobMachine {
 public:
  RampJobMachine(const RampMachine& machine, std::vector<ModelProfile> profiles, int steps,
                 int most_degree)
      : machine_(machine), profiles_(std::move(profiles)), steps_(steps) {
    for (const ModelProfile& profile : profiles_) {
      names_.push_back(profile.name);
      Bytes all;
      for (const ProfiledOp& op : profile.ops) all += op.memory();
      roomy_.push_back(all <= machine.memory);
    }
    for (int degree = 1; degree <= std::min(most_degree, machine.servers()); ++degree) {
      const bool whole = degree == 1 || degree % 2 == 0;
      if (whole && !symmetric_blocks(machine_, degree).empty()) degrees_.push_back(degree);
    }
  }

  std::size_t servers() const override { return static_cast<std::size_t>(machine_.servers()); }
  const std::vector<std::string>& kinds() const override { return names_; }
  Seconds alone(std::size_t kind) const override {
    return steps_ * sequential_step(profiles_[kind]);
  }
  std::vector<int> degrees(std::size_t, std::size_t free) const override {
    std::vector<int> out;
    for (const int degree : degrees_) {
      if (static_cast<std::size_t>(degree) <= free) out.push_back(degree);
    }
    return out;
  }

  std::optional<JobStart> start(std::size_t kind, int degree,
                                const BusyServers& busy) const override {
    if (places_.size() > kMostKept) places_.clear();
    // Where memory never binds, a placement hangs on the first free block of each size alone.
    PlaceKey key{kind, degree, BusyServers(), std::vector<int>()};
    if (roomy_[kind]) {
      for (const int size : split_of(kind, degree).sizes) {
        std::get<3>(key).push_back(first_free(blocks_of(size), busy));
      }
    } else {
      std::get<2>(key) = busy;
    }
    const auto [at, is_new] = places_.try_emplace(std::move(key));
    if (is_new) at->second = placed(kind, degree, busy);
    return at->second;
  }

 private:
  static constexpr std::size_t kMostKept = 200000;

  using PlaceKey = std::tuple<std::size_t, int, BusyServers, std::vector<int>>;

  const IndexedBlocks& blocks_of(int size) const {
    IndexedBlocks& out = blocks_[size];
    if (out.empty()) out = indexed_blocks(machine_, size);
    return out;
  }

  const KindSplit& split_of(std::size_t kind, int degree) const {
    const auto [at, is_new] = splits_.try_emplace({kind, degree});
    if (!is_new) return at->second;
    KindSplit& out = at->second;
    out.split = splits_of(profiles_[kind], degree);
    out.sizes = out.split;
    std::sort(out.sizes.begin(), out.sizes.end());
    out.sizes.erase(std::unique(out.sizes.begin(), out.sizes.end()), out.sizes.end());
    out.graph = step_graph(profiles_[kind], out.split, machine_.published);
    return out;
  }

  std::optional<JobStart> placed(std::size_t kind, int degree, const BusyServers& busy) const {
    const KindSplit& split = split_of(kind, degree);
    const auto placement = place_first_fit(machine_, profiles_[kind], split.split, busy);
    if (!placement) return std::nullopt;
    const auto time = time_of(kind, degree, split, *placement);
    if (!time) return std::nullopt;
    JobStart out{{}, *time};
    for (const RampServer& server : placement->used())
      out.servers.push_back(machine_.index(server));
    return out;
  }

  std::optional<Seconds> time_of(std::size_t kind, int degree, const KindSplit& split,
                                 const RampPlacement& placement) const {
    const auto [at, is_new] = times_.try_emplace({kind, degree, pattern_of(placement)});
    if (!is_new) return at->second;
    const auto step = ramp_step_time(machine_, split.graph, placement);
    if (step) at->second = step->step * steps_;
    return at->second;
  }

  RampMachine machine_;
  std::vector<ModelProfile> profiles_;
  int steps_;
  std::vector<std::string> names_;
  std::vector<int> degrees_;
  std::vector<bool> roomy_;  // kinds whose operations fit one server all together
  mutable std::map<PlaceKey, std::optional<JobStart>> places_;
  mutable std::map<std::tuple<std::size_t, int, std::string>, std::optional<Seconds>> times_;
  mutable std::map<std::pair<std::size_t, int>, KindSplit> splits_;
  mutable std::map<int, IndexedBlocks> blocks_;
};

}  // namespace

std::unique_ptr<JobMachine> ramp_job_machine(const RampMachine& machine,
                                             std::vector<ModelProfile> profiles, int steps,
                                             int most_degree) {
  return std::make_unique<RampJobMachine>(machine, std::move(profiles), steps, most_degree);
}

}  // namespace headway
