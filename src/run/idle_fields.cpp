#include "run/idle_fields.hpp"

#include "step/frameworks/habits.hpp"

namespace headway {
namespace {

// Fields that are read only where another one says so.
struct ReadWith {
  std::string_view name;
  bool (*is_read)(const Run& run);
  std::string_view by, as;
};
bool recomputes_fully(const Run& run) {
  return run.layout.recompute == Recompute::full;
}
bool recomputes_layers(const Run& run) {
  return recomputes_fully(run) || run.layout.recompute == Recompute::every_second;
}
bool recomputes_pieces(const Run& run) {
  return run.layout.recompute == Recompute::selective;
}
bool trains_adapters(const Run& run) {
  return run.job.task == Task::lora;
}
bool cuts_tables(const Run& run) {
  const TableSplit& tables = run.layout.tables;
  return tables.uses(TableScheme::column_wise) || tables.uses(TableScheme::grid);
}
bool caches_tables(const Run& run) {
  return run.layout.tables.cached < 1;
}
bool shards(const Run& run) {
  return run.layout.zero > 0;
}
constexpr ReadWith kReadWith[] = {
    {"recompute-every", recomputes_fully, "recompute", "full"},
    {"recompute-one-in", recomputes_fully, "recompute", "full"},
    {"recompute-early-stop", recomputes_layers, "recompute", "full or every-second-product"},
    {"recompute-pieces", recomputes_pieces, "recompute", "selective"},
    {"lora-rank", trains_adapters, "task", "lora"},
    {"adapters", trains_adapters, "task", "lora"},
    {"shard", shards, "zero", "1, 2 or 3"},
    {"table-columns", cuts_tables, "tables", "column-wise or grid"},
    {"table-hits", caches_tables, "table-cache", "below 1"},
};

// [STEP-18] Only gradients that go out in buckets of a size that configurations state.
void refuse_idle_buckets(RequestReader& reader, const Run& run) {
  const ReductionHabits& habit = habits(run.job).reduction;
  if (!reader.has("bucket-size") || habit.bucket_stated == 0) return;
  for (const char* name : {"bucket-size", "framework", "task", "zero", "overlap-gradients"}) {
    if (reader.refused(name)) return;
  }
  if (states_buckets(run.job, run.layout)) return;
  std::string stages;
  for (int stage = 0; stage < 4; ++stage) {
    Layout other = run.layout;
    other.zero = stage;
    other.overlap_gradients = Choice::on;
    if (!states_buckets(run.job, other)) continue;
    stages += (stages.empty() ? "" : " or ") + std::to_string(stage);
  }
  reader.fail("bucket-size",
              "is read by " + std::string(title_of(run.job.framework)) + " with zero " + stages +
                  (habit.bucket_if_overlapped ? " and overlap-gradients on alone" : " alone") +
                  "; leave it out, or give that, too");
}

}  // namespace

// What is given there and would change nothing is not what is meant, unless it is the default.
void refuse_idle(RequestReader& reader, const Run& run) {
  refuse_idle_buckets(reader, run);
  static const Run usual;
  for (const ReadWith& field : kReadWith) {
    if (!reader.has(field.name) || field.is_read(run)) continue;
    if (reader.refused(field.name) || reader.refused(field.by)) continue;
    const FieldRow& row = *field_row(field.name);
    if (number_of(run, row) == number_of(usual, row)) continue;
    reader.fail(field.name, "is read with " + std::string(field.by) + " " + std::string(field.as) +
                                " alone; leave it out, or give that, too");
  }
}

}  // namespace headway
