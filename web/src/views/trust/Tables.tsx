// Errors by group, and what the predictions aim at.
import { DataTable } from "../../charts/DataTable";
import type { Column } from "../../charts/table";
import { change, count, number, percent, seconds } from "../../lib/format";
import type { Aim } from "./documents";
import { facetOf, summaryOf, valuesOf, type Facet, type Measure, type Pair, type Summary } from "./rows";

const share = (value: number) => (Number.isNaN(value) ? "–" : percent(value));

export const kPairColumns: Column<Pair>[] = [
  { key: "id", head: "run", value: (p) => p.row.id, align: "left" },
  { key: "model", head: "model", value: (p) => p.row.model, align: "left" },
  { key: "accelerator", head: "accelerator", value: (p) => p.row.accelerator, align: "left" },
  { key: "n_accel", head: "number", value: (p) => p.row.n_accel },
  { key: "framework", head: "framework", value: (p) => p.row.framework, align: "left" },
  { key: "parallelism", head: "layout", value: (p) => p.row.parallelism, align: "left" },
  { key: "measured", head: "measured", value: (p) => p.measured },
  { key: "predicted", head: "predicted", value: (p) => p.predicted },
  { key: "error_share", head: "error", value: (p) => p.error, text: (p) => change(1 + p.error) },
  { key: "interval_low_s", head: "80 % from", value: (p) => p.row.interval_low_s },
  { key: "interval_high_s", head: "to", value: (p) => p.row.interval_high_s },
  { key: "source", head: "source", value: (p) => p.row.source ?? p.row.source_key, align: "left" },
];

interface Group {
  readonly name: string;
  readonly summary: Summary;
}

const kGroupColumns = (by: Facet, onPick: (name: string) => void): Column<Group>[] => [
  {
    key: by,
    head: by,
    value: (g) => g.name,
    cell: (g) => (
      <button type="button" class="quiet" title={`only ${g.name}, or all again`} onClick={() => onPick(g.name)}>
        {g.name}
      </button>
    ),
    align: "left",
  },
  { key: "rows", head: "runs", value: (g) => g.summary.rows, text: (g) => count(g.summary.rows) },
  { key: "median_share", head: "median error", value: (g) => g.summary.median, text: (g) => share(g.summary.median) },
  { key: "p90_share", head: "90th percentile", value: (g) => g.summary.p90, text: (g) => share(g.summary.p90) },
  { key: "bias_share", head: "bias", value: (g) => g.summary.bias, text: (g) => change(1 + g.summary.bias) },
  {
    key: "inside_share",
    head: "inside the 80 % interval",
    value: (g) => g.summary.inside,
    text: (g) => share(g.summary.inside),
  },
];

interface GroupsProps {
  pairs: readonly Pair[];
  by: Facet;
  measure: Measure;
  onPick: (name: string) => void;
}

/** The runs shown, by a facet; a name narrows them down to its group. */
export function Groups({ pairs, by, measure, onPick }: GroupsProps) {
  const columns = kGroupColumns(by, onPick).filter(({ key }) => key !== "inside_share" || measure === "time");
  const groups = valuesOf(
    pairs.map(({ row }) => row),
    by,
  ).map(([name]): Group => ({ name, summary: summaryOf(pairs.filter(({ row }) => facetOf(row, by) === name)) }));
  return (
    <section class="panel">
      <h2>Errors by {by}</h2>
      <DataTable caption={`Errors by ${by}`} columns={columns} rows={groups} />
    </section>
  );
}

function aimText(aim: Aim, value: number | null): string {
  if (value === null) return "–";
  return aim.unit === "share" ? percent(value) : aim.unit === "s" ? seconds(value) : number(value);
}

function wanted(aim: Aim): string {
  const least = aim.at_least === null ? "" : `at least ${aimText(aim, aim.at_least)}`;
  const most = aim.at_most === null ? "" : `at most ${aimText(aim, aim.at_most)}`;
  return [least, most].filter((each) => each).join(", ");
}

const kAimColumns: Column<Aim>[] = [
  { key: "of", head: "of", value: (a) => a.of, align: "left" },
  { key: "measure", head: "measure", value: (a) => a.measure, align: "left" },
  { key: "aim", head: "aim", value: wanted, align: "left" },
  { key: "rows", head: "runs", value: (a) => a.rows, text: (a) => count(a.rows) },
  { key: "now", head: "now", value: (a) => a.now, text: (a) => aimText(a, a.now) },
  {
    key: "met",
    head: "met",
    value: (a) => a.met,
    text: (a) => (a.met === null ? "–" : a.met ? "yes" : "no"),
    align: "left",
  },
];

/** What the predictions are held to, over all rows whatever is shown. */
export function Aims({ aims }: { aims: readonly Aim[] }) {
  return (
    <section class="panel">
      <h2>
        {count(aims.filter(({ met }) => met === true).length)} of {count(aims.filter(({ met }) => met !== null).length)} aims are met.
      </h2>
      <DataTable caption="Aims, over the whole corpus" columns={kAimColumns} rows={aims} />
    </section>
  );
}
