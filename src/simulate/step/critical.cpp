#include "simulate/step/critical.hpp"

namespace headway {

std::size_t last_span(const RankTimeline& rank) {
  std::size_t out = rank.spans.size();
  for (std::size_t i = 0; i < rank.spans.size(); ++i) {
    if (rank.spans[i].beside) continue;
    if (out == rank.spans.size() || rank.spans[i].end >= rank.spans[out].end) out = i;
  }
  return out;
}

std::vector<SpanPlace> critical_path(const std::vector<RankTimeline>& ranks, std::size_t last) {
  std::vector<SpanPlace> out = {{last, last_span(ranks[last])}};
  while (true) {
    const StepSpan& span = ranks[out.back().rank].spans[out.back().span];
    if (span.cause_rank < 0) return out;
    out.push_back({static_cast<std::size_t>(span.cause_rank), span.cause});
  }
}

Parts critical_parts(const std::vector<RankTimeline>& ranks, std::size_t last) {
  Parts out{};
  for (const SpanPlace& place : critical_path(ranks, last)) {
    const StepSpan& span = ranks[place.rank].spans[place.span];
    for (const PartRow& row : kParts) {
      out[row.part] += span.parts[row.part];
      if (!span.program) continue;
      out[row.part] += span.program->critical[row.part] - span.program->parts[row.part];
    }
    out.pp += span.came;
  }
  return out;
}

}  // namespace headway
