#include "base/document/csv.hpp"
#include "base/formatted.hpp"
#include "report/comms/timings.hpp"
#include "trace/recording/rank_names.hpp"

namespace headway {
namespace {

std::string timing(Seconds time) {
  return formatted("%.9g", time.value());
}
std::string timing(const std::optional<Seconds>& time) {
  return time ? timing(*time) : std::string();
}

std::string ratio(const std::optional<double>& ratio) {
  return ratio ? formatted("%.9g", *ratio) : std::string();
}

std::string line_of(std::initializer_list<std::string> cells) {
  std::string out;
  for (const std::string& cell : cells) out += (out.empty() ? "" : ",") + cell;
  return out + "\n";
}

}  // namespace

std::string steps_csv(const Measured& measured) {
  const std::vector<RecordedRank>& ranks = measured.recording().ranks;
  std::string out =
      "step,by,rank,rank_label,span_s,compute_s,exposed_s,idle_s,communication_s,waits_s,"
      "causes_waiting_s,last\n";
  for (const StepRow& row : measured.step_rows) {
    for (const StepOfRank& of : row.ranks) {
      const RecordedRank& rank = ranks[of.rank];
      out += line_of({std::to_string(row.number), std::string(to_name(measured.steps.by)),
                      rank.number ? std::to_string(*rank.number) : std::string(),
                      csv_cell(rank.label), timing(of.span), timing(of.compute), timing(of.exposed),
                      timing(of.idle), timing(of.communication), timing(of.waits),
                      timing(of.causes), row.last == of.rank ? "1" : "0"});
    }
  }
  return out;
}

std::string kernels_csv(const Measured& measured) {
  std::string out =
      "kind,name,count,seconds,shortest_s,longest_s,m,n,k,batch,dtype,flops,flops_per_s,model_s,"
      "peak_share,roofline_share\n";
  for (const KernelRow& row : measured.kernels.kernels) {
    out += line_of({"kernel", csv_cell(row.name), std::to_string(row.count), timing(row.time),
                    timing(row.shortest), timing(row.longest), "", "", "", "", "", "", "", "", "",
                    ""});
  }
  for (const ProductRow& row : measured.kernels.products) {
    const RecordedProduct& product = row.product;
    out += line_of({"product", "", std::to_string(row.count), timing(row.time), "", "",
                    std::to_string(product.m), std::to_string(product.n), std::to_string(product.k),
                    std::to_string(product.batch),
                    product.type ? std::string(to_name(*product.type)) : std::string(),
                    formatted("%.9g", row.flops.value()), formatted("%.9g", row.rate().value()),
                    timing(row.modelled), ratio(row.peak_share), ratio(row.roofline_share)});
  }
  return out;
}

}  // namespace headway
