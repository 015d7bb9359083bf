// A timeline: a row for each stage of a simulated step, or each rank of traces, below them the streams of one of them.
// It can be zoomed and moved by pointer and keys, and says of everything what it is, how long it takes and what it
// waited for.
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { Pointed } from "../charts/Pointed";
import type { Hint } from "../charts/Tooltip";
import { useWidth } from "../charts/width";
import { count, seconds } from "../lib/format";
import { theme } from "../lib/theme";
import { criticalPath, timesOf, tracksOf, type Span, type Timeline, type Track } from "./timeline";
import { paint } from "./drawing";
import { fitted, inRow, isClose, neighbour, placesOf, stageAt, timesAt, trackAt, type At } from "./places";
import { atOf, namesOf, resultsOf, type Found } from "./search";
import { ticks } from "./ticks";
import { wordsOf } from "./words";
import { about, kAll, moved, showing, zoomed, type Seen } from "./window";

interface Props {
  readonly timeline: Timeline;
  /** The stage whose tracks are shown at first. */
  readonly first: number;
}

export function TimelineChart({ timeline, first }: Props) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [seen, setSeen] = useState<Seen>(kAll);
  const [chosen, setChosen] = useState<number | null>(null);
  const [at, setAt] = useState<At | null>(null);
  const [critical, setCritical] = useState(false);
  const stage = Math.min(chosen ?? first, timeline.rows.length - 1);
  const tracks = useMemo(() => tracksOf(timeline, stage), [timeline, stage]);
  const places = placesOf(timeline.rows.length, tracks.length, width);
  const { left, row, lane } = places;
  const [from, to] = [seen[0] * timeline.length, seen[1] * timeline.length];
  const room = Math.max(1, width - left);
  const close = isClose(timeline, from, to, room);
  const colours = theme.value; // drawn again when it changes

  // What was pointed at is of another step.
  useEffect(() => setAt(null), [timeline]);
  useLayoutEffect(() => {
    const drawing = { timeline, stage, tracks, from, to, close, critical };
    if (canvas.current) paint(canvas.current, drawing, places);
  }, [timeline, stage, tracks, from, to, close, critical, places.width, places.height, colours]);
  useMoving(ref, left, setSeen);

  const x = (time: number) => left + ((time - from) / (to - from)) * room;
  const topOf = (what: At) => (what.track === null ? what.span.stage * row : places.tracks + what.track * lane);
  const pointed = (px: number, py: number): At | null => {
    if (px < left) return null;
    const time = from + ((px - left) / room) * (to - from);
    if (py < places.axis) return stageAt(timeline, Math.floor(py / row), time);
    return py < places.tracks ? null : trackAt(tracks, Math.floor((py - places.tracks) / lane), time, close);
  };
  const go = (next: At | null) => {
    if (!next) return;
    setAt(next);
    const [start, end] = timesAt(next);
    setSeen(showing(seen, start / timeline.length, end / timeline.length));
  };
  const look = (span: Span) => {
    setChosen(span.stage);
    setSeen(about(span.start / timeline.length, span.end / timeline.length));
  };
  // A found span is brought into sight; a kernel or a call also so close that it can be seen.
  const show = (what: Pick<Found, "span" | "task">) => {
    const { stage: chosen, at: found } = atOf(timeline, stage, tracks, what);
    setChosen(chosen);
    setAt(found);
    const [start, end] = timesAt(found);
    const near: Seen = found.task === null ? seen : about(found.span.start / timeline.length, found.span.end / timeline.length);
    const wide = near[1] - near[0] < seen[1] - seen[0] ? near : seen;
    setSeen(showing(wide, start / timeline.length, end / timeline.length));
  };
  const begin = (): At | null => inRow(timeline, tracks, stage, from, close);

  const onKey = (key: string): boolean => {
    const middle = at ? (timesAt(at)[0] + timesAt(at)[1]) / 2 / timeline.length : undefined;
    const kept = middle !== undefined && middle >= seen[0] && middle <= seen[1] ? middle : undefined;
    const time = at ? timesAt(at)[0] : from;
    const line = at === null ? stage : at.track === null ? at.span.stage : timeline.rows.length + at.track;
    const closer = () => setSeen(zoomed(seen, 2, kept));
    const farther = () => setSeen(zoomed(seen, 0.5, kept));
    const actions: Readonly<Record<string, () => void>> = {
      ArrowRight: () => go(at ? neighbour(timeline, tracks, at, 1, close) : begin()),
      ArrowLeft: () => go(at ? neighbour(timeline, tracks, at, -1, close) : begin()),
      ArrowDown: () => go(inRow(timeline, tracks, line + 1, time, close)),
      ArrowUp: () => go(inRow(timeline, tracks, Math.max(0, line - 1), time, close)),
      Home: () => go(inRow(timeline, tracks, line, 0, close)),
      End: () => go(inRow(timeline, tracks, line, timeline.length, close)),
      PageDown: () => setSeen(moved(seen, 0.8)),
      PageUp: () => setSeen(moved(seen, -0.8)),
      // As in Perfetto: closer, farther, left, right.
      w: closer,
      s: farther,
      a: () => setSeen(moved(seen, -0.2)),
      d: () => setSeen(moved(seen, 0.2)),
      "+": closer,
      "=": closer,
      "-": farther,
      "0": () => setSeen(kAll),
      Enter: () => at && look(at.span),
      p: () => {
        const cause = at?.task == null ? at?.span.waitsFor : null;
        if (cause) show({ span: timeline.stages[cause.stage]![cause.index]!, task: null });
        const task = at && at.task !== null ? at.span.program!.tasks[at.task]!.waitsFor : -1;
        const track = task < 0 ? -1 : tracks.findIndex((each) => each.stream === at!.span.program!.tasks[task]!.stream);
        if (track >= 0) go({ ...at!, track, task });
      },
      c: () => timeline.hasPath && setCritical(!critical),
    };
    const action = actions[key];
    action?.();
    return action !== undefined;
  };

  const hint: Hint | null = at
    ? {
        x: Math.min(width, Math.max(left, x((Math.max(from, timesAt(at)[0]) + Math.min(to, timesAt(at)[1])) / 2))),
        y: topOf(at) + (at.track === null ? row : lane) / 2,
        colour: `var(${at.task === null ? at.span.colour : `--part-${at.span.program!.tasks[at.task]!.part}`})`,
        ...wordsOf(timeline, at),
      }
    : null;
  const every = Math.max(1, Math.ceil(14 / row));

  return (
    <>
      <div class="buttons" role="group" aria-label="What of the timeline is seen">
        <button type="button" aria-pressed={seen[0] === 0 && seen[1] === 1} onClick={() => setSeen(kAll)}>
          whole
        </button>
        <button type="button" onClick={() => setSeen([0, startOf(timeline)])}>
          start
        </button>
        <button type="button" onClick={() => setSeen([1 - startOf(timeline), 1])}>
          end
        </button>
        <button type="button" aria-label="closer" title="closer" onClick={() => setSeen(zoomed(seen, 2))}>
          +
        </button>
        <button type="button" aria-label="farther" title="farther" onClick={() => setSeen(zoomed(seen, 0.5))}>
          −
        </button>
        {timeline.hasPath && (
          <button type="button" aria-pressed={critical} onClick={() => setCritical(!critical)}>
            critical path
          </button>
        )}
        <span class="legend">
          {timeline.legend.map(([colour, name]) => (
            <span key={name}>
              <span class="key" style={{ background: `var(${colour})` }} />
              {name}
            </span>
          ))}
          <span>
            <span class="key" style={{ background: "var(--slot-idle)" }} />
            idle
          </span>
        </span>
      </div>
      <Search timeline={timeline} tracks={tracks} from={from} onShow={show} />
      <div class="timeline" data-seen={`${from} ${to}`} data-stage={stage}>
        <Pointed
          title={`Timeline of ${timeline.rows.length} ${timeline.row}${timeline.rows.length === 1 ? "" : "s"}`}
          reads="what is in its rows, up and down the rows; W and S zoom, A and D move, Enter looks closer, P goes to what was waited for"
          drawn={`${seconds(from)} to ${seconds(to)}, the tracks of ${timeline.rowNames[stage]} below`}
          plotRef={ref}
          width={width}
          height={places.height}
          hint={hint}
          onPoint={(px, py) => setAt(pointed(px, py))}
          onClick={(_, py) => {
            if (py < places.axis) setChosen(Math.min(timeline.rows.length - 1, Math.floor(py / row)));
          }}
          onDoubleClick={(px, py) => {
            const what = pointed(px, py);
            if (what) look(what.span);
          }}
          onKey={onKey}
          onLeave={() => setAt(null)}
          under={
            <canvas
              ref={canvas}
              class="chart-points"
              aria-hidden="true"
              style={{ width: `${width}px`, height: `${places.height}px` }}
            />
          }
        >
          {timeline.rows.map((_, i) =>
            i % every === 0 || i === stage ? (
              <text key={i} x={left - 8} y={i * row + row / 2 + 4} text-anchor="end" class={i === stage ? "chart-name" : ""}>
                {fitted(timeline.rowNames[i]!, left)}
              </text>
            ) : null,
          )}
          {ticks([from, to], Math.max(2, Math.floor(room / 110))).map((tick) => (
            <g key={tick} transform={`translate(${x(tick)},${places.axis + 2})`}>
              <line class="chart-axis" y2="4" />
              <text y="16" text-anchor={x(tick) > width - 24 ? "end" : x(tick) < left + 20 ? "start" : "middle"}>
                {seconds(tick)}
              </text>
            </g>
          ))}
          <text class="chart-name" x="0" y={places.tracks - 8}>
            {`${timeline.rowNames[stage]}: ${close ? "kernel by kernel" : "how much of each slot"}`}
          </text>
          {tracks.map((track, i) => (
            <text key={track.name} x={left - 8} y={places.tracks + i * lane + 12} text-anchor="end">
              {fitted(track.name, left - 12)}
            </text>
          ))}
          {critical && <CriticalPath timeline={timeline} x={x} row={row} from={from} to={to} />}
          {at && <Marked timeline={timeline} at={at} x={x} left={left} width={width} row={row} top={topOf(at)} lane={lane} />}
        </Pointed>
      </div>
    </>
  );
}

interface SearchProps {
  readonly timeline: Timeline;
  readonly tracks: readonly Track[];
  /** Where what is seen begins: the first that is shown is the first behind it. */
  readonly from: number;
  readonly onShow: (found: Found) => void;
}

/** Finds what all rows do, and the kernels and calls of the one that is chosen, by parts of their names. */
function Search({ timeline, tracks, from, onShow }: SearchProps) {
  const [text, setText] = useState("");
  const [shown, setShown] = useState<number | null>(null);
  const id = useId();
  const results = useMemo(() => resultsOf(timeline, tracks, text), [timeline, tracks, text]);
  const names = useMemo(() => namesOf(timeline, tracks), [timeline, tracks]);
  useEffect(() => setShown(null), [results]);
  const step = (by: 1 | -1) => {
    const { length } = results;
    if (length === 0) return;
    const ahead = results.findIndex((each) => each.start >= from);
    const first = by > 0 ? Math.max(0, ahead) : (ahead < 0 ? length : ahead) - 1;
    const next = ((shown === null ? first : shown + by) + length) % length;
    setShown(next);
    onShow(results[next]!);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") setText("");
    else return;
    event.preventDefault();
  };
  const none = results.length === 0;
  return (
    <div class="buttons find" role="search" aria-label="The timeline">
      <label for={id}>Find</label>
      <input
        id={id}
        type="search"
        list={`${id}-names`}
        value={text}
        placeholder="forward, all-reduce, ..."
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKey}
      />
      <datalist id={`${id}-names`}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <button type="button" disabled={none} onClick={() => step(-1)}>
        previous
      </button>
      <button type="button" disabled={none} onClick={() => step(1)}>
        next
      </button>
      <span role="status" class="soft" data-found={results.length}>
        {text.trim() === "" ? "" : none ? "none" : shown === null ? `${count(results.length)} found` : `${count(shown + 1)} of ${count(results.length)}`}
      </span>
    </div>
  );
}

/** As much as the filled pipeline takes for as many micro-batches as there are stages, and half more; of traces a tenth. */
function startOf(timeline: Timeline): number {
  if (timeline.row !== "stage") return 0.1;
  const slots = timeline.rows[0]!.filter((span) => span.program && span.microBatch === 0);
  const one = slots.reduce((sum, span) => sum + span.end - span.start, 0);
  return Math.min(1, (one * timeline.rows.length * 1.5) / timeline.length);
}

interface PathProps {
  readonly timeline: Timeline;
  readonly x: (time: number) => number;
  readonly row: number;
  readonly from: number;
  readonly to: number;
}

/** A line from what each span of the critical path waited for to the span. */
function CriticalPath({ timeline, x, row, from, to }: PathProps) {
  const path = useMemo(() => criticalPath(timeline), [timeline]);
  const lines: string[] = [];
  for (const span of path) {
    const cause = span.waitsFor && timeline.stages[span.waitsFor.stage]![span.waitsFor.index]!;
    if (!cause || cause.stage === span.stage) continue;
    const [ended, began] = joinOf(span, cause);
    if (began < from || ended > to) continue;
    lines.push(`M${x(ended)},${(cause.stage + 0.5) * row}L${x(began)},${(span.stage + 0.5) * row}`);
  }
  return <path class="timeline-path" d={lines.join("")} />;
}

/** When what was waited for was there, and when the waiting was over: what runs after another begins behind its end; a
 * call waits for another rank's to begin. */
function joinOf(span: Span, cause: Span): readonly [number, number] {
  const { start, waiting } = span.whole ?? span;
  return waiting > 0 ? [cause.start, start + waiting] : [cause.end, start];
}

interface MarkedProps extends Omit<PathProps, "from" | "to"> {
  readonly at: At;
  readonly left: number;
  readonly width: number;
  readonly top: number;
  readonly lane: number;
}

/** A frame about what is pointed at, and a line from what it waited for. */
function Marked({ timeline, at, x, left, width, row, top, lane }: MarkedProps) {
  const inside = (px: number) => Math.min(width, Math.max(left, px));
  const [start, end] = timesAt(at);
  const cause = at.track === null && at.span.waitsFor;
  const before = cause ? timeline.stages[cause.stage]![cause.index]! : null;
  const task = at.task === null ? -1 : at.span.program!.tasks[at.task]!.waitsFor;
  const [begin] = task < 0 ? [0] : timesOf(at.span, at.span.program!.tasks[task]!);
  const tall = at.track === null ? row - 1 : lane - 2;
  return (
    <>
      {before && before.stage !== at.span.stage && (
        <path
          class="timeline-path"
          d={`M${inside(x(joinOf(at.span, before)[0]))},${(before.stage + 0.5) * row}L${inside(x(joinOf(at.span, before)[1]))},${top + row / 2}`}
        />
      )}
      {task >= 0 && begin < start && (
        <line class="timeline-path" x1={inside(x(begin))} x2={inside(x(start))} y1={top - 1} y2={top - 1} />
      )}
      <rect
        class="timeline-mark"
        x={inside(x(start))}
        y={top}
        width={Math.max(1.5, inside(x(end)) - inside(x(start)))}
        height={tall}
      />
    </>
  );
}

/** Moves what is seen: by dragging, by the wheel sideways, closer and farther by two fingers or the wheel
 * with Ctrl. */
function useMoving(ref: { current: HTMLDivElement | null }, left: number, setSeen: (next: (seen: Seen) => Seen) => void) {
  useEffect(() => {
    const element = ref.current!;
    const place = (clientX: number) => {
      const box = element.getBoundingClientRect();
      return (clientX - box.left - left) / Math.max(1, box.width - left);
    };
    const within = (seen: Seen, share: number) => seen[0] + Math.min(1, Math.max(0, share)) * (seen[1] - seen[0]);
    const fingers = new Map<number, number>();
    let dragged = false; // what ends a drag is no click
    const wheel = (event: WheelEvent) => {
      const sideways = event.shiftKey ? event.deltaY : event.deltaX;
      if (event.ctrlKey) setSeen((seen) => zoomed(seen, Math.exp(-event.deltaY / 200), within(seen, place(event.clientX))));
      else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
        setSeen((seen) => moved(seen, sideways / element.clientWidth));
      } else return; // the page scrolls
      event.preventDefault();
    };
    const down = (event: PointerEvent) => {
      if (event.button !== 0) return;
      dragged = false;
      fingers.set(event.pointerId, place(event.clientX));
    };
    const click = (event: MouseEvent) => dragged && event.stopPropagation();
    const move = (event: PointerEvent) => {
      const before = fingers.get(event.pointerId);
      if (before === undefined) return;
      const now = place(event.clientX);
      if (Math.abs(now - before) < 0.002) return;
      dragged = true;
      if (!element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, now);
      const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
      if (other === undefined) setSeen((seen) => moved(seen, before - now));
      else {
        const factor = Math.abs(now - other) / Math.max(0.01, Math.abs(before - other));
        setSeen((seen) => zoomed(seen, Math.min(2, Math.max(0.5, factor)), within(seen, other)));
      }
    };
    const up = (event: PointerEvent) => fingers.delete(event.pointerId);
    element.addEventListener("wheel", wheel, { passive: false });
    element.addEventListener("click", click, { capture: true });
    element.addEventListener("pointerdown", down);
    element.addEventListener("pointermove", move);
    element.addEventListener("pointerup", up);
    element.addEventListener("pointercancel", up);
    return () => {
      element.removeEventListener("wheel", wheel);
      element.removeEventListener("click", click, { capture: true });
      element.removeEventListener("pointerdown", down);
      element.removeEventListener("pointermove", move);
      element.removeEventListener("pointerup", up);
      element.removeEventListener("pointercancel", up);
    };
  }, [left]);
}
