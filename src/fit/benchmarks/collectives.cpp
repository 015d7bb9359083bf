// collectives.csv: one size of a collective a row, as nccl-tests counts it.
#include "fit/collectives/collectives.hpp"

#include "base/text.hpp"
#include "fit/benchmarks/predict.hpp"

namespace headway::benchmarks {
namespace {

// Where the row's group ran: the cluster given, else the system that its hardware names, else a
// cluster of its accelerator.
const Joined* joined_of(BenchmarkRow& row, Cells& cells, Bench& bench, std::optional<Joined>& own) {
  if (bench.cluster) {
    row.machine = bench.cluster->cluster.name;
    return &*bench.cluster;
  }
  const std::string& hardware = cells.text("hardware");
  const CollectiveSystem* system = bench.systems.of(hardware, cells.text("network"));
  if (system) {
    row.machine = system->name;
    if (!system->skip.empty()) {
      cells.skip(system->skip);
      return nullptr;
    }
    const Cluster& cluster = bench.systems.clusters[system->cluster];
    const auto alone = benchmarked_for(cluster);
    if (!alone) return nullptr;
    own = Joined{cluster, alone->levels};
    return &*own;
  }
  row.machine = hardware;
  const Machine* machine = bench.words.machine(hardware);
  if (!machine || !machine->skip.empty() || machine->cluster.empty()) {
    cells.skip("no cluster is known of this hardware", hardware);
    return nullptr;
  }
  const auto& cluster = bench.machines.cluster(machine->cluster);
  if (!cluster) {
    cells.skip("no cluster is known of this hardware", cluster.problems()[0].message);
    return nullptr;
  }
  row.assumed.push_back("cluster=" + machine->cluster);
  return &*cluster;
}

}  // namespace

void predict_collective(BenchmarkRow& row, Cells& cells, Bench& bench) {
  std::optional<Joined> own;
  const Joined* joined = joined_of(row, cells, bench, own);
  const std::string& said = cells.text("op");
  const auto op = collective_named(said);
  row.op = op ? std::string(to_name(*op)) : said;
  if (!op) cells.skip("no word for this operation: " + said);
  const std::int64_t nodes = cells.count("nodes"), ranks = cells.count("ranks");
  const Bytes bytes(cells.number("bytes"));
  row.size = to_name(size_range_of(bytes));
  const Seconds time(cells.number("time_us") * 1e-6);
  if (cells.sound() && ranks < nodes) cells.skip("fewer ranks than nodes");
  if (!cells.sound() || joined == nullptr) return;
  row.measured = time;
  row.predicted = collective_time(*op, bytes, benchmark_span(ranks, nodes, joined->cluster),
                                  joined->cluster, joined->levels);
}

}  // namespace headway::benchmarks
