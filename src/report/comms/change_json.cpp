#include "report/comms/change.hpp"
#include "report/json/document.hpp"
#include "trace/analysis/call_table.hpp"

namespace headway {
namespace {

Json amounts_json(const Amounts& amounts) {
  return {
      {"count", count_json(amounts.count)},           {"bytes", known_json(amounts.bytes)},
      {"wire_bytes", known_json(amounts.wire_bytes)}, {"seconds", known_json(amounts.time)},
      {"waiting_s", known_json(amounts.waiting)},     {"exposed_s", known_json(amounts.exposed)}};
}

Json group_or_null(const Recording& recording, const std::optional<std::uint32_t>& group) {
  return group ? Json(group_name(recording, group)) : Json(nullptr);
}

Json rows_json(const Change& change, const std::vector<CallsChange>& rows, bool sized) {
  Json out = Json::array();
  for (const CallsChange& row : rows) {
    Json one = {{"group", group_or_null(change.before_run.recording(), row.group_before)},
                {"group_after", group_or_null(change.after_run.recording(), row.group_after)},
                {"op", to_name(row.op)}};
    if (sized) one["size_bytes"] = known_json(row.size);
    one["before"] = amounts_json(row.before);
    one["after"] = amounts_json(row.after);
    out.push_back(std::move(one));
  }
  return out;
}

Json side_json(const ChangeRun& run, const ChangeSide& side, const Amounts& whole) {
  Json alone = Json::array();
  for (const std::uint32_t group : side.only_groups) {
    const RecordedGroup& found = run.recording().groups[group];
    alone.push_back({{"group", group_name(run.recording(), group)},
                     {"size", found.size ? Json(*found.size) : Json(nullptr)},
                     {"ranks", found.ranks}});
  }
  return {{"source", run.run.files},
          {"format", run.recording().format},
          {"calls", side.calls},
          {"steps", side.steps > 0 ? Json(side.steps) : Json(nullptr)},
          {"span_s", side.span.value() > 0 ? Json(side.span.value()) : Json(nullptr)},
          {"whole", amounts_json(whole)},
          {"compute_s", known_json(side.compute)},
          {"communication_s", known_json(side.communication)},
          {"hidden_s", known_json(side.hidden)},
          {"exposed_s", known_json(side.exposed)},
          {"idle_s", known_json(side.idle)},
          {"only_ranks", side.only_ranks},
          {"only_groups", std::move(alone)}};
}

}  // namespace

std::string change_json(const Change& change) {
  return document_text(
      {{"per", to_name(change.per)},
       {"ranks", change.ranks},
       {"before", side_json(change.before_run, change.before, change.whole_before)},
       {"after", side_json(change.after_run, change.after, change.whole_after)},
       {"by_group", rows_json(change, change.by_group, false)},
       {"by_size", rows_json(change, change.by_size, true)},
       {"notes", change.notes}});
}

}  // namespace headway
