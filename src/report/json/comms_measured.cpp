// The answer as one JSON document in SI units. What is not known is null, never zero.
#include "report/comms_measured.hpp"

#include "report/json/document.hpp"

namespace headway {
namespace {

Json group_json(const Measured& measured, const std::optional<std::uint32_t>& group) {
  if (!group) return nullptr;
  return group_name(measured.recording(), group);
}

Json ranks_json(const Measured& measured) {
  Json out = Json::array();
  const Recording& recording = measured.recording();
  for (std::size_t i = 0; i < recording.ranks.size(); ++i) {
    const RecordedRank& rank = recording.ranks[i];
    Json offset = nullptr;
    if (const auto& ns = measured.alignment.clock_offset_ns[i]) {
      offset = static_cast<double>(*ns) * 1e-9;
    }
    out.push_back({{"rank", known_json(rank.number)},
                   {"label", rank.label},
                   {"world_size", known_json(rank.world_size)},
                   {"clock_offset_s", std::move(offset)},
                   {"waits", rank.waits > 0 ? Json(rank.waits) : Json()},
                   {"waited_s", rank.waits > 0 ? Json(rank.waited.value()) : Json()}});
  }
  return out;
}

Json groups_json(const Recording& recording) {
  Json out = Json::array();
  for (const RecordedGroup& group : recording.groups) {
    out.push_back(
        {{"id", group.id},
         {"description", group.description.empty() ? Json(nullptr) : Json(group.description)},
         {"size", known_json(group.size)},
         {"ranks", group.ranks.empty() ? Json(nullptr) : Json(group.ranks)}});
  }
  return out;
}

Json calls_json(const Measured& measured) {
  Json out = Json::array();
  for (const CallTableRow& row : measured.calls) {
    const bool sized = row.sized > 0, timed = row.timed > 0;
    const auto if_known = [](bool there, double value) { return there ? Json(value) : Json(); };
    out.push_back({{"group", group_json(measured, row.group)},
                   {"op", to_name(row.op)},
                   {"done_as", row.done_as ? Json(to_name(*row.done_as)) : Json()},
                   {"ranks", known_json(row.ranks)},
                   {"recorded_ranks", row.callers},
                   {"count", count_json(row.count)},
                   {"sized", count_json(row.sized)},
                   {"bytes", if_known(sized, row.bytes.value())},
                   {"wire_bytes", known_json(row.wire_bytes)},
                   {"smallest_bytes", if_known(sized, row.smallest.value())},
                   {"largest_bytes", if_known(sized, row.largest.value())},
                   {"time_kind", to_name(row.time_kind)},
                   {"timed", count_json(row.timed)},
                   {"seconds", if_known(timed, row.time.value())},
                   {"shortest_s", if_known(timed, row.shortest.value())},
                   {"busbw_bytes_per_s", known_json(row.bus_bandwidth)}});
  }
  return out;
}

Json matched_json(const Measured& measured) {
  Json out = Json::array();
  const Recording& recording = measured.recording();
  for (const MatchedCall& matched : measured.alignment.matched) {
    const RecordedCall& first = recording.calls[matched.calls.front()];
    Json ranks = Json::array(), waiting = Json::array(), seconds = Json::array();
    for (std::size_t i = 0; i < matched.calls.size(); ++i) {
      const RecordedCall& call = recording.calls[matched.calls[i]];
      ranks.push_back(call.rank);
      seconds.push_back(known_json(call.duration));
      waiting.push_back(matched.waiting[i].value());
    }
    out.push_back({{"group", group_json(measured, first.group)},
                   {"op", to_name(first.op)},
                   {"bytes", known_json(first.bytes)},
                   {"ranks", std::move(ranks)},
                   {"seconds", std::move(seconds)},
                   {"waiting_s", std::move(waiting)},
                   {"transfer_s", matched.transfer.value()},
                   {"last_rank", matched.last_rank},
                   {"complete", matched.complete},
                   {"by_order", matched.by_order}});
  }
  return out;
}

Json waiting_json(const Measured& measured) {
  Json out = Json::array();
  for (const WaitingRow& row : measured.waiting) {
    out.push_back({{"group", group_json(measured, row.group)},
                   {"op", to_name(row.op)},
                   {"collectives", row.collectives},
                   {"incomplete", row.incomplete},
                   {"transfer_s", row.transfer.value()},
                   {"transfer_busbw_bytes_per_s", known_json(row.bus_bandwidth)},
                   {"waiting_s", row.waiting.value()},
                   {"kernel_s", row.kernel_time.value()},
                   {"longest_wait_s", row.longest.value()},
                   {"last_rank", row.last_rank},
                   {"times_last", row.times_last}});
  }
  return out;
}

// Null where no calls of several ranks could be matched.
Json ranks_waiting_json(const Measured& measured) {
  if (measured.alignment.matched.empty()) return nullptr;
  Json out = Json::array();
  for (std::size_t i = 0; i < measured.alignment.ranks.size(); ++i) {
    const RankWaiting& rank = measured.alignment.ranks[i];
    out.push_back({{"rank", i},
                   {"matched", rank.matched},
                   {"transfer_s", rank.transfer.value()},
                   {"waiting_s", rank.waiting.value()},
                   {"times_last", rank.times_last}});
  }
  return out;
}

// Null where no computation is recorded.
Json overlap_json(const Measured& measured) {
  if (measured.overlap.empty()) return nullptr;
  Json out = Json::array();
  for (const Overlap& overlap : measured.overlap) {
    Json by_call = Json::array();
    for (const ExposedCalls& calls : overlap.by_call) {
      by_call.push_back({{"group", group_json(measured, calls.group)},
                         {"op", to_name(calls.op)},
                         {"seconds", calls.time.value()},
                         {"exposed_s", calls.exposed.value()}});
    }
    out.push_back({{"rank", overlap.rank},
                   {"span_s", overlap.span.value()},
                   {"compute_s", overlap.compute.value()},
                   {"communication_s", overlap.communication.value()},
                   {"hidden_s", overlap.hidden.value()},
                   {"exposed_s", overlap.exposed.value()},
                   {"idle_s", overlap.idle.value()},
                   {"by_call", std::move(by_call)}});
  }
  return out;
}

// Null where the source marks no steps and its calls do not repeat.
Json steps_json(const Measured& measured) {
  if (measured.step_rows.empty()) return nullptr;
  Json rows = Json::array(), late = Json::array();
  for (const StepRow& row : measured.step_rows) {
    Json ranks = Json::array();
    for (const StepOfRank& rank : row.ranks) {
      ranks.push_back({{"rank", rank.rank},
                       {"span_s", rank.span.value()},
                       {"compute_s", known_json(rank.compute)},
                       {"communication_s", rank.communication.value()},
                       {"exposed_s", known_json(rank.exposed)},
                       {"idle_s", known_json(rank.idle)},
                       {"waiting_s", rank.waits.value()},
                       {"causes_waiting_s", rank.causes.value()}});
    }
    rows.push_back({{"number", row.number},
                    {"longest_s", row.longest.value()},
                    {"last_rank", row.last ? Json(*row.last) : Json(nullptr)},
                    {"ranks", std::move(ranks)}});
  }
  for (const Straggler& rank : measured.stragglers) {
    late.push_back({{"rank", rank.rank},
                    {"causes_waiting_s", rank.causes.value()},
                    {"last_in", rank.last_in},
                    {"steps", rank.steps},
                    {"work", rank.work}});
  }
  return {{"by", to_name(measured.steps.by)},
          {"rows", std::move(rows)},
          {"stragglers", std::move(late)}};
}

// Null where not all calls have a time of their own.
Json path_json(const Measured& measured) {
  if (!measured.path) return nullptr;
  Json parts = Json::array();
  for (const PathPart& part : measured.path->parts) {
    const bool call = part.kind == PathKind::transfer;
    parts.push_back({{"kind", to_name(part.kind)},
                     {"rank", part.rank},
                     {"group", call ? group_json(measured, part.group) : Json(nullptr)},
                     {"op", call ? Json(to_name(part.op)) : Json(nullptr)},
                     {"count", part.count},
                     {"seconds", part.time.value()}});
  }
  return {{"seconds", measured.path->time.value()},
          {"changes_of_rank", measured.path->changes},
          {"parts", std::move(parts)}};
}

Json exchanges_json(const Measured& measured) {
  if (measured.exchanges.empty()) return nullptr;
  Json out = Json::array();
  for (const ExchangeRow& row : measured.exchanges) {
    out.push_back({{"group", group_json(measured, row.group)},
                   {"exchanges", row.exchanges},
                   {"imbalance", row.imbalance},
                   {"worst", row.worst},
                   {"fullest_rank", row.fullest},
                   {"times_fullest", row.times_fullest}});
  }
  return out;
}

Json kernels_json(const Measured& measured) {
  if (measured.kernels.kernels.empty()) return nullptr;
  Json out = Json::array();
  for (const KernelRow& row : measured.kernels.kernels) {
    out.push_back({{"name", row.name},
                   {"count", row.count},
                   {"seconds", row.time.value()},
                   {"shortest_s", row.shortest.value()},
                   {"longest_s", row.longest.value()}});
  }
  return out;
}

Json products_json(const Measured& measured) {
  if (measured.kernels.products.empty()) return nullptr;
  Json out = Json::array();
  for (const ProductRow& row : measured.kernels.products) {
    const RecordedProduct& product = row.product;
    out.push_back({{"m", product.m},
                   {"n", product.n},
                   {"k", product.k},
                   {"batch", product.batch},
                   {"dtype", product.type ? Json(to_name(*product.type)) : Json(nullptr)},
                   {"count", row.count},
                   {"seconds", row.time.value()},
                   {"flops", row.flops.value()},
                   {"flops_per_s", row.rate().value()},
                   {"model_s", known_json(row.modelled)},
                   {"peak_share", known_json(row.peak_share)},
                   {"roofline_share", known_json(row.roofline_share)}});
  }
  return out;
}

Json histogram_json(const SizeHistogram& sizes) {
  if (sizes.all().count == 0 && sizes.empty() == 0) return nullptr;
  Json bins = Json::array();
  for (const SizeHistogram::Bin& bin : sizes.bins()) {
    bins.push_back({{"from_bytes", bin.from.value()},
                    {"count", count_json(bin.count)},
                    {"bytes", bin.bytes.value()}});
  }
  return {{"empty", sizes.empty()}, {"bins", std::move(bins)}};
}

// Null where steps are marked, or nothing repeats.
Json repeated_json(const Measured& measured) {
  if (!measured.steps.repeated) return nullptr;
  const RepeatedSteps& found = *measured.steps.repeated;
  return {{"steps", found.steps},
          {"calls_per_step", found.calls},
          {"calls_before", found.before},
          {"calls_behind", found.behind}};
}

Json omissions_json(const Recording& recording) {
  Json out = Json::array();
  for (const Omission& omission : recording.omissions) {
    out.push_back({{"what", omission.what}, {"count", omission.count}, {"lost", omission.lost}});
  }
  return out;
}

}  // namespace

std::string measured_json(const Measured& measured, bool timeline) {
  const Recording& recording = measured.recording();
  Json unread = Json::array();
  for (const Problem& problem : measured.run.unread) {
    unread.push_back({{"file", where_text(problem)}, {"why", problem.message}});
  }
  const Json document = {{"source", measured.run.files},
                         {"unread", std::move(unread)},
                         {"format", recording.format},
                         {"ranks", ranks_json(measured)},
                         {"groups", groups_json(recording)},
                         {"calls_by_group", calls_json(measured)},
                         {"waiting_by_group", waiting_json(measured)},
                         {"matched", matched_json(measured)},
                         {"unmatched", measured.alignment.unmatched},
                         {"clock_error_s", known_json(measured.alignment.clock_error)},
                         {"ranks_waiting", ranks_waiting_json(measured)},
                         {"overlap", overlap_json(measured)},
                         {"steps", steps_json(measured)},
                         {"critical_path", path_json(measured)},
                         {"exchanges", exchanges_json(measured)},
                         {"kernels", kernels_json(measured)},
                         {"products", products_json(measured)},
                         {"histogram", histogram_json(measured.sizes)},
                         {"marked_steps", recording.marked_steps},
                         {"repeated_steps", repeated_json(measured)},
                         {"omissions", omissions_json(recording)},
                         {"notes", measured.notes}};
  if (!timeline) return document_text(document);
  JsonWriter out;
  out.begin_object();
  for (const auto& [name, member] : document.items()) {
    out.key(name);
    write(out, member);
  }
  out.key("timeline");
  write_measured_timeline(out, measured);
  out.end_object();
  return out.take();
}

}  // namespace headway
