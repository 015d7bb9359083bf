// Draws a timeline on a canvas, for there are thousands of slots; axis, names and marks stand over it as SVG.
import { firstBehind, timesOf, type Span, type Timeline, type Track } from "./timeline";
import type { Places } from "./places";

export interface Drawing {
  readonly timeline: Timeline;
  readonly stage: number;
  readonly tracks: readonly Track[];
  /** Seconds seen. */
  readonly from: number;
  readonly to: number;
  /** Tasks are drawn one by one. */
  readonly close: boolean;
  /** Only the critical path in full colour. */
  readonly critical: boolean;
}

const kPale = 0.22;
const kWaiting = 0.4; // how deep the colour of waiting is

export function paint(canvas: HTMLCanvasElement, drawing: Drawing, places: Places): void {
  const dots = devicePixelRatio || 1;
  canvas.width = Math.round(places.width * dots);
  canvas.height = Math.round(places.height * dots);
  const pen = canvas.getContext("2d");
  if (!pen) return;
  pen.scale(dots, dots);
  const style = getComputedStyle(canvas);
  const known = new Map<string, string>();
  const colour = (name: string) => {
    if (!known.has(name)) known.set(name, style.getPropertyValue(name).trim());
    return known.get(name)!;
  };
  const { timeline, from, to } = drawing;
  const { left, width, row } = places;
  const x = (time: number) => left + ((time - from) / (to - from)) * (width - left);
  pen.font = `12px ${style.fontFamily}`;
  pen.textBaseline = "middle";
  pen.textAlign = "center";

  // The last pixel drawn in a row: many slots may lie in one.
  let drawn = -1;
  const bar = (start: number, end: number, top: number, tall: number, name: string, alpha: number): number => {
    const begin = Math.max(left, x(start));
    const size = Math.min(width, x(end)) - begin;
    if (begin + size < drawn + 0.3) return 0;
    drawn = begin + size;
    pen.globalAlpha = alpha;
    pen.fillStyle = colour(name);
    pen.fillRect(begin, top, Math.max(size, 0.3), tall);
    // Those that follow one another keep apart where there is room for it.
    if (size > 4) {
      pen.globalAlpha = 1;
      pen.fillStyle = colour("--back");
      pen.fillRect(begin, top, 0.7, tall);
    }
    pen.globalAlpha = 1;
    return size;
  };
  const write = (text: string, start: number, size: number, top: number, tall: number) => {
    if (tall < 14 || size < 10 + 7 * text.length) return;
    pen.fillStyle = colour("--back");
    pen.fillText(text, Math.max(left, x(start)) + size / 2, top + tall / 2 + 0.5);
  };
  // What a call waits, at its beginning, is paler.
  const spanBar = (span: Span, top: number, tall: number, alpha: number): number => {
    if (!(span.waiting > 0)) return bar(span.start, span.end, top, tall, span.colour, alpha);
    const met = Math.min(span.end, span.start + span.waiting);
    return bar(span.start, met, top, tall, span.colour, alpha * kWaiting) + bar(met, span.end, top, tall, span.colour, alpha);
  };
  const faded = (on: boolean) => (drawing.critical && !on ? kPale : 1);

  timeline.rows.forEach((spans, stage) => {
    const top = stage * row;
    pen.fillStyle = colour("--slot-idle");
    pen.fillRect(left, top, width - left, row - 1);
    drawn = -1;
    for (let i = firstBehind(spans, from); i < spans.length && spans[i]!.start < to; ++i) {
      const span = spans[i]!;
      const later = timeline.chunks > 1 ? 1 - (0.5 * Math.max(0, span.chunk)) / (timeline.chunks - 1) : 1;
      const size = spanBar(span, top, row - 1, later * faded(span.critical));
      if (span.program && size > 0 && later * faded(span.critical) > 0.6) {
        write(String(span.microBatch), span.start, size, top, row - 1);
      }
    }
  });

  drawing.tracks.forEach((track, i) => {
    const top = places.tracks + i * places.lane;
    const tall = places.lane - 2;
    pen.fillStyle = colour("--slot-idle");
    pen.fillRect(left, top, width - left, tall);
    drawn = -1;
    for (let j = firstBehind(track.spans, from); j < track.spans.length && track.spans[j]!.start < to; ++j) {
      const span = track.spans[j]!;
      const tasks = track.stream === null ? undefined : span.program?.ofStream.get(track.stream);
      if (!tasks) {
        const size = spanBar(span, top, tall, faded(span.critical));
        if (track.stream !== null && faded(span.critical) === 1) write(span.name, span.start, size, top, tall);
      } else if (drawing.close) {
        for (const at of tasks) {
          const task = span.program!.tasks[at]!;
          const [start, end] = timesOf(span, task);
          if (end < from || start > to) continue;
          const size = bar(start, end, top, tall, `--part-${task.part}`, faded(span.critical && task.critical));
          if (faded(span.critical && task.critical) === 1) write(task.name, start, size, top, tall);
        }
      } else {
        // How much of the slot the stream is taken, as the depth of the colour.
        const share = tasks.reduce((sum, at) => sum + span.program!.tasks[at]!.end - span.program!.tasks[at]!.start, 0);
        const part = span.program!.tasks[tasks[0]!]!.part;
        bar(span.start, span.end, top, tall, `--part-${part}`, Math.min(1, 0.15 + 0.85 * share) * faded(span.critical));
      }
    }
  });
}
