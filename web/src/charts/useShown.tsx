// The axes of a chart as its reader wants them: a drag over the drawing, or + and −, shows a part large; 0 or a
// button shows the whole again; buttons turn an axis between linear and logarithmic.
import { useRef, useState } from "preact/hooks";
import type { Plot } from "./Axes";
import type { Axis, ScaleKind } from "./scales";
import { mayTurn, partAbout, shownAxis, valueAt, within, type Part } from "./shown";

interface Asked {
  readonly of: string; // the axes that it was asked of; others are shown whole
  readonly x?: ScaleKind;
  readonly y?: ScaleKind;
  readonly part: readonly [x: Part, y: Part] | null;
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Shown {
  readonly x: Axis;
  readonly y: Axis;
  readonly isPart: boolean;
  /** Whether a point is in sight. */
  readonly has: (x: number, y: number) => boolean;
  readonly buttons: readonly { readonly text: string; readonly pressed?: boolean; readonly act: () => void }[];
  /** Whether the key means something here; `at`: the values that are looked at. */
  readonly onKey: (key: string, at: readonly [number, number] | null) => boolean;
  readonly whole: () => void;
  readonly zoom: (part: readonly [x: Part, y: Part]) => void;
}

export function useShown(x: Axis, y: Axis, xs: readonly number[], ys: readonly number[]): Shown {
  const of = [x.label, x.kind, y.label, y.kind].join();
  const [state, setState] = useState<Asked>({ of, part: null });
  const asked: Asked = state.of === of ? state : { of, part: null };
  const kinds = { x: asked.x ?? x.kind, y: asked.y ?? y.kind };
  const all = { x: shownAxis(x, xs, kinds.x, null), y: shownAxis(y, ys, kinds.y, null) };
  const shown = { x: shownAxis(x, xs, kinds.x, asked.part?.[0] ?? null), y: shownAxis(y, ys, kinds.y, asked.part?.[1] ?? null) };
  const whole = () => setState({ ...asked, part: null });
  const zoom = (part: readonly [Part, Part]) => setState({ ...asked, part });
  const turn = (axis: "x" | "y") => () => setState({ ...asked, [axis]: kinds[axis] === "log" ? "linear" : "log", part: null });
  const buttons = [
    ...(mayTurn(x, xs) ? [{ text: "log across", pressed: kinds.x === "log", act: turn("x") }] : []),
    ...(mayTurn(y, ys) ? [{ text: "log up", pressed: kinds.y === "log", act: turn("y") }] : []),
    ...(asked.part ? [{ text: "whole", act: whole }] : []),
  ];
  const onKey = (key: string, at: readonly [number, number] | null): boolean => {
    if (key === "0") whole();
    if (key !== "+" && key !== "=" && key !== "-") return key === "0";
    const middle = at ?? ([valueAt(shown.x, 0.5), valueAt(shown.y, 0.5)] as const);
    const factor = key === "-" ? 2 : 0.5;
    const parts = [partAbout(shown.x, all.x, middle[0], factor), partAbout(shown.y, all.y, middle[1], factor)] as const;
    if (parts[0] === null && parts[1] === null) whole();
    else zoom([parts[0] ?? all.x.domain, parts[1] ?? all.y.domain]);
    return true;
  };
  return {
    ...shown,
    isPart: asked.part !== null,
    has: (px, py) => asked.part === null || (within(shown.x, px) && within(shown.y, py)),
    buttons,
    onKey,
    whole,
    zoom,
  };
}

const kLeast = 8; // pixels: less is a click

export interface Brush {
  /** What is being marked. */
  readonly box: Box | null;
  readonly onDown: (x: number, y: number) => void;
  /** Whether the pointer marks. */
  readonly onMove: (x: number, y: number) => boolean;
  /** Whether something was marked: then it was no click. */
  readonly onUp: () => boolean;
}

/** A drag over the plot marks what is shown large. */
export function useBrush(plot: Plot, shown: Shown): Brush {
  const from = useRef<readonly [number, number] | null>(null);
  const [to, setTo] = useState<readonly [number, number] | null>(null);
  const { margin, width, height } = plot;
  const ends = { left: margin.left, right: width - margin.right, top: margin.top, bottom: height - margin.bottom };
  const inside = (x: number, y: number) =>
    [Math.min(ends.right, Math.max(ends.left, x)), Math.min(ends.bottom, Math.max(ends.top, y))] as const;
  const box = from.current && to && {
    x: Math.min(from.current[0], to[0]),
    y: Math.min(from.current[1], to[1]),
    width: Math.abs(to[0] - from.current[0]),
    height: Math.abs(to[1] - from.current[1]),
  };
  return {
    box,
    onDown: (x, y) => {
      from.current = x >= ends.left && x <= ends.right && y >= ends.top && y <= ends.bottom ? [x, y] : null;
    },
    onMove: (x, y) => {
      if (!from.current) return false;
      const now = inside(x, y);
      if (!to && Math.abs(now[0] - from.current[0]) < kLeast) return false;
      setTo(now);
      return true;
    },
    onUp: () => {
      const marked = box !== null && box.width >= kLeast;
      if (marked) {
        const x = (px: number) => valueAt(shown.x, (px - ends.left) / (ends.right - ends.left));
        const y = (py: number) => valueAt(shown.y, (ends.bottom - py) / (ends.bottom - ends.top));
        // A line along the chart marks a part of the abscissa, whatever stands above it.
        const up: Part = box.height < kLeast ? [shown.y.domain[0], shown.y.domain[1]] : [y(box.y + box.height), y(box.y)];
        shown.zoom([[x(box.x), x(box.x + box.width)], up]);
      }
      from.current = null;
      setTo(null);
      return marked;
    },
  };
}

export function ShownButtons({ shown, title }: { shown: Shown; title: string }) {
  if (shown.buttons.length === 0) return null;
  return (
    <div class="chart-shown no-print" role="group" aria-label={`Axes of ${title}`}>
      {shown.buttons.map(({ text, pressed, act }) => (
        <button type="button" key={text} aria-pressed={pressed} onClick={act}>
          {text}
        </button>
      ))}
    </div>
  );
}

export function Marked({ box }: { box: Box | null }) {
  return box && <rect class="chart-marked" {...box} />;
}
