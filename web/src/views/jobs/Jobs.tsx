// A stream of jobs on one machine: what policies block at which load, how busy it is, how long jobs take.
import { AtAGlance } from "../../app/AtAGlance";
import { Form } from "../../app/Form";
import { Problems } from "../../app/Problems";
import { SameCommand } from "../../app/SameCommand";
import { PrintButton, SheetEnd } from "../../app/Sheet";
import { DataTable } from "../../charts/DataTable";
import { Figure } from "../../charts/Figure";
import { LineChart, type LineSeries } from "../../charts/LineChart";
import { seriesColour } from "../../charts/palette";
import { domainOf, type Axis } from "../../charts/scales";
import { numbers, type Column } from "../../charts/table";
import type { Request } from "../../lib/api";
import { useAsking } from "../../lib/asking";
import { count, duration, percent, progressWords } from "../../lib/format";
import { fieldHelp } from "../../lib/schema";
import { tomlText } from "../../lib/toml";
import { go, place, setFields } from "../../lib/url";
import { MetricChoice } from "../scale/MetricChoice";
import type { JobsDocument, PolicyAtLoad, PolicyGain } from "./documents";
import { glance, headline, jobsMetricOf, kJobsMetrics, loadOf, loadWords, points, verdict, type JobsMetric } from "./numbers";
import { jobGroups, jobsProblem, jobsRequest, kJobsTaken, kPresets, presetOf } from "./stream";

export function JobsView() {
  const given = place.value.fields;
  const own = Object.keys(given).some((name) => name !== "metric");
  const fields = own ? given : { ...kPresets[0]!.fields, ...given };
  const groups = jobGroups(fields);
  const request = jobsRequest(fields);
  const asking = useAsking<JobsDocument>("jobs", request, { long: true, rest: 400 });
  const document = asking.answer?.document;
  const problems = asking.problems.map((problem) => jobsProblem(problem, fields));
  const metric = jobsMetricOf(fields.metric);
  const { progress } = asking;
  return (
    <div class="view">
      <div>
        <div class="field wide sweep-choice">
          <label for="jobs-preset">Begin with</label>
          <select
            id="jobs-preset"
            value={presetOf(fields)?.id ?? ""}
            onChange={(event) => {
              const preset = kPresets.find(({ id }) => id === event.currentTarget.value);
              if (preset) go("jobs", preset.fields);
            }}
          >
            {!presetOf(fields) && <option value="">a stream of your own</option>}
            {kPresets.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </select>
        </div>
        <Form
          command="jobs"
          groups={groups}
          fields={fields}
          problems={problems}
          taken={kJobsTaken}
          onChange={(name, value) => setFields({ ...fields, [name]: value })}
        />
        <details>
          <summary>What the policies do</summary>
          <Policies />
        </details>
      </div>
      <div class="answer" id="answer" tabIndex={-1} aria-busy={asking.busy}>
        <Problems problems={problems} shown={groups.flatMap((group) => group.fields.map(({ name }) => name))} />
        <p role="status" class="soft status">
          {asking.busy && (progress ? progressWords(progress) : "asking…")}
        </p>
        {document && (
          <>
            <section class="panel" aria-labelledby="jobs-headline" aria-live="polite">
              <h2 id="jobs-headline">{headline(document)}</h2>
              <p class="soft">
                {document.machine}, {count(document.servers)} servers, {count(document.seeds)}{" "}
                {document.seeds === 1 ? "stream" : "streams"} of each load, the same for all policies. There is no queue: a job without a place,
                or whose time would be over its limit, is blocked.
                {document.hopeless > 0 && ` Of all jobs ${percent(document.hopeless)} have a limit that no policy can hold.`}
                {document.as_published && " By the times and rules of PAC-ML's code, quirks and all."}
              </p>
              <div class="bar no-print">
                <PrintButton />
              </div>
            </section>
            <MetricChoice metrics={kJobsMetrics} chosen={metric.id} onChoose={(id) => setFields({ ...fields, metric: id })} />
            <div class="sheet-table">
              <ByLoad document={document} metric={metric} />
            </div>
            {document.gains.length > 0 && (
              <section class="panel long" aria-labelledby="jobs-gains">
                <h2 id="jobs-gains">On the same streams, which policy blocks less</h2>
                <DataTable caption="What a policy blocks less than another, with the interval of 95 %" columns={kGainColumns} rows={document.gains} />
              </section>
            )}
            <SameCommand asked={[{ command: "jobs", request: asking.answered ?? request }]}>
              <pre class="text print-only">{streamText(asking.answered ?? request)}</pre>
              <SheetEnd of={document.machine.startsWith("RAMP") ? "PAC-ML's machine and models" : "measurements and constants behind the jobs' times"} />
            </SameCommand>
          </>
        )}
      </div>
      {document && <AtAGlance>{glance(document)}</AtAGlance>}
    </div>
  );
}

// What the stream is, on paper.
const streamText = (request: Request) => tomlText(request.stream as Record<string, unknown>);

function ByLoad({ document, metric }: { document: JobsDocument; metric: JobsMetric }) {
  const policies = [...new Set(document.policies.map(({ policy }) => policy))];
  const series = policies.map(
    (policy, index): LineSeries => ({
      id: policy,
      name: policy,
      colour: seriesColour(index),
      dots: true,
      points: document.policies
        .filter((row) => row.policy === policy)
        .sort((a, b) => loadOf(a) - loadOf(b))
        .map((row) => {
          const [low, high] = metric.range?.(row) ?? [null, null];
          return { x: loadOf(row), y: metric.value(row), low, high, title: `${policy}, ${loadWords(row.interval_s)}`, lines: linesOf(row) };
        }),
    }),
  );
  const values = series.flatMap((line) => line.points.flatMap((point) => [point.y, point.low, point.high]));
  const kind = metric.log ? "log" : "linear";
  const y: Axis = { label: metric.label, kind, domain: domainOf(values, kind, metric.log ? {} : { zero: true }), format: metric.tick };
  const x: Axis = { label: "jobs an hour", kind: "log", domain: domainOf(document.policies.map(loadOf), "log", { pad: 0.05 }) };
  const title = `${metric.label[0]!.toUpperCase()}${metric.label.slice(1).replace(/ \(.*/, "")}, by load`;
  return (
    <Figure title={title} note={metric.note} file={`headway-jobs-${metric.id}`} table={{ columns: columnsOf(document.policies), rows: document.policies }} open document={document}>
      <LineChart title={title} x={x} y={y} series={series} height={300} />
    </Figure>
  );
}

function linesOf(row: PolicyAtLoad): [string, string][] {
  const [low, , high] = row.blocking_quantiles;
  return [
    ["blocked", `${percent(row.blocking)} (${percent(low)} to ${percent(high)})`],
    ["busy", percent(row.utilisation)],
    ...(row.jct_p50_s === null ? [] : [["done after", duration(row.jct_p50_s)] as [string, string]]),
  ];
}

const kColumns: Column<PolicyAtLoad>[] = [
  { key: "interval_s", head: "a job each", value: (row) => row.interval_s, text: (row) => `${count(row.interval_s)} s` },
  { key: "policy", head: "policy", value: (row) => row.policy, align: "left" },
  numbers("blocking", "blocked", (row) => row.blocking, percent),
  {
    key: "blocking_p10",
    head: "10 to 90 %",
    value: (row) => row.blocking_quantiles[0],
    text: ({ blocking_quantiles: [low, , high] }) => `${percent(low)} to ${percent(high)}`,
  },
  numbers("refused", "of these refused", (row) => (row.blocked > 0 ? row.refused / row.blocked : null), percent),
  numbers("utilisation", "busy", (row) => row.utilisation, percent),
  numbers("jct_p10_s", "done after, 10 %", (row) => row.jct_p10_s, duration),
  numbers("jct_p50_s", "50 %", (row) => row.jct_p50_s, duration),
  numbers("jct_p90_s", "90 %", (row) => row.jct_p90_s, duration),
];

/** Those of jobs that share links of a fabric, where any does. */
const kLinkColumns: Column<PolicyAtLoad>[] = [
  numbers("slowdown_mean", "takes over alone, mean", (row) => row.slowdown_mean ?? null, times),
  numbers("slowdown_p90", "90 %", (row) => row.slowdown_p90 ?? null, times),
  numbers("late", "over its limit", (row) => row.late ?? null, percent),
];

function times(value: number): string {
  return `× ${value.toFixed(3)}`;
}

function columnsOf(rows: readonly PolicyAtLoad[]): Column<PolicyAtLoad>[] {
  return rows.some((row) => row.slowdown_mean !== undefined) ? [...kColumns, ...kLinkColumns] : kColumns;
}

const kGainColumns: Column<PolicyGain>[] = [
  { key: "interval_s", head: "a job each", value: (gain) => gain.interval_s, text: (gain) => `${count(gain.interval_s)} s` },
  { key: "policy", head: "policy", value: (gain) => gain.policy, align: "left" },
  { key: "than", head: "against", value: (gain) => gain.than, align: "left" },
  { key: "blocking_less", head: "blocks less by, points (95 %)", value: (gain) => gain.blocking_less, text: points },
  { key: "verdict", head: "so it", value: verdict, align: "left" },
];

const kPolicies: readonly (readonly [name: string, what: string])[] = [
  ["none", "does not split a job, where it may run so"],
  ["min", "splits as little as it may, at most in two"],
  ["sipml8", "splits as far as it may, at most in 8 (any number)"],
  ["max", "splits as far as free servers allow"],
  ["acceptable", "the first degree whose time would hold the limit, as if splitting cost nothing"],
  ["cheapest", "the fewest server-seconds that hold the limit, by what the job takes"],
  ["shortest", "what ends first, where it holds the limit"],
  ["lookahead3", "the best of all choices for this job and the two after it, which are known (any number up to 8)"],
  ["rollout", "each choice, followed on futures drawn from the stream's law"],
  ["random", "any degree that free servers allow"],
];

function Policies() {
  const help = fieldHelp("jobs", "policy");
  return (
    <>
      {help && <p class="soft about">{help}</p>}
      <dl class="words">
        {kPolicies.flatMap(([name, what]) => [
          <dt key={name}>
            <code>{name}</code>
          </dt>,
          <dd key={`${name} does`}>{what}</dd>,
        ])}
      </dl>
    </>
  );
}
