// One quantity along the sweep, with the range in which four of five measured runs would lie.
import { Figure } from "../../charts/Figure";
import { LineChart, type LineSeries, type Marker } from "../../charts/LineChart";
import { seriesColour, seriesDash } from "../../charts/palette";
import { binaryUnit, domainOf, namedAxis, type Axis } from "../../charts/scales";
import { count, percent, seconds } from "../../lib/format";
import type { SweepDocument, SweepPoint, SweepSeries } from "./documents";
import { idealOf, intervalOf, type Metric } from "./metrics";
import type { Sweep } from "./sweeps";
import { pointColumns, pointRows } from "./Points";

interface Props {
  document: SweepDocument;
  sweep: Sweep;
  metric: Metric;
}

/** What series count that have an abscissa of their own: those of a network, and hybrid sharding among layouts. */
const kAxisOf: Readonly<Record<string, string>> = {
  bandwidth: "bandwidth beyond the node (factor of the machine's)",
  latency: "latency beyond the node (factor of the machine's)",
  domain: "accelerators that the innermost links join",
  hybrid: "ranks that share one copy of the states",
};

/** The name of a series' abscissa. */
export function axisOf(sweep: Sweep, series: SweepSeries): string {
  return kAxisOf[series.name] ?? sweep.axis;
}

/** Series of one meaning share a drawing; those with an abscissa of their own have each their own. */
export function Curves({ document, sweep, metric }: Props) {
  const together = document.series.filter((series) => !kAxisOf[series.name]);
  const groups = [together, ...document.series.filter((series) => kAxisOf[series.name]).map((series) => [series])];
  const drawn = groups.filter((group) => group.length > 0);
  const pictures = drawn.map((group) => (
    <Picture
      key={group[0]!.name}
      document={document}
      sweep={sweep}
      metric={metric}
      series={group}
      axis={axisOf(sweep, group[0]!)}
    />
  ));
  return pictures.length > 1 ? <div class="pair">{pictures}</div> : <>{pictures}</>;
}

function linesOf(point: SweepPoint, metric: Metric): [string, string][] {
  const value = metric.value(point);
  const interval = intervalOf(metric, point);
  const out: [string, string][] = value === null ? [] : [[metric.label.replace(/ \(.*/, ""), metric.text(value)]];
  if (interval) out.push(["80 % of unseen runs", `${metric.text(interval[0])} to ${metric.text(interval[1])}`]);
  out.push(
    ["step", seconds(point.step_time_s)],
    ["MFU", percent(point.mfu)],
    ["layout", layoutText(point)],
    ["batch", `${count(point.global_batch)} sequences`],
  );
  return out;
}

// What of a layout is chosen along an axis.
const kChosen = ["dp", "tp", "cp", "pp", "vpp", "ep", "micro_batch", "zero", "recompute"] as const;

/** "dp 32 tp 8 micro-batch 2": degrees above one and what else was chosen. */
export function layoutText(point: SweepPoint): string {
  return kChosen
    .map((name) => [name, point.layout[name]] as const)
    .filter(([, value]) => value !== undefined)
    .filter(([name, value]) => name === "micro_batch" || name === "zero" || (value !== 1 && value !== "none"))
    .map(([name, value]) => `${name.replaceAll("_", "-")} ${value}`)
    .join(" ");
}

function Picture({ document, sweep, metric, series, axis }: Props & { series: readonly SweepSeries[]; axis: string }) {
  const names = [...new Set(series.flatMap((each) => each.points.map((point) => point.label)))];
  const xOf = (point: SweepPoint) => (sweep.scale === "names" ? names.indexOf(point.label) : point.value);
  const lines = series.map((each, index): LineSeries => ({
    id: each.name || "run",
    name: each.name || document.model,
    colour: seriesColour(index),
    dash: seriesDash(index),
    dots: true,
    points: each.points.map((point) => {
      const interval = intervalOf(metric, point);
      return {
        x: xOf(point),
        y: metric.value(point),
        low: interval?.[0] ?? null,
        high: interval?.[1] ?? null,
        title: [each.name, point.label].filter((text) => text !== "").join(" "),
        lines: linesOf(point, metric),
      };
    }),
  }));
  const growing = sweep.id === "strong" || sweep.id === "weak";
  const ideal = growing && series[0] ? idealOf(metric, series[0].points) : [];
  if (ideal.length > 0) {
    const points = ideal.map(({ x, y }) => ({
      x,
      y,
      title: "ideal",
      lines: [["", metric.text(y)] as [string, string]],
    }));
    lines.push({ id: "ideal", name: "ideal", colour: "var(--line-strong)", dash: "5 4", points });
  }
  const values = lines.flatMap((line) => line.points.flatMap((p) => [p.y, p.low, p.high]));
  const kind = metric.log && growing ? "log" : "linear";
  const y: Axis = {
    label: metric.label,
    kind,
    domain: domainOf(values, kind, { zero: true }),
    ...(metric.tick ? { format: metric.tick } : {}),
    ...(metric.id === "memory" ? { unit: binaryUnit(Math.max(...values.map((value) => value ?? 0))) } : {}),
  };
  const xs = lines.flatMap((line) => line.points.map((p) => p.x));
  const x: Axis =
    sweep.scale === "names"
      ? namedAxis(axis, names)
      : { label: axis, kind: "log", base: 2, domain: domainOf(xs, "log", { pad: 0.05 }) };
  const markers: Marker[] = growing
    ? series.flatMap((each) =>
        each.diminished_at_gpus === null
          ? []
          : [{ x: each.diminished_at_gpus, label: `from here less than ${percent(document.threshold)} each` }],
      )
    : [];
  const title = `${metric.label.replace(/ \(.*/, "")} by ${axis.replace(/ \(.*/, "")}`;
  return (
    <Figure
      title={title}
      note={`Band: where 80 % of the runs lay that we had not seen. ${metric.note ?? ""}`}
      file={`headway-scale-${sweep.id}-${metric.id}`}
      table={{ columns: pointColumns(series), rows: pointRows(series) }}
      open={sweep.id !== "network"}
      document={document}
    >
      <LineChart title={title} x={x} y={y} series={lines} markers={markers} height={series.length > 1 ? 340 : 300} />
    </Figure>
  );
}
