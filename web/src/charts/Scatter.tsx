import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { theme } from "../lib/theme";
import { Axes, marginFor, plotOf, type Plot } from "./Axes";
import { nearestSpot, stepped } from "./nearest";
import { Pointed } from "./Pointed";
import type { Axis } from "./scales";
import type { Hint } from "./Tooltip";
import { Marked, ShownButtons, useBrush, useShown } from "./useShown";
import { useWidth } from "./width";

export interface ScatterPoint {
  x: number;
  y: number;
  colour: string; // a CSS colour or var(--name)
  title: string;
  lines: [string, string][];
  low?: number | null; // of an interval of y, drawn while the point is asked
  high?: number | null;
}

interface Props {
  title: string;
  x: Axis;
  y: Axis;
  points: readonly ScatterPoint[];
  diagonal?: string; // name of the line y = x
  path?: readonly (readonly [number, number])[]; // a line under the points
  band?: number; // factor above and below the diagonal that is shaded
  onPick?: (index: number | null) => void;
  picked?: number | null;
  height?: number;
}

// A colour of the page as the canvas takes it.
function resolved(style: CSSStyleDeclaration, colour: string): string {
  const name = /^var\((--[\w-]+)\)$/.exec(colour)?.[1];
  return name ? style.getPropertyValue(name).trim() || "#888" : colour;
}

function paint(canvas: HTMLCanvasElement, plot: Plot, points: readonly ScatterPoint[]): void {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(plot.width * ratio);
  canvas.height = Math.round(plot.height * ratio);
  const pen = canvas.getContext("2d");
  if (!pen) return;
  pen.scale(ratio, ratio);
  const { margin } = plot;
  pen.beginPath();
  pen.rect(margin.left - 3, margin.top - 3, plot.width - margin.left - margin.right + 6, plot.height - margin.top - margin.bottom + 6);
  pen.clip(); // of a part, what lies beside it is not drawn over the axes
  pen.globalAlpha = points.length > 1500 ? 0.45 : 0.65;
  const style = getComputedStyle(canvas);
  const colours = new Map<string, string>();
  const radius = points.length > 1500 ? 2.2 : 3;
  for (const point of points) {
    let colour = colours.get(point.colour);
    if (colour === undefined) colours.set(point.colour, (colour = resolved(style, point.colour)));
    pen.fillStyle = colour;
    pen.beginPath();
    pen.arc(plot.x(point.x), plot.y(point.y), radius, 0, 2 * Math.PI);
    pen.fill();
  }
}

function diagonalPath(plot: Plot, x: Axis, factorLow: number, factorHigh: number): string {
  const corner = (value: number, factor: number) => `${plot.x(value)},${plot.y(value * factor)}`;
  const [low, high] = x.domain;
  return `M${corner(low, factorLow)}L${corner(high, factorLow)}L${corner(high, factorHigh)}L${corner(low, factorHigh)}Z`;
}

/** Many points, each of which can be asked what it is: by the pointer, or by arrow keys from left to right. */
export function Scatter({ title, x: allX, y: allY, points, diagonal, path, band, onPick, picked, height = 440 }: Props) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [at, setAt] = useState<number | null>(null);
  const xs = useMemo(() => points.map((p) => p.x), [points]);
  const ys = useMemo(() => points.map((p) => p.y), [points]);
  const shownAxes = useShown(allX, allY, xs, ys);
  const { x, y, has } = shownAxes;
  const drawn = [points, width, height, x.label, x.kind, ...x.domain, y.label, y.kind, ...y.domain];
  const margin = useMemo(() => marginFor(y, height), drawn);
  const plot = useMemo(() => plotOf(x, y, width, height, margin), drawn);
  const brush = useBrush(plot, shownAxes);
  const spots = useMemo(() => points.map((p) => (has(p.x, p.y) ? { x: plot.x(p.x), y: plot.y(p.y) } : { x: NaN, y: NaN })), drawn);
  const order = useMemo(() => xs.flatMap((_, i) => (has(xs[i]!, ys[i]!) ? [i] : [])).sort((a, b) => xs[a]! - xs[b]!), drawn);
  const colours = theme.value; // drawn again when it changes
  useLayoutEffect(() => {
    if (canvas.current) paint(canvas.current, plot, points);
  }, [plot, points, colours]);

  const inSight = (index: number) => index < points.length && has(xs[index]!, ys[index]!);
  const shown = at !== null && inSight(at) ? at : null;
  const point = shown === null ? undefined : points[shown];
  const hint: Hint | null =
    point && shown !== null
      ? { x: spots[shown]!.x, y: spots[shown]!.y, colour: point.colour, title: point.title, lines: point.lines }
      : null;
  // What was picked stays marked while the pointer is elsewhere.
  const here = shown ?? (picked != null && inSight(picked) ? picked : null);
  const marked = here === null ? undefined : points[here];
  const spot = here === null ? undefined : spots[here];

  const pointed = (px: number, py: number) => {
    const nearest = nearestSpot(spots, px, py, 24);
    return nearest < 0 ? null : nearest;
  };
  const onKey = (key: string) => {
    if (key === "Enter") onPick?.(at);
    const next = stepped(order.length, at === null ? null : order.indexOf(at), key, 50);
    if (next !== null && order.length > 0) setAt(order[next]!);
    return next !== null || shownAxes.onKey(key, point ? [point.x, point.y] : null);
  };
  const clip = `clip-${title.replace(/\W+/g, "-")}`;
  return (
    <>
      <Pointed
        title={title}
        reads="points from left to right"
        drawn={`${y.label} against ${x.label}`}
        plotRef={ref}
        width={width}
        height={height}
        hint={hint}
        onPoint={(px, py) => setAt(pointed(px, py))}
        onClick={(px, py) => onPick?.(pointed(px, py))}
        onKey={onKey}
        onLeave={() => setAt(null)}
        onDown={brush.onDown}
        onMove={brush.onMove}
        onUp={brush.onUp}
        under={
            <canvas
              ref={canvas}
              class="chart-points"
              aria-hidden="true"
              style={{ width: `${width}px`, height: `${height}px` }}
            />
        }
      >
        <clipPath id={clip}>
          <rect
            x={margin.left}
            y={margin.top}
            width={Math.max(0, width - margin.left - margin.right)}
            height={Math.max(0, height - margin.top - margin.bottom)}
          />
        </clipPath>
        <Axes plot={plot} x={x} y={y} />
        <g clip-path={`url(#${clip})`}>
          {band !== undefined && <path class="chart-band" d={diagonalPath(plot, x, 1 / band, band)} />}
          {path && path.length > 1 && (
            <path class="chart-path" d={`M${path.map(([px, py]) => `${plot.x(px)},${plot.y(py)}`).join("L")}`} />
          )}
          {diagonal && <path class="chart-diagonal" d={diagonalPath(plot, x, 1, 1)} />}
        </g>
        {marked?.low != null && marked.high != null && spot && (
          <line
            class="chart-whisker"
            x1={spot.x}
            x2={spot.x}
            y1={plot.y(marked.low)}
            y2={plot.y(marked.high)}
            style={{ stroke: marked.colour }}
          />
        )}
        {marked && spot && (
          <circle class="chart-here" cx={spot.x} cy={spot.y} r="5" style={{ stroke: marked.colour }} />
        )}
        <Marked box={brush.box} />
      </Pointed>
      <ShownButtons shown={shownAxes} title={title} />
    </>
  );
}
