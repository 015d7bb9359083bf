// The communication study: what models of four sizes send under each kind of parallelism.
import { Columns } from "../../charts/Columns";
import { DataTable } from "../../charts/DataTable";
import { Figure } from "../../charts/Figure";
import { LineChart, type LineSeries } from "../../charts/LineChart";
import { domainOf, type Axis } from "../../charts/scales";
import { wholeOf } from "../../charts/stack";
import { count, percent } from "../../lib/format";
import type { StudyDocument, StudyPart } from "./documents";
import {
  bySequence,
  exposedRows,
  kModelColumns,
  kRunColumns,
  kStudyTitles,
  runsOf,
  tensorShare,
  timesWeights,
} from "./study";
import { kOpCategories } from "./volume";

const inPercent = (value: number) => `${Number((100 * value).toPrecision(3))} %`;
const kExposed = [{ key: "exposed", name: "exposed", colour: "var(--series-2)" }];

export function Study({ study, part }: { study: StudyDocument; part: StudyPart }) {
  return (
    <>
      <p class="soft">
        GPT-NeoX of four sizes on {study.cluster} with DeepSpeed, after Anthony et al., arXiv 2408.10197: bytes that a
        rank sends in one step. Times are forecasts.
      </p>
      <section class="panel">
        <h2>The models</h2>
        <DataTable caption="The models" columns={kModelColumns} rows={study.models} />
      </section>
      {part === "sequence" ? <Sequence study={study} /> : <Exposed study={study} part={part} />}
      {part === "data" && <Volume study={study} />}
      <p class="soft">
        <code>headway comms --study</code>
      </p>
    </>
  );
}

function Exposed({ study, part }: { study: StudyDocument; part: StudyPart }) {
  const runs = runsOf(study, part);
  const rows = exposedRows(runs);
  return (
    <Figure
      title={kStudyTitles[part]}
      note="Exposed: time of calls that nothing hides, of the step. Small: more than half of a call's time is latency."
      file={`headway-study-${part}`}
      table={{ columns: kRunColumns, rows: runs }}
      open
      document={study}
    >
      <Columns
        title={kStudyTitles[part]}
        xLabel="model and form"
        y={{
          label: "exposed (share of the step)",
          kind: "linear",
          domain: domainOf(rows.map((row) => wholeOf(row, kExposed)), "linear", { zero: true }),
          format: inPercent,
        }}
        rows={rows}
        categories={kExposed}
        text={percent}
        height={240}
      />
    </Figure>
  );
}

function Volume({ study }: { study: StudyDocument }) {
  const rows = timesWeights(study);
  const title = "What a rank sends, in times its weights";
  return (
    <Figure
      title={title}
      note="Over m (d - 1)/d, with m the bytes of the weights and d the ranks: an all-reduce is 2, a gather 1."
      file="headway-study-volume"
    >
      <Columns
        title={title}
        xLabel="model and form"
        y={{
          label: "times the weights",
          kind: "linear",
          domain: domainOf(rows.map((row) => wholeOf(row, kOpCategories)), "linear", { zero: true }),
        }}
        rows={rows}
        categories={kOpCategories}
        text={(value) => value.toFixed(2)}
        height={240}
      />
    </Figure>
  );
}

function Sequence({ study }: { study: StudyDocument }) {
  const runs = runsOf(study, "sequence");
  const x: Axis = {
    label: "sequence length (tokens)",
    kind: "log",
    base: 2,
    domain: domainOf(runs.map((run) => run.seq), "log", { pad: 0.05 }),
  };
  const values = (series: readonly LineSeries[]) => series.flatMap((line) => line.points.map((point) => point.y));
  const speed = bySequence(study, (run) => run.tokens_per_s_per_gpu, "tokens/s of a rank", count);
  const share = bySequence(study, tensorShare, "tensor's share", percent);
  const title = "Tensor parallelism's share of the bytes";
  return (
    <>
      <Figure
        title={kStudyTitles.sequence}
        file="headway-study-sequence"
        table={{ columns: kRunColumns, rows: runs }}
        open
        document={study}
      >
        <LineChart
          title={kStudyTitles.sequence}
          x={x}
          y={{ label: "tokens/s of a rank", kind: "log", domain: domainOf(values(speed), "log") }}
          series={speed}
        />
      </Figure>
      <Figure title={title} file="headway-study-sequence-share">
        <LineChart
          title={title}
          x={x}
          y={{ label: "share of what a rank sends", kind: "linear", domain: [0, 1], format: inPercent }}
          series={share}
        />
      </Figure>
    </>
  );
}
