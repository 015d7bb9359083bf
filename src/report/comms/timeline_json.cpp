// What traces hold, everything in its place, as the page draws it.
#include <algorithm>
#include <string>
#include <vector>

#include "base/draw/numbered.hpp"
#include "report/comms_measured.hpp"
#include "report/json/writer.hpp"
#include "study/measured/timeline.hpp"
#include "trace/recording/rank_names.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostMeasuredSpans = 200'000;
constexpr std::string_view kComputation = "computation";
constexpr std::int64_t kNoStream = -1;

class TimelineWriter {
 public:
  explicit TimelineWriter(const Measured& measured)
      : recording_(measured.recording()), placed_(spans_of(measured)) {
    const std::size_t all = placed_.spans.size();
    placed_.spans.resize(std::min(all, kMostMeasuredSpans));
    left_out_ = all - placed_.spans.size();
    place_of_call_.assign(recording_.calls.size(), kNowhere);
    by_rank_.resize(recording_.ranks.size());
    for (const MeasuredSpan& span : placed_.spans) {
      if (!span.compute) place_of_call_[span.index] = by_rank_[span.rank].size();
      by_rank_[span.rank].push_back(&span);
    }
    // Ranks without any are not written.
    rows_.assign(recording_.ranks.size(), -1);
    std::int64_t row = 0;
    for (const std::uint32_t rank : rank_order(recording_)) {
      if (!by_rank_[rank].empty()) rows_[rank] = row++;
    }
    find_last(measured);
    mark_path(measured);
  }

  void write(JsonWriter& out) {
    double time = 0;
    for (const MeasuredSpan& span : placed_.spans) time = std::max(time, span.end);
    out.begin_object();
    out.member("time_s", to_nanosecond(Seconds(time)));
    out.key("ranks");
    out.begin_array();
    const std::vector<std::string> labels = rank_names(recording_);
    for (const std::uint32_t rank : rank_order(recording_)) {
      if (!by_rank_[rank].empty()) write_rank(out, labels[rank], by_rank_[rank]);
    }
    out.end_array();
    out.key("streams");
    out.begin_array();
    for (const std::int64_t stream : streams_.all) {
      out.value(stream == kNoStream ? std::string("calls") : "stream " + std::to_string(stream));
    }
    out.end_array();
    write_texts(out, "parts", parts_.all);
    write_texts(out, "names", names_.all);
    out.member("critical_path", has_path_);
    out.member("left_out", left_out_);
    out.member("unplaced_ranks", placed_.unplaced);
    out.end_object();
  }

 private:
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  static void write_texts(JsonWriter& out, std::string_view key,
                          const std::vector<std::string>& texts) {
    out.key(key);
    out.begin_array();
    for (const std::string& text : texts) out.value(text);
    out.end_array();
  }

  // Of each matched call, that of the rank for which the others waited.
  void find_last(const Measured& measured) {
    last_of_call_.assign(recording_.calls.size(), kNowhere);
    for (const MatchedCall& matched : measured.alignment.matched) {
      const auto last = std::find_if(
          matched.calls.begin(), matched.calls.end(),
          [&](std::size_t call) { return recording_.calls[call].rank == matched.last_rank; });
      if (last == matched.calls.end()) continue;
      for (const std::size_t call : matched.calls) {
        if (call != *last) last_of_call_[call] = *last;
      }
    }
  }

  void mark_path(const Measured& measured) {
    call_critical_.assign(recording_.calls.size(), false);
    kernel_critical_.assign(recording_.compute.size(), false);
    has_path_ = measured.path.has_value();
    if (!has_path_) return;
    for (const std::size_t call : measured.path->calls) call_critical_[call] = true;
    for (const std::size_t kernel : measured.path->kernels) kernel_critical_[kernel] = true;
  }

  std::string name_of(const MeasuredSpan& span) const {
    if (!span.compute) {
      const RecordedCall& call = recording_.calls[span.index];
      const std::string op(to_name(call.op));
      return call.group ? op + " " + group_name(recording_, call.group) : op;
    }
    const std::uint32_t name = recording_.compute[span.index].name;
    return name == RecordedCompute::kNone ? std::string(kComputation)
                                          : recording_.kernel_names[name];
  }

  // The call that a call waited for; its place among the spans of its rank.
  std::size_t waited_for(const MeasuredSpan& span) const {
    if (span.compute || !(span.waiting > 0)) return kNowhere;
    const std::size_t last = last_of_call_[span.index];
    return last == kNowhere || place_of_call_[last] == kNowhere ? kNowhere : last;
  }

  void write_rank(JsonWriter& out, const std::string& label,
                  const std::vector<const MeasuredSpan*>& spans) {
    const auto column = [&](std::string_view key, const auto& of) {
      std::vector<decltype(of(*spans[0]))> values;
      values.reserve(spans.size());
      for (const MeasuredSpan* span : spans) values.push_back(of(*span));
      out.column(key, values);
    };
    out.begin_object();
    out.member("label", label);
    column("name", [&](const MeasuredSpan& span) { return names_.number(name_of(span)); });
    column("stream", [&](const MeasuredSpan& span) {
      return streams_.number(span.compute
                                 ? recording_.compute[span.index].stream
                                 : recording_.calls[span.index].stream.value_or(kNoStream));
    });
    column("part", [&](const MeasuredSpan& span) {
      return parts_.number(span.compute ? std::string(kComputation)
                                        : std::string(to_name(recording_.calls[span.index].op)));
    });
    column("begin_s", [](const MeasuredSpan& span) { return to_nanosecond(Seconds(span.begin)); });
    column("end_s", [](const MeasuredSpan& span) { return to_nanosecond(Seconds(span.end)); });
    column("waiting_s",
           [](const MeasuredSpan& span) { return to_nanosecond(Seconds(span.waiting)); });
    column("waits_for_rank", [&](const MeasuredSpan& span) {
      const std::size_t call = waited_for(span);
      return call == kNowhere ? std::int64_t{-1} : rows_[recording_.calls[call].rank];
    });
    column("waits_for", [&](const MeasuredSpan& span) {
      const std::size_t call = waited_for(span);
      return call == kNowhere ? std::int64_t{-1} : static_cast<std::int64_t>(place_of_call_[call]);
    });
    column("critical", [&](const MeasuredSpan& span) {
      const bool is = span.compute ? kernel_critical_[span.index] : call_critical_[span.index];
      return std::int64_t{is ? 1 : 0};
    });
    out.end_object();
  }

  const Recording& recording_;
  MeasuredSpans placed_;
  std::size_t left_out_ = 0;
  std::vector<std::vector<const MeasuredSpan*>> by_rank_;
  std::vector<std::int64_t> rows_;  // the place of a rank among those that are written
  std::vector<std::size_t> place_of_call_, last_of_call_;
  std::vector<bool> call_critical_, kernel_critical_;
  bool has_path_ = false;
  Numbered<std::string> names_, parts_;
  Numbered<std::int64_t> streams_;
};

}  // namespace

void write_measured_timeline(JsonWriter& out, const Measured& measured) {
  TimelineWriter(measured).write(out);
}

}  // namespace headway
