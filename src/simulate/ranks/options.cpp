#include "simulate/ranks/options.hpp"

#include <algorithm>

#include "base/quantity_text.hpp"
#include "base/whole_number.hpp"
#include "run/request_reader.hpp"
#include "simulate/ranks/ranks.hpp"

namespace headway {
namespace {

using Kind = FieldForm::Kind;

constexpr std::string_view kHeading = "Ranks that differ";
constexpr std::int64_t kMostSeeds = 10'000, kMostSlots = 1'000'000;
constexpr double kMostFactor = 1000, kMostNoise = 0.5, kMostVariation = 5;
constexpr Seconds kLeastPeriod(1e-4);

FieldForm number_between(double least, double most) {
  return {.kind = Kind::number, .least = least, .most = most};
}
FieldForm whole_between(std::int64_t least, std::int64_t most) {
  return {
      .kind = Kind::whole, .least = static_cast<double>(least), .most = static_cast<double>(most)};
}
constexpr FieldForm kSwitch = {.kind = Kind::flag}, kList = {.kind = Kind::list};

std::vector<RunField> ranks_table() {
  std::vector<RunField> out = {
      {"every-rank", "", "place every rank by itself, also where none differs", kSwitch},
      {"seeds", "N", "draw so many steps", whole_between(1, kMostSeeds), {}, "1"},
      {"seed", "N", "of the first of them", whole_between(0, std::int64_t{1} << 52), {}, "0"},
      {"slot-noise", "0..0.5",
       "standard deviation of the kernels of a slot on a rank, of their "
       "time",
       number_between(0, kMostNoise)},
      {"step-noise", "0..0.5", "of the kernels of a rank all along a step",
       number_between(0, kMostNoise)},
      {"slow-ranks", "R,R...", "global ranks whose kernels take --slow-factor", kList},
      {"slow-factor",
       "X",
       "what the kernels of slow ranks take, of the usual",
       number_between(1, kMostFactor),
       {},
       "2"},
      {"slow-link-ranks", "R,R...", "ranks whose network has --slow-link-share of its bandwidth",
       kList},
      {"slow-link-nodes", "N,N...", "the same of all ranks of nodes", kList},
      {"slow-link-share",
       "0..1",
       "what is left of a slow link",
       number_between(1e-6, 1),
       {},
       "0.5"},
      {"flapping-ranks", "R,R...", "ranks whose network is down for a part of each period", kList},
      {"flapping-period", "TIME", "from one failure of a flapping link to the next: \"2 s\""},
      {"flapping-down",
       "0..0.99",
       "the part of a period that it is down",
       number_between(0, 0.99),
       {},
       "0.1"},
      {"sequence-variation", "0..5",
       "unequal sequences: standard deviation of a micro-batch's attention, of its mean",
       number_between(0, kMostVariation)},
      {"pause", "TIME", "of a host that collects garbage: \"200 ms\""},
      {"pause-every", "N", "slots from one pause to the next", whole_between(1, kMostSlots)},
      {"pause-together", "", "all ranks pause behind the same slots, not each behind its own",
       kSwitch},
      {"neighbour-share", "0..0.99", "of the network's bandwidth, that another job takes",
       number_between(0, 0.99)},
      {"neighbour-placement",
       "NAME",
       "where that job's nodes stand",
       {.kind = Kind::name, .names = kPlacementNames},
       {},
       "scattered"},
      {"mtbf", "TIME", "time between interruptions of one accelerator: \"50677 h\""},
      {"detection", "TIME", "from an interruption until it is seen", {}, {}, "0 s"},
      {"restart", "TIME", "from then on until training goes on", {}, {}, "0 s"},
      {"checkpoint-blocking", "TIME", "that a checkpoint stops training", {}, {}, "0 s"},
      {"interval", "TIME", "between checkpoints"},
      {"what-if", "", "what the step would take without its slowest stage or worker", kSwitch}};
  for (RunField& field : out) {
    field.group = kHeading;
    field.help = help_text(field);
  }
  return out;
}

class RanksReader {
 public:
  RanksReader(const RunRequest& request, const Run& run, Problems& problems)
      : reader_(request, problems, ranks_fields()),
        problems_(problems),
        run_(run),
        inner_(memory_levels(run.cluster)) {}

  void read(RanksQuestion& out) {
    Perturbations& differ = out.differ;
    out.every_rank = reader_.flag("every-rank");
    reader_.count("seeds", out.seeds);
    most("seeds", out.seeds, kMostSeeds);
    auto seed = static_cast<std::int64_t>(out.seed);
    reader_.count("seed", seed, 0);
    out.seed = static_cast<std::uint64_t>(seed);
    out.what_if = reader_.flag("what-if");
    compute(differ);
    network(differ);
    pauses(differ);
    failures(out);
    out.every_rank |= differ.any() || out.what_if || out.seeds > 1;
    if (problems_.empty() && out.every_rank) sizes(out);
  }

 private:
  void fail(std::string_view name, std::string message, Trouble kind = Trouble::illegal) {
    reader_.fail(name, std::move(message), kind);
  }
  void most(std::string_view name, std::int64_t given, std::int64_t limit) {
    if (reader_.has(name) && !reader_.refused(name) && given > limit) {
      fail(name, "is " + std::to_string(given) + "; at most " + std::to_string(limit));
    }
  }
  // An option that changes nothing without another.
  void needs(std::string_view name, std::string_view other) {
    if (reader_.has(name) && !reader_.has(other)) {
      fail(name, "needs --" + std::string(other), Trouble::missing);
    }
  }
  bool seconds(std::string_view name, Seconds& into) {
    const GivenField* given = reader_.find(name);
    if (given == nullptr) return false;
    const auto time = parse_quantity<Seconds>(given->text, given->where);
    if (!time) {
      append(problems_, time.problems());
      return false;
    }
    if (*time < Seconds(0)) {
      fail(name, "is negative");
      return false;
    }
    into = *time;
    return true;
  }

  // Numbers below `count`; each as the ranks that it stands for.
  void list(std::string_view name, std::string_view what, std::int64_t count, std::int64_t ranks,
            std::vector<std::int64_t>& into) {
    const GivenField* given = reader_.find(name);
    if (given == nullptr) return;
    if (given->text.empty()) return fail(name, "names none");
    for (const std::string_view item : items_of(given->text)) {
      const auto each = whole_number(item);
      if (!each || *each < 0 || *each >= count) {
        fail(name, "'" + printable(item) + "' is no " + std::string(what) + "; there are " +
                       std::to_string(count) + ", from 0");
        continue;
      }
      for (std::int64_t r = *each * ranks; r < (*each + 1) * ranks; ++r) into.push_back(r);
    }
    std::sort(into.begin(), into.end());
    into.erase(std::unique(into.begin(), into.end()), into.end());
  }

  void compute(Perturbations& differ) {
    reader_.number("slot-noise", differ.slot_noise, 0, kMostNoise);
    reader_.number("step-noise", differ.step_noise, 0, kMostNoise);
    list("slow-ranks", "rank", run_.layout.ranks(), 1, differ.slow_ranks);
    differ.slow_factor = 2;
    reader_.number("slow-factor", differ.slow_factor, 1, kMostFactor);
    needs("slow-factor", "slow-ranks");
    reader_.number("sequence-variation", differ.sequence_variation, 0, kMostVariation);
    const auto attends = [](const Layer& layer) { return layer.attention.has_value(); };
    if (differ.sequence_variation > 0 &&
        std::none_of(run_.model.kinds.begin(), run_.model.kinds.end(), attends)) {
      fail("sequence-variation", "changes nothing: the model has no attention");
    }
  }

  void network(Perturbations& differ) {
    list("slow-link-ranks", "rank", run_.layout.ranks(), 1, differ.slow_links);
    const std::int64_t node =
        inner_ == 0 ? 1
                    : domains_in_use(run_.cluster,
                                     run_.layout.ranks())[static_cast<std::size_t>(inner_ - 1)];
    const std::int64_t whole_nodes = run_.layout.ranks() / node;
    list("slow-link-nodes", "node", whole_nodes, node, differ.slow_links);
    differ.link_share = 0.5;
    reader_.number("slow-link-share", differ.link_share, 1e-6, 1);
    if (!reader_.has("slow-link-ranks")) needs("slow-link-share", "slow-link-nodes");
    list("flapping-ranks", "rank", run_.layout.ranks(), 1, differ.flapping);
    differ.flapping_down = 0.1;
    reader_.number("flapping-down", differ.flapping_down, 0, 0.99);
    if (seconds("flapping-period", differ.flapping_period) &&
        differ.flapping_period < kLeastPeriod) {
      fail("flapping-period", "is below " + to_text(kLeastPeriod));
    }
    needs("flapping-ranks", "flapping-period");
    needs("flapping-period", "flapping-ranks");
    needs("flapping-down", "flapping-ranks");
    reader_.number("neighbour-share", differ.neighbour_share, 0, 0.99);
    reader_.choice("neighbour-placement", kPlacementNames, differ.neighbour_placement);
    needs("neighbour-placement", "neighbour-share");
    // What of the network the run reaches.
    const int reached = crossed_level(spans(run_.layout, run_.cluster).world, run_.cluster);
    for (const char* name :
         {"slow-link-ranks", "slow-link-nodes", "flapping-ranks", "neighbour-share"}) {
      if (reader_.has(name) && reached < inner_) {
        fail(name, "changes nothing: the run stays within one " +
                       run_.cluster.levels[static_cast<std::size_t>(reached)].name);
      }
    }
    const auto outermost = static_cast<int>(run_.cluster.levels.size()) - 1;
    if (differ.neighbour_share > 0 && differ.neighbour_placement == Placement::packed &&
        reached >= inner_ && reached < outermost) {
      fail("neighbour-placement", "packed changes nothing: both jobs meet on " +
                                      run_.cluster.levels.back().name +
                                      ", and the run stays within one " +
                                      run_.cluster.levels[static_cast<std::size_t>(reached)].name);
    }
  }

  void pauses(Perturbations& differ) {
    seconds("pause", differ.pause);
    reader_.count("pause-every", differ.pause_every);
    most("pause-every", differ.pause_every, kMostSlots);
    differ.pause_together = reader_.flag("pause-together");
    needs("pause", "pause-every");
    needs("pause-every", "pause");
    if (differ.pause_together) needs("pause-together", "pause");
  }

  void failures(RanksQuestion& out) {
    Failures read;
    const bool given = seconds("mtbf", read.every);
    if (given && !(read.every > Seconds(0))) fail("mtbf", "must be greater than zero");
    seconds("detection", read.detection);
    seconds("restart", read.restart);
    seconds("checkpoint-blocking", read.checkpoint);
    if (seconds("interval", read.checkpoint_every) && !(read.checkpoint_every > Seconds(0))) {
      fail("interval", "must be greater than zero");
    }
    for (const char* name : {"detection", "restart", "checkpoint-blocking", "interval"}) {
      needs(name, "mtbf");
    }
    needs("mtbf", "interval");
    read.every /= static_cast<double>(run_.layout.ranks());
    if (given) out.failures = read;
  }

  void sizes(const RanksQuestion& out) {
    const Layout& layout = run_.layout;
    const std::int64_t passes =
        micro_batches(run_.job, layout) * chunks_of_model(layout) * layout.dp;
    if (passes > kMostRankedPasses) {
      problems_.push_back({FieldName("every-rank"),
                           "makes " + std::to_string(passes) +
                               " forward passes of micro-batches through chunks of all replicas; "
                               "at most " +
                               std::to_string(kMostRankedPasses),
                           Trouble::unsupported});
    }
    if (!out.what_if) return;
    if (layout.pp > 1 && (layout.schedule != Schedule::one_f_one_b || layout.vpp > 1)) {
      fail("what-if", "is of 1f1b with one chunk a rank", Trouble::unsupported);
    }
    if (passes > kMostRankedPasses / out.seeds) {
      fail("what-if", "keeps at most " + std::to_string(kMostRankedPasses) +
                          " passes of all seeds; give fewer --seeds");
    }
  }

  RequestReader reader_;
  Problems& problems_;
  const Run& run_;
  int inner_;  // levels without network cards
};

}  // namespace

std::span<const RunField> ranks_fields() {
  static const std::vector<RunField> out = ranks_table();
  return out;
}

Result<RanksQuestion> read_ranks(const RunRequest& request, const Run& run) {
  Problems problems;
  RanksQuestion out;
  RanksReader(request, run, problems).read(out);
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway
