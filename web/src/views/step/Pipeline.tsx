// One pipeline's stages over time.
import { useState } from "preact/hooks";

import type { PredictDocument } from "../../lib/documents";
import { percent, seconds } from "../../lib/format";
import { busyOf, notDrawn, timelineOf } from "../../lib/timeline";
import { pipelineOf, pipelineTime } from "./run";
import { TimelineCanvas, kSlotColours } from "./TimelineCanvas";

type Part = "all" | "start" | "end";
const kPartNames: Readonly<Record<Part, string>> = { all: "whole", start: "start", end: "end" };

export function Pipeline({ step }: { step: PredictDocument }) {
  const [part, setPart] = useState<Part>("all");
  const run = pipelineOf(step);
  if (run.stages.length === 1) return <p class="soft">One stage: no pipeline, and no bubble.</p>;
  const why = notDrawn(run);
  if (why) return <p class="soft">{why}</p>;

  const timeline = timelineOf(run);
  // As long as the filled pipeline takes for as many micro-batches as there are stages, and half more.
  const one = Math.max(...run.stages.map((each) => each.forward + each.backward));
  const close = Math.min(timeline.length, one * run.stages.length * 1.5);
  const window: [number, number] =
    part === "all" ? [0, timeline.length] : part === "start" ? [0, close] : [timeline.length - close, timeline.length];
  const kinds = new Set(timeline.slots.map((slot) => slot.kind));
  return (
    <>
      <div class="buttons" role="group" aria-label="Part of the timeline">
        {(Object.keys(kPartNames) as Part[]).map((each) => (
          <button key={each} type="button" aria-pressed={part === each} onClick={() => setPart(each)}>
            {kPartNames[each]}
          </button>
        ))}
        <span class="legend">
          {Object.entries(kSlotColours)
            .filter(([kind]) => kind === "idle" || kinds.has(kind as "forward"))
            .map(([kind, { colour, name }]) => (
              <span key={kind}>
                <span class="key" style={{ background: `var(${colour})` }} />
                {name}
              </span>
            ))}
        </span>
      </div>
      <TimelineCanvas timeline={timeline} stages={run.stages.length} chunks={run.chunks} window={window} />
      <p class="soft" data-timeline={timeline.length}>
        {run.microBatches} micro-batches by {step.layout.schedule}
        {run.chunks > 1 ? `, ${run.chunks} chunks a stage (later ones paler)` : ""}, drawn {seconds(timeline.length)};
        the forecast's closed form: {seconds(pipelineTime(step))}. Gradients' last calls, the update and the rest
        follow.
      </p>
      <details>
        <summary>Stages in numbers</summary>
        <div class="scroll" tabIndex={0} role="region" aria-label="Stages of the pipeline">
          <table>
            <caption>Seconds for one micro-batch of a stage; busy: share of the timeline</caption>
            <thead>
              <tr>
                <th scope="col">Stages</th>
                <th scope="col" class="n">
                  Forward
                </th>
                <th scope="col" class="n">
                  Backward
                </th>
                <th scope="col" class="n">
                  of it weight gradients
                </th>
                <th scope="col" class="n">
                  Transfers
                </th>
                <th scope="col" class="n">
                  Busy
                </th>
              </tr>
            </thead>
            <tbody>
              {step.pipeline.stages.map((each) => (
                <tr key={each.first}>
                  <th scope="row">
                    {each.stages === 1 ? each.first : `${each.first} to ${each.first + each.stages - 1}`}
                    {each.sets_pace && " (sets the pace)"}
                  </th>
                  <td class="n">{seconds(each.forward_s)}</td>
                  <td class="n">{seconds(each.backward_s)}</td>
                  <td class="n">{seconds(each.weight_gradient_s)}</td>
                  <td class="n">{seconds(each.transfers_s)}</td>
                  <td class="n">{percent(busyOf(timeline, each.first) / timeline.length)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </>
  );
}
