import { area, line } from "d3-shape";
import { useState } from "preact/hooks";
import { Axes, marginFor, plotOf, type Plot } from "./Axes";
import { Legend } from "./Legend";
import { across, moved, nearestSpot, type Place, type Spot } from "./nearest";
import { Pointed } from "./Pointed";
import { tickLabel, type Axis } from "./scales";
import type { Hint } from "./Tooltip";
import { Marked, ShownButtons, useBrush, useShown } from "./useShown";
import { useWidth } from "./width";

export interface LinePoint {
  x: number;
  y: number | null; // null: a gap
  low?: number | null; // of the band
  high?: number | null;
  mark?: "ring" | "end" | undefined; // what the figure's note says of it
  title?: string;
  lines?: [string, string][];
}

export interface LineSeries {
  id: string;
  name: string;
  colour: string;
  dash?: string | undefined;
  dots?: boolean;
  points: LinePoint[];
}

export interface Marker {
  x?: number;
  y?: number;
  label: string;
  colour?: string | undefined;
  dash?: string | undefined;
}

interface Props {
  title: string;
  x: Axis;
  y: Axis;
  series: LineSeries[];
  markers?: Marker[];
  height?: number;
}

function Band({ series, plot, opacity }: { series: LineSeries; plot: Plot; opacity: number }) {
  const points = series.points.filter((p) => p.low != null && p.high != null);
  if (points.length === 0) return null;
  if (points.length === 1) {
    const [p] = points as [LinePoint];
    return (
      <line
        x1={plot.x(p.x)}
        x2={plot.x(p.x)}
        y1={plot.y(p.low!)}
        y2={plot.y(p.high!)}
        style={{ stroke: series.colour }}
        stroke-width="6"
        stroke-opacity="0.25"
      />
    );
  }
  const shape = area<LinePoint>(
    (p) => plot.x(p.x),
    (p) => plot.y(p.low!),
    (p) => plot.y(p.high!),
  );
  return <path d={shape(points) ?? ""} style={{ fill: series.colour }} fill-opacity={opacity} />;
}

function Curve({ series, plot }: { series: LineSeries; plot: Plot }) {
  const shape = line<LinePoint>(
    (p) => plot.x(p.x),
    (p) => plot.y(p.y!),
  ).defined((p) => p.y !== null);
  return (
    <g>
      <path
        class="chart-line"
        d={shape(series.points) ?? ""}
        style={{ stroke: series.colour }}
        stroke-dasharray={series.dash}
      />
      {series.points.map((p) => (
        <Dot key={p.x} point={p} series={series} plot={plot} />
      ))}
    </g>
  );
}

function Dot({ point, series, plot }: { point: LinePoint; series: LineSeries; plot: Plot }) {
  if (point.y === null) return null;
  const at = { cx: plot.x(point.x), cy: plot.y(point.y) };
  if (point.mark === "ring") return <circle class="chart-ring" {...at} r="4.5" style={{ stroke: series.colour }} />;
  if (point.mark === "end") {
    return <rect x={at.cx - 4} y={at.cy - 4} width="8" height="8" style={{ fill: series.colour }} />;
  }
  if (!series.dots && series.points.length > 1) return null;
  return <circle {...at} r="3" style={{ fill: series.colour }} />;
}

function MarkerLine({ marker, plot, row }: { marker: Marker; plot: Plot; row: number }) {
  const { margin, width, height } = plot;
  const style = { stroke: marker.colour ?? "var(--line-strong)" };
  if (marker.x !== undefined) {
    const x = plot.x(marker.x);
    if (x < margin.left - 1 || x > width - margin.right + 1) return null;
    const flip = x > (margin.left + width - margin.right) / 2;
    return (
      <g class="chart-marker">
        <line
          x1={x}
          x2={x}
          y1={margin.top}
          y2={height - margin.bottom}
          style={style}
          stroke-dasharray={marker.dash ?? "4 3"}
        />
        <text x={x + (flip ? -5 : 5)} y={margin.top + 10 + 14 * row} text-anchor={flip ? "end" : "start"}>
          {marker.label}
        </text>
      </g>
    );
  }
  const y = plot.y(marker.y ?? 0);
  if (y < margin.top - 1 || y > height - margin.bottom + 1) return null;
  return (
    <g class="chart-marker">
      <line
        x1={margin.left}
        x2={width - margin.right}
        y1={y}
        y2={y}
        style={style}
        stroke-dasharray={marker.dash ?? "4 3"}
      />
      <text x={margin.left + 6} y={y + 14}>
        {marker.label}
      </text>
    </g>
  );
}

const kBeside = 8; // pixels within which points of two curves stand at the same place

/** Curves over a common abscissa with bands, walls and thresholds; keys and pointer read single points. */
export function LineChart({ title, x: allX, y: allY, series, markers = [], height = 320 }: Props) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [at, setAt] = useState<Place | null>(null);
  const points = series.flatMap((s) => s.points.filter((p) => p.y !== null));
  const shown = useShown(allX, allY, points.map((p) => p.x), points.map((p) => p.y!));
  const { x, y } = shown;
  const plot = plotOf(x, y, width, height, marginFor(y, height));
  const brush = useBrush(plot, shown);
  const seen = series.filter((s) => !hidden.has(s.id));
  const spots = seen.map((s) => ({
    points: s.points.map((p): Spot => ({ x: plot.x(p.x), y: p.y === null || !shown.has(p.x, p.y) ? NaN : plot.y(p.y) })),
  }));
  const own = at && seen[at.series]?.points[at.index];
  const spot = own && spots[at.series]!.points[at.index]!;
  // What the others are at the same place, told with the point.
  const label = y.format ?? ((value: number) => tickLabel(Number(value.toPrecision(3))));
  const beside = (but: number, px: number): [string, string][] =>
    across(spots, px, kBeside).flatMap((index, i): [string, string][] =>
      i === but || index < 0 ? [] : [[seen[i]!.name, label(seen[i]!.points[index]!.y!)]],
    );
  const hint: Hint | null =
    own && spot && own.y !== null && shown.has(own.x, own.y)
      ? {
          x: spot.x,
          y: spot.y,
          colour: seen[at.series]!.colour,
          title: own.title ?? seen[at.series]!.name,
          lines: [...(own.lines ?? []), ...beside(at.series, spot.x)],
        }
      : null;

  const onPoint = (px: number, py: number) => {
    const all = spots.flatMap((s, i) => s.points.map((p, index) => ({ ...p, series: i, index })));
    const nearest = nearestSpot(all, px, py, 48);
    setAt(nearest < 0 ? null : { series: all[nearest]!.series, index: all[nearest]!.index });
  };
  const onKey = (key: string) => {
    const known = /^(Arrow|Home$|End$)/.test(key);
    if (known) setAt(moved(spots, at, key));
    return known || shown.onKey(key, own && own.y !== null ? [own.x, own.y] : null);
  };
  const toggle = (id: string) => {
    const next = new Set(hidden);
    if (!next.delete(id)) next.add(id);
    setHidden(next);
    setAt(null);
  };
  const walls = markers.filter((m) => m.x !== undefined);
  const clip = `clip-${title.replace(/\W+/g, "-")}`;
  return (
    <>
      {series.length > 1 && <Legend entries={series} hidden={hidden} onToggle={toggle} />}
      <Pointed
        title={title}
        reads="points"
        drawn={`${y.label} over ${x.label}`}
        plotRef={ref}
        width={width}
        height={height}
        hint={hint}
        onPoint={onPoint}
        onKey={onKey}
        onLeave={() => setAt(null)}
        onDown={brush.onDown}
        onMove={brush.onMove}
        onUp={brush.onUp}
      >
        <clipPath id={clip}>
          <rect
            x={plot.margin.left}
            y={plot.margin.top - 4}
            width={Math.max(0, width - plot.margin.left - plot.margin.right + 4)}
            height={height - plot.margin.top - plot.margin.bottom + 4}
          />
        </clipPath>
        <Axes plot={plot} x={x} y={y} />
        <g clip-path={`url(#${clip})`}>
          {seen.map((s) => (
            <Band key={s.id} series={s} plot={plot} opacity={seen.length > 2 ? 0.09 : 0.16} />
          ))}
          {seen.map((s) => (
            <Curve key={s.id} series={s} plot={plot} />
          ))}
        </g>
        {markers.map((m, i) => (
          <MarkerLine key={i} marker={m} plot={plot} row={walls.indexOf(m)} />
        ))}
        {hint && seen.length > 1 && (
          <line class="chart-cross" x1={hint.x} x2={hint.x} y1={plot.margin.top} y2={height - plot.margin.bottom} />
        )}
        {hint && <circle class="chart-here" cx={hint.x} cy={hint.y} r="5" style={{ stroke: hint.colour }} />}
        <Marked box={brush.box} />
      </Pointed>
      <ShownButtons shown={shown} title={title} />
    </>
  );
}
