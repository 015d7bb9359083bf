#include "study/jobs/forecast_machine.hpp"

#include "forecast/predict/predict.hpp"

namespace headway {
namespace {

class ForecastJobMachine : public JobMachine {
 public:
  ForecastJobMachine(std::size_t nodes, std::vector<ForecastTimes> times)
      : nodes_(nodes), times_(std::move(times)) {
    for (const ForecastTimes& each : times_) names_.push_back(each.name);
  }
  std::size_t servers() const override { return nodes_; }
  const std::vector<std::string>& kinds() const override { return names_; }
  Seconds alone(std::size_t kind) const override { return times_[kind].times.front().second; }
  std::vector<int> degrees(std::size_t kind, std::size_t free) const override {
    std::vector<int> out;
    for (const auto& [degree, time] : times_[kind].times) {
      if (static_cast<std::size_t>(degree) <= free) out.push_back(degree);
    }
    return out;
  }
  std::optional<JobStart> start(std::size_t kind, int degree,
                                const BusyServers& busy) const override {
    JobStart out;
    for (const auto& [each, time] : times_[kind].times) {
      if (each == degree) out.time = time;
    }
    const auto wanted = static_cast<std::size_t>(degree);
    for (std::size_t i = 0; i < busy.size() && out.servers.size() < wanted; ++i) {
      if (!busy[i]) out.servers.push_back(i);
    }
    if (out.servers.size() < wanted) return std::nullopt;
    return out;
  }

 private:
  std::size_t nodes_;
  std::vector<ForecastTimes> times_;
  std::vector<std::string> names_;
};

}  // namespace

Result<std::vector<ForecastTimes>> forecast_times(const std::vector<ForecastJob>& jobs,
                                                  std::int64_t node) {
  std::vector<ForecastTimes> out;
  Problems problems;
  for (const ForecastJob& job : jobs) {
    ForecastTimes each{job.name, {}};
    bool legal = true;
    for (const int degree : job.degrees) {
      RunRequest fields = job.fields;
      fields.emplace_back("gpus", std::to_string(degree * node));
      const auto run = make_run(fields);
      const auto forecast = run ? predict(*run) : Result<Forecast>(run.problems());
      if (!forecast) {
        append(problems, forecast.problems());
        legal = false;
        break;
      }
      if (forecast->fits) {
        each.times.emplace_back(degree, forecast->step_time * static_cast<double>(job.steps));
      }
    }
    if (legal && each.times.empty()) {
      problems.push_back({FieldName("job", job.name), "fits in memory at none of its degrees"});
    }
    out.push_back(std::move(each));
  }
  if (!problems.empty()) return problems;
  return out;
}

std::unique_ptr<JobMachine> forecast_job_machine(std::size_t nodes,
                                                 std::vector<ForecastTimes> times) {
  return std::make_unique<ForecastJobMachine>(nodes, std::move(times));
}

}  // namespace headway
