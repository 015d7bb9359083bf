// Draws a timeline: a row for each stage, time from left to right. A canvas, for there are thousands of
// slots; the numbers stand in the table beside it.
import { useEffect, useRef, useState } from "preact/hooks";

import { seconds } from "../../lib/format";
import { theme } from "../../lib/theme";
import type { Slot, Timeline } from "../../lib/timeline";
import { ticks } from "./ticks";

export const kSlotColours: Readonly<Record<Slot["kind"] | "idle", { colour: string; name: string }>> = {
  forward: { colour: "--slot-forward", name: "forward" },
  backward: { colour: "--slot-backward", name: "backward" },
  weight: { colour: "--slot-weight", name: "weight gradient" },
  send: { colour: "--part-pp", name: "transfer" },
  idle: { colour: "--slot-idle", name: "idle" },
};

interface Props {
  readonly timeline: Timeline;
  readonly stages: number;
  readonly chunks: number;
  /** Seconds shown, from and to. */
  readonly window: readonly [number, number];
}

const kLeft = 34; // room for the stages' numbers, in pixels
const kBottom = 30; // room for the axis

export function TimelineCanvas({ timeline, stages, chunks, window }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [tip, setTip] = useState("");
  const row = stages <= 8 ? 22 : stages <= 16 ? 16 : Math.max(4, Math.floor(280 / stages));
  const height = row * stages + kBottom;
  const now = theme.value; // colours change with it

  useEffect(() => {
    const element = canvas.current!;
    const follow = new ResizeObserver(() => setWidth(element.clientWidth));
    follow.observe(element);
    setWidth(element.clientWidth);
    return () => follow.disconnect();
  }, []);

  useEffect(() => {
    if (width > 0) draw(canvas.current!, { timeline, stages, chunks, window }, width, height, row);
  }, [timeline, stages, chunks, window[0], window[1], width, height, row, now]);

  const hover = (event: PointerEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const stage = Math.floor((event.clientY - box.top) / row);
    const at = window[0] + ((event.clientX - box.left - kLeft) / (width - kLeft)) * (window[1] - window[0]);
    const lower = event.clientY - box.top - stage * row > row / 2 ? 1 : 0;
    const slot = timeline.slots.find(
      (each) => each.stage === stage && each.start <= at && at < each.end && (each.half ?? lower) === lower,
    );
    if (stage >= stages || at < window[0]) setTip("");
    else if (!slot) setTip(`stage ${stage}: idle at ${seconds(at)}`);
    else {
      const chunk = chunks > 1 ? `, chunk ${slot.chunk}` : "";
      const what = `${kSlotColours[slot.kind].name} of micro-batch ${slot.microBatch}${chunk}`;
      setTip(`stage ${stage}: ${what}, from ${seconds(slot.start)} for ${seconds(slot.end - slot.start)}`);
    }
  };

  return (
    <figure>
      <canvas
        ref={canvas}
        class="timeline"
        style={{ height: `${height}px` }}
        role="img"
        aria-label={`Timeline of ${stages} pipeline stages over ${seconds(timeline.length)}; the table of stages has the numbers`}
        onPointerMove={hover}
        onPointerLeave={() => setTip("")}
      />
      <figcaption class="tip">{tip || "Rows: pipeline stages. Across: seconds from the step's start."}</figcaption>
    </figure>
  );
}

function draw(canvas: HTMLCanvasElement, { timeline, stages, chunks, window }: Props, width: number, height: number, row: number) {
  const dots = devicePixelRatio || 1;
  canvas.width = Math.round(width * dots);
  canvas.height = Math.round(height * dots);
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(dots, dots);
  const style = getComputedStyle(canvas);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const [from, to] = window;
  const x = (time: number) => kLeft + ((time - from) / (to - from)) * (width - kLeft);

  context.clearRect(0, 0, width, height);
  context.font = `12px ${style.fontFamily}`;
  context.textBaseline = "middle";
  const every = Math.max(1, Math.ceil(14 / row));
  for (let stage = 0; stage < stages; ++stage) {
    context.fillStyle = colour("--slot-idle");
    context.fillRect(kLeft, stage * row, width - kLeft, row - 1);
    context.fillStyle = colour("--soft");
    if (stage % every === 0) context.fillText(String(stage), 2, stage * row + row / 2);
  }

  const edge = colour("--back");
  for (const slot of timeline.slots) {
    if (slot.end < from || slot.start > to) continue;
    const left = Math.max(kLeft, x(slot.start));
    const size = Math.min(width, x(slot.end)) - left;
    context.fillStyle = colour(kSlotColours[slot.kind].colour);
    context.globalAlpha = chunks > 1 ? 1 - (0.55 * slot.chunk) / (chunks - 1) : 1;
    const [top, tall] = slot.half === undefined ? [0, row - 1] : [slot.half * (row / 2), (row - 1) / 2];
    context.fillRect(left, slot.stage * row + top, size, tall);
    context.globalAlpha = 1;
    // Slots keep apart where there is room for it, and have their micro-batch's number.
    if (size > 3) {
      context.fillStyle = edge;
      context.fillRect(left, slot.stage * row, 0.7, row - 1);
    }
    const label = String(slot.microBatch);
    if (row >= 16 && slot.kind !== "send" && size > 8 + 7 * label.length && chunks === 1) {
      context.fillStyle = edge;
      context.fillText(label, left + size / 2 - 3.5 * label.length, slot.stage * row + row / 2);
    }
  }

  const base = stages * row + 3;
  context.fillStyle = colour("--soft");
  context.textBaseline = "top";
  for (const tick of ticks(window, Math.max(2, Math.floor(width / 110)))) {
    context.fillRect(x(tick), base, 1, 4);
    const text = seconds(tick);
    const wide = context.measureText(text).width;
    context.fillText(text, Math.min(Math.max(kLeft, x(tick) - wide / 2), width - wide), base + 7);
  }
}
