// A whole run: how long, how much, and where the days and the energy go.
import { Facts } from "../../app/Facts";
import { Columns } from "../../charts/Columns";
import { Figure } from "../../charts/Figure";
import { LineChart, type LineSeries } from "../../charts/LineChart";
import { seriesColour } from "../../charts/palette";
import { domainOf, type Axis } from "../../charts/scales";
import { wholeOf } from "../../charts/stack";
import { mostOf } from "../../lib/sentences";
import { SumBar } from "../../charts/SumBar";
import { nearWords } from "../../lib/near";
import { count, dollars, duration, energy, many, percent } from "../../lib/format";
import { Assumed, LeftOut } from "./Assumed";
import type { RunDocument } from "./documents";
import { MetricChoice } from "./MetricChoice";
import {
  energyParts,
  factsOf,
  kGrowth,
  kRunCategories,
  kRunMetrics,
  kScaledColumns,
  luckOf,
  overheadRows,
  runMetricOf,
  timeParts,
  type RunMetric,
} from "./whole";

interface Props {
  run: RunDocument;
  metric: string | undefined;
  onMetric: (id: string) => void;
}

export function Whole({ run, metric, onMetric }: Props) {
  const chosen = runMetricOf(metric);
  const near = nearWords(run.interval_from, "this framework");
  return (
    <>
      {!run.fits && <p class="bad">It does not fit in memory. These are the numbers that it would have.</p>}
      <section class="panel" aria-label="The run in numbers" aria-live="polite">
        <h2>
          {many(run.tokens)} tokens of {run.model} on {count(run.gpus)} accelerators of {run.cluster} take {duration(run.time_s.total)}
          {run.price_usd === null ? "." : ` and cost ${dollars(run.price_usd)}.`}
        </h2>
        <Facts facts={factsOf(run)} />
        {near && <p class="soft">{near}</p>}
      </section>
      <div class="pair">
        <section class="panel" aria-label="Where the days go">
          <h2>{mostOf("the time", timeParts(run))}</h2>
          <SumBar title="Expected time of the run" whole="time" parts={timeParts(run)} text={duration} />
        </section>
        <section class="panel" aria-label="Where the energy goes">
          <h2>{mostOf("the energy", energyParts(run))}</h2>
          <SumBar title="Energy, hosts and cooling included" whole="energy" parts={energyParts(run)} text={energy} />
        </section>
      </div>
      {run.by_gpus.length > 0 && (
        <div class="long">
          <MetricChoice metrics={kRunMetrics} chosen={chosen.id} onChoose={onMetric} />
          <ByAccelerators run={run} metric={chosen} />
          <Overhead run={run} />
          <LeftOut lines={run.left_out} />
        </div>
      )}
      {run.by_gpus.length === 0 && <LeftOut lines={run.left_out} />}
      <Assumed assumptions={run.assumptions} notes={run.notes} />
    </>
  );
}

function ByAccelerators({ run, metric }: { run: RunDocument; metric: RunMetric }) {
  const name = metric.label.replace(/ \(.*/, "");
  const lines = kGrowth.map(({ grown, name: id }, index): LineSeries => ({
    id,
    name: id,
    colour: seriesColour(index),
    dots: true,
    points: run.by_gpus
      .filter((each) => each.batch_grown === grown)
      .map((each) => {
        const value = metric.value(each);
        const luck = luckOf(metric, each);
        return {
          x: each.gpus,
          y: value,
          low: luck?.[0] ?? null,
          high: luck?.[1] ?? null,
          title: `${count(each.gpus)} accelerators, ${id}`,
          lines: [
            ...(value === null ? [] : [[name, metric.text(value)] as [string, string]]),
            ["batch", `${count(each.global_batch_tokens)} tokens`],
            ["tokens", many(each.tokens)],
            ["goodput", percent(each.goodput)],
            ["MFU", percent(each.mfu)],
          ],
        };
      }),
  }));
  const series = lines.filter(({ points }) => points.length > 0);
  const kind = metric.share ? "linear" : "log";
  const y: Axis = {
    label: metric.label,
    kind,
    domain: domainOf(series.flatMap((line) => line.points.flatMap((p) => [p.y, p.low, p.high])), kind),
    ...(metric.tick ? { format: metric.tick } : {}),
  };
  const x: Axis = {
    label: "accelerators",
    kind: "log",
    base: 2,
    domain: domainOf(run.by_gpus.map((each) => each.gpus), "log", { pad: 0.05 }),
  };
  const title = `${name[0]!.toUpperCase()}${name.slice(1)} by accelerators`;
  return (
    <Figure
      title={title}
      note={`More or fewer data-parallel ranks, all else kept. ${metric.note}`}
      file={`headway-run-${metric.id}`}
      table={{ columns: kScaledColumns, rows: run.by_gpus }}
      open
      document={run}
    >
      <LineChart
        title={title}
        x={x}
        y={y}
        series={series}
        markers={[{ x: run.gpus, label: "this run" }]}
        height={300}
      />
    </Figure>
  );
}

function Overhead({ run }: { run: RunDocument }) {
  const categories = kRunCategories.filter(({ key }) => key !== "training");
  return (
    <div class="pair">
      {kGrowth.map(({ grown, name }) => {
        const rows = overheadRows(run.by_gpus.filter((each) => each.batch_grown === grown));
        if (rows.length < 2) return null; // one alone stands in the bar above
        const title = `What is not training: ${name}`;
        const highest = domainOf(rows.map((row) => wholeOf(row, categories)), "linear", { zero: true });
        return (
          <Figure key={name} title={title} file={`headway-run-overhead-${grown ? "grown" : "same"}`}>
            <Columns
              title={title}
              xLabel="accelerators"
              y={{
                label: "share of the time",
                kind: "linear",
                domain: highest,
                format: (v) => `${Number((100 * v).toPrecision(3))} %`,
              }}
              rows={rows}
              categories={categories}
              text={(share) => `${(100 * share).toFixed(2)} %`}
              height={240}
            />
          </Figure>
        );
      })}
    </div>
  );
}
