// The answer of a sweep: curves, returns, parts of the step, the same loss.
import { Columns } from "../../charts/Columns";
import { Figure } from "../../charts/Figure";
import { kPartCategories } from "../../charts/palette";
import type { Axis } from "../../charts/scales";
import { asShares } from "../../charts/stack";
import { change, count, seconds } from "../../lib/format";
import { nearOfAll } from "../../lib/near";
import { Assumed, LeftOut } from "./Assumed";
import { axisOf, Curves } from "./Curves";
import type { SweepDocument, SweepSeries } from "./documents";
import { MetricChoice } from "./MetricChoice";
import { kMetrics, metricOf } from "./metrics";
import { Returns, ToLoss } from "./Returns";
import type { Sweep } from "./sweeps";

interface Props {
  document: SweepDocument;
  sweep: Sweep;
  metric: string | undefined;
  onMetric: (id: string) => void;
}

export function Swept({ document, sweep, metric, onMetric }: Props) {
  const left = document.series.flatMap(({ name, left_out }) =>
    left_out.map(({ label, reason }) => `${[name, label].filter((text) => text !== "").join(" ")}: ${reason}`),
  );
  const near = nearOfAll(
    document.series.flatMap(({ points }) => points.map((point) => [point.label, point.interval_from] as const)),
    "this framework",
  );
  return (
    <>
      <section class="panel" aria-label="The sweep in a sentence" aria-live="polite">
        <h2>{sweepSentence(document)}</h2>
        {near && <p class="soft">{near}</p>}
      </section>
      <MetricChoice metrics={kMetrics} chosen={metricOf(metric).id} onChoose={onMetric} />
      <Curves document={document} sweep={sweep} metric={metricOf(metric)} />
      <CrossoverLine document={document} />
      {(sweep.id === "strong" || sweep.id === "weak") && (
        <div class="long">
          <Returns document={document} />
        </div>
      )}
      <div class={document.series.length > 1 ? "pair" : ""}>
        {document.series.map((series) => (
          <Parts key={series.name} series={series} xLabel={axisOf(sweep, series)} />
        ))}
      </div>
      <ToLoss document={document} />
      <LeftOut lines={left} />
      <Assumed assumptions={document.assumptions} notes={document.notes} />
    </>
  );
}

/** What a step does from the first point to the last. */
export function sweepSentence(document: SweepDocument): string {
  const points = document.series[0]?.points ?? [];
  const [first, last] = [points[0], points[points.length - 1]];
  if (!first || !last) return "No point of this sweep can be told.";
  if (points.length === 1) return `At ${first.label} a step takes ${seconds(first.step_time_s)}.`;
  const each = `each accelerator ${count(first.tokens_per_s_per_gpu)} tokens/s, then ${count(last.tokens_per_s_per_gpu)}`;
  return `From ${first.label} to ${last.label} a step goes from ${seconds(first.step_time_s)} to ${seconds(last.step_time_s)}: ${each} (${change(last.tokens_per_s_per_gpu / first.tokens_per_s_per_gpu)}).`;
}

function CrossoverLine({ document }: { document: SweepDocument }) {
  if (document.crossover === undefined) return null;
  const { crossover, crossover_searched_gpus: searched } = document;
  const range = searched ? ` (searched from ${count(searched[0])} to ${count(searched[1])})` : "";
  return (
    <p>
      {crossover
        ? crossover.at_once
          ? `Splitting the model is faster already on ${count(crossover.gpus)} accelerators${range}.`
          : `From ${count(crossover.gpus)} accelerators on splitting the model overtakes pure data parallelism${range}.`
        : `Pure data parallelism is not overtaken${range}.`}
    </p>
  );
}

function Parts({ series, xLabel }: { series: SweepSeries; xLabel: string }) {
  const title = series.name ? `Where the time of a step goes: ${series.name}` : "Where the time of a step goes";
  const inSeconds = series.points.map((point) => ({
    label: point.label,
    parts: point.parts_s,
    detail: [["step", seconds(point.step_time_s)] as [string, string]],
  }));
  const rows = asShares(inSeconds, kPartCategories);
  const y: Axis = {
    label: "share of the step",
    kind: "linear",
    domain: [0, 1],
    format: (v) => `${Math.round(v * 100)} %`,
  };
  if (rows.length === 0) return null;
  return (
    <Figure title={title} note="Communication: what nothing hides." file="headway-scale-parts">
      <Columns
        title={title}
        xLabel={xLabel}
        y={y}
        rows={rows}
        categories={kPartCategories}
        text={(share) => `${(100 * share).toFixed(1)} %`}
        height={240}
      />
    </Figure>
  );
}
