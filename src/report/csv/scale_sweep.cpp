#include "report/scale_sweep.hpp"

#include "base/document/csv.hpp"
#include "base/formatted.hpp"
#include "report/words.hpp"

namespace headway {
namespace {

class Row {
 public:
  void text(const std::string& value) { add(csv_cell(value)); }
  void count(std::int64_t value) { add(std::to_string(value)); }
  void number(double value) { add(formatted("%.6g", value)); }
  void absent() { add({}); }
  std::string line() const { return line_ + "\n"; }

 private:
  void add(const std::string& cell) {
    if (!first_) line_ += ',';
    first_ = false;
    line_ += cell;
  }
  std::string line_;
  bool first_ = true;
};

constexpr const char* kHeader =
    "axis,series,label,value,model,cluster,gpus,dp,tp,cp,pp,vpp,shard,micro_batch,recompute,seq,"
    "global_batch,step_time_s,compute_s,communication_s,exposed_communication_s,bubble_s,"
    "tokens_per_s,tokens_per_s_per_gpu,mfu,power_w_per_gpu,tokens_per_j,days,gpu_hours,"
    "energy_mwh,price_usd,co2_t,marginal_tokens_per_s_per_gpu,marginal_tokens_per_s_per_w,"
    "days_to_loss,best_global_batch\n";

}  // namespace

std::string scale_sweep_csv(const SweepAnswer& answer) {
  constexpr double kMegawattHour = 3.6e9;
  std::string out = kHeader;
  for (const SweepSeries& series : answer.series) {
    for (const SweepPoint& point : series.points) {
      const Layout& layout = point.run.layout;
      const Forecast& made = point.forecast;
      const RunCost& cost = point.cost;
      Row row;
      row.text(std::string(to_name(answer.question.axis)));
      row.text(series.name);
      row.text(point.label);
      row.number(point.value);
      row.text(point.run.model.name);
      row.text(point.run.cluster.name);
      for (const std::int64_t value : {layout.ranks(), layout.dp, layout.tp, layout.cp, layout.pp,
                                       layout.vpp, layout.shard, layout.micro_batch}) {
        row.count(value);
      }
      row.text(std::string(kRecomputeNames[static_cast<std::size_t>(layout.recompute)]));
      row.count(point.run.job.sequence);
      row.count(point.run.job.global_batch);
      for (const Seconds value : {made.step_time, made.parts.compute, point.communication,
                                  point.exposed, made.parts.bubble}) {
        row.number(value.value());
      }
      for (const double value :
           {made.tokens_per_second, made.tokens_per_second_per_accelerator, made.mfu,
            cost.accelerator_power.value(), point.tokens_per_joule,
            cost.time.total().value() / kDay, cost.accelerator_time.value() / kHour,
            cost.energy.total().value() / kMegawattHour}) {
        row.number(value);
      }
      cost.price > 0 ? row.number(cost.price) : row.absent();
      row.number(cost.carbon / 1000);
      point.marginal ? row.number(point.marginal->per_accelerator) : row.absent();
      point.marginal ? row.number(point.marginal->per_watt) : row.absent();
      point.to_loss ? row.number(point.to_loss->time.value() / kDay) : row.absent();
      point.to_loss ? row.count(point.to_loss->best_batch) : row.absent();
      out += row.line();
    }
  }
  return out;
}

}  // namespace headway
