
#include "report/comms_compared.hpp"

#include "report/json/document.hpp"
#include "trace/analysis/call_table.hpp"

namespace headway {
namespace {

Json names_of(const std::vector<Group>& groups) {
  Json names = Json::array();
  for (const Group group : groups) names.push_back(to_name(group));
  return names;
}

Json rank_of(const Recording& recording, std::uint32_t index) {
  const RecordedRank& rank = recording.ranks[index];
  return rank.number ? Json(*rank.number) : Json(rank.label);
}

constexpr std::string_view kTransferKindNames[] = {"none", "benchmark", "shortest of the ranks",
                                                   "shortest of equal calls", "whole kernel"};

Json row_json(const ReconciledRow& row, const Compared& c) {
  const bool expected = row.expected_count > 0, measured = row.measured_count > 0;
  const bool timed = row.timed_count > 0;
  const auto slowdown = row.slowdown();
  return {{"groups", names_of(row.groups)},
          {"recorded_group",
           row.recorded ? Json(group_name(c.recording, row.recorded)) : Json(nullptr)},
          {"match", to_name(row.match)},
          {"expected_op", expected ? Json(to_name(row.expected_op)) : Json(nullptr)},
          {"measured_op", measured ? Json(to_name(row.measured_op)) : Json(nullptr)},
          {"phase", expected ? Json(to_name(row.phase)) : Json(nullptr)},
          {"ranks", row.ranks > 0 ? Json(row.ranks) : Json(nullptr)},
          {"expected_count", count_json(row.expected_count)},
          {"measured_count", count_json(row.measured_count)},
          {"expected_bytes", row.expected_bytes.value()},
          {"measured_bytes", row.sized ? Json(row.measured_bytes.value()) : Json(nullptr)},
          {"expected_s", row.expected.value()},
          {"model_s", known_json(row.model)},
          {"timed_count", count_json(row.timed_count)},
          {"transfer_s", timed ? Json(row.transfer.value()) : Json(nullptr)},
          {"transfer_is", kTransferKindNames[static_cast<std::size_t>(row.transfer_kind)]},
          {"waiting_s", timed ? Json(row.waiting.value()) : Json(nullptr)},
          {"timed_model_s", timed ? Json(row.timed_model.value()) : Json(nullptr)},
          {"slowdown", slowdown ? Json(*slowdown) : Json(nullptr)},
          {"exposed_s", known_json(row.exposed)},
          {"model_bus_bytes_per_s", known_json(row.model_bus)},
          {"measured_bus_bytes_per_s", known_json(row.measured_bus)}};
}

Json groups_json(const Compared& c) {
  Json list = Json::array();
  for (const GroupMapping& group : c.reconciliation.groups) {
    list.push_back(
        {{"recorded_group",
          group.recorded ? Json(group_name(c.recording, group.recorded)) : Json(nullptr)},
         {"ranks", group.size ? Json(*group.size) : Json(nullptr)},
         {"groups", names_of(group.groups)},
         {"by", kGroupEvidenceNames[static_cast<std::size_t>(group.evidence)]},
         {"calls", count_json(group.calls)}});
  }
  return list;
}

Json findings_json(const Compared& c) {
  Json list = Json::array();
  for (const Finding& finding : c.verdict.findings) {
    Json ranks = Json::array();
    for (const std::uint32_t rank : finding.ranks) ranks.push_back(rank_of(c.recording, rank));
    list.push_back({{"kind", to_name(finding.kind)},
                    {"lost_s", known_json(finding.lost)},
                    {"exposed_share", finding.exposed},
                    {"row", finding.row ? Json(*finding.row) : Json(nullptr)},
                    {"ranks", std::move(ranks)},
                    {"text", finding.text}});
  }
  return list;
}

}  // namespace

std::string compared_json(const Compared& c) {
  const Reconciliation& all = c.reconciliation;
  Json rows = Json::array(), late = Json::array(), omissions = Json::array();
  for (const ReconciledRow& row : all.rows) rows.push_back(row_json(row, c));
  for (const LateRank& rank : all.late) {
    late.push_back({{"rank", rank_of(c.recording, rank.rank)},
                    {"causes_waiting_s", rank.causes.value()},
                    {"share_last", rank.share_last}});
  }
  for (const Omission& omission : c.recording.omissions) {
    omissions.push_back({{"what", omission.what}, {"count", omission.count}});
  }
  return document_text(
      {{"model", c.run.model.name},
       {"cluster", c.run.cluster.name},
       {"format", c.recording.format},
       {"run_ranks", all.run_ranks},
       {"recorded_ranks", all.recorded_ranks},
       {"steps", all.steps.steps},
       {"steps_by", kStepEvidenceNames[static_cast<std::size_t>(all.steps.evidence)]},
       {"steps_by_counts", all.steps.by_counts ? Json(*all.steps.by_counts) : Json(nullptr)},
       {"verdict", c.verdict.line},
       {"as_expected", c.verdict.findings.empty() && !c.recording.calls.empty()},
       {"findings", findings_json(c)},
       {"expected_s", all.expected.value()},
       {"measured_s", known_json(all.measured)},
       {"transfer_s", all.measured ? Json(all.transfer.value()) : Json(nullptr)},
       {"waiting_s", all.measured ? Json(all.waiting.value()) : Json(nullptr)},
       {"exposed_s", known_json(all.exposed)},
       {"rows", std::move(rows)},
       {"late_ranks", std::move(late)},
       {"recorded_groups", groups_json(c)},
       {"stages", all.stages},
       {"omissions", std::move(omissions)},
       {"assumptions", c.run.assumptions}});
}

}  // namespace headway
