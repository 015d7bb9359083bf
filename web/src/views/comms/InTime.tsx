// What traces hold, everything in its place.
import { useMemo } from "preact/hooks";

import { Problems } from "../../app/Problems";
import { saveText } from "../../charts/download";
import { Figure } from "../../charts/Figure";
import { count, seconds } from "../../lib/format";
import { chromeTrace } from "../../timeline/chromeTrace";
import { TimelineChart } from "../../timeline/Timeline";
import { kMostRanks, timelineOfTraces, type TracedDocument } from "../../timeline/traced";
import { useTraces } from "./useTraces";

const kAsked = { timeline: true };

/** Asks for itself: reading is quick, and what the traces come to is told first. */
export function TracesInTime({ files, steps }: { files: readonly File[]; steps: string }) {
  const request = useMemo(() => (steps === "" ? kAsked : { ...kAsked, steps }), [steps]);
  const traced = useTraces<{ readonly timeline: TracedDocument }>(files, request);
  const document = traced.answer?.document.timeline;
  const timeline = useMemo(() => document && timelineOfTraces(document), [document]);
  if (!document || !timeline) {
    return traced.problems.length > 0 ? <Problems problems={traced.problems} shown={[]} /> : <p class="soft">They are being read.</p>;
  }
  if (timeline.rows.length === 0) return <p class="soft">These traces say of nothing when it began and how long it took.</p>;
  return (
    <div aria-busy={traced.busy}>
      <Figure
        title="Each rank, and the streams of one"
        file="headway-trace-timeline"
        document={document}
        also={{
          name: "Perfetto",
          save: () => saveText("headway-traces.trace.json", "application/json", chromeTrace(timeline)),
        }}
      >
        <TimelineChart timeline={timeline} first={0} />
      </Figure>
      <p class="soft" data-timeline={document.time_s}>
        {seconds(document.time_s)} on the clock that the ranks share. A rank's row has its computation, and of its calls what no
        computation covers; paler: waiting for other ranks. Drag or A and D to move, Ctrl and the wheel or W and S to zoom,
        double-click or Enter for a closer look, P to what was waited for; a rank that is clicked shows its streams.
        {told(document).map((each) => ` ${each}`)}
      </p>
    </div>
  );
}

function told(document: TracedDocument): string[] {
  const out: string[] = [];
  const ranks = document.ranks.length - kMostRanks;
  if (document.left_out > 0) {
    out.push(`Left out: ${count(document.left_out)} kernels and calls behind the first 200,000; name fewer steps to see them.`);
  }
  if (ranks > 0) out.push(`Not drawn: ${count(ranks)} ranks behind the first ${kMostRanks}; choose fewer files to see them.`);
  if (document.unplaced_ranks > 0) {
    out.push(`Not drawn: ${count(document.unplaced_ranks)} ranks whose clock is not known.`);
  }
  if (!document.critical_path) out.push("Which way leads to the end is not known: not all calls have a time of their own.");
  return out;
}
