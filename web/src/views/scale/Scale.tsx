// One run along one axis: where throughput, MFU, energy and money go, and where more brings little.
import { Form } from "../../app/Form";
import { Problems } from "../../app/Problems";
import { Columns } from "../../charts/Columns";
import { Figure } from "../../charts/Figure";
import { kPartCategories } from "../../charts/palette";
import type { Axis } from "../../charts/scales";
import { asShares } from "../../charts/stack";
import { useAsking } from "../../lib/asking";
import { count, seconds } from "../../lib/format";
import { commandLine, kRunGroups } from "../../lib/run";
import { place, setFields } from "../../lib/url";
import { axisOf, Curves } from "./Curves";
import type { SweepDocument, SweepSeries } from "./documents";
import { kMetrics, metricOf } from "./metrics";
import { Returns, ToLoss } from "./Returns";
import { kFirstSweep, kSweeps, sweepGroup, sweepOf, sweepRequest } from "./sweeps";

export function ScaleView() {
  const given = place.value.fields;
  const fields = given.model ? given : { ...kFirstSweep, ...given };
  const sweep = sweepOf(fields);
  const request = sweepRequest(fields);
  const asking = useAsking<SweepDocument>("scale", request, { long: true, rest: 250 });
  const document = asking.answer?.document;
  const change: typeof setFields = (patch) => setFields({ ...(given.model ? {} : kFirstSweep), ...patch });
  const groups = [sweepGroup(sweep), ...kRunGroups];
  const { progress } = asking;
  // An answer to another sweep is drawn as what it is until the new one comes.
  const drawn = document && (kSweeps.find(({ id }) => id === document.axis) ?? sweep);
  return (
    <div class="view">
      <div>
        <div class="field wide sweep-choice">
          <label for="scale-sweep">What changes</label>
          <select id="scale-sweep" value={sweep.id} onChange={(event) => change({ sweep: event.currentTarget.value })}>
            {kSweeps.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </select>
        </div>
        <Form
          command="scale"
          groups={groups}
          fields={fields}
          problems={asking.problems}
          onChange={(name, value) => change({ [name]: value })}
        />
      </div>
      <div class="answer" aria-busy={asking.busy}>
        <Problems problems={asking.problems} shown={groups.flatMap((group) => group.fields.map(({ name }) => name))} />
        <p role="status" class="soft status">
          {asking.busy &&
            (progress
              ? `${count(progress.done)}${progress.of ? ` of ${count(progress.of)}` : ""} ${progress.what}`
              : "asking…")}
        </p>
        {document && drawn && (
          <>
            <p>
              <label for="scale-metric">Show</label>{" "}
              <select
                id="scale-metric"
                class="inline"
                value={metricOf(fields.metric).id}
                onChange={(event) => change({ metric: event.currentTarget.value })}
              >
                {kMetrics.map(({ id, label }) => (
                  <option key={id} value={id}>
                    {label.replace(/ \(.*/, "")}
                  </option>
                ))}
              </select>
            </p>
            <Curves document={document} sweep={drawn} metric={metricOf(fields.metric)} />
            <CrossoverLine document={document} />
            {(drawn.id === "strong" || drawn.id === "weak") && <Returns document={document} />}
            <div class={document.series.length > 1 ? "pair" : ""}>
              {document.series.map((series) => (
                <Parts key={series.name} series={series} xLabel={axisOf(drawn, series)} />
              ))}
            </div>
            <ToLoss document={document} />
            <LeftOut document={document} />
            <Assumptions document={document} />
            <p class="soft">
              <code>{commandLine(`scale ${sweep.id}`, { ...request, sweep: false })}</code>
            </p>
          </>
        )}
      </div>
    </div>
  );
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

function LeftOut({ document }: { document: SweepDocument }) {
  const left = document.series.flatMap((series) => series.left_out.map((each) => ({ ...each, series: series.name })));
  if (left.length === 0) return null;
  return (
    <section class="panel">
      <h2>Left out</h2>
      <ul class="notes">
        {left.map((each) => (
          <li key={`${each.series} ${each.label}`}>
            {[each.series, each.label].filter((text) => text !== "").join(" ")}: {each.reason}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Assumptions({ document }: { document: SweepDocument }) {
  return (
    <details>
      <summary>Assumed</summary>
      <ul class="notes">
        {document.notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
        {document.assumptions.map((each) => (
          <li key={each.name}>
            {each.name} {each.value}: {each.source}
          </li>
        ))}
      </ul>
    </details>
  );
}
