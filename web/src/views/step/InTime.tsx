// The same step simulated: everything in its place in time, and each stage in numbers.
import { useMemo } from "preact/hooks";

import { DataTable } from "../../charts/DataTable";
import { saveText } from "../../charts/download";
import { Figure } from "../../charts/Figure";
import type { Column } from "../../charts/table";
import type { Request } from "../../lib/api";
import { Kept } from "../../app/Kept";
import { Unfolded } from "../../app/Unfolded";
import { useAsking } from "../../lib/asking";
import { chromeTrace } from "../../timeline/chromeTrace";
import type { PredictDocument } from "../../lib/documents";
import { change, count, percent, seconds } from "../../lib/format";
import { kParts } from "../../lib/parts";
import type { SimulateDocument } from "../../lib/simulated";
import { TimelineChart } from "../../timeline/Timeline";
import { timelineOf, type Timeline } from "../../timeline/timeline";

/** `request`: of the run; null: none that could be simulated, and what was there stays. */
export function InTime({ step, request }: { step: PredictDocument; request: Request | null }) {
  const asked = request && { ...request, timeline: true };
  const asking = useAsking<SimulateDocument>("simulate", asked, { long: true, rest: 150 });
  const simulated = asking.answer?.document;
  const drawn = simulated?.timeline;
  const timeline = useMemo(() => drawn && timelineOf(drawn), [drawn]);
  if (asking.problems.length > 0) {
    return asking.problems.map(({ where, message }) => (
      <p key={`${where} ${message}`} class="soft">
        It is not drawn: {where} {message}.
      </p>
    ));
  }
  if (!simulated || !timeline) {
    return (
      <p class="soft" aria-busy="true">
        It is being simulated.
      </p>
    );
  }
  const { schedule, micro_batches } = step.layout;
  return (
    <div aria-busy={asking.busy}>
      <Figure
        title="Each stage, and the streams of one"
        file="headway-timeline"
        document={simulated}
        also={{
          name: "Perfetto",
          save: () => saveText("headway-timeline.trace.json", "application/json", chromeTrace(timeline)),
        }}
      >
        <Kept of={[timeline]}>{() => <TimelineChart timeline={timeline} first={simulated.stage} />}</Kept>
      </Figure>
      <p class="soft" data-timeline={simulated.placed_s}>
        {timeline.rows.length > 1
          ? `${count(micro_batches)} micro-batches by ${schedule}${timeline.chunks > 1 ? `, ${timeline.chunks} chunks a stage (later ones paler)` : ""}`
          : `${count(micro_batches)} ${micro_batches === 1 ? "micro-batch" : "micro-batches"}`}
        , one rank of each stage. Simulated the step takes {seconds(simulated.step_time_s)}, by the forecast{" "}
        {seconds(step.step_time_s)} ({change(simulated.step_time_s / step.step_time_s)}); what follows the picture all
        ranks have once a step. Drag or A and D to move, Ctrl and the wheel or W and S to zoom, double-click or Enter for a closer
        look; a stage that is clicked shows its streams. What is typed under Find is looked for in what all stages do and in
        the kernels and calls of that stage: Enter goes to the next, Shift and Enter to the one before.
      </p>
      <Unfolded summary="Stages in numbers">{() => <Stages simulated={simulated} timeline={timeline} />}</Unfolded>
    </div>
  );
}

interface StageRow {
  readonly stage: number;
  readonly end: number;
  readonly busy: number;
  readonly parts: SimulateDocument["parts_s"];
}

function Stages({ simulated, timeline }: { simulated: SimulateDocument; timeline: Timeline }) {
  const rows: StageRow[] = simulated.stages.map((each, stage) => ({
    stage,
    end: each.end_s,
    busy: timeline.rows[stage]!.reduce((sum, span) => sum + (span.program ? span.end - span.start : 0), 0),
    parts: each.parts_s,
  }));
  const columns: Column<StageRow>[] = [
    { key: "stage", head: "Stage", value: (row) => row.stage },
    { key: "end", head: "Ends at", value: (row) => row.end, text: (row) => seconds(row.end) },
    {
      key: "busy",
      head: "In slots",
      value: (row) => row.busy,
      text: (row) => percent(row.busy / simulated.placed_s),
    },
    ...kParts
      .filter((part) => rows.some((row) => row.parts[part] > 0))
      .map(
        (part): Column<StageRow> => ({
          key: part,
          head: part === "bubble" ? "waits" : part,
          value: (row) => row.parts[part],
          text: (row) => seconds(Math.max(0, row.parts[part])),
        }),
      ),
  ];
  return <DataTable caption="Each stage until the last one ends; in slots: share of that time" columns={columns} rows={rows} />;
}
