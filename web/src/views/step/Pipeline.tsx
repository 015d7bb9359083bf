// One pipeline's stages over time.
import { useState } from "preact/hooks";

import type { PredictDocument } from "../../lib/documents";
import { percent, seconds } from "../../lib/format";
import { busyOf, timelineOf } from "../../lib/timeline";
import { pipelineTime } from "./run";
import { TimelineCanvas, kSlotColours } from "./TimelineCanvas";

type Part = "all" | "start" | "end";
const kPartNames: Readonly<Record<Part, string>> = { all: "whole", start: "start", end: "end" };

export function Pipeline({ step }: { step: PredictDocument }) {
  const [part, setPart] = useState<Part>("all");
  const { stages } = step.pipeline;
  if (step.layout.pp === 1) return <p class="soft">One stage: no pipeline, and no bubble.</p>;
  if (!step.pipeline.timeline) return <p class="soft">There are too many micro-batches to draw.</p>;

  const timeline = timelineOf(step.pipeline.timeline);
  const { chunks } = timeline;
  // As long as the filled pipeline takes for as many micro-batches as there are stages, and half more.
  const one = Math.max(...stages.map((each) => each.forward_s + each.backward_s));
  const close = Math.min(timeline.length, one * step.layout.pp * 1.5);
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
      <TimelineCanvas timeline={timeline} stages={step.layout.pp} chunks={chunks} window={window} />
      <p class="soft" data-timeline={timeline.length}>
        {step.layout.micro_batches} micro-batches by {step.layout.schedule}
        {chunks > 1 ? `, ${chunks} chunks a stage (later ones paler)` : ""}, drawn {seconds(timeline.length)};
        the step counts {seconds(pipelineTime(step))}. Gradients' last calls, the update and the rest follow.
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
              {stages.map((each) => (
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
