// How far the predictions can be trusted: every measured run of the corpus beside what is predicted of it.
import { useMemo } from "preact/hooks";

import { Facts } from "../../app/Facts";
import { Problems } from "../../app/Problems";
import { Figure } from "../../charts/Figure";
import { Legend } from "../../charts/Legend";
import { seriesColour } from "../../charts/palette";
import { Scatter, type ScatterPoint } from "../../charts/Scatter";
import { domainOf, type Axis } from "../../charts/scales";
import type { Request } from "../../lib/api";
import { useAsking } from "../../lib/asking";
import { change, count, number, percent, progressWords, seconds } from "../../lib/format";
import { place, setFields } from "../../lib/url";
import type { TrustDocument } from "./documents";
import {
  facetOf,
  kFacets,
  matching,
  pairsOf,
  summaryOf,
  usualFactor,
  valuesOf,
  type Chosen,
  type Facet,
  type Measure,
  type Pair,
} from "./rows";
import { RowCard } from "./RowCard";
import { Aims, Groups, kPairColumns } from "./Tables";
import "./trust.css";

const kRequest: Request = { by: "source", rows: true };

// The corpus does not change while the page is open: it is asked for once.
let kept: TrustDocument | null = null;

export function TrustView() {
  const asking = useAsking<TrustDocument>("validate", kept ? null : kRequest, { long: true });
  if (asking.answer) kept = asking.answer.document;
  const { progress } = asking;
  if (!kept) {
    return (
      <div class="answer" id="answer" tabIndex={-1}>
        <Problems problems={asking.problems} />
        {asking.problems.length === 0 && (
          <p role="status">
            Predicting every measured run
            {progress
              ? `: ${progressWords(progress)}`
              : "…"}
            {progress?.of && <progress aria-label="Rows predicted" value={progress.done} max={progress.of} />}
          </p>
        )}
      </div>
    );
  }
  return <Corpus corpus={kept} />;
}

function Corpus({ corpus }: { corpus: TrustDocument }) {
  const fields = place.value.fields;
  const by: Facet = kFacets.find((facet) => facet === fields.by) ?? "framework";
  const measure: Measure = fields.measure === "memory" ? "memory" : "time";
  const chosen: Chosen = Object.fromEntries(kFacets.map((facet) => [facet, fields[facet]]));
  const text = JSON.stringify([chosen, measure]);
  const pairs = useMemo(() => pairsOf(matching(corpus.rows, chosen), measure), [corpus, text]);
  const picked = pairs.findIndex((pair) => pair.row.id === fields.row);
  const summary = useMemo(() => summaryOf(pairs), [pairs]);
  return (
    <div class="view">
      <form class="fields" onSubmit={(event) => event.preventDefault()} autocomplete="off">
        <Filters corpus={corpus} chosen={chosen} by={by} measure={measure} />
      </form>
      <div class="answer" id="answer" tabIndex={-1}>
        <section class="panel">
          <h2>{sentence(summary, measure)}</h2>
          {measure === "time" && <p class="soft">{coverages(corpus)}</p>}
          <Facts
            facts={[
              { name: "runs shown", value: count(summary.rows) },
              { name: "error, median", value: percentOf(summary.median) },
              { name: "error, 90th percentile", value: percentOf(summary.p90) },
              { name: "bias, median", value: Number.isNaN(summary.bias) ? "–" : change(1 + summary.bias) },
              ...(measure === "time" ? [{ name: "inside the 80 % interval", about: "of these runs, seen by the fit", value: percentOf(summary.inside) }] : []),
            ]}
          />
        </section>
        <Drawing pairs={pairs} by={by} measure={measure} picked={picked < 0 ? null : picked} />
        {picked >= 0 && <RowCard row={pairs[picked]!.row} onClose={() => setFields({ row: undefined })} />}
        <Groups
          pairs={pairs}
          by={by}
          measure={measure}
          onPick={(name) => setFields({ [by]: name === fields[by] ? undefined : name })}
        />
        <Aims aims={corpus.aims} />
      </div>
    </div>
  );
}

function sentence(summary: ReturnType<typeof summaryOf>, measure: Measure): string {
  if (summary.rows === 0) return "No run is of all that was chosen.";
  const what = measure === "time" ? "time of a step" : "memory";
  return `Of ${count(summary.rows)} measured runs half are predicted within ${percentOf(summary.median)} of their ${what}.`;
}

// Two shares go by the name of coverage: of runs that the constants were fitted on, and of runs that they were not.
function coverages(corpus: TrustDocument): string {
  const apart = corpus.aims.find(({ id }) => id === "left-out-coverage");
  const seen = "“Inside the 80 % interval” below counts the runs shown here, which the constants have seen.";
  if (!apart || apart.now === null) return seen;
  return `${seen} What the interval promises is of runs that they had not: ${percent(apart.now)} of ${count(apart.rows)} runs lay within when their source was left out of the fit.`;
}

const percentOf = (share: number) => (Number.isNaN(share) ? "–" : percent(share));

interface FiltersProps {
  corpus: TrustDocument;
  chosen: Chosen;
  by: Facet;
  measure: Measure;
}

function Filters({ corpus, chosen, by, measure }: FiltersProps) {
  const active = kFacets.filter((facet) => chosen[facet]);
  return (
    <>
      <fieldset>
        <legend>Show</legend>
        <div class="grid">
          <Choice
            id="measure"
            label="What is compared"
            value={measure}
            options={[
              ["time", "time of a step"],
              ["memory", "memory of an accelerator"],
            ]}
            onChange={(value) => setFields({ measure: value === "time" ? undefined : value, row: undefined })}
          />
          <Choice
            id="by"
            label="Colour and group by"
            value={by}
            options={kFacets.map((facet) => [facet, facet])}
            onChange={(value) => setFields({ by: value === "framework" ? undefined : value })}
          />
        </div>
      </fieldset>
      <fieldset>
        <legend>Only</legend>
        <div class="grid">
          {kFacets.map((facet) => {
            const values = valuesOf(corpus.rows, facet);
            const value = chosen[facet] ?? "";
            const options = values.map(([name, n]): [string, string] => [name, `${name} (${count(n)})`]);
            if (value && !values.some(([name]) => name === value)) options.unshift([value, `${value} (none)`]);
            return (
              <Choice
                key={facet}
                id={facet}
                label={facet}
                value={value}
                options={[["", "all"], ...options]}
                onChange={(name) => setFields({ [facet]: name, row: undefined })}
              />
            );
          })}
        </div>
        {active.length > 0 && (
          <div class="buttons">
            <button
              type="button"
              onClick={() => setFields(Object.fromEntries(active.map((facet) => [facet, undefined])))}
            >
              Show all
            </button>
          </div>
        )}
      </fieldset>
    </>
  );
}

interface ChoiceProps {
  id: string;
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChange: (value: string) => void;
}

function Choice({ id, label, value, options, onChange }: ChoiceProps) {
  return (
    <div class="field wide">
      <label for={`trust-${id}`}>{label}</label>
      <select id={`trust-${id}`} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([name, shown]) => (
          <option key={name} value={name}>
            {shown}
          </option>
        ))}
      </select>
    </div>
  );
}

interface DrawingProps {
  pairs: readonly Pair[];
  by: Facet;
  measure: Measure;
  picked: number | null;
}

// Seven colours for the most frequent; the eighth for all others.
const kColours = 7;

function Drawing({ pairs, by, measure, picked }: DrawingProps) {
  const drawn = useMemo(() => {
    const values = valuesOf(
      pairs.map(({ row }) => row),
      by,
    );
    const names =
      values.length > kColours + 1 ? values.slice(0, kColours).map(([name]) => name) : values.map(([name]) => name);
    const colourOf = (name: string) => seriesColour(names.includes(name) ? names.indexOf(name) : kColours);
    const tell = measure === "time" ? seconds : (gib: number) => `${number(gib)} GiB`;
    const points = pairs.map((pair): ScatterPoint => pointOf(pair, colourOf(facetOf(pair.row, by)), tell, measure));
    const both = pairs.flatMap((pair) => [pair.measured, pair.predicted]);
    const domain = domainOf(both, "log", { pad: 0.02 });
    const unit = measure === "time" ? "step time (s)" : "memory of an accelerator (GiB)";
    const x: Axis = { label: `measured ${unit}`, kind: "log", domain };
    const y: Axis = { label: `predicted ${unit}`, kind: "log", domain };
    const entries = names.map((name) => ({ id: name, name, colour: colourOf(name), shape: "box" as const }));
    if (values.length > names.length)
      entries.push({ id: "", name: "others", colour: seriesColour(kColours), shape: "box" });
    return { points, x, y, entries };
  }, [pairs, by, measure]);
  const factor = usualFactor(pairs);
  const title = measure === "time" ? "Predicted against measured step time" : "Predicted against measured memory";
  const band = Number.isFinite(factor)
    ? ` Grey: a factor of ${factor.toFixed(2)}, within which four of five of these lie.`
    : "";
  return (
    <Figure
      title={title}
      note={`Line: equal.${band}`}
      file={`headway-trust-${measure}`}
      table={{ columns: kPairColumns, rows: pairs }}
    >
      <Legend entries={drawn.entries} />
      <Scatter
        title={title}
        x={drawn.x}
        y={drawn.y}
        points={drawn.points}
        diagonal="equal"
        {...(Number.isFinite(factor) ? { band: factor } : {})}
        picked={picked}
        onPick={(index) => setFields({ row: index === null ? undefined : pairs[index]!.row.id })}
        height={480}
      />
    </Figure>
  );
}

// The first digits of a commit tell it apart well enough beside a pointer.
const shortSource = (source: string) => source.replace(/@([0-9a-f]{7})[0-9a-f]+/, "@$1");

function pointOf(pair: Pair, colour: string, tell: (value: number) => string, measure: Measure): ScatterPoint {
  const { row, measured, predicted, error } = pair;
  const lines: [string, string][] = [
    ["measured", tell(measured)],
    ["predicted", `${tell(predicted)} (${change(1 + error)})`],
  ];
  const timed = measure === "time" && row.interval_low_s !== null && row.interval_high_s !== null;
  if (timed) lines.push(["80 % interval", `${tell(row.interval_low_s!)} to ${tell(row.interval_high_s!)}`]);
  lines.push(
    ["on", `${row.n_accel ? count(row.n_accel) : "?"} x ${row.accelerator ?? "?"}, ${row.framework ?? "?"}`],
    ["layout", row.parallelism || "not stated"],
    ["source", shortSource(row.source || row.source_key)],
  );
  return {
    x: measured,
    y: predicted,
    colour,
    title: `${row.id}: ${row.model ?? ""}`,
    lines,
    ...(timed ? { low: row.interval_low_s, high: row.interval_high_s } : {}),
  };
}
