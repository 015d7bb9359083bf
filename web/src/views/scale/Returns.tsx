// What more accelerators still bring, and what the same loss takes.
import { DataTable } from "../../charts/DataTable";
import { Figure } from "../../charts/Figure";
import { LineChart, type LineSeries } from "../../charts/LineChart";
import { numbers, type Column } from "../../charts/table";
import { domainOf, type Axis } from "../../charts/scales";
import { count, duration, many, number, percent } from "../../lib/format";
import type { SweepDocument, SweepPoint } from "./documents";

/** What each accelerator added brings, as a share of what each of the first brings. */
export function returnsOf(points: readonly SweepPoint[]): { x: number; share: number; each: number }[] {
  const first = points[0]?.tokens_per_s_per_gpu;
  if (!first) return [];
  return points.flatMap((point) => {
    const each = point.marginal_tokens_per_s_per_gpu;
    return each === null ? [] : [{ x: point.gpus, share: each / first, each }];
  });
}

export function Returns({ document }: { document: SweepDocument }) {
  const series = document.series[0];
  const returns = returnsOf(series?.points ?? []);
  if (!series || returns.length === 0) return null;
  const first = series.points[0]!;
  const line: LineSeries = {
    id: "added",
    name: "each accelerator added",
    colour: "var(--series-1)",
    dots: true,
    points: returns.map(({ x, share, each }) => ({
      x,
      y: share,
      title: `up to ${count(x)} accelerators`,
      lines: [
        ["each one added", `${count(each)} tokens/s`],
        [`of what each of the first ${count(first.gpus)} brings`, percent(share)],
      ],
    })),
  };
  const x: Axis = {
    label: "accelerators",
    kind: "log",
    base: 2,
    domain: domainOf([first.gpus, ...returns.map((r) => r.x)], "log", { pad: 0.05 }),
  };
  const y: Axis = {
    label: "share of what the first bring",
    kind: "linear",
    domain: domainOf([...returns.map((r) => r.share), 1, document.threshold], "linear", { zero: true }),
    format: (v) => `${Math.round(v * 100)} %`,
  };
  const title = "What each accelerator added brings";
  const at = series.diminished_at_gpus;
  return (
    <Figure
      title={title}
      note={
        at === null
          ? `Nowhere below ${percent(document.threshold)} of what the first bring.`
          : `Below ${percent(document.threshold)} of what the first bring from ${count(at)} accelerators on.`
      }
      file="headway-scale-returns"
    >
      <LineChart
        title={title}
        x={x}
        y={y}
        series={[line]}
        markers={[{ y: document.threshold, label: `threshold, ${percent(document.threshold)}` }]}
        height={260}
      />
    </Figure>
  );
}

const times = (ratio: number) => `${ratio.toFixed(2)} x`;

const kLossColumns = (first: SweepPoint): Column<SweepPoint>[] => [
  numbers("gpus", "accelerators", (p) => p.gpus, count),
  numbers("batch_tokens", "batch (tokens)", (p) => p.global_batch * p.seq, count),
  numbers("tokens", "tokens", (p) => p.to_loss!.tokens, many),
  numbers("days", "days", (p) => p.to_loss!.time_s / 86400, number),
  numbers("sooner", "sooner", (p) => first.to_loss!.time_s / p.to_loss!.time_s, times),
  numbers("tokens_per_s_ratio", "tokens/s", (p) => p.tokens_per_s / first.tokens_per_s, times),
  numbers("best_batch_tokens", "best batch (tokens)", (p) => p.to_loss!.best_global_batch * p.seq, count),
];

/** To the loss that the base run comes to: where more accelerators stop being sooner. */
export function ToLoss({ document }: { document: SweepDocument }) {
  const points = (document.series[0]?.points ?? []).filter((point) => point.to_loss !== null);
  const first = points[0];
  if (!first) return null;
  const soonest = points.reduce((best, point) => (point.to_loss!.time_s < best.to_loss!.time_s ? point : best), first);
  return (
    <section class="panel">
      <h2>{count(soonest.gpus)} accelerators come first to the same loss, after {duration(soonest.to_loss!.time_s)}.</h2>
      <p class="soft">
        {document.critical_batch_tokens !== null && ` Critical batch: ${count(document.critical_batch_tokens)} tokens.`}
      </p>
      <DataTable
        caption="To the same loss"
        columns={kLossColumns(first)}
        rows={points}
        selected={(point) => point === soonest}
      />
    </section>
  );
}
