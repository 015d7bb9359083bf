// One way of serving under ever more load: how long requests wait, and what comes out.
import { Figure } from "../../charts/Figure";
import { LineChart, type LineSeries, type Marker } from "../../charts/LineChart";
import { seriesColour } from "../../charts/palette";
import { domainOf, type Axis } from "../../charts/scales";
import { numbers, type Column } from "../../charts/table";
import { count, dollars, number, percent, seconds } from "../../lib/format";
import type { CurveDocument, CurveOf, GainedDocument } from "./documents";

const kAxis: Readonly<Record<CurveOf, string>> = {
  concurrency: "clients of a copy",
  rate: "requests a second",
  batch: "sequences of a batch, of a copy",
};

// What load is counted in: that of prefill and decode apart is of all copies together.
function axisOf({ curve, prefill }: CurveDocument): string {
  return prefill && curve === "concurrency" ? "clients of all copies" : kAxis[curve];
}

/** How much load a point is. */
export function amountOf(of: CurveOf, at: Partial<GainedDocument>): number | undefined {
  return at[of];
}

function columnsOf(curve: CurveDocument): Column<GainedDocument>[] {
  const load: Column<GainedDocument> = numbers(curve.curve, axisOf(curve), (at) => amountOf(curve.curve, at), number);
  const columns = [
    load,
    numbers<GainedDocument>("ttft_s", "First token", (at) => at.ttft_s, seconds),
    numbers<GainedDocument>("ttft_p90_s", "its p90", (at) => at.quantiles?.ttft_s.p90, seconds),
    numbers<GainedDocument>("tpot_s", "Each token", (at) => at.tpot_s, seconds),
    numbers<GainedDocument>("latency_s", "Whole answer", (at) => at.latency_s, seconds),
    numbers<GainedDocument>("throughput_output_tok_s", "Output tokens/s", (at) => at.throughput_output_tok_s, count),
    numbers<GainedDocument>("tokens_per_s_per_gpu", "an accelerator", (at) => at.tokens_per_s_per_gpu, number),
  ];
  const ends = (key: "ttft_s" | "tpot_s" | "throughput_output_tok_s", head: string, text: (value: number) => string) => {
    columns.push(numbers(`${key}_from`, `${head}, 80 % from`, (at) => at.interval?.[key]?.[0], text));
    columns.push(numbers(`${key}_to`, "to", (at) => at.interval?.[key]?.[1], text));
  };
  if (curve.points.some((at) => at.interval)) {
    ends("ttft_s", "First", seconds);
    ends("tpot_s", "Each", seconds);
    ends("throughput_output_tok_s", "Output", count);
  }
  if (curve.points.some((at) => at.price_per_million_tokens !== undefined)) {
    columns.push(numbers("price_per_million_tokens", "$/M tokens", (at) => at.price_per_million_tokens, dollars));
  }
  if (curve.points.some((at) => at.share_within_limits !== undefined)) {
    columns.push(numbers("share_within_limits", "Within the limits", (at) => at.share_within_limits, percent));
  }
  return columns;
}

// With room for the names of markers above the curve.
function highest(values: readonly (number | null)[], { log }: Picture): (number | null)[] {
  const most = Math.max(...values.map((value) => value ?? 0));
  return [...values, most * (log ? 1.6 : 1.2)];
}

interface Line {
  readonly name: string;
  readonly value: (at: GainedDocument) => number | undefined;
}
interface Picture {
  readonly title: string;
  readonly unit: string;
  readonly text: (value: number) => string;
  readonly lines: readonly Line[];
  readonly log?: boolean;
}

const kFirst: Picture = {
  title: "First token",
  unit: "s",
  text: seconds,
  log: true,
  lines: [
    { name: "mean", value: (at) => at.ttft_s },
    { name: "p90", value: (at) => at.quantiles?.ttft_s.p90 },
  ],
};
const kEach: Picture = {
  title: "Each token after it",
  unit: "s",
  text: seconds,
  lines: [
    { name: "mean", value: (at) => at.tpot_s },
    { name: "p90", value: (at) => at.quantiles?.tpot_s.p90 },
  ],
};
const kOutput: Picture = {
  title: "Output",
  unit: "tokens/s",
  text: (value) => `${count(value)} tokens/s`,
  lines: [{ name: "all accelerators", value: (at) => at.throughput_output_tok_s }],
};
const kMoney: Picture = {
  title: "A million tokens",
  unit: "US dollars",
  text: dollars,
  log: true,
  lines: [{ name: "of output", value: (at) => at.price_per_million_tokens }],
};
const kWithin: Picture = {
  title: "Within the limits",
  unit: "share",
  text: percent,
  lines: [{ name: "requests", value: (at) => at.share_within_limits }],
};

export function Curve({ curve, here }: { curve: CurveDocument; here: number | undefined }) {
  if (curve.points.length === 0) return <p class="bad">No sequence of these lengths has room in memory.</p>;
  // The last is what is known: the share within limits where there are some, else money.
  const known = [kWithin, kMoney].filter(({ lines }) => curve.points.some((at) => lines[0]!.value(at) !== undefined));
  const pictures = [kFirst, kEach, kOutput, ...known.slice(0, 1)];
  return (
    <div class="pair">
      {pictures.map((picture, i) => (
        // The first two are what paper has room for.
        <div key={picture.title} class={i < 2 ? "" : "long"}>
          <Drawn picture={picture} curve={curve} here={here} />
        </div>
      ))}
    </div>
  );
}

function Drawn({ picture, curve, here }: { picture: Picture; curve: CurveDocument; here: number | undefined }) {
  const { title, unit, text, lines } = picture;
  const axis = axisOf(curve);
  const drawn = lines.filter(({ value }) => curve.points.some((at) => value(at) !== undefined));
  const series = drawn.map(({ name, value }, index): LineSeries => ({
    id: name,
    name,
    colour: seriesColour(index),
    dots: true,
    points: curve.points.map((at) => ({
      x: amountOf(curve.curve, at)!,
      y: value(at) ?? null,
      title: `${number(amountOf(curve.curve, at)!)} ${axis}`,
      lines: drawn.map((line): [string, string] => [line.name, text(line.value(at) ?? NaN)]),
    })),
  }));
  const capacity = curve.curve === "rate" ? curve.capacity_requests_per_s : undefined;
  const xs = curve.points.map((at) => amountOf(curve.curve, at)!);
  const x: Axis =
    curve.curve === "rate"
      ? { label: axis, kind: "linear", domain: domainOf([0, capacity, ...xs], "linear", { zero: true }) }
      : { label: axis, kind: "log", base: 2, domain: domainOf(xs, "log", { pad: 0.05 }) };
  const values = series.flatMap((each) => each.points.map((point) => point.y));
  const kind = picture.log ? "log" : "linear";
  const y: Axis = {
    label: `${title.toLowerCase()} (${unit})`,
    kind,
    domain: domainOf(highest(values, picture), kind, { zero: true }),
    format: picture === kWithin ? (value) => (value > 1 ? "" : `${Math.round(value * 100)} %`) : number,
  };
  const markers: Marker[] = [];
  if (capacity !== undefined) markers.push({ x: capacity, label: `capacity: ${number(capacity)}` });
  if (here !== undefined) markers.push({ x: here, label: "as asked", colour: "var(--series-2)" });
  return (
    <Figure
      title={title}
      file={`headway-serve-${title.toLowerCase().replace(/\W+/g, "-")}`}
      table={{ columns: columnsOf(curve), rows: curve.points }}
      document={curve}
    >
      <LineChart title={`${title} by ${axis}`} x={x} y={y} series={series} markers={markers} height={240} />
    </Figure>
  );
}
