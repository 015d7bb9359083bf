#include "simulate/pipeline/question.hpp"

#include <algorithm>
#include <array>

#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "layout/schedule_rules.hpp"
#include "run/request_reader.hpp"
#include "simulate/pipeline/stages.hpp"

namespace headway {
namespace {

constexpr std::int64_t kMostRanks = 65'536, kMostVirtualStages = 255, kMostMicroBatches = 1'000'000;

FieldForm whole(std::int64_t most) {
  return {.kind = FieldForm::Kind::whole, .least = 1, .most = static_cast<double>(most)};
}

std::vector<RunField> table() {
  return {
      {"schedule", "NAME", "order in which stages run micro-batches",
       field_row("schedule")->field.form},
      {"pp", "N", "ranks of the pipeline", whole(kMostRanks)},
      {"micro-batches", "N", "micro-batches of a step", whole(kMostMicroBatches)},
      {"vpp",
       "N",
       "chunks of layers on each rank, of interleaved and breadth-first",
       whole(kMostVirtualStages),
       {},
       "1"},
      {"forward", "TIME", "forward pass of a micro-batch through all that a rank has: \"18.5 ms\""},
      {"backward", "TIME", "the gradient of its input alone"},
      {"weight", "TIME", "the gradient of its weights, which every schedule adds"},
      {"transfer", "TIME", "from one rank to the next, beside what they compute", {}, {}, "0 s"},
      {"joined",
       "0.5..1",
       "a forward pass under a backward pass (dual-pipe, dual-pipe-v): of the two one by one",
       {.kind = FieldForm::Kind::number, .least = 0.5, .most = 1},
       {},
       "1"}};
}

class PipelineReader {
 public:
  PipelineReader(const RunRequest& request, Problems& problems)
      : reader_(request, problems, simulate_pipeline_fields()), problems_(problems) {}

  // How many ranks and micro-batches, in what order.
  Pipeline shape() {
    Pipeline out;
    for (const char* name : {"schedule", "pp", "micro-batches"}) reader_.text(name, true);
    const bool named = schedule(out.schedule);
    count("pp", out.ranks, kMostRanks);
    count("micro-batches", out.micro_batches, kMostMicroBatches);
    count("vpp", out.virtual_stages, kMostVirtualStages);
    if (refused() || !named) return out;
    // Two chunks are what every rank of a folded schedule has: who says so says nothing more.
    if (is_folded(out.schedule) && out.virtual_stages == 2) out.virtual_stages = 1;
    rules(out);
    return out;
  }

  void times(const Pipeline& pipeline, const StagesTable& given, SlotTimes& into) {
    if (!given) append(problems_, given.problems());
    const bool from_file = !given || given->has_value();
    seconds("transfer", into.send, Least::nothing);
    reader_.number("joined", into.joined, 0.5, 1);
    if (reader_.has("joined") && !joins_pairs(pipeline.schedule) && !reader_.refused("schedule")) {
      reader_.fail("joined", "is of schedules that join pairs: dual-pipe, dual-pipe-v");
    }
    std::array<Seconds, 3> rank;
    for (std::size_t i = 0; i < kStageTimes.size(); ++i) {
      const std::string name(kStageTimes[i].name);
      if (from_file && reader_.has(name)) {
        reader_.fail(name, "stands in the file of stages already");
      } else if (!from_file) {
        reader_.text(name, true);
      }
      seconds(name, rank[i], kStageTimes[i].least);
    }
    if (!from_file) {
      if (!refused()) same(pipeline, {rank[0], rank[1], rank[2]}, into);
      return;
    }
    if (!given) return;
    // How many stages there are is not known where the pipeline is not.
    const bool known = !refused();
    const auto read = read_stages(**given, known ? std::optional(pipeline.stages()) : std::nullopt);
    if (!read) return append(problems_, read.problems());
    if (!known) return;
    for (std::int64_t r = 0; r < pipeline.ranks; ++r) {
      for (std::int64_t c = 0; c < pipeline.chunks(); ++c) {
        into.chunks.push_back((*read)[static_cast<std::size_t>(pipeline.stage(r, c))]);
      }
    }
  }

 private:
  // The name, and whether it can be followed.
  bool schedule(Schedule& into) {
    if (!reader_.has("schedule")) return false;
    const auto given = reader_.value(*field_row("schedule"));
    if (!given) return false;
    into = static_cast<Schedule>(static_cast<std::uint8_t>(*given));
    return true;
  }

  void count(const char* name, std::int64_t& into, std::int64_t most) {
    if (!reader_.has(name)) return;
    reader_.count(name, into);
    if (!reader_.refused(name) && into > most) {
      reader_.fail(name, "is " + std::to_string(into) + "; at most " + std::to_string(most));
    }
  }

  void seconds(std::string_view name, Seconds& into, Least least) {
    const GivenField* given = reader_.find(name);
    if (given == nullptr || reader_.refused(name)) return;
    const auto time = parse_quantity<Seconds>(given->text, given->where);
    if (!time) return append(problems_, time.problems());
    if (std::string wrong = time_problem(*time, least); !wrong.empty()) {
      return reader_.fail(name, std::move(wrong));
    }
    into = *time;
  }

  void rules(const Pipeline& p) {
    for (ScheduleProblem& problem :
         schedule_problems({p.schedule, p.ranks, p.virtual_stages, p.micro_batches})) {
      reader_.fail(problem.field, std::move(problem.message));
    }
    const std::string given = lower(reader_.find("schedule")->text);
    if (given == kInterleaved && p.virtual_stages == 1) {
      reader_.fail("vpp", "is 1; " + given + " needs at least 2 chunks on each rank");
    }
    if (p.schedule == Schedule::one_f_one_b && p.virtual_stages > 1 &&
        p.micro_batches % p.ranks != 0) {
      reader_.fail("micro-batches",
                   "are " + std::to_string(p.micro_batches) +
                       "; interleaving needs a multiple of pp = " + std::to_string(p.ranks));
    }
    const std::int64_t passes = p.micro_batches_of_copy() * p.chunks();
    if (passes > kMostForwardPasses / p.ranks) {
      reader_.fail("micro-batches", "make more than " + std::to_string(kMostForwardPasses) +
                                        " forward passes on all ranks");
    }
  }

  // Each chunk has its share of a rank; of two copies of the model each is whole.
  static void same(const Pipeline& pipeline, const StagePasses& rank, SlotTimes& into) {
    const auto chunks = static_cast<double>(pipeline.chunks() / pipeline.copies());
    into.chunks.assign(
        static_cast<std::size_t>(pipeline.ranks * pipeline.chunks()),
        chunk_time({rank.forward / chunks, rank.backward / chunks, rank.weight / chunks}));
  }

  bool refused() const { return !problems_.empty(); }

  RequestReader reader_;
  Problems& problems_;
};

}  // namespace

std::span<const RunField> simulate_pipeline_fields() {
  static const std::vector<RunField> out = [] {
    std::vector<RunField> fields = table();
    for (RunField& field : fields) field.help = help_text(field);
    return fields;
  }();
  return out;
}

Result<PipelineQuestion> read_pipeline(const RunRequest& request, const StagesTable& stages) {
  Problems problems;
  PipelineQuestion out;
  PipelineReader reader(request, problems);
  out.pipeline = reader.shape();
  reader.times(out.pipeline, stages, out.times);
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway
